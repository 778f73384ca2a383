! A linear system solved by a low-precision LU factorisation and iterative refinement, in Fortran: see lu_solve.c, whose
! steps these are.
program lu_solve
  use, intrinsic :: iso_fortran_env, only: int32, int64, real64
  use mfma
  implicit none

  integer, parameter :: n = 200, block = 32, steps = 12
  real(real64), parameter :: diagonal = 12

  !> Where the products run: on a unit, or in binary64.
  type :: place
    logical :: plain = .false.
    integer(int32) :: arch = -1, format = -1
  end type place

  type(place) :: places(3)
  real(real64) :: a(n, n), b(n), x(n), errors(steps, 3)
  integer(int64) :: state, checksum
  integer :: i, j, p, step

  places(1)%plain = .true.
  call mfma_arch_from_name("MI300X", places(2)%arch)
  call mfma_format_from_name(places(2)%arch, "fp16", places(2)%format)
  call mfma_arch_from_name("H100", places(3)%arch)
  call mfma_format_from_name(places(3)%arch, "fp8-e4m3", places(3)%format)
  state = 1
  checksum = 0
  do j = 1, n
    do i = 1, n
      call next(a(i, j))
    end do
  end do
  do i = 1, n
    a(i, i) = a(i, i) + diagonal
  end do
  do i = 1, n
    call next(b(i))
  end do
  do p = 1, 3
    call refine(places(p), errors(:, p))
    do step = 1, steps
      call add(errors(step, p))
    end do
    do i = 1, n
      call add(x(i))
    end do
  end do
  print "(a)", " step      binary64   MI300X fp16      H100 fp8"
  do step = 1, steps
    print "(i5, 3es14.3e2)", step, errors(step, :)
  end do
  ! Hexadecimal digits in small letters, as the other languages print them.
  print "(2a)", "checksum ", small(checksum)

contains

  !> The next of a sequence of numbers between -1 and 1.
  subroutine next(number)
    real(real64), intent(out) :: number

    state = mod(state * 1103515245_int64 + 12345_int64, 2147483648_int64)
    number = real(state, real64) / 1073741824.0_real64 - 1.0_real64
  end subroutine next

  !> Another number's bits, added to the checksum.
  subroutine add(number)
    real(real64), intent(in) :: number

    checksum = ieor(ishftc(checksum, 5), transfer(number, checksum))
  end subroutine add

  function small(number) result(text)
    integer(int64), intent(in) :: number
    character(len=16) :: text
    integer :: at, digit

    do at = 1, 16
      digit = int(ibits(number, 4 * (16 - at), 4))
      text(at:at) = "0123456789abcdef" (digit + 1:digit + 1)
    end do
  end function small

  !> A power of two that brings the largest of these numbers to 64 or more, but below 128.
  pure function scale_of(part) result(scale)
    real(real64), intent(in) :: part(:, :)
    real(real64) :: largest, scale

    scale = 1
    if (size(part) == 0) return
    largest = maxval(abs(part))
    do while (largest > 0 .and. largest * scale < 64)
      scale = scale * 2
    end do
    do while (largest * scale >= 128)
      scale = scale / 2
    end do
  end function scale_of

  !> c = c - l u.
  subroutine update(where, l, u, c)
    type(place), intent(in) :: where
    real(real64), intent(in) :: l(:, :), u(:, :)
    real(real64), intent(inout) :: c(:, :)
    real(real64) :: d(size(c, 1), size(c, 2)), scale_l, scale_u
    integer :: j, p

    if (where%plain) then
      do j = 1, size(c, 2)
        do p = 1, size(l, 2)
          c(:, j) = c(:, j) - l(:, p) * u(p, j)
        end do
      end do
    else
      scale_l = scale_of(l)
      scale_u = scale_of(u)
      call mfma_gemm(where%arch, where%format, l, u * scale_u, d, alpha=-scale_l, beta=scale_l * scale_u, c=c)
      c = d / (scale_l * scale_u)
    end if
  end subroutine update

  !> The matrix becomes its factors L and U, with rows exchanged as `pivot` says.
  subroutine factor(where, lu, pivot)
    type(place), intent(in) :: where
    real(real64), intent(inout) :: lu(n, n)
    integer, intent(out) :: pivot(n)
    real(real64) :: kept(n)
    integer :: c, first, j, last

    do first = 1, n, block
      last = min(first + block - 1, n)
      do j = first, last
        pivot(j) = j - 1 + maxloc(abs(lu(j:, j)), 1)
        kept = lu(j, :)
        lu(j, :) = lu(pivot(j), :)
        lu(pivot(j), :) = kept
        lu(j + 1:, j) = lu(j + 1:, j) / lu(j, j)
        do c = j + 1, last
          lu(j + 1:, c) = lu(j + 1:, c) - lu(j + 1:, j) * lu(j, c)
        end do
      end do
      do c = last + 1, n
        do j = first, last
          lu(j + 1:last, c) = lu(j + 1:last, c) - lu(j + 1:last, j) * lu(j, c)
        end do
      end do
      call update(where, lu(last + 1:, first:last), lu(first:last, last + 1:), lu(last + 1:, last + 1:))
    end do
  end subroutine factor

  subroutine solve(lu, pivot, y)
    real(real64), intent(in) :: lu(n, n)
    integer, intent(in) :: pivot(n)
    real(real64), intent(inout) :: y(n)
    real(real64) :: kept
    integer :: j

    do j = 1, n
      kept = y(j)
      y(j) = y(pivot(j))
      y(pivot(j)) = kept
    end do
    do j = 1, n
      y(j + 1:) = y(j + 1:) - lu(j + 1:, j) * y(j)
    end do
    do j = n, 1, -1
      y(j) = y(j) / lu(j, j)
      y(:j - 1) = y(:j - 1) - lu(:j - 1, j) * y(j)
    end do
  end subroutine solve

  !> Solves A x = b; history(s) is the normwise backward error after step s.
  subroutine refine(where, history)
    type(place), intent(in) :: where
    real(real64), intent(out) :: history(steps)
    real(real64), allocatable :: lu(:, :)
    real(real64) :: sums(n), r(n), correction(n)
    integer :: pivot(n), j, step

    lu = a
    call factor(where, lu, pivot)
    sums = 0
    do j = 1, n
      sums = sums + abs(a(:, j))
    end do
    x = 0
    r = b
    do step = 1, steps
      correction = r
      call solve(lu, pivot, correction)
      x = x + correction
      r = b
      do j = 1, n
        r = r - a(:, j) * x(j)
      end do
      history(step) = maxval(abs(r)) / (maxval(sums) * maxval(abs(x)) + maxval(abs(b)))
    end do
  end subroutine refine

end program lu_solve
