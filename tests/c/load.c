/* T03, A12: the library is loaded, used and closed 200 times, also from threads that end: no crash, no growth. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *library;
static int failures;

static long field(const char *name)
{
    char line[256], format[64];
    long value = -1;
    FILE *file = fopen("/proc/self/status", "r");
    snprintf(format, sizeof format, "%s: %%ld", name);
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, format, &value) == 1)
            break;
    if (file != NULL)
        fclose(file);
    return value;
}

typedef int32_t gemm(int32_t, int32_t, int32_t, int64_t, int64_t, int64_t, double, const double *, int64_t,
                     const double *, int64_t, double, const double *, int64_t, double *, int64_t);

static void *use(void *unused)
{
    (void)unused;
    enum { SIZE = 128 };
    double *a = calloc(SIZE * SIZE, sizeof *a), *d = calloc(SIZE * SIZE, sizeof *d);
    for (int i = 0; i < SIZE * SIZE; i++)
        a[i] = i % 5;
    void *handle = dlopen(library, RTLD_NOW);
    if (handle == NULL) {
        printf("%s\n", dlerror());
        exit(2);
    }
    gemm *f64;
    *(void **)&f64 = dlsym(handle, "mfma_gemm_f64");
    int32_t (*set_num_threads)(int32_t);
    *(void **)&set_num_threads = dlsym(handle, "mfma_set_num_threads");
    if (set_num_threads(3) != 0 || f64(9, 3, 1, SIZE, SIZE, SIZE, 1, a, SIZE, a, SIZE, 0, NULL, SIZE, d, SIZE) != 0 ||
        f64(-1, 3, 1, SIZE, SIZE, SIZE, 1, a, SIZE, a, SIZE, 0, NULL, SIZE, d, SIZE) == 0 || d[1] == 0)
        failures++;
    if (dlclose(handle) != 0)
        failures++;
    free(a);
    free(d);
    return NULL;
}

int main(int count, char **arguments)
{
    if (count != 2)
        return 2;
    library = arguments[1];
    long threads = 0, memory = 0;
    for (int i = 0; i < 200; i++) {
        if (i % 2) {
            pthread_t thread;
            if (pthread_create(&thread, NULL, use, NULL) != 0)
                return 2;
            pthread_join(thread, NULL);
        } else {
            use(NULL);
        }
        if (i == 20) {
            threads = field("Threads");
            memory = field("VmRSS");
        }
    }
    long more_threads = field("Threads") - threads, more_memory = field("VmRSS") - memory;
    printf("%d failures, %ld more threads, %ld more KiB\n", failures, more_threads, more_memory);
    return failures != 0 || more_threads > 0 || more_memory > 2048;
}
