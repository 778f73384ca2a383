/* The smallest program: 1.5 * 2 + 0 on an MI300X. */
#include <mfma.h>
#include <stdio.h>

int main(void)
{
    double a = 1.5, b = 2, d = 0;
    mfma_status status =
        mfma_gemm_f64(MFMA_ARCH_CDNA3, MFMA_FMT_FP16, MFMA_FMT_FP32, 1, 1, 1, 1, &a, 1, &b, 1, 0, NULL, 1, &d, 1);
    printf("%s %g\n", mfma_version(), d);
    return status != MFMA_OK || d != 3;
}
