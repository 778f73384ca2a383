// mfma for C++17: handles that release themselves, exceptions with code and message, spans instead of pointers.
//
// Everything is inline over mfma.h; probes, validation and explanations are in mfma_ask.hpp, which this file includes. Matrices are column-major with a leading dimension, unless order says otherwise.
#ifndef MFMA_HPP
#define MFMA_HPP

#include <mfma.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace mfma {

/// A call that failed: its status, and the message that names the argument and says what is allowed.
class error : public std::runtime_error {
public:
    explicit error(mfma_status status) : error(status, mfma_last_error()) {}
    error(mfma_status status, const std::string &message) : std::runtime_error(message), status_(status) {}

    /// MFMA_ERR_*.
    mfma_status status() const noexcept { return status_; }
    /// What the status means in general.
    const char *kind() const noexcept { return mfma_status_string(status_); }

private:
    mfma_status status_;
};

/// Throws unless the status is MFMA_OK.
inline void check(mfma_status status)
{
    if (status != MFMA_OK)
        throw error(status);
}

/// An architecture by its name, a GPU's or its code.
class arch {
public:
    arch(mfma_arch code) : code_(code) {}
    arch(const char *name) { check(mfma_arch_from_name(name, &code_)); }
    arch(const std::string &name) : arch(name.c_str()) {}

    mfma_arch code() const noexcept { return code_; }
    /// Throws if there is no such architecture.
    std::string name() const
    {
        const char *name = mfma_arch_name(code_);
        if (name == nullptr)
            throw error(MFMA_ERR_UNKNOWN_ARCH, "no architecture has code " + std::to_string(code_));
        return name;
    }
    friend bool operator==(arch x, arch y) noexcept { return x.code_ == y.code_; }
    friend bool operator!=(arch x, arch y) noexcept { return x.code_ != y.code_; }

private:
    mfma_arch code_ = -1;
};

/// A format by its name on an architecture, or its code.
class format {
public:
    format(mfma_format code) : code_(code) {}
    format(arch on, const std::string &name) { check(mfma_format_from_name(on.code(), name.c_str(), &code_)); }

    mfma_format code() const noexcept { return code_; }
    /// Bytes of one raw element; 0 if there is no such format.
    std::size_t bytes() const noexcept { return static_cast<std::size_t>(mfma_format_bytes(code_)); }
    /// Throws if there is no such format.
    std::string name() const
    {
        const char *name = mfma_format_name(code_);
        if (name == nullptr)
            throw error(MFMA_ERR_UNKNOWN_FORMAT, "no format has code " + std::to_string(code_));
        return name;
    }
    friend bool operator==(format x, format y) noexcept { return x.code_ == y.code_; }
    friend bool operator!=(format x, format y) noexcept { return x.code_ != y.code_; }

private:
    mfma_format code_ = -1;
};

/// A run of elements that somebody else owns; made from vectors, arrays, or pointer and length.
template <class T>
class span {
public:
    constexpr span() noexcept = default;
    constexpr span(T *data, std::size_t size) noexcept : data_(data), size_(size) {}
    template <std::size_t N>
    constexpr span(T (&array)[N]) noexcept : data_(array), size_(N) {}
    template <class C, class = std::enable_if_t<std::is_convertible_v<decltype(std::declval<C &>().data()), T *>>>
    constexpr span(C &&container) noexcept : data_(container.data()), size_(container.size()) {}

    constexpr T *data() const noexcept { return data_; }
    constexpr std::size_t size() const noexcept { return size_; }
    constexpr T *begin() const noexcept { return data_; }
    constexpr T *end() const noexcept { return data_ + size_; }
    constexpr T &operator[](std::size_t i) const noexcept { return data_[i]; }

private:
    T *data_ = nullptr;
    std::size_t size_ = 0;
};

/// The features of a unit; see mfma_params. Starts as the default.
struct params : mfma_params {
    params() : mfma_params{}
    {
        size = sizeof(mfma_params);
        check(mfma_params_default(this));
    }
    /// The features of a unit of the catalogue.
    params(arch on, format a, format b, format d) : mfma_params{}
    {
        size = sizeof(mfma_params);
        check(mfma_params_from_arch(on.code(), a.code(), b.code(), d.code(), this));
    }
};

/// A matrix unit. Immutable; copies share it, and any number of threads may use one.
class model {
public:
    model(arch on, format a, format b, format d)
    {
        mfma_model *handle = nullptr;
        check(mfma_model_new(on.code(), a.code(), b.code(), d.code(), &handle));
        take(handle);
    }
    /// Both inputs of one format, names as `on` means them: model("MI300X", "fp16") gives fp32.
    model(arch on, const std::string &inputs, const std::string &output = "fp32")
        : model(on, format(on, inputs), format(on, inputs), format(on, output))
    {
    }
    /// A custom unit.
    model(const mfma_params &features, format a, format b, format d)
    {
        mfma_model *handle = nullptr;
        check(mfma_model_from_params(&features, a.code(), b.code(), d.code(), &handle));
        take(handle);
    }
    /// The unit that an instruction runs on.
    static model from_instruction(const std::string &mnemonic, arch on)
    {
        mfma_model *handle = nullptr;
        check(mfma_model_from_instruction(mnemonic.c_str(), on.code(), &handle));
        return model(handle);
    }

    const mfma_model *get() const noexcept { return handle_.get(); }

    /// The unit's features.
    params features() const
    {
        params result;
        check(mfma_model_params(get(), &result));
        return result;
    }

    /// Format of A's elements.
    format a() const { return formats(0); }
    /// Format of B's elements.
    format b() const { return formats(1); }
    /// Format of C and D.
    format d() const { return formats(2); }

private:
    mfma_format formats(int which) const
    {
        mfma_format codes[3];
        check(mfma_model_formats(get(), &codes[0], &codes[1], &codes[2]));
        return codes[which];
    }
    explicit model(mfma_model *handle) { take(handle); }
    void take(mfma_model *handle) { handle_ = std::shared_ptr<const mfma_model>(handle, release); }
    static void release(const mfma_model *handle) { mfma_model_free(const_cast<mfma_model *>(handle)); }

    std::shared_ptr<const mfma_model> handle_;
};

namespace detail {
/// "2 x 3", for messages.
inline std::string by(std::int64_t rows, std::int64_t cols)
{
    return std::to_string(rows) + " x " + std::to_string(cols);
}

template <class T>
constexpr std::int32_t storage()
{
    using element = std::remove_const_t<T>;
    static_assert(std::is_same_v<element, float> || std::is_same_v<element, double> ||
                      (std::is_integral_v<element> && std::is_unsigned_v<element>),
                  "elements are float, double, or unsigned integers that hold encodings");
    if constexpr (std::is_same_v<element, float>)
        return MFMA_STORAGE_F32;
    else if constexpr (std::is_same_v<element, double>)
        return MFMA_STORAGE_F64;
    else
        return MFMA_STORAGE_RAW;
}
} // namespace detail

/// A matrix that somebody else owns. float and double elements are numbers; unsigned integers hold encodings.
template <class T>
class matrix {
public:
    /// Column-major (or row-major, if the product is), without gaps.
    matrix(span<T> data, std::int64_t rows, std::int64_t cols) : matrix(data, rows, cols, 0) {}
    /// With `ld` elements from one column (row) to the next; 0 means without gaps.
    matrix(span<T> data, std::int64_t rows, std::int64_t cols, std::int64_t ld)
        : data_(data), rows_(rows), cols_(cols), ld_(ld)
    {
    }
    /// The transposed matrix; nothing is moved.
    matrix transposed() const
    {
        matrix result(*this);
        result.transposed_ = !transposed_;
        return result;
    }

    std::int64_t rows() const noexcept { return transposed_ ? cols_ : rows_; }
    std::int64_t cols() const noexcept { return transposed_ ? rows_ : cols_; }
    bool is_transposed() const noexcept { return transposed_; }
    T *data() const noexcept { return data_.data(); }
    std::int64_t ld(bool row_major) const noexcept
    {
        const std::int64_t line = row_major ? cols_ : rows_;
        return ld_ != 0 ? ld_ : line > 1 ? line : 1;
    }
    /// Throws unless the span holds the matrix and raw elements have the size of `raw`.
    void check_fits(const char *name, bool row_major, format raw) const
    {
        const std::int64_t line = row_major ? cols_ : rows_, lines = row_major ? rows_ : cols_;
        if (line < 0 || lines < 0)
            throw error(MFMA_ERR_INVALID_SIZE, std::string(name) + " has a negative size, " + detail::by(rows_, cols_));
        const std::int64_t step = ld(row_major);
        if (step < line)
            throw error(MFMA_ERR_INVALID_LD, std::string(name) + " has a leading dimension of " + std::to_string(step) +
                                                 ", below its line of " + std::to_string(line));
        const auto room = static_cast<std::uint64_t>(data_.size());
        const bool fits = line == 0 || lines == 0 ||
                          (static_cast<std::uint64_t>(line) <= room &&
                           static_cast<std::uint64_t>(lines - 1) <=
                               (room - static_cast<std::uint64_t>(line)) / static_cast<std::uint64_t>(step));
        if (!fits)
            throw error(MFMA_ERR_INVALID_SIZE, std::string(name) + " has fewer elements (" + std::to_string(data_.size()) +
                                                   ") than " + detail::by(rows_, cols_) +
                                                   " with a leading dimension of " + std::to_string(step) + " needs");
        if (detail::storage<T>() == MFMA_STORAGE_RAW && sizeof(T) != raw.bytes())
            throw error(MFMA_ERR_INVALID_ARGUMENT,
                        std::string(name) + " has elements of another size than its raw format");
    }

private:
    span<T> data_;
    std::int64_t rows_, cols_, ld_;
    bool transposed_ = false;
};

template <class C, class... Sizes>
matrix(C &&, Sizes...) -> matrix<std::remove_pointer_t<decltype(std::declval<C &>().data())>>;

/// How a product is computed.
struct options {
    bool row_major = false;
    /// Most threads; 0: as set_num_threads says.
    std::int32_t threads = 0;
    /// Told the part of the work that is done; returns whether to go on. What it throws reaches the caller.
    std::function<bool(double)> progress;
};

namespace detail {
struct watch {
    const std::function<bool(double)> *function;
    std::exception_ptr thrown;

    static std::int32_t call(double done, void *user) noexcept
    {
        watch *self = static_cast<watch *>(user);
        try {
            return (*self->function)(done) ? 0 : 1;
        } catch (...) {
            self->thrown = std::current_exception();
            return 1;
        }
    }
};
} // namespace detail

/// D = round(alpha*A) round(B) + round(beta*C). D may be C.
template <class TA, class TB, class TC, class TD>
void gemm(const model &unit, double alpha, matrix<TA> a, matrix<TB> b, double beta, matrix<TC> c, matrix<TD> d,
          const options &how = {})
{
    static_assert(!std::is_const_v<TD>, "D is written");
    mfma_gemm_args args{};
    args.size = sizeof args;
    check(mfma_gemm_args_default(&args));
    if (b.rows() != a.cols() || d.rows() != a.rows() || d.cols() != b.cols())
        throw error(MFMA_ERR_INVALID_SIZE, "A (" + detail::by(a.rows(), a.cols()) + "), B (" +
                                               detail::by(b.rows(), b.cols()) + ") and D (" +
                                               detail::by(d.rows(), d.cols()) + ") do not go together");
    if (beta != 0 && (c.rows() != d.rows() || c.cols() != d.cols()))
        throw error(MFMA_ERR_INVALID_SIZE, "C (" + detail::by(c.rows(), c.cols()) + ") has another size than D (" +
                                               detail::by(d.rows(), d.cols()) + ")");
    if (d.is_transposed() || (beta != 0 && c.is_transposed()))
        throw error(MFMA_ERR_INVALID_ARGUMENT, "C and D cannot be transposed");
    a.check_fits("A", how.row_major, unit.a());
    b.check_fits("B", how.row_major, unit.b());
    d.check_fits("D", how.row_major, unit.d());
    if (beta != 0)
        c.check_fits("C", how.row_major, unit.d());
    args.model = unit.get();
    args.m = a.rows(), args.n = b.cols(), args.k = a.cols();
    args.alpha = alpha, args.beta = beta;
    args.a = a.data(), args.lda = a.ld(how.row_major), args.trans_a = a.is_transposed();
    args.b = b.data(), args.ldb = b.ld(how.row_major), args.trans_b = b.is_transposed();
    args.c = c.data(), args.ldc = c.ld(how.row_major);
    args.d = d.data(), args.ldd = d.ld(how.row_major);
    args.storage_a = detail::storage<TA>(), args.storage_b = detail::storage<TB>();
    args.storage_c = detail::storage<TC>(), args.storage_d = detail::storage<TD>();
    args.order = how.row_major ? MFMA_ORDER_ROW_MAJOR : MFMA_ORDER_COL_MAJOR;
    args.threads = how.threads;
    detail::watch watch{&how.progress, nullptr};
    if (how.progress) {
        args.progress = detail::watch::call;
        args.progress_user = &watch;
    }
    const mfma_status status = mfma_gemm(&args);
    if (watch.thrown)
        std::rethrow_exception(watch.thrown);
    check(status);
}

/// D = round(alpha*A) round(B).
template <class TA, class TB, class TD>
void gemm(const model &unit, double alpha, matrix<TA> a, matrix<TB> b, matrix<TD> d, const options &how = {})
{
    gemm(unit, alpha, a, b, 0.0, matrix<const double>(span<const double>(), 0, 0), d, how);
}

/// Independent dot products on encodings, d.size() of them: case i multiplies elements i*k to i*k + k-1 of a and b and
/// adds c[i]. d may be c.
template <class TA, class TB, class TC>
void dot_batch(const model &unit, std::int64_t k, span<TA> a, span<TB> b, span<TC> c, span<std::remove_const_t<TC>> d)
{
    static_assert(std::is_unsigned_v<TA> && std::is_unsigned_v<TB> && std::is_unsigned_v<TC>,
                  "elements are unsigned integers that hold encodings");
    if (sizeof(TA) != unit.a().bytes() || sizeof(TB) != unit.b().bytes() || sizeof(TC) != unit.d().bytes())
        throw error(MFMA_ERR_INVALID_ARGUMENT, "the elements do not have the size of the unit's formats");
    const std::size_t count = d.size();
    if (k < 0)
        throw error(MFMA_ERR_INVALID_SIZE, "k is negative");
    const auto length = static_cast<std::size_t>(k);
    const bool fits = length == 0 || (count <= a.size() / length && count <= b.size() / length);
    if (!fits || c.size() < count)
        throw error(MFMA_ERR_INVALID_SIZE, "a (" + std::to_string(a.size()) + "), b (" + std::to_string(b.size()) + ") or c (" +
                                               std::to_string(c.size()) + ") has fewer elements than " +
                                               std::to_string(count) + " dot products of length " + std::to_string(k) +
                                               " need");
    check(mfma_dot_batch(unit.get(), static_cast<std::int64_t>(count), k, a.data(), b.data(), c.data(), d.data()));
}

/// Rounds encodings, floats or doubles of format `from` to format `to`, each once.
template <class T, class U>
void convert(format from, span<T> in, format to, span<U> out, mfma_rounding rounding = MFMA_ROUND_NEAREST_EVEN,
             std::int32_t overflow = MFMA_OVERFLOW_DEFAULT)
{
    static_assert(!std::is_const_v<U>, "out is written");
    if (sizeof(T) != from.bytes() || sizeof(U) != to.bytes())
        throw error(MFMA_ERR_INVALID_ARGUMENT, "the elements do not have the size of their formats");
    if (in.size() != out.size())
        throw error(MFMA_ERR_INVALID_SIZE, "in and out have different lengths, " + std::to_string(in.size()) + " and " +
                                               std::to_string(out.size()));
    check(mfma_convert(from.code(), to.code(), rounding, overflow, static_cast<std::int64_t>(in.size()), in.data(),
                       out.data()));
}

/// What an encoding stands for.
inline mfma_decoded decode(format of, std::uint64_t bits)
{
    mfma_decoded result{};
    result.size = sizeof result;
    check(mfma_decode(of.code(), bits, &result));
    return result;
}

/// Every unit of the catalogue.
inline std::vector<mfma_capability> capabilities()
{
    std::vector<mfma_capability> units(static_cast<std::size_t>(mfma_capability_count()));
    for (std::size_t i = 0; i < units.size(); i++) {
        units[i].size = sizeof units[i];
        check(mfma_capability_get(static_cast<std::int64_t>(i), &units[i]));
    }
    return units;
}

/// Threads that work on one call, the calling one included; 0 is the default.
inline void set_num_threads(std::int32_t threads) { check(mfma_set_num_threads(threads)); }
inline std::int32_t num_threads() noexcept { return mfma_get_num_threads(); }
inline std::string version() { return mfma_version(); }
inline std::string cpu_features() { return mfma_cpu_features(); }

} // namespace mfma

#include "mfma_ask.hpp"

#endif
