/* A linear system solved by a low-precision LU factorisation and iterative refinement, in C.
 *
 * The trailing updates of a blocked LU factorisation with partial pivoting - nearly all of its work - run on the matrix
 * units of an MI300X (fp16) and of an H100 (fp8); everything else is binary64. The factors are then only good for a few
 * digits, but each step of refinement gains as many again: compare the columns with plain binary64.
 *
 * The blocks are scaled by powers of two before they are rounded, as one does on GPUs, for the few exponents of fp8
 * would not hold them. All loops add in one order, so that the programs of all languages print the same. See README.md.
 */
#include <math.h>
#include <mfma.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 200, BLOCK = 32, STEPS = 12 };
static const double DIAGONAL = 12;

/* Element (i, j) of a column-major N x N matrix. */
#define AT(a, i, j) ((a)[(i) + (size_t)(j) * N])

/* Where the products run: on a unit, or in binary64. */
typedef struct {
    int plain;
    mfma_arch arch;
    mfma_format format;
} place;

static void check(mfma_status status)
{
    if (status == MFMA_OK)
        return;
    fprintf(stderr, "%s: %s\n", mfma_status_string(status), mfma_last_error());
    exit(EXIT_FAILURE);
}

/* The next of a sequence of numbers between -1 and 1. */
static double next(int64_t *state)
{
    *state = (*state * 1103515245 + 12345) % 2147483648;
    return (double)*state / 1073741824.0 - 1.0;
}

/* A power of two that brings the largest of these numbers to 64 or more, but below 128. */
static double scale_of(const double *a, int rows, int cols)
{
    double largest = 0, scale = 1;
    for (int j = 0; j < cols; j++)
        for (int i = 0; i < rows; i++)
            largest = fmax(largest, fabs(AT(a, i, j)));
    while (largest > 0 && largest * scale < 64)
        scale *= 2;
    while (largest * scale >= 128)
        scale /= 2;
    return scale;
}

/* C = C - L U for blocks of one matrix: L is rows x k, U k x cols. */
static void update(place where, int rows, int cols, int k, const double *l, const double *u, double *c)
{
    if (where.plain) {
        for (int j = 0; j < cols; j++)
            for (int p = 0; p < k; p++)
                for (int i = 0; i < rows; i++)
                    AT(c, i, j) -= AT(l, i, p) * AT(u, p, j);
        return;
    }
    static double scaled[N * N];
    const double scale_l = scale_of(l, rows, k), scale_u = scale_of(u, k, cols), both = scale_l * scale_u;
    for (int j = 0; j < cols; j++)
        for (int p = 0; p < k; p++)
            AT(scaled, p, j) = AT(u, p, j) * scale_u;
    /* In place: the blocks lie in one array, but have no element in common. */
    check(mfma_gemm_f64(where.arch, where.format, MFMA_FMT_FP32, rows, cols, k, -scale_l, l, N, scaled, N, both, c, N, c, N));
    for (int j = 0; j < cols; j++)
        for (int i = 0; i < rows; i++)
            AT(c, i, j) /= both;
}

/* A becomes its factors L and U, with rows exchanged as `pivot` says. */
static void factor(place where, double *a, int *pivot)
{
    for (int first = 0; first < N; first += BLOCK) {
        const int end = first + BLOCK < N ? first + BLOCK : N;
        for (int j = first; j < end; j++) {
            int largest = j;
            for (int i = j + 1; i < N; i++)
                if (fabs(AT(a, i, j)) > fabs(AT(a, largest, j)))
                    largest = i;
            pivot[j] = largest;
            for (int c = 0; c < N; c++) {
                const double kept = AT(a, j, c);
                AT(a, j, c) = AT(a, largest, c);
                AT(a, largest, c) = kept;
            }
            for (int i = j + 1; i < N; i++)
                AT(a, i, j) /= AT(a, j, j);
            for (int c = j + 1; c < end; c++)
                for (int i = j + 1; i < N; i++)
                    AT(a, i, c) -= AT(a, i, j) * AT(a, j, c);
        }
        for (int c = end; c < N; c++)
            for (int j = first; j < end; j++)
                for (int i = j + 1; i < end; i++)
                    AT(a, i, c) -= AT(a, i, j) * AT(a, j, c);
        update(where, N - end, N - end, end - first, &AT(a, end, first), &AT(a, first, end), &AT(a, end, end));
    }
}

/* x becomes the solution of L U x = (x with its rows exchanged). */
static void solve(const double *lu, const int *pivot, double *x)
{
    for (int j = 0; j < N; j++) {
        const double kept = x[j];
        x[j] = x[pivot[j]];
        x[pivot[j]] = kept;
    }
    for (int j = 0; j < N; j++)
        for (int i = j + 1; i < N; i++)
            x[i] -= AT(lu, i, j) * x[j];
    for (int j = N - 1; j >= 0; j--) {
        x[j] /= AT(lu, j, j);
        for (int i = 0; i < j; i++)
            x[i] -= AT(lu, i, j) * x[j];
    }
}

static double largest_of(const double *x)
{
    double largest = 0;
    for (int i = 0; i < N; i++)
        largest = fmax(largest, fabs(x[i]));
    return largest;
}

/* Solves A x = b; errors[s] is the normwise backward error after step s. */
static void refine(place where, const double *a, const double *b, double *x, double *errors)
{
    static double lu[N * N], sums[N], r[N], correction[N];
    static int pivot[N];
    memcpy(lu, a, sizeof lu);
    factor(where, lu, pivot);
    memset(sums, 0, sizeof sums);
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++)
            sums[i] += fabs(AT(a, i, j));
    memset(x, 0, sizeof r);
    memcpy(r, b, sizeof r);
    for (int step = 0; step < STEPS; step++) {
        memcpy(correction, r, sizeof r);
        solve(lu, pivot, correction);
        for (int i = 0; i < N; i++)
            x[i] += correction[i];
        memcpy(r, b, sizeof r);
        for (int j = 0; j < N; j++)
            for (int i = 0; i < N; i++)
                r[i] -= AT(a, i, j) * x[j];
        errors[step] = largest_of(r) / (largest_of(sums) * largest_of(x) + largest_of(b));
    }
}

/* Another number's bits, added to a checksum. */
static uint64_t add(uint64_t sum, double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return (sum << 5 | sum >> 59) ^ bits;
}

int main(void)
{
    static double a[N * N], b[N], x[N], errors[3][STEPS];
    place places[3] = {{1, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    int64_t state = 1;
    uint64_t sum = 0;
    check(mfma_arch_from_name("MI300X", &places[1].arch));
    check(mfma_format_from_name(places[1].arch, "fp16", &places[1].format));
    check(mfma_arch_from_name("H100", &places[2].arch));
    check(mfma_format_from_name(places[2].arch, "fp8-e4m3", &places[2].format));
    for (int i = 0; i < N * N; i++)
        a[i] = next(&state);
    for (int i = 0; i < N; i++)
        AT(a, i, i) += DIAGONAL;
    for (int i = 0; i < N; i++)
        b[i] = next(&state);
    for (int p = 0; p < 3; p++) {
        refine(places[p], a, b, x, errors[p]);
        for (int step = 0; step < STEPS; step++)
            sum = add(sum, errors[p][step]);
        for (int i = 0; i < N; i++)
            sum = add(sum, x[i]);
    }
    printf(" step      binary64   MI300X fp16      H100 fp8\n");
    for (int step = 0; step < STEPS; step++)
        printf("%5d%14.3E%14.3E%14.3E\n", step + 1, errors[0][step], errors[1][step], errors[2][step]);
    printf("checksum %016llx\n", (unsigned long long)sum);
    return 0;
}
