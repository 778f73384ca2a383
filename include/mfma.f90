! mfma for Fortran 2008: matrix products as GPU matrix units compute them, bit for bit.
!
! Arrays are ordinary Fortran arrays. Procedures that can fail have an optional argument `status`: present, it becomes
! MFMA_OK or MFMA_ERR_*, and mfma_message() says what is wrong; absent, a failure ends the program with that message.
! Other arguments are untouched on failure.
!
! Encodings that stand in 64-bit integers have the format's bits as their low ones; what is above them does not matter on
! the way in, and is 0 on the way out.
!
! Compile this file with the program; it includes the mfma_*.inc, which lie beside it. In programs with OpenMP
! compile it with OpenMP, too: then each thread has its own message.
module mfma
  use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_double, c_f_pointer, c_float, c_funloc, c_funptr, c_int16_t, &
    c_int32_t, c_int64_t, c_int8_t, c_loc, c_null_char, c_null_funptr, c_null_ptr, c_ptr, c_size_t, c_sizeof
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  private

  public :: mfma_unit, mfma_gemm, mfma_dot_batch, mfma_arch_from_name, mfma_format_from_name
  public :: mfma_arch_name, mfma_format_name, mfma_message, mfma_version, mfma_cpu_features
  public :: mfma_set_num_threads, mfma_get_num_threads
  public :: mfma_params_default, mfma_params_from_arch
  public :: mfma_capability, mfma_capability_count, mfma_capability_get, mfma_capability_params
  public :: mfma_black_box, mfma_progress
  public :: mfma_probe, mfma_probe_report, mfma_finding, mfma_summation_order
  public :: mfma_validate, mfma_validate_report, mfma_compare_dump, mfma_mismatch_bound
  public :: mfma_sample, mfma_sample_length, mfma_sampler_name
  public :: mfma_explain, mfma_explain_steps, mfma_step, mfma_attribute, mfma_cause, mfma_separate

  include "mfma_types.inc"

  !> A matrix unit. Immutable; released when it goes out of scope. It is not to be copied: pass it on instead.
  type :: mfma_unit
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure :: create => unit_create
    procedure :: create_from_instruction => unit_create_from_instruction
    procedure :: create_from_params => unit_create_from_params
    procedure :: get_params => unit_get_params
    procedure :: get_formats => unit_get_formats
    procedure :: destroy => unit_destroy
    final :: unit_final
  end type mfma_unit

  !> D = round(alpha*A) round(B) + round(beta*C) through the unit of an architecture:
  !>
  !>   call mfma_gemm(arch, format, a, b, d [, alpha] [, beta] [, c] [, out_format] [, status])
  !>
  !> for real32 or real64 arrays a(m,k), b(k,n), c(m,n), d(m,n). alpha is 1 unless given; beta is 0 unless given or,
  !> with c alone, 1. Results of real32 products are binary32; out_format is for real64 ones (MFMA_FMT_FP32 unless given).
  interface mfma_gemm
    module procedure gemm_real32
    module procedure gemm_real64
  end interface mfma_gemm

  !> Independent dot products on encodings: case i multiplies column i of a(k,count) and b(k,count) and adds c(i):
  !>
  !>   call mfma_dot_batch(unit, a, b, c, d [, status])
  !>
  !> Integers hold the encodings, of 1, 2 or 4 bytes as the unit's formats have; c and d have 4 bytes, or 2 for binary16
  !> results. Or all of them are 64-bit integers, for any formats.
  interface mfma_dot_batch
    module procedure dot_batch_8_32
    module procedure dot_batch_16_32
    module procedure dot_batch_32_32
    module procedure dot_batch_8_16
    module procedure dot_batch_16_16
    module procedure dot_batch_64
  end interface mfma_dot_batch

  !> What a check of this module said, where that was the last failure.
  character(len=200), save :: own_message = ""
  !$omp threadprivate(own_message)

contains

  include "mfma_ask.inc"
  include "mfma_explain.inc"

  !> A C string as a Fortran one; NULL is "".
  function fortran_text(pointer) result(text)
    type(c_ptr), intent(in) :: pointer
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: chars(:)
    integer :: i, length
    integer, parameter :: longest = 4096

    text = ""
    if (.not. c_associated(pointer)) return
    call c_f_pointer(pointer, chars, [longest])
    length = 0
    do while (length < longest)
      if (chars(length + 1) == c_null_char) exit
      length = length + 1
    end do
    text = repeat(" ", length)
    do i = 1, length
      text(i:i) = chars(i)
    end do
  end function fortran_text

  !> Message of the last call that failed on this thread.
  function mfma_message() result(text)
    character(len=:), allocatable :: text

    if (own_message /= "") then
      text = trim(own_message)
    else
      text = fortran_text(c_last_error())
    end if
  end function mfma_message

  !> Name of an architecture; "" if there is none with this number. Numbers run from 0 without a gap.
  function mfma_arch_name(arch) result(text)
    integer(c_int32_t), intent(in) :: arch
    character(len=:), allocatable :: text
    text = fortran_text(c_arch_name(arch))
  end function mfma_arch_name

  !> Name of a format; "" if there is none with this number. Numbers run from 0 without a gap.
  function mfma_format_name(format) result(text)
    integer(c_int32_t), intent(in) :: format
    character(len=:), allocatable :: text
    text = fortran_text(c_format_name(format))
  end function mfma_format_name

  !> Version of the library.
  function mfma_version() result(text)
    character(len=:), allocatable :: text
    text = fortran_text(c_version())
  end function mfma_version

  !> Which kernel level is in use.
  function mfma_cpu_features() result(text)
    character(len=:), allocatable :: text
    text = fortran_text(c_cpu_features())
  end function mfma_cpu_features

  !> Hands a status to the caller, or ends the program if the caller does not take it.
  subroutine deliver(outcome, status)
    integer(c_int32_t), intent(in) :: outcome
    integer(c_int32_t), intent(out), optional :: status

    if (outcome /= MFMA_OK) own_message = ""
    call hand_over(outcome, status)
  end subroutine deliver

  !> A check that is made here has failed: its status and message to the caller, or the end of the program.
  subroutine refuse(code, message, status)
    integer(c_int32_t), intent(in) :: code
    character(len=*), intent(in) :: message
    integer(c_int32_t), intent(out), optional :: status

    own_message = message
    call hand_over(code, status)
  end subroutine refuse

  subroutine hand_over(outcome, status)
    integer(c_int32_t), intent(in) :: outcome
    integer(c_int32_t), intent(out), optional :: status

    if (present(status)) then
      status = outcome
    else if (outcome /= MFMA_OK) then
      write (error_unit, "(2a)") "mfma: ", mfma_message()
      error stop 1
    end if
  end subroutine hand_over

  !> Architecture that a name stands for: "MI300X", "H100", "CDNA3", ...
  subroutine mfma_arch_from_name(name, arch, status)
    character(len=*), intent(in) :: name
    integer(c_int32_t), intent(inout) :: arch
    integer(c_int32_t), intent(out), optional :: status

    call deliver(c_arch_from_name(trim(name)//c_null_char, arch), status)
  end subroutine mfma_arch_from_name

  !> Format that a name means on an architecture: "fp16", "bf16", "e4m3", ...
  subroutine mfma_format_from_name(arch, name, format, status)
    integer(c_int32_t), intent(in) :: arch
    character(len=*), intent(in) :: name
    integer(c_int32_t), intent(inout) :: format
    integer(c_int32_t), intent(out), optional :: status

    call deliver(c_format_from_name(arch, trim(name)//c_null_char, format), status)
  end subroutine mfma_format_from_name

  !> Threads that work on one call; 0 is the default.
  subroutine mfma_set_num_threads(threads, status)
    integer(c_int32_t), intent(in) :: threads
    integer(c_int32_t), intent(out), optional :: status

    call deliver(c_set_num_threads(threads), status)
  end subroutine mfma_set_num_threads

  !> The unit of `arch` for inputs of formats `a` and `b` and results of format `d`.
  subroutine unit_create(self, arch, a, b, d, status)
    class(mfma_unit), intent(inout) :: self
    integer(c_int32_t), intent(in) :: arch, a, b, d
    integer(c_int32_t), intent(out), optional :: status
    type(c_ptr) :: handle
    integer(c_int32_t) :: outcome

    handle = c_null_ptr
    outcome = c_model_new(arch, a, b, d, handle)
    call adopt(self, handle, outcome, status)
  end subroutine unit_create

  !> The unit that an instruction runs on: "v_mfma_f32_32x32x8_f16", ...
  subroutine unit_create_from_instruction(self, mnemonic, arch, status)
    class(mfma_unit), intent(inout) :: self
    character(len=*), intent(in) :: mnemonic
    integer(c_int32_t), intent(in) :: arch
    integer(c_int32_t), intent(out), optional :: status
    type(c_ptr) :: handle
    integer(c_int32_t) :: outcome

    handle = c_null_ptr
    outcome = c_model_from_instruction(trim(mnemonic)//c_null_char, arch, handle)
    call adopt(self, handle, outcome, status)
  end subroutine unit_create_from_instruction

  !> A custom unit for inputs of formats `a` and `b` and results of format `d`. Combinations of features that have no meaning
  !> are refused.
  subroutine unit_create_from_params(self, params, a, b, d, status)
    class(mfma_unit), intent(inout) :: self
    type(mfma_params), intent(in) :: params
    integer(c_int32_t), intent(in) :: a, b, d
    integer(c_int32_t), intent(out), optional :: status
    type(c_ptr) :: handle
    integer(c_int32_t) :: outcome

    handle = c_null_ptr
    outcome = c_model_from_params(params, a, b, d, handle)
    call adopt(self, handle, outcome, status)
  end subroutine unit_create_from_params

  !> The unit becomes the new one, unless that could not be made.
  subroutine adopt(self, handle, outcome, status)
    class(mfma_unit), intent(inout) :: self
    type(c_ptr), intent(in) :: handle
    integer(c_int32_t), intent(in) :: outcome
    integer(c_int32_t), intent(out), optional :: status

    if (outcome == MFMA_OK) then
      call self%destroy()
      self%handle = handle
    end if
    call deliver(outcome, status)
  end subroutine adopt

  !> The unit's features.
  subroutine unit_get_params(self, params, status)
    class(mfma_unit), intent(in) :: self
    type(mfma_params), intent(inout) :: params
    integer(c_int32_t), intent(out), optional :: status

    params%size = c_sizeof(params)
    call deliver(c_model_params(self%handle, params), status)
  end subroutine unit_get_params

  !> Formats of the unit: of a's elements, of b's, and of c and d.
  subroutine unit_get_formats(self, a, b, d, status)
    class(mfma_unit), intent(in) :: self
    integer(c_int32_t), intent(inout) :: a, b, d
    integer(c_int32_t), intent(out), optional :: status

    call deliver(c_model_formats(self%handle, a, b, d), status)
  end subroutine unit_get_formats

  !> Features like those of the A100 for binary16 inputs.
  subroutine mfma_params_default(params, status)
    type(mfma_params), intent(inout) :: params
    integer(c_int32_t), intent(out), optional :: status

    params%size = c_sizeof(params)
    call deliver(c_params_default(params), status)
  end subroutine mfma_params_default

  !> Features of the unit of `arch` for these formats.
  subroutine mfma_params_from_arch(arch, a, b, d, params, status)
    integer(c_int32_t), intent(in) :: arch, a, b, d
    type(mfma_params), intent(inout) :: params
    integer(c_int32_t), intent(out), optional :: status

    params%size = c_sizeof(params)
    call deliver(c_params_from_arch(arch, a, b, d, params), status)
  end subroutine mfma_params_from_arch

  !> Describes unit `index` of the catalogue, 0 to mfma_capability_count() - 1, as in C.
  subroutine mfma_capability_get(index, capability, status)
    integer(c_int64_t), intent(in) :: index
    type(mfma_capability), intent(inout) :: capability
    integer(c_int32_t), intent(out), optional :: status
    type(c_capability) :: found
    integer(c_int32_t) :: outcome

    found%size = c_sizeof(found)
    outcome = c_capability_get(index, found)
    if (outcome == MFMA_OK) then
      capability%arch = found%arch
      capability%a = found%a
      capability%b = found%b
      capability%d = found%d
      capability%by_instruction = found%by_instruction /= 0
      capability%evidence = found%evidence
      capability%instruction = fortran_text(found%instruction)
      capability%source = fortran_text(found%source)
      capability%measured = found%measured
      capability%paper = found%paper
      capability%directed = found%directed
      capability%golden = found%golden
      capability%mismatches = found%mismatches
      capability%mismatch_bound = found%mismatch_bound
    end if
    call deliver(outcome, status)
  end subroutine mfma_capability_get

  !> Features of unit `index` of the catalogue.
  subroutine mfma_capability_params(index, params, status)
    integer(c_int64_t), intent(in) :: index
    type(mfma_params), intent(inout) :: params
    integer(c_int32_t), intent(out), optional :: status

    params%size = c_sizeof(params)
    call deliver(c_capability_params(index, params), status)
  end subroutine mfma_capability_params

  !> Releases the unit.
  subroutine unit_destroy(self)
    class(mfma_unit), intent(inout) :: self

    call c_model_free(self%handle)
    self%handle = c_null_ptr
  end subroutine unit_destroy

  subroutine unit_final(self)
    type(mfma_unit), intent(inout) :: self

    call self%destroy()
  end subroutine unit_final

  !> A matrix with its shape, for messages: "a(2, 3)".
  pure function shaped(name, extents) result(text)
    character(len=*), intent(in) :: name
    integer, intent(in) :: extents(2)
    character(len=:), allocatable :: text
    character(len=32) :: shape_text

    write (shape_text, "('(', i0, ', ', i0, ')')") extents
    text = name//trim(shape_text)
  end function shaped

  !> Refuses matrices whose shapes do not go together.
  function misfits(a, b, c, d, status) result(wrong)
    integer, intent(in) :: a(2), b(2), c(2), d(2)
    integer(c_int32_t), intent(out), optional :: status
    logical :: wrong
    wrong = .true.
    if (b(1) /= a(2)) then
      call refuse(MFMA_ERR_INVALID_SIZE, &
                  shaped("a", a)//" has another number of columns than "//shaped("b", b)//" has rows", status)
    else if (d(1) /= a(1) .or. d(2) /= b(2)) then
      call refuse(MFMA_ERR_INVALID_SIZE, shaped("d", d)//" must have the rows of "//shaped("a", a)//" and the columns of "// &
                  shaped("b", b), status)
    else if (any(c /= d)) then
      call refuse(MFMA_ERR_INVALID_SIZE, shaped("c", c)//" must have the shape of "//shaped("d", d), status)
    else
      wrong = .false.
    end if
  end function misfits

  subroutine gemm_real32(arch, format, a, b, d, alpha, beta, c, status)
    integer(c_int32_t), intent(in) :: arch, format
    real(c_float), intent(in), contiguous :: a(:, :), b(:, :)
    real(c_float), intent(inout), contiguous :: d(:, :)
    real(c_float), intent(in), optional :: alpha, beta
    real(c_float), intent(in), contiguous, target, optional :: c(:, :)
    integer(c_int32_t), intent(out), optional :: status
    integer(c_int64_t) :: m, n, k
    real(c_float) :: factor_a, factor_c
    type(c_ptr) :: c_start
    integer :: shape_c(2)

    m = size(a, 1, kind=c_int64_t)
    k = size(a, 2, kind=c_int64_t)
    n = size(b, 2, kind=c_int64_t)
    factor_a = 1
    if (present(alpha)) factor_a = alpha
    factor_c = 0
    if (present(c)) factor_c = 1
    if (present(beta)) factor_c = beta
    c_start = c_null_ptr
    shape_c = shape(d)
    if (present(c)) then
      shape_c = shape(c)
      if (size(c) > 0) c_start = c_loc(c)
    end if
    if (misfits(shape(a), shape(b), shape_c, shape(d), status)) return
    call deliver(c_gemm_f32(arch, format, m, n, k, factor_a, a, max(1_c_int64_t, m), b, &
      max(1_c_int64_t, k), factor_c, c_start, max(1_c_int64_t, m), d, max(1_c_int64_t, m)), status)
  end subroutine gemm_real32

  subroutine gemm_real64(arch, format, a, b, d, alpha, beta, c, out_format, status)
    integer(c_int32_t), intent(in) :: arch, format
    real(c_double), intent(in), contiguous :: a(:, :), b(:, :)
    real(c_double), intent(inout), contiguous :: d(:, :)
    real(c_double), intent(in), optional :: alpha, beta
    real(c_double), intent(in), contiguous, target, optional :: c(:, :)
    integer(c_int32_t), intent(in), optional :: out_format
    integer(c_int32_t), intent(out), optional :: status
    integer(c_int64_t) :: m, n, k
    real(c_double) :: factor_a, factor_c
    type(c_ptr) :: c_start
    integer(c_int32_t) :: result_format
    integer :: shape_c(2)

    m = size(a, 1, kind=c_int64_t)
    k = size(a, 2, kind=c_int64_t)
    n = size(b, 2, kind=c_int64_t)
    factor_a = 1
    if (present(alpha)) factor_a = alpha
    factor_c = 0
    if (present(c)) factor_c = 1
    if (present(beta)) factor_c = beta
    c_start = c_null_ptr
    shape_c = shape(d)
    if (present(c)) then
      shape_c = shape(c)
      if (size(c) > 0) c_start = c_loc(c)
    end if
    if (misfits(shape(a), shape(b), shape_c, shape(d), status)) return
    result_format = MFMA_FMT_FP32
    if (present(out_format)) result_format = out_format
    call deliver(c_gemm_f64(arch, format, result_format, m, n, k, factor_a, a, max(1_c_int64_t, m), b, &
      max(1_c_int64_t, k), factor_c, c_start, max(1_c_int64_t, m), d, max(1_c_int64_t, m)), status)
  end subroutine gemm_real64

  !> Checks the shapes of a batch and the sizes of its elements, then computes it.
  subroutine run_batch(unit, bytes_in, bytes_out, shape_a, shape_b, length_c, length_d, a, b, c, d, status)
    type(mfma_unit), intent(in) :: unit
    integer, intent(in) :: bytes_in, bytes_out
    integer(c_int64_t), intent(in) :: shape_a(2), shape_b(2), length_c, length_d
    type(c_ptr), intent(in) :: a, b, c, d
    integer(c_int32_t), intent(out), optional :: status
    integer(c_int32_t) :: formats(3), outcome

    outcome = c_model_formats(unit%handle, formats(1), formats(2), formats(3))
    if (outcome /= MFMA_OK) then
      call deliver(outcome, status)
    else if (c_format_bytes(formats(1)) /= bytes_in .or. c_format_bytes(formats(2)) /= bytes_in .or. &
             c_format_bytes(formats(3)) /= bytes_out) then
      call refuse(MFMA_ERR_INVALID_ARGUMENT, "the elements do not have the size of the unit's formats", status)
    else if (any(shape_a /= shape_b) .or. length_c /= shape_a(2) .or. length_d /= shape_a(2)) then
      call refuse(MFMA_ERR_INVALID_SIZE, "a and b must be (k, count), c and d (count)", status)
    else
      call deliver(c_dot_batch(unit%handle, shape_a(2), shape_a(1), a, b, c, d), status)
    end if
  end subroutine run_batch

  subroutine dot_batch_8_32(unit, a, b, c, d, status)
    type(mfma_unit), intent(in) :: unit
    integer(c_int8_t), intent(in), contiguous, target :: a(:, :), b(:, :)
    integer(c_int32_t), intent(in), contiguous, target :: c(:)
    integer(c_int32_t), intent(inout), contiguous, target :: d(:)
    integer(c_int32_t), intent(out), optional :: status

    call run_batch(unit, 1, 4, shape(a, kind=c_int64_t), shape(b, kind=c_int64_t), &
      size(c, kind=c_int64_t), size(d, kind=c_int64_t), c_loc(a), c_loc(b), c_loc(c), c_loc(d), status)
  end subroutine dot_batch_8_32

  subroutine dot_batch_16_32(unit, a, b, c, d, status)
    type(mfma_unit), intent(in) :: unit
    integer(c_int16_t), intent(in), contiguous, target :: a(:, :), b(:, :)
    integer(c_int32_t), intent(in), contiguous, target :: c(:)
    integer(c_int32_t), intent(inout), contiguous, target :: d(:)
    integer(c_int32_t), intent(out), optional :: status

    call run_batch(unit, 2, 4, shape(a, kind=c_int64_t), shape(b, kind=c_int64_t), &
      size(c, kind=c_int64_t), size(d, kind=c_int64_t), c_loc(a), c_loc(b), c_loc(c), c_loc(d), status)
  end subroutine dot_batch_16_32

  subroutine dot_batch_32_32(unit, a, b, c, d, status)
    type(mfma_unit), intent(in) :: unit
    integer(c_int32_t), intent(in), contiguous, target :: a(:, :), b(:, :)
    integer(c_int32_t), intent(in), contiguous, target :: c(:)
    integer(c_int32_t), intent(inout), contiguous, target :: d(:)
    integer(c_int32_t), intent(out), optional :: status

    call run_batch(unit, 4, 4, shape(a, kind=c_int64_t), shape(b, kind=c_int64_t), &
      size(c, kind=c_int64_t), size(d, kind=c_int64_t), c_loc(a), c_loc(b), c_loc(c), c_loc(d), status)
  end subroutine dot_batch_32_32

  subroutine dot_batch_8_16(unit, a, b, c, d, status)
    type(mfma_unit), intent(in) :: unit
    integer(c_int8_t), intent(in), contiguous, target :: a(:, :), b(:, :)
    integer(c_int16_t), intent(in), contiguous, target :: c(:)
    integer(c_int16_t), intent(inout), contiguous, target :: d(:)
    integer(c_int32_t), intent(out), optional :: status

    call run_batch(unit, 1, 2, shape(a, kind=c_int64_t), shape(b, kind=c_int64_t), &
      size(c, kind=c_int64_t), size(d, kind=c_int64_t), c_loc(a), c_loc(b), c_loc(c), c_loc(d), status)
  end subroutine dot_batch_8_16

  subroutine dot_batch_16_16(unit, a, b, c, d, status)
    type(mfma_unit), intent(in) :: unit
    integer(c_int16_t), intent(in), contiguous, target :: a(:, :), b(:, :)
    integer(c_int16_t), intent(in), contiguous, target :: c(:)
    integer(c_int16_t), intent(inout), contiguous, target :: d(:)
    integer(c_int32_t), intent(out), optional :: status

    call run_batch(unit, 2, 2, shape(a, kind=c_int64_t), shape(b, kind=c_int64_t), &
      size(c, kind=c_int64_t), size(d, kind=c_int64_t), c_loc(a), c_loc(b), c_loc(c), c_loc(d), status)
  end subroutine dot_batch_16_16

  !> 64-bit integers become elements of the formats' own sizes.
  subroutine dot_batch_64(unit, a, b, c, d, status)
    type(mfma_unit), intent(in) :: unit
    integer(c_int64_t), intent(in) :: a(:, :), b(:, :), c(:)
    integer(c_int64_t), intent(inout) :: d(:)
    integer(c_int32_t), intent(out), optional :: status
    integer(c_int8_t), allocatable, target :: raw_a(:), raw_b(:), raw_c(:), raw_d(:)
    integer(c_int32_t) :: bytes(3), outcome
    integer(c_int64_t) :: count

    count = size(d, kind=c_int64_t)
    call element_sizes(unit, bytes, outcome)
    if (outcome /= MFMA_OK) then
      call deliver(outcome, status)
    else if (any(shape(a) /= shape(b)) .or. any([size(c), size(a, 2)] /= size(d))) then
      call refuse(MFMA_ERR_INVALID_SIZE, "a and b must be (k, count), c and d (count)", status)
    else
      raw_a = narrow(size(a, kind=c_int64_t), a, bytes(1))
      raw_b = narrow(size(b, kind=c_int64_t), b, bytes(2))
      raw_c = narrow(count, c, bytes(3))
      raw_d = raw_c
      outcome = c_dot_batch(unit%handle, count, size(a, 1, kind=c_int64_t), start_of(raw_a), start_of(raw_b), &
        start_of(raw_c), start_of(raw_d))
      if (outcome == MFMA_OK) d = wide(start_of(raw_d), count, bytes(3))
      call deliver(outcome, status)
    end if
  end subroutine dot_batch_64

end module mfma
