// mfma for C++17: probes of black boxes, random validation, explanations. Part of mfma.hpp, which includes it.
#ifndef MFMA_ASK_HPP
#define MFMA_ASK_HPP

#include "mfma.hpp"

#include <cstring>
#include <optional>

namespace mfma {

/// A unit to ask: it computes `count` dot products of length `k` on encodings as dot_batch does, from a, b and c to d. What it
/// throws reaches the caller.
using black_box = std::function<void(std::int64_t count, std::int64_t k, const void *a, const void *b, const void *c, void *d)>;

namespace detail {
struct asked {
    const black_box *function;
    std::exception_ptr thrown;
    const std::function<bool(double)> *progress = nullptr;
    bool stopped = false;

    /// A function to ask.
    static asked of(const black_box &unit)
    {
        if (!unit)
            throw error(MFMA_ERR_INVALID_ARGUMENT, "unit is an empty function; it must be one that can be called");
        return asked{&unit, nullptr};
    }

    static std::int32_t call(std::int64_t count, std::int64_t k, const void *a, const void *b, const void *c, void *d,
                             void *user) noexcept
    {
        asked *self = static_cast<asked *>(user);
        try {
            (*self->function)(count, k, a, b, c, d);
            return 0;
        } catch (...) {
            self->thrown = std::current_exception();
            return 1;
        }
    }
    static std::int32_t tell(double done, void *user) noexcept
    {
        asked *self = static_cast<asked *>(user);
        try {
            self->stopped = !(*self->progress)(done);
            return self->stopped;
        } catch (...) {
            self->thrown = std::current_exception();
            return 1;
        }
    }
    /// Has the library's call watched, if there is a function to watch with.
    template <class Args>
    void watch(Args &args, const std::function<bool(double)> &function)
    {
        if (!function)
            return;
        progress = &function;
        args.progress = tell, args.progress_user = this;
    }
    /// Throws what a callback has thrown, else unless the status is MFMA_OK.
    void finish(mfma_status status) const
    {
        if (thrown)
            std::rethrow_exception(thrown);
        check(status);
    }
    /// The same where an end that `progress` asked for leaves something to return.
    void finish_part(mfma_status status) const { finish(stopped && status == MFMA_ERR_CANCELLED ? MFMA_OK : status); }
};

template <class TA, class TB, class TC>
void check_elements(const model &unit)
{
    static_assert(std::is_unsigned_v<TA> && std::is_unsigned_v<TB> && std::is_unsigned_v<TC>,
                  "elements are unsigned integers that hold encodings");
    if (sizeof(TA) != unit.a().bytes() || sizeof(TB) != unit.b().bytes() || sizeof(TC) != unit.d().bytes())
        throw error(MFMA_ERR_INVALID_ARGUMENT, "the elements do not have the size of the unit's formats");
}

template <class TA, class TB, class TC>
void check_case(const model &unit, span<TA> a, span<TB> b, TC)
{
    check_elements<TA, TB, TC>(unit);
    if (a.size() != b.size())
        throw error(MFMA_ERR_INVALID_SIZE, "a and b have different lengths, " + std::to_string(a.size()) + " and " +
                                               std::to_string(b.size()));
}

/// Throws unless a and b hold `count` vectors of length `k`.
inline void check_room(std::size_t a, std::size_t b, std::size_t count, std::int64_t k)
{
    if (k < 0)
        throw error(MFMA_ERR_INVALID_SIZE, "k is negative");
    const auto length = static_cast<std::size_t>(k);
    if (length != 0 && (count > a / length || count > b / length))
        throw error(MFMA_ERR_INVALID_SIZE, "a (" + std::to_string(a) + ") or b (" + std::to_string(b) +
                                               ") has fewer elements than " + std::to_string(count) +
                                               " vectors of length " + std::to_string(k));
}
} // namespace detail

/// How a unit is probed; see mfma_probe_args. Starts as the default.
struct probe_args : mfma_probe_args {
    probe_args() : mfma_probe_args{}
    {
        size = sizeof(mfma_probe_args);
        check(mfma_probe_args_default(this));
    }
    probe_args(format in_a, format in_b, format out) : probe_args()
    {
        a = in_a.code(), b = in_b.code(), d = out.code();
    }
};

/// What a unit is.
struct probed {
    /// Features that give every answer; the nearest where report.mismatches is not 0.
    params features;
    mfma_probe_report report{};
    /// The findings as text, and one by one.
    std::string text;
    std::vector<mfma_finding> findings;
    /// Places in capabilities() of the units that give every answer.
    std::vector<std::int64_t> units;
};

/// Finds the features of a unit from its answers alone. `progress` is told how much of the longest search is done, and returns
/// whether to go on; what it throws reaches the caller.
inline probed probe(const black_box &unit, probe_args args = {}, const std::function<bool(double)> &progress = {})
{
    probed found;
    detail::asked asked = detail::asked::of(unit);
    asked.watch(args, progress);
    found.report.size = sizeof found.report;
    found.text.resize(std::size_t{1} << 16);
    found.findings.resize(100);
    found.units.resize(static_cast<std::size_t>(mfma_capability_count()));
    args.black_box = detail::asked::call, args.black_box_user = &asked;
    args.text = found.text.data(), args.text_size = found.text.size();
    args.units = found.units.data(), args.units_size = static_cast<std::int64_t>(found.units.size());
    args.findings = found.findings.data(), args.finding_size = sizeof(mfma_finding);
    args.findings_size = static_cast<std::int64_t>(found.findings.size());
    asked.finish(mfma_probe(&args, &found.features, &found.report));
    found.text.resize(found.text.find('\0'));
    found.units.resize(static_cast<std::size_t>(found.report.units));
    found.findings.resize(static_cast<std::size_t>(found.report.findings));
    return found;
}

/// In which order a unit adds `n` products (2 to 64) and c: a text such as "((c + p1) + p2)". Sums of two are in parentheses, sums
/// of several terms in brackets, or in braces where nothing is lost between the terms.
inline std::string summation_order(const black_box &unit, std::int64_t n, probe_args args = {})
{
    detail::asked asked = detail::asked::of(unit);
    std::size_t size = 0;
    // Sixty-four products with their brackets take less than 700.
    std::string text(4096, '\0');
    args.black_box = detail::asked::call, args.black_box_user = &asked;
    asked.finish(mfma_summation_order(&args, n, text.data(), text.size(), &size));
    text.resize(size - 1);
    return text;
}

/// One dot product step by step, as text. The elements are encodings.
template <class TA, class TB, class TC>
std::string explain(const model &unit, span<TA> a, span<TB> b, TC c)
{
    detail::check_case(unit, a, b, c);
    const auto k = static_cast<std::int64_t>(a.size());
    std::size_t size = 0;
    check(mfma_explain(unit.get(), k, a.data(), b.data(), &c, nullptr, 0, &size));
    std::string text(size, '\0');
    check(mfma_explain(unit.get(), k, a.data(), b.data(), &c, text.data(), size, nullptr));
    text.resize(size - 1);
    return text;
}

/// The same as numbers.
template <class TA, class TB, class TC>
std::vector<mfma_step> explain_steps(const model &unit, span<TA> a, span<TB> b, TC c)
{
    detail::check_case(unit, a, b, c);
    const auto k = static_cast<std::int64_t>(a.size());
    std::int64_t count = 0;
    check(mfma_explain_steps(unit.get(), k, a.data(), b.data(), &c, 0, 0, nullptr, &count));
    std::vector<mfma_step> steps(static_cast<std::size_t>(count));
    check(mfma_explain_steps(unit.get(), k, a.data(), b.data(), &c, count, sizeof(mfma_step), steps.data(), &count));
    return steps;
}

/// Why two units differ.
struct attribution {
    /// On how many cases.
    std::int64_t differing = 0;
    /// What is to blame, the most frequent first.
    std::vector<mfma_cause> causes;
};

/// Names the features that make two units of the same formats differ on c.size() cases, laid out as for dot_batch: features of `x`
/// are switched to what `y` has, one at a time, then two, then three, until the result of `y` comes out.
template <class TA, class TB, class TC>
attribution attribute(const model &x, const model &y, std::int64_t k, span<TA> a, span<TB> b, span<TC> c)
{
    detail::check_elements<TA, TB, TC>(x);
    detail::check_room(a.size(), b.size(), c.size(), k);
    attribution result;
    std::int64_t found = 0;
    result.causes.resize(1000);
    check(mfma_attribute(x.get(), y.get(), static_cast<std::int64_t>(c.size()), k, a.data(), b.data(), c.data(),
                         static_cast<std::int64_t>(result.causes.size()), sizeof(mfma_cause), result.causes.data(), &found,
                         &result.differing));
    if (static_cast<std::size_t>(found) < result.causes.size())
        result.causes.resize(static_cast<std::size_t>(found));
    return result;
}

/// A dot product in encodings.
template <class TA, class TB, class TC>
struct dot_case {
    std::vector<TA> a;
    std::vector<TB> b;
    TC c{};
};

/// Searches for a short dot product on which two units of the same formats differ, such as separate<std::uint16_t>(x, y) for
/// 16-bit inputs and 32-bit results; one seed always gives the same one. Empty if none was found, as when the units are the same.
template <class TA, class TB = TA, class TC = std::uint32_t>
std::optional<dot_case<TA, TB, TC>> separate(const model &x, const model &y, std::uint64_t seed = 1)
{
    detail::check_elements<TA, TB, TC>(x);
    dot_case<TA, TB, TC> found;
    std::int64_t room = 4096, k = 0;
    for (;;) {
        found.a.resize(static_cast<std::size_t>(room)), found.b.resize(static_cast<std::size_t>(room));
        check(mfma_separate(x.get(), y.get(), seed, room, found.a.data(), found.b.data(), &found.c, &k));
        if (k < 0)
            return std::nullopt;
        if (k <= room)
            break;
        room = k;
    }
    found.a.resize(static_cast<std::size_t>(k)), found.b.resize(static_cast<std::size_t>(k));
    return found;
}

namespace detail {
/// `count` raw elements as numbers, in the byte order of this machine.
inline std::vector<std::uint64_t> numbers(const std::vector<unsigned char> &raw, std::size_t count, std::size_t bytes)
{
    std::vector<std::uint64_t> result(count);
    for (std::size_t i = 0; i < count; i++) {
        const unsigned char *from = raw.data() + i * bytes;
        std::uint8_t one = 0;
        std::uint16_t two = 0;
        std::uint32_t four = 0;
        switch (bytes) {
        case 1: std::memcpy(&one, from, 1), result[i] = one; break;
        case 2: std::memcpy(&two, from, 2), result[i] = two; break;
        case 4: std::memcpy(&four, from, 4), result[i] = four; break;
        default: std::memcpy(&result[i], from, 8);
        }
    }
    return result;
}
} // namespace detail

/// A campaign of random cases; see mfma_validate_args. Starts as the default.
struct campaign : mfma_validate_args {
    /// `unit` must live as long as the campaign.
    campaign(const mfma::model &unit, std::int64_t cases) : mfma_validate_args{}
    {
        size = sizeof(mfma_validate_args);
        check(mfma_validate_args_default(this));
        model = unit.get();
        count = cases;
    }
};

/// A campaign's report, and its first mismatches, `keep` of them at most.
struct validated : mfma_validate_report {
    validated() : mfma_validate_report{} { size = sizeof(mfma_validate_report); }

    /// Numbers of the cases; sample() gives their inputs.
    std::vector<std::int64_t> indices;
    /// Encodings that the unit and the other side give.
    std::vector<std::uint64_t> expected, got;
};

namespace detail {
/// Runs a comparison with room for the mismatches that the campaign keeps, unless the caller has room of its own.
template <class Run>
validated compared(campaign how, Run run)
{
    validated result;
    mfma_format formats[3];
    check(mfma_model_formats(how.model, &formats[0], &formats[1], &formats[2]));
    const std::size_t bytes = format(formats[2]).bytes();
    const bool keeps = how.keep > 0 && how.keep <= (std::int64_t{1} << 20) && !how.indices && !how.expected && !how.got;
    const std::size_t room = keeps ? static_cast<std::size_t>(how.keep) : 0;
    std::vector<unsigned char> expected(room * bytes), got(room * bytes);
    result.indices.resize(room);
    if (keeps)
        how.indices = result.indices.data(), how.expected = expected.data(), how.got = got.data();
    run(how, result);
    const std::size_t kept = keeps ? static_cast<std::size_t>(result.kept) : 0;
    result.indices.resize(kept);
    result.expected = numbers(expected, kept, bytes);
    result.got = numbers(got, kept, bytes);
    return result;
}
} // namespace detail

/// Compares the campaign's unit with its `other` one, or with the paper's algorithms. `progress` is told the part that is done and
/// returns whether to go on; if not, the report covers the cases up to then. What callbacks throw reaches the caller.
inline validated validate(const campaign &how, const std::function<bool(double)> &progress = {})
{
    return detail::compared(how, [&](campaign args, validated &result) {
        detail::asked asked{nullptr, nullptr};
        asked.watch(args, progress);
        asked.finish_part(mfma_validate(&args, &result));
    });
}

/// Compares the campaign's unit with a black box.
inline validated validate(const campaign &how, const black_box &unit, const std::function<bool(double)> &progress = {})
{
    return detail::compared(how, [&](campaign args, validated &result) {
        detail::asked asked = detail::asked::of(unit);
        args.black_box = detail::asked::call, args.black_box_user = &asked;
        asked.watch(args, progress);
        asked.finish_part(mfma_validate(&args, &result));
    });
}

/// Compares a dump of inputs and results (a file of test vectors, a binary dump, or a folder as MATLAB Tensor Core has them; UTF-8)
/// with the campaign's unit. The campaign's `count` and sampler play no part.
inline validated compare_dump(const campaign &how, const std::string &path, const std::function<bool(double)> &progress = {})
{
    return detail::compared(how, [&](campaign args, validated &result) {
        detail::asked asked{nullptr, nullptr};
        asked.watch(args, progress);
        asked.finish_part(mfma_compare_dump(&args, path.c_str(), &result));
    });
}

/// The length at which the paper tests a unit.
inline std::int64_t sample_length(const model &unit)
{
    std::int64_t k = 0;
    check(mfma_sample_length(unit.get(), &k));
    return k;
}

/// Inputs of c.size() cases of a campaign from number `first`, of length `k`, laid out as for dot_batch.
template <class TA, class TB, class TC>
void sample(const model &unit, std::int64_t k, span<TA> a, span<TB> b, span<TC> c, const std::string &sampler = "all",
            std::uint64_t seed = 0, std::int64_t first = 0)
{
    detail::check_elements<TA, TB, TC>(unit);
    detail::check_room(a.size(), b.size(), c.size(), k);
    check(mfma_sample(unit.get(), sampler.c_str(), seed, first, static_cast<std::int64_t>(c.size()), k, a.data(), b.data(),
                      c.data()));
}

/// After `cases` random cases with `mismatches` mismatches, the probability of a mismatch is at most this with probability
/// 1 - epsilon (paper, section 5.4).
inline double mismatch_bound(std::int64_t cases, std::int64_t mismatches, double epsilon = 1e-6)
{
    double bound = 1;
    check(mfma_mismatch_bound(cases, mismatches, epsilon, &bound));
    return bound;
}

} // namespace mfma

#endif
