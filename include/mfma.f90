! mfma for Fortran 2008: matrix products as GPU matrix units compute them, bit for bit.
!
! Arrays are ordinary Fortran arrays. Procedures that can fail have an optional argument `status`: present, it becomes
! MFMA_OK or MFMA_ERR_*, and mfma_message() says what is wrong; absent, a failure ends the program with that message.
module mfma
  use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_double, c_f_pointer, c_float, c_int16_t, c_int32_t, &
    c_int64_t, c_int8_t, c_loc, c_null_char, c_null_ptr, c_ptr, c_size_t
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  private

  public :: mfma_unit, mfma_gemm, mfma_dot_batch, mfma_arch_from_name, mfma_format_from_name
  public :: mfma_message, mfma_version, mfma_cpu_features, mfma_set_num_threads, mfma_get_num_threads

  integer(c_int32_t), parameter, public :: MFMA_SCHEME_SEQUENTIAL_FMA = 0
  integer(c_int32_t), parameter, public :: MFMA_SCHEME_CORRECT_ROUNDING = 1
  integer(c_int32_t), parameter, public :: MFMA_SCHEME_PAIRWISE_SUM = 2
  integer(c_int32_t), parameter, public :: MFMA_SCHEME_GLOBAL_ALIGNMENT = 3
  integer(c_int32_t), parameter, public :: MFMA_SCHEME_ODD_EVEN_GROUPING = 4

  integer(c_int32_t), parameter, public :: MFMA_INTERLEAVE_NONE = 0
  integer(c_int32_t), parameter, public :: MFMA_INTERLEAVE_MOD4 = 1

  integer(c_int32_t), parameter, public :: MFMA_CONVENTIONS_AMD = 0
  integer(c_int32_t), parameter, public :: MFMA_CONVENTIONS_NVIDIA = 1
  integer(c_int32_t), parameter, public :: MFMA_CONVENTIONS_TOOLBOX = 2

  integer(c_int32_t), parameter, public :: MFMA_NONE = -huge(0_c_int32_t) - 1_c_int32_t

  integer(c_int32_t), parameter, public :: MFMA_EVIDENCE_MEASURED = 0
  integer(c_int32_t), parameter, public :: MFMA_EVIDENCE_PAPER = 1
  integer(c_int32_t), parameter, public :: MFMA_EVIDENCE_ASSUMED = 2
  integer(c_int32_t), parameter, public :: MFMA_EVIDENCE_NO_HARDWARE = 3

  integer(c_int32_t), parameter, public :: MFMA_FINDING_FEATURE = 0
  integer(c_int32_t), parameter, public :: MFMA_FINDING_UNDECIDED = 1
  integer(c_int32_t), parameter, public :: MFMA_FINDING_OBSERVED = 2

  integer(c_int32_t), parameter, public :: MFMA_ORDER_COL_MAJOR = 0
  integer(c_int32_t), parameter, public :: MFMA_ORDER_ROW_MAJOR = 1

  integer(c_int32_t), parameter, public :: MFMA_STORAGE_RAW = 0
  integer(c_int32_t), parameter, public :: MFMA_STORAGE_F32 = 1
  integer(c_int32_t), parameter, public :: MFMA_STORAGE_F64 = 2

  integer(c_int32_t), parameter, public :: MFMA_OVERFLOW_DEFAULT = 0
  integer(c_int32_t), parameter, public :: MFMA_OVERFLOW_IEEE = 1
  integer(c_int32_t), parameter, public :: MFMA_OVERFLOW_SATURATE = 2
  integer(c_int32_t), parameter, public :: MFMA_OVERFLOW_INFINITY = 3

  integer(c_int32_t), parameter, public :: MFMA_CLASS_ZERO = 0
  integer(c_int32_t), parameter, public :: MFMA_CLASS_FINITE = 1
  integer(c_int32_t), parameter, public :: MFMA_CLASS_INFINITE = 2
  integer(c_int32_t), parameter, public :: MFMA_CLASS_NAN = 3

  integer(c_int32_t), parameter, public :: MFMA_OK = 0
  integer(c_int32_t), parameter, public :: MFMA_ERR_NULL_POINTER = 1
  integer(c_int32_t), parameter, public :: MFMA_ERR_INVALID_SIZE = 2
  integer(c_int32_t), parameter, public :: MFMA_ERR_INVALID_LD = 3
  integer(c_int32_t), parameter, public :: MFMA_ERR_UNKNOWN_ARCH = 4
  integer(c_int32_t), parameter, public :: MFMA_ERR_UNKNOWN_FORMAT = 5
  integer(c_int32_t), parameter, public :: MFMA_ERR_UNSUPPORTED = 6
  integer(c_int32_t), parameter, public :: MFMA_ERR_UNKNOWN_INSTRUCTION = 7
  integer(c_int32_t), parameter, public :: MFMA_ERR_OVERLAP = 8
  integer(c_int32_t), parameter, public :: MFMA_ERR_INVALID_ARGUMENT = 9
  integer(c_int32_t), parameter, public :: MFMA_ERR_INVALID_PARAMS = 10
  integer(c_int32_t), parameter, public :: MFMA_ERR_OUT_OF_MEMORY = 11
  integer(c_int32_t), parameter, public :: MFMA_ERR_CANCELLED = 12
  integer(c_int32_t), parameter, public :: MFMA_ERR_INTERNAL = 13
  integer(c_int32_t), parameter, public :: MFMA_ERR_IO = 14
  integer(c_int32_t), parameter, public :: MFMA_ERR_MALFORMED = 15

  integer(c_int32_t), parameter, public :: MFMA_ARCH_VOLTA = 0
  integer(c_int32_t), parameter, public :: MFMA_ARCH_TURING = 1
  integer(c_int32_t), parameter, public :: MFMA_ARCH_AMPERE = 2
  integer(c_int32_t), parameter, public :: MFMA_ARCH_ADA = 3
  integer(c_int32_t), parameter, public :: MFMA_ARCH_HOPPER = 4
  integer(c_int32_t), parameter, public :: MFMA_ARCH_BLACKWELL = 5
  integer(c_int32_t), parameter, public :: MFMA_ARCH_RTX_BLACKWELL = 6
  integer(c_int32_t), parameter, public :: MFMA_ARCH_CDNA1 = 7
  integer(c_int32_t), parameter, public :: MFMA_ARCH_CDNA2 = 8
  integer(c_int32_t), parameter, public :: MFMA_ARCH_CDNA3 = 9
  integer(c_int32_t), parameter, public :: MFMA_ARCH_CDNA3_TOOLBOX = 10
  integer(c_int32_t), parameter, public :: MFMA_ARCH_BLACKWELL_RN = 11

  integer(c_int32_t), parameter, public :: MFMA_FMT_FP64 = 0
  integer(c_int32_t), parameter, public :: MFMA_FMT_FP32 = 1
  integer(c_int32_t), parameter, public :: MFMA_FMT_TF32 = 2
  integer(c_int32_t), parameter, public :: MFMA_FMT_FP16 = 3
  integer(c_int32_t), parameter, public :: MFMA_FMT_BF16 = 4
  integer(c_int32_t), parameter, public :: MFMA_FMT_E4M3 = 5
  integer(c_int32_t), parameter, public :: MFMA_FMT_E5M2 = 6
  integer(c_int32_t), parameter, public :: MFMA_FMT_E4M3FNUZ = 7
  integer(c_int32_t), parameter, public :: MFMA_FMT_E5M2FNUZ = 8

  integer(c_int32_t), parameter, public :: MFMA_ROUND_NEAREST_EVEN = 0
  integer(c_int32_t), parameter, public :: MFMA_ROUND_TOWARD_ZERO = 1
  integer(c_int32_t), parameter, public :: MFMA_ROUND_DOWN = 2
  integer(c_int32_t), parameter, public :: MFMA_ROUND_UP = 3

  !> A matrix unit. Immutable; released when it goes out of scope. It is not to be copied: pass it on instead.
  type :: mfma_unit
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure :: create => unit_create
    procedure :: create_from_instruction => unit_create_from_instruction
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
  !> results.
  interface mfma_dot_batch
    module procedure dot_batch_8_32
    module procedure dot_batch_16_32
    module procedure dot_batch_32_32
    module procedure dot_batch_8_16
    module procedure dot_batch_16_16
  end interface mfma_dot_batch

  interface
    function c_arch_from_name(name, arch) bind(c, name="mfma_arch_from_name") result(status)
      import :: c_char, c_int32_t
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int32_t), intent(inout) :: arch
      integer(c_int32_t) :: status
    end function c_arch_from_name

    function c_format_from_name(arch, name, format) bind(c, name="mfma_format_from_name") result(status)
      import :: c_char, c_int32_t
      integer(c_int32_t), value :: arch
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int32_t), intent(inout) :: format
      integer(c_int32_t) :: status
    end function c_format_from_name

    pure function c_format_bytes(format) bind(c, name="mfma_format_bytes") result(bytes)
      import :: c_int32_t
      integer(c_int32_t), value :: format
      integer(c_int32_t) :: bytes
    end function c_format_bytes

    function c_gemm_f32(arch, format, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, d, ldd) &
      bind(c, name="mfma_gemm_f32") result(status)
      import :: c_float, c_int32_t, c_int64_t, c_ptr
      integer(c_int32_t), value :: arch, format
      integer(c_int64_t), value :: m, n, k, lda, ldb, ldc, ldd
      real(c_float), value :: alpha, beta
      real(c_float), intent(in) :: a(*), b(*)
      type(c_ptr), value :: c
      real(c_float), intent(inout) :: d(*)
      integer(c_int32_t) :: status
    end function c_gemm_f32

    function c_gemm_f64(arch, format, out_format, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, d, ldd) &
      bind(c, name="mfma_gemm_f64") result(status)
      import :: c_double, c_int32_t, c_int64_t, c_ptr
      integer(c_int32_t), value :: arch, format, out_format
      integer(c_int64_t), value :: m, n, k, lda, ldb, ldc, ldd
      real(c_double), value :: alpha, beta
      real(c_double), intent(in) :: a(*), b(*)
      type(c_ptr), value :: c
      real(c_double), intent(inout) :: d(*)
      integer(c_int32_t) :: status
    end function c_gemm_f64

    function c_model_new(arch, a, b, d, model) bind(c, name="mfma_model_new") result(status)
      import :: c_int32_t, c_ptr
      integer(c_int32_t), value :: arch, a, b, d
      type(c_ptr), intent(inout) :: model
      integer(c_int32_t) :: status
    end function c_model_new

    function c_model_from_instruction(mnemonic, arch, model) bind(c, name="mfma_model_from_instruction") result(status)
      import :: c_char, c_int32_t, c_ptr
      character(kind=c_char), intent(in) :: mnemonic(*)
      integer(c_int32_t), value :: arch
      type(c_ptr), intent(inout) :: model
      integer(c_int32_t) :: status
    end function c_model_from_instruction

    function c_model_formats(model, a, b, d) bind(c, name="mfma_model_formats") result(status)
      import :: c_int32_t, c_ptr
      type(c_ptr), value :: model
      integer(c_int32_t), intent(inout) :: a, b, d
      integer(c_int32_t) :: status
    end function c_model_formats

    subroutine c_model_free(model) bind(c, name="mfma_model_free")
      import :: c_ptr
      type(c_ptr), value :: model
    end subroutine c_model_free

    function c_dot_batch(model, count, k, a, b, c, d) bind(c, name="mfma_dot_batch") result(status)
      import :: c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: model
      integer(c_int64_t), value :: count, k
      type(c_ptr), value :: a, b, c, d
      integer(c_int32_t) :: status
    end function c_dot_batch

    function c_set_num_threads(threads) bind(c, name="mfma_set_num_threads") result(status)
      import :: c_int32_t
      integer(c_int32_t), value :: threads
      integer(c_int32_t) :: status
    end function c_set_num_threads

    function mfma_get_num_threads() bind(c, name="mfma_get_num_threads") result(threads)
      import :: c_int32_t
      integer(c_int32_t) :: threads
    end function mfma_get_num_threads

    function c_last_error() bind(c, name="mfma_last_error") result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function c_last_error

    function c_version() bind(c, name="mfma_version") result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function c_version

    function c_cpu_features() bind(c, name="mfma_cpu_features") result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function c_cpu_features
  end interface

contains

  !> A C string as a Fortran one.
  function fortran_text(pointer) result(text)
    type(c_ptr), intent(in) :: pointer
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: chars(:)
    integer :: i, length
    integer, parameter :: longest = 4096

    call c_f_pointer(pointer, chars, [longest])
    length = 0
    do while (length < longest)
      if (chars(length + 1) == c_null_char) exit
      length = length + 1
    end do
    allocate (character(len=length) :: text)
    do i = 1, length
      text(i:i) = chars(i)
    end do
  end function fortran_text

  !> Message of the last call that failed on this thread.
  function mfma_message() result(text)
    character(len=:), allocatable :: text
    text = fortran_text(c_last_error())
  end function mfma_message

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

    if (present(status)) then
      status = outcome
    else if (outcome /= MFMA_OK) then
      write (error_unit, "(2a)") "mfma: ", mfma_message()
      error stop 1
    end if
  end subroutine deliver

  !> A check that is made here: the status, or the end of the program with `message`.
  subroutine refuse(code, message, status)
    integer(c_int32_t), intent(in) :: code
    character(len=*), intent(in) :: message
    integer(c_int32_t), intent(out), optional :: status

    if (present(status)) then
      status = code
    else
      write (error_unit, "(2a)") "mfma: ", message
      error stop 1
    end if
  end subroutine refuse

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
    if (outcome == MFMA_OK) then
      call self%destroy()
      self%handle = handle
    end if
    call deliver(outcome, status)
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
    if (outcome == MFMA_OK) then
      call self%destroy()
      self%handle = handle
    end if
    call deliver(outcome, status)
  end subroutine unit_create_from_instruction

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

    m = size(a, 1, kind=c_int64_t)
    k = size(a, 2, kind=c_int64_t)
    n = size(b, 2, kind=c_int64_t)
    factor_a = 1
    if (present(alpha)) factor_a = alpha
    factor_c = 0
    if (present(c)) factor_c = 1
    if (present(beta)) factor_c = beta
    c_start = c_null_ptr
    if (size(b, 1, kind=c_int64_t) /= k) then
      call refuse(MFMA_ERR_INVALID_SIZE, "a has another number of columns than b has rows", status)
      return
    end if
    if (size(d, 1, kind=c_int64_t) /= m .or. size(d, 2, kind=c_int64_t) /= n) then
      call refuse(MFMA_ERR_INVALID_SIZE, "d must have the rows of a and the columns of b", status)
      return
    end if
    if (present(c)) then
      if (any(shape(c) /= shape(d))) then
        call refuse(MFMA_ERR_INVALID_SIZE, "c must have the shape of d", status)
        return
      end if
      if (size(c) > 0) c_start = c_loc(c)
    end if
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

    m = size(a, 1, kind=c_int64_t)
    k = size(a, 2, kind=c_int64_t)
    n = size(b, 2, kind=c_int64_t)
    factor_a = 1
    if (present(alpha)) factor_a = alpha
    factor_c = 0
    if (present(c)) factor_c = 1
    if (present(beta)) factor_c = beta
    c_start = c_null_ptr
    if (size(b, 1, kind=c_int64_t) /= k) then
      call refuse(MFMA_ERR_INVALID_SIZE, "a has another number of columns than b has rows", status)
      return
    end if
    if (size(d, 1, kind=c_int64_t) /= m .or. size(d, 2, kind=c_int64_t) /= n) then
      call refuse(MFMA_ERR_INVALID_SIZE, "d must have the rows of a and the columns of b", status)
      return
    end if
    if (present(c)) then
      if (any(shape(c) /= shape(d))) then
        call refuse(MFMA_ERR_INVALID_SIZE, "c must have the shape of d", status)
        return
      end if
      if (size(c) > 0) c_start = c_loc(c)
    end if
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

end module mfma
