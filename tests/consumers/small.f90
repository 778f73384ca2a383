! The smallest program: 1.5 * 2 on an MI300X.
program small
  use, intrinsic :: iso_fortran_env, only: real64
  use mfma
  implicit none
  real(real64) :: a(1, 1), b(1, 1), d(1, 1)

  a = 1.5
  b = 2
  call mfma_gemm(MFMA_ARCH_CDNA3, MFMA_FMT_FP16, a, b, d)
  print *, mfma_version(), d
  if (abs(d(1, 1) - 3) > 0) error stop 1
end program small
