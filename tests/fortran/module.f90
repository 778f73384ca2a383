! The Fortran module: products of both kinds, batches, names, and errors by status.
program module_test
  use, intrinsic :: iso_fortran_env, only: int16, int32, int64, real32, real64
  use mfma
  implicit none

  integer :: failures

  failures = 0
  call products()
  call batches()
  call errors()
  print "(i0, a)", failures, " failures"
  if (failures /= 0) error stop 1

contains

  include "check.inc"

  subroutine products()
    real(real64) :: a(2, 3), b(3, 4), c(2, 4), d(2, 4), big(10, 10)
    real(real32) :: a4(2, 3), b4(3, 4), d4(2, 4)
    integer :: i

    a = reshape(real([1, 4, 2, 5, 3, 6], real64), [2, 3])
    b = reshape(real([(i, i=1, 12)], real64), [3, 4])
    d = -1
    call mfma_gemm(MFMA_ARCH_CDNA3, MFMA_FMT_FP16, a, b, d)
    call check(all(d == matmul(a, b)), "gemm of real64")
    c = 100
    call mfma_gemm(MFMA_ARCH_CDNA3, MFMA_FMT_FP16, a, b, d, c=c)
    call check(all(d == matmul(a, b) + 100), "gemm with c alone")
    call mfma_gemm(MFMA_ARCH_CDNA3, MFMA_FMT_FP16, a, b, d, alpha=-2.0_real64, beta=0.5_real64, c=c)
    call check(all(d == -2 * matmul(a, b) + 50), "gemm with alpha and beta")
    call mfma_gemm(MFMA_ARCH_HOPPER, MFMA_FMT_FP16, a, b, d, out_format=MFMA_FMT_FP16)
    call check(all(d == matmul(a, b)), "gemm to binary16")
    a4 = real(a, real32)
    b4 = real(b, real32)
    call mfma_gemm(MFMA_ARCH_AMPERE, MFMA_FMT_TF32, a4, b4, d4)
    call check(all(d4 == matmul(a4, b4)), "gemm of real32")
    ! Sections with gaps are copied by the compiler.
    big = 0
    big(1:3:2, 2:8:2) = 7
    call mfma_gemm(MFMA_ARCH_CDNA2, MFMA_FMT_BF16, a, b, big(1:3:2, 2:8:2))
    call check(all(big(1:3:2, 2:8:2) == matmul(a, b)) .and. all(big(2, :) == 0), "gemm into a section")
    call mfma_gemm(MFMA_ARCH_CDNA3, MFMA_FMT_FP16, a(:, 1:0), b(1:0, :), d)
    call check(all(d == 0), "gemm without columns")
  end subroutine products

  subroutine batches()
    type(mfma_unit) :: unit
    integer(int16), parameter :: one = int(z"3c00", int16), two = int(z"4000", int16)
    integer(int16) :: a(2, 2), b(2, 2)
    integer(int32) :: c(2), d(2)
    integer(int32) :: status

    a = reshape([one, one, two, two], [2, 2])
    b = reshape([two, one, two, one], [2, 2])
    c = 0
    call unit%create_from_instruction("v_mfma_f32_32x32x8_f16", MFMA_ARCH_CDNA3)
    call mfma_dot_batch(unit, a, b, c, d)
    call check(transfer(d(1), 1.0_real32) == 3 .and. transfer(d(2), 1.0_real32) == 6, "dot_batch")
    call unit%create(MFMA_ARCH_HOPPER, MFMA_FMT_E4M3, MFMA_FMT_E4M3, MFMA_FMT_FP32)
    call mfma_dot_batch(unit, a, b, c, d, status)
    call check(status == MFMA_ERR_INVALID_ARGUMENT, "elements of the wrong size")
    call check(index(mfma_message(), "size of the unit's formats") > 0, "its message")
    call wide_elements()
    call unit%destroy()
    call mfma_dot_batch(unit, a, b, c, d, status)
    call check(status == MFMA_ERR_NULL_POINTER, "a unit that does not exist")
  end subroutine batches

  !> Encodings in 64-bit integers, for formats of any size.
  subroutine wide_elements()
    type(mfma_unit) :: unit
    integer(int64) :: c(2), d(2), none(0)
    integer(int32) :: formats(3), status
    integer :: i
    !> 1 and 2, and the bytes of an element that are used.
    integer(int64), parameter :: ones(4) = [int(z"38", int64), int(z"3c00", int64), int(z"3f800000", int64), &
                                            int(z"3ff0000000000000", int64)]
    integer(int64), parameter :: twos(4) = [int(z"40", int64), int(z"4000", int64), int(z"40000000", int64), &
                                            int(z"4000000000000000", int64)]
    integer(int32), parameter :: inputs(4) = [MFMA_FMT_E4M3, MFMA_FMT_FP16, MFMA_FMT_TF32, MFMA_FMT_FP64]

    do i = 1, 4
      call unit%create(MFMA_ARCH_HOPPER, inputs(i), inputs(i), merge(MFMA_FMT_FP64, MFMA_FMT_FP32, i == 4))
      ! -1 as c; bits above the format's own do not matter.
      c = -1082130432_int64
      call mfma_dot_batch(unit, reshape([ones(i), twos(i)], [1, 2]), reshape([twos(i), twos(i)], [1, 2]), c, d)
      if (i < 4) call check(all(d == [int(z"3f800000", int64), int(z"40400000", int64)]), "64-bit integers")
    end do
    c = int(z"3ff0000000000000", int64)
    call mfma_dot_batch(unit, reshape([ones(4), twos(4)], [1, 2]), reshape([twos(4), twos(4)], [1, 2]), c, d)
    call check(all(d == [int(z"4008000000000000", int64), int(z"4014000000000000", int64)]), "binary64")
    call mfma_dot_batch(unit, reshape([ones(4)], [1, 1]), reshape([twos(4)], [1, 1]), c, d, status)
    call check(status == MFMA_ERR_INVALID_SIZE, "shapes of 64-bit integers")
    call mfma_dot_batch(unit, reshape(none, [3, 0]), reshape(none, [3, 0]), none, none)
    call mfma_dot_batch(unit, reshape(none, [0, 2]), reshape(none, [0, 2]), c, d)
    call check(all(d == c), "no products")
    call unit%get_formats(formats(1), formats(2), formats(3))
    call check(all(formats == MFMA_FMT_FP64), "formats of a unit")
  end subroutine wide_elements

  subroutine errors()
    real(real64) :: a(2, 3), b(3, 4), d(2, 4)
    integer(int32) :: arch, format, status, threads

    a = 1
    b = 1
    d = -1
    arch = -5
    call mfma_arch_from_name("no such GPU", arch, status)
    call check(status == MFMA_ERR_UNKNOWN_ARCH .and. arch == -5, "unknown architecture")
    call check(index(mfma_message(), "no such GPU") > 0, "its message")
    call mfma_arch_from_name("mi300x ", arch)
    call check(arch == MFMA_ARCH_CDNA3, "architecture by name")
    call mfma_format_from_name(arch, "bf8", format)
    call check(format == MFMA_FMT_E5M2FNUZ, "format by name")
    call mfma_gemm(99, MFMA_FMT_FP16, a, b, d, status=status)
    call check(status == MFMA_ERR_UNKNOWN_ARCH .and. all(d == -1), "d untouched")
    call mfma_gemm(arch, MFMA_FMT_FP16, a, b(1:2, :), d, status=status)
    call check(status == MFMA_ERR_INVALID_SIZE .and. all(d == -1), "sizes that do not go together")
    call check(mfma_message() == "a(2, 3) has another number of columns than b(2, 4) has rows", &
               "the module's own message")
    call mfma_gemm(arch, MFMA_FMT_FP16, a, b, d, c=d(:, 1:2), status=status)
    call check(status == MFMA_ERR_INVALID_SIZE .and. mfma_message() == "c(2, 2) must have the shape of d(2, 4)", &
               "c of another shape")
    call mfma_gemm(99, MFMA_FMT_FP16, a, b, d, status=status)
    call check(index(mfma_message(), "arch is 99") == 1, "the library's message after one of the module's")
    call mfma_gemm(arch, MFMA_FMT_FP16, a, b, d, beta=1.0_real64, status=status)
    call check(status == MFMA_ERR_NULL_POINTER .and. all(d == -1), "beta without c")
    threads = mfma_get_num_threads()
    call mfma_set_num_threads(-1, status)
    call check(status == MFMA_ERR_INVALID_ARGUMENT .and. mfma_get_num_threads() == threads, "threads")
    call check(mfma_version() == "1.0.0" .and. len(mfma_cpu_features()) > 0, "version")
  end subroutine errors

end program module_test
