// The smallest program: 1.5 * 2 on an MI300X.
#include <iostream>
#include <mfma.hpp>

int main()
{
    const double a[] = {1.5}, b[] = {2};
    double d[] = {0};
    mfma::gemm(mfma::model("MI300X", "fp16"), 1.0, mfma::matrix<const double>(a, 1, 1),
               mfma::matrix<const double>(b, 1, 1), mfma::matrix<double>(d, 1, 1));
    std::cout << mfma::version() << ' ' << d[0] << '\n';
    return d[0] != 3;
}
