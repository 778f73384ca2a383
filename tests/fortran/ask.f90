! The Fortran module's questions: units as black boxes, random validation, explanations, and what is refused.
module callbacks_of_the_test
  use, intrinsic :: iso_fortran_env, only: int32, int64, real64
  use mfma
  implicit none

  !> The unit that stands for hardware, how many dot products it was asked, and after how many it fails.
  type(mfma_unit), save :: hardware
  integer(int64) :: seen = 0, fails = -1

contains

  subroutine gpu(a, b, c, d, outcome)
    integer(int64), intent(in) :: a(:, :), b(:, :), c(:)
    integer(int64), intent(inout) :: d(:)
    integer(int32), intent(inout) :: outcome

    if (fails >= 0 .and. seen >= fails) then
      outcome = 7
      return
    end if
    seen = seen + size(d)
    call mfma_dot_batch(hardware, a, b, c, d)
    ! What is above the format's bits does not matter.
    d = ior(d, ishft(1_int64, 40))
  end subroutine gpu

  function go_on(done) result(more)
    real(real64), intent(in) :: done
    logical :: more

    more = done >= 0 .and. done <= 1
  end function go_on

  function stop_now(done) result(more)
    real(real64), intent(in) :: done
    logical :: more

    more = done < 0
  end function stop_now

end module callbacks_of_the_test

program ask
  use, intrinsic :: iso_fortran_env, only: int16, int32, int64, real64
  use mfma
  use callbacks_of_the_test
  implicit none

  integer(int64), parameter :: one = int(z"3f800000", int64)
  integer :: failures

  failures = 0
  call probes()
  call orders()
  call campaigns()
  call samples()
  call dumps()
  call explanations()
  call differences()
  call features()
  print "(i0, a)", failures, " failures"
  if (failures /= 0) error stop 1

contains

  include "check.inc"

  subroutine refused(status, expected, text)
    integer(int32), intent(in) :: status, expected
    character(len=*), intent(in) :: text

    call check(status == expected .and. index(mfma_message(), text) > 0, text)
  end subroutine refused

  subroutine probes()
    type(mfma_params) :: params
    type(mfma_probe_report) :: report
    type(mfma_capability) :: capability
    type(mfma_unit) :: again
    type(mfma_validate_report) :: same
    integer(int32) :: status
    integer :: i, scheme, observed

    call hardware%create(MFMA_ARCH_CDNA1, MFMA_FMT_BF16, MFMA_FMT_BF16, MFMA_FMT_FP32)
    seen = 0
    fails = -1
    call mfma_probe(gpu, MFMA_FMT_BF16, MFMA_FMT_BF16, MFMA_FMT_FP32, params, report, progress=go_on)
    call check(report%mismatches == 0 .and. report%asked > 1000 .and. report%asked <= seen, "probe")
    call check(params%scheme == MFMA_SCHEME_CORRECT_ROUNDING .and. params%fma == 2, "its features")
    call check(index(report%text, "CDNA1") > 0 .and. index(report%text, new_line("a")) > 0, "its text")
    scheme = 0
    observed = 0
    do i = 1, size(report%findings)
      associate (one => report%findings(i))
        if (one%name == "scheme" .and. one%kind == MFMA_FINDING_FEATURE) scheme = scheme + 1
        if (one%kind == MFMA_FINDING_OBSERVED .and. one%value /= "") observed = observed + 1
        call check((one%kind == MFMA_FINDING_UNDECIDED) .eqv. (one%values /= ""), "an undecided finding")
      end associate
    end do
    call check(scheme == 1 .and. observed > 3, "its findings")
    call check(size(report%units) >= 1, "its units")
    call mfma_capability_get(report%units(1), capability)
    call check(capability%arch == MFMA_ARCH_CDNA1 .and. capability%a == MFMA_FMT_BF16, "the unit that it found")
    call check(mfma_arch_name(capability%arch) == "CDNA1" .and. mfma_format_name(capability%a) == "bf16", "names")
    call check(len(capability%source) > 0 .and. index(capability%instruction, "mfma") > 0, "texts of a unit")
    call again%create_from_params(params, MFMA_FMT_BF16, MFMA_FMT_BF16, MFMA_FMT_FP32)
    call mfma_validate(again, 5000_int64, same, other=hardware)
    call check(same%mismatches == 0 .and. same%cases == 5000, "the parameters compute the same")

    report%asked = 99
    fails = 300
    seen = 0
    call mfma_probe(gpu, MFMA_FMT_BF16, MFMA_FMT_BF16, MFMA_FMT_FP32, params, report, status=status)
    call refused(status, MFMA_ERR_CANCELLED, "returned 7")
    fails = -1
    call mfma_probe(gpu, MFMA_FMT_BF16, MFMA_FMT_BF16, MFMA_FMT_FP32, params, report, progress=stop_now, status=status)
    call refused(status, MFMA_ERR_CANCELLED, "cancelled")
    call mfma_probe(gpu, MFMA_FMT_BF16, 99, MFMA_FMT_FP32, params, report, status=status)
    call refused(status, MFMA_ERR_UNKNOWN_FORMAT, "b is 99")
    call mfma_probe(gpu, MFMA_FMT_BF16, MFMA_FMT_BF16, MFMA_FMT_FP32, params, report, k=3_int64, status=status)
    call refused(status, MFMA_ERR_INVALID_ARGUMENT, "k is 3")
    call mfma_probe(gpu, MFMA_FMT_BF16, MFMA_FMT_BF16, MFMA_FMT_FP32, params, report, vectors=5_int64, status=status)
    call refused(status, MFMA_ERR_INVALID_ARGUMENT, "vectors is 5")
    call check(report%asked == 99, "the report is untouched")
  end subroutine probes

  subroutine orders()
    character(len=:), allocatable :: text
    integer(int32) :: status

    call hardware%create(MFMA_ARCH_CDNA2, MFMA_FMT_FP16, MFMA_FMT_FP16, MFMA_FMT_FP32)
    call mfma_summation_order(gpu, MFMA_FMT_FP16, MFMA_FMT_FP16, MFMA_FMT_FP32, 4_int64, text)
    call check(text == "(c + ((p1 + p2) + (p3 + p4)))", "order of addition")
    call mfma_summation_order(gpu, MFMA_FMT_FP16, MFMA_FMT_FP16, MFMA_FMT_FP32, 65_int64, text, status)
    call refused(status, MFMA_ERR_INVALID_ARGUMENT, "n is 65")
    call check(len(text) == 29, "the text is untouched")
  end subroutine orders

  subroutine campaigns()
    type(mfma_unit) :: unit, other, nothing
    type(mfma_validate_report) :: report
    integer(int64) :: a(16, 1), b(16, 1), c(1), d(1), k
    integer(int32) :: status
    real(real64) :: bound

    call unit%create(MFMA_ARCH_CDNA3, MFMA_FMT_FP16, MFMA_FMT_FP16, MFMA_FMT_FP32)
    call other%create(MFMA_ARCH_CDNA1, MFMA_FMT_FP16, MFMA_FMT_FP16, MFMA_FMT_FP32)
    call mfma_validate(unit, 20000_int64, report, threads=1)
    call check(report%cases == 20000 .and. report%mismatches == 0 .and. report%next == 20000, "kernels and algorithms")
    call check(report%bound > 6.9e-4_real64 .and. report%bound < 6.91e-4_real64 .and. size(report%indices) == 0, "bound")
    ! A mismatch's inputs come back from its number.
    call mfma_validate(unit, 20000_int64, report, other=other, seed=5_int64, first=100_int64, keep=4_int64, sampler="directed")
    call check(report%mismatches > 4 .and. size(report%indices) == 4 .and. report%next == 20100, "two units")
    call mfma_sample_length(unit, k)
    call check(k == 16, "length")
    call mfma_sample(unit, a, b, c, sampler="directed", seed=5_int64, first=report%indices(4))
    call mfma_dot_batch(unit, a, b, c, d)
    call check(d(1) == report%expected(4), "the unit's result")
    call mfma_dot_batch(other, a, b, c, d)
    call check(d(1) == report%got(4) .and. d(1) /= report%expected(4), "the other one's result")
    call mfma_validate(unit, 20000_int64, report, other=other, stop_after=2_int64, k=3_int64)
    call check(report%mismatches == 2 .and. abs(report%bound - 1) <= 0, "an end after two")
    ! A black box.
    call hardware%create(MFMA_ARCH_CDNA1, MFMA_FMT_FP16, MFMA_FMT_FP16, MFMA_FMT_FP32)
    seen = 0
    call mfma_validate(other, 10000_int64, report, black_box=gpu, progress=go_on)
    call check(report%cases == 10000 .and. report%mismatches == 0 .and. seen == 10000, "a black box")
    fails = 5000
    seen = 0
    report%cases = 99
    call mfma_validate(other, 100000_int64, report, black_box=gpu, status=status)
    call refused(status, MFMA_ERR_CANCELLED, "black box returned 7")
    call check(report%cases == 99, "no report of a black box that fails")
    fails = -1
    ! A campaign that is cancelled has a report.
    call mfma_validate(unit, 2_int64**40, report, progress=stop_now, status=status)
    call refused(status, MFMA_ERR_CANCELLED, "cancelled after")
    call check(report%cases >= 0 .and. report%cases < 2_int64**40 .and. report%next == report%cases, "report")

    call mfma_validate(unit, -1_int64, report, status=status)
    call refused(status, MFMA_ERR_INVALID_ARGUMENT, "count is -1")
    call mfma_validate(unit, 10_int64, report, sampler="nice", status=status)
    call refused(status, MFMA_ERR_INVALID_ARGUMENT, "unknown sampler 'nice'")
    call mfma_validate(unit, 10_int64, report, keep=-1_int64, status=status)
    call refused(status, MFMA_ERR_INVALID_ARGUMENT, "keep must be")
    call mfma_validate(unit, 10_int64, report, other=nothing, status=status)
    call refused(status, MFMA_ERR_NULL_POINTER, "other")
    call mfma_validate(nothing, 10_int64, report, status=status)
    call refused(status, MFMA_ERR_NULL_POINTER, "model")
    call mfma_validate(unit, 10_int64, report, other=other, black_box=gpu, status=status)
    call refused(status, MFMA_ERR_INVALID_ARGUMENT, "one of them")
    call mfma_mismatch_bound(2_int64, 1_int64, 0.5_real64, bound)
    call check(abs(bound - 0.5_real64) < 1e-7_real64, "mismatch bound")
    call mfma_mismatch_bound(2_int64, 3_int64, 0.5_real64, bound, status)
    call refused(status, MFMA_ERR_INVALID_ARGUMENT, "mismatches is 3")
  end subroutine campaigns

  subroutine samples()
    type(mfma_unit) :: unit
    integer(int64) :: a(2, 2), b(2, 2), c(2), none(0)
    integer(int32) :: i, status

    call unit%create(MFMA_ARCH_CDNA3, MFMA_FMT_FP16, MFMA_FMT_FP16, MFMA_FMT_FP32)
    call mfma_sample(unit, a, b, c, sampler="exponent-mantissa")
    ! As MATLAB's rng(0) has them.
    call check(all(a(:, 1) == [int(z"667d", int64), int(z"129c", int64)]) .and. c(1) == int(z"7a6e05de", int64), "sample")
    call mfma_sample(unit, a(:, 1:0), b(:, 1:0), none)
    call mfma_sample(unit, a, b(:, 1:1), c, status=status)
    call refused(status, MFMA_ERR_INVALID_SIZE, "(k, count)")
    i = 0
    do while (mfma_sampler_name(i) /= "")
      i = i + 1
    end do
    call check(i >= 16 .and. mfma_sampler_name(0) == "exponent-mantissa", "samplers")
  end subroutine samples

  subroutine dumps()
    type(mfma_unit) :: unit
    type(mfma_validate_report) :: report
    character(len=256) :: path
    integer(int32) :: status
    integer :: file

    call get_command_argument(1, path)
    call unit%create(MFMA_ARCH_CDNA3, MFMA_FMT_FP16, MFMA_FMT_FP16, MFMA_FMT_FP32)
    open (newunit=file, file=path, action="write", status="replace")
    write (file, "(a)") "2 a=3c00,3c00 b=3c00,4000 c=00000000 d=40400000", "1 a=3c00 b=3c00 c=00000000 d=00000005"
    close (file)
    call mfma_compare_dump(unit, path, report, keep=1_int64)
    call check(report%cases == 2 .and. report%mismatches == 1, "dump")
    call check(report%indices(1) == 1 .and. report%got(1) == 5 .and. report%expected(1) == one, "its mismatch")
    open (newunit=file, file=path, status="old")
    close (file, status="delete")
    call mfma_compare_dump(unit, path, report, status=status)
    call refused(status, MFMA_ERR_IO, trim(path))
    call mfma_compare_dump(unit, path, report, keep=2_int64**21, status=status)
    call refused(status, MFMA_ERR_INVALID_ARGUMENT, "keep must be")
  end subroutine dumps

  subroutine explanations()
    type(mfma_unit) :: unit, nothing
    type(mfma_step), allocatable :: steps(:)
    character(len=:), allocatable :: text
    !> Sign-extended 16-bit integers do as well.
    integer(int64), parameter :: a(2) = [int(-29696_int16, int64), int(z"8be0", int64)]
    integer(int64), parameter :: b(2) = [int(z"0c00", int64), int(z"0800", int64)]
    integer(int64) :: none(0)
    integer(int32) :: status

    call unit%create(MFMA_ARCH_CDNA3, MFMA_FMT_FP16, MFMA_FMT_FP16, MFMA_FMT_FP32)
    call mfma_explain(unit, a, b, one, text)
    call check(index(text, "3f7fffff") > 0 .and. text(len(text):) == new_line("a"), "text")
    call mfma_explain_steps(unit, a, b, one, steps)
    call check(count(steps%kind == "product") == 2 .and. steps(1)%kind == "block" .and. steps(1)%block == 1, "steps")
    call check(any(steps%lost < 0 .or. steps%lost > 0), "what they lost")
    associate (last => steps(size(steps)))
      call check(last%kind == "result" .and. last%item == "d" .and. last%has_bits, "the last step")
      call check(last%bits == int(z"3f7fffff", int64) .and. last%exponent == MFMA_NONE .and. last%text /= "", "its result")
    end associate
    call mfma_explain_steps(unit, none, none, one, steps)
    call check(steps(size(steps))%bits == one, "no products")
    text = "untouched"
    call mfma_explain(unit, a, b(:1), one, text, status)
    call refused(status, MFMA_ERR_INVALID_SIZE, "the same length")
    call mfma_explain(nothing, a, b, one, text, status)
    call refused(status, MFMA_ERR_NULL_POINTER, "model")
    call mfma_explain_steps(nothing, a, b, one, steps, status)
    call refused(status, MFMA_ERR_NULL_POINTER, "model")
    call check(text == "untouched", "text on failure")
  end subroutine explanations

  subroutine differences()
    type(mfma_unit) :: volta, hopper, bf16, almost
    type(mfma_params) :: params
    type(mfma_cause), allocatable :: causes(:)
    integer(int64), allocatable :: a(:), b(:), again(:)
    integer(int64) :: c, differing, x(1), y(1)
    integer(int32) :: status
    logical :: found

    call volta%create(MFMA_ARCH_VOLTA, MFMA_FMT_FP16, MFMA_FMT_FP16, MFMA_FMT_FP32)
    call hopper%create(MFMA_ARCH_HOPPER, MFMA_FMT_FP16, MFMA_FMT_FP16, MFMA_FMT_FP32)
    call bf16%create(MFMA_ARCH_HOPPER, MFMA_FMT_BF16, MFMA_FMT_BF16, MFMA_FMT_FP32)
    call mfma_separate(volta, hopper, a, b, c, found)
    call check(found .and. size(a) > 0 .and. size(a) == size(b), "separate")
    call mfma_dot_batch(volta, reshape(a, [size(a), 1]), reshape(b, [size(a), 1]), [c], x)
    call mfma_dot_batch(hopper, reshape(a, [size(a), 1]), reshape(b, [size(a), 1]), [c], y)
    call check(x(1) /= y(1), "the results that are apart")
    call mfma_attribute(volta, hopper, reshape(a, [size(a), 1]), reshape(b, [size(a), 1]), [c], causes, differing)
    call check(differing == 1 .and. size(causes) >= 1 .and. causes(1)%first == 1, "attribute")
    allocate (again(size(a)))
    again = a
    call mfma_separate(volta, hopper, a, b, c, found, seed=1_int64)
    call check(all(again == a), "one seed gives one case")
    call mfma_separate(hopper, hopper, a, b, c, found)
    call check(.not. found .and. all(again == a), "a unit and itself")
    ! One feature apart: that one is named; 1 + 1, and 1 - 2^-24.
    call hopper%get_params(params)
    params%alignment_bits = 23
    call almost%create_from_params(params, MFMA_FMT_FP16, MFMA_FMT_FP16, MFMA_FMT_FP32)
    call mfma_attribute(hopper, almost, reshape([int(z"3c00", int64), int(z"8c00", int64)], [1, 2]), &
      reshape([int(z"3c00", int64), int(z"0c00", int64)], [1, 2]), [one, one], causes, differing)
    call check(differing == 1 .and. size(causes) == 1, "one feature apart")
    call check(causes(1)%features == "alignment_bits" .and. causes(1)%first == 2 .and. causes(1)%cases == 1, "its name")
    call mfma_attribute(hopper, bf16, reshape(a, [1, size(a)]), reshape(b, [1, size(a)]), spread(one, 1, size(a)), causes, &
      differing, status)
    call refused(status, MFMA_ERR_INVALID_ARGUMENT, "formats")
    call mfma_separate(hopper, bf16, a, b, c, found, status=status)
    call refused(status, MFMA_ERR_INVALID_ARGUMENT, "formats")
    call mfma_attribute(hopper, almost, reshape(a, [1, size(a)]), reshape(b, [1, size(a)]), [one, one, one, one], causes, &
      differing, status)
    call check((status == MFMA_OK) .eqv. (size(a) == 4), "cases without c")
    call check(size(causes) == 1 .or. size(a) == 4, "causes on failure")
  end subroutine differences

  subroutine features()
    type(mfma_params) :: params, same
    type(mfma_capability) :: capability
    type(mfma_unit) :: unit
    integer(int32) :: status

    call mfma_params_default(params)
    call check(params%fma == 8 .and. params%scheme == MFMA_SCHEME_GLOBAL_ALIGNMENT, "default features")
    call mfma_params_from_arch(MFMA_ARCH_CDNA3, MFMA_FMT_FP16, MFMA_FMT_FP16, MFMA_FMT_FP32, params)
    call check(params%late_sum_bits == 32 .and. params%late_c == 1, "features of CDNA 3")
    call unit%create(MFMA_ARCH_CDNA3, MFMA_FMT_FP16, MFMA_FMT_FP16, MFMA_FMT_FP32)
    call unit%get_params(same)
    call check(same%late_sum_bits == 32 .and. same%conventions == params%conventions, "features of a unit")
    params%fma = 0
    call unit%create_from_params(params, MFMA_FMT_FP16, MFMA_FMT_FP16, MFMA_FMT_FP32, status)
    call refused(status, MFMA_ERR_INVALID_PARAMS, "fma")
    call check(mfma_capability_count() > 50, "catalogue")
    call mfma_capability_get(mfma_capability_count(), capability, status)
    call check(status == MFMA_ERR_INVALID_ARGUMENT .and. .not. allocated(capability%source), "behind the catalogue")
    call mfma_capability_params(0_int64, params)
    call check(params%fma >= 1, "features of the first unit")
    call check(mfma_arch_name(99) == "" .and. mfma_format_name(-1) == "", "no such names")
  end subroutine features

end program ask
