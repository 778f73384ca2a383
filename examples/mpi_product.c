/* A large product spread over the ranks of MPI, in C: D = A B through an H100's fp8, by columns of B and D.
 *
 * The sums along k are not associative, so k is never split: each rank computes whole elements of D, and the result is
 * the same, bit for bit, for any number of ranks (and of threads in each). The program prints a checksum of D's bits
 * that shows it, and rank 0 recomputes some of the columns that it was sent.
 *
 * Usage: mpirun -n RANKS ./mpi_product [M N K]
 */
#include <mfma.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(mfma_status status)
{
    if (status == MFMA_OK)
        return;
    fprintf(stderr, "%s: %s\n", mfma_status_string(status), mfma_last_error());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

static void *allocate(size_t elements)
{
    void *memory = malloc((elements ? elements : 1) * sizeof(float));
    if (memory == NULL)
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    return memory;
}

/* The element of a matrix with this number: anything that every rank can make by itself. */
static float entry(uint64_t number)
{
    number = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
    number = (number ^ number >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return (float)(int32_t)(number >> 40) / (float)(1 << 23) - 1.0f;
}

/* Columns before those of `rank`; those of the last end at n. */
static int64_t columns_before(int rank, int ranks, int64_t n)
{
    return n / ranks * rank + (rank < n % ranks ? rank : n % ranks);
}

/* Columns `first` to `last` - 1 of D = A B; B is k x n, and only these columns of it are made. */
static void columns_of_product(int64_t m, int64_t k, int64_t first, int64_t last, const float *a, float *d)
{
    const int64_t columns = last - first;
    float *b = allocate((size_t)(k * columns));
    for (int64_t i = 0; i < k * columns; i++)
        b[i] = entry(UINT64_C(1) << 40 | (uint64_t)(first * k + i));
    check(mfma_gemm_f32(MFMA_ARCH_HOPPER, MFMA_FMT_E4M3, m, columns, k, 1, a, m > 0 ? m : 1, b, k > 0 ? k : 1, 0, NULL,
                        m > 0 ? m : 1, d, m > 0 ? m : 1));
    free(b);
}

int main(int count, char **arguments)
{
    int rank, ranks, neighbours;
    int64_t m = 384, n = 509, k = 640;
    MPI_Comm node;
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (count == 4) {
        m = strtoll(arguments[1], NULL, 10);
        n = strtoll(arguments[2], NULL, 10);
        k = strtoll(arguments[3], NULL, 10);
    }
    if (m < 0 || n < 0 || k < 0 || m > 100000 || n > 100000 || k > 100000 || (count != 1 && count != 4)) {
        if (rank == 0)
            fprintf(stderr, "usage: %s [M N K], each 0 to 100000\n", arguments[0]);
        MPI_Finalize();
        return EXIT_FAILURE;
    }
    /* The ranks of one machine share its cores. */
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &neighbours);
    const int32_t cores = mfma_get_num_threads();
    check(mfma_set_num_threads(cores / neighbours > 1 ? cores / neighbours : 1));

    /* Rank 0 has A, and all need it. */
    float *a = allocate((size_t)(m * k));
    if (rank == 0)
        for (int64_t i = 0; i < m * k; i++)
            a[i] = entry((uint64_t)i);
    for (int64_t p = 0; p < k; p++)
        MPI_Bcast(a + p * m, (int)m, MPI_FLOAT, 0, MPI_COMM_WORLD);

    const int64_t first = columns_before(rank, ranks, n), last = columns_before(rank + 1, ranks, n);
    float *mine = allocate((size_t)(m * (last - first)));
    columns_of_product(m, k, first, last, a, mine);

    /* A message of whole columns from each rank, so that counts stay within an int. */
    MPI_Datatype column;
    MPI_Type_contiguous((int)m, MPI_FLOAT, &column);
    MPI_Type_commit(&column);
    float *d = rank == 0 ? allocate((size_t)(m * n)) : NULL;
    int *counts = allocate((size_t)ranks), *starts = allocate((size_t)ranks);
    for (int r = 0; r < ranks; r++) {
        starts[r] = (int)columns_before(r, ranks, n);
        counts[r] = (int)columns_before(r + 1, ranks, n) - starts[r];
    }
    MPI_Gatherv(mine, (int)(last - first), column, d, counts, starts, column, 0, MPI_COMM_WORLD);

    int wrong = 0;
    if (rank == 0) {
        uint64_t sum = 0;
        for (int64_t i = 0; i < m * n; i++) {
            uint32_t bits;
            memcpy(&bits, &d[i], sizeof bits);
            sum = (sum << 5 | sum >> 59) ^ bits;
        }
        /* Columns of other ranks, computed here too. */
        float *again = allocate((size_t)m);
        for (int r = 0; r < ranks; r++)
            if (counts[r] > 0) {
                const int64_t j = starts[r] + counts[r] - 1;
                columns_of_product(m, k, j, j + 1, a, again);
                wrong += memcmp(again, d + j * m, (size_t)m * sizeof *again) != 0;
            }
        free(again);
        fprintf(stderr, "%d ranks, %d threads each\n", ranks, (int)mfma_get_num_threads());
        printf("%lld x %lld x %lld checksum %016llx%s\n", (long long)m, (long long)n, (long long)k,
               (unsigned long long)sum, wrong ? " WRONG" : "");
    }
    MPI_Type_free(&column);
    MPI_Comm_free(&node);
    free(starts);
    free(counts);
    free(d);
    free(mine);
    free(a);
    MPI_Finalize();
    return wrong != 0;
}
