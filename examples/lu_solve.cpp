// A linear system solved by a low-precision LU factorisation and iterative refinement, in C++17: see lu_solve.c, whose
// steps these are.
#include <mfma.hpp>

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

namespace {

constexpr int n = 200, block = 32, steps = 12;
constexpr double diagonal = 12;

/// An n x n matrix in columns.
class square {
public:
    double &operator()(int i, int j) { return data_[index(i, j)]; }
    double operator()(int i, int j) const { return data_[index(i, j)]; }

    /// The part of `rows` x `cols` elements that begins at (i, j).
    mfma::matrix<double> part(int i, int j, int rows, int cols)
    {
        const std::size_t start = rows > 0 && cols > 0 ? index(i, j) : 0;
        return {mfma::span<double>(data_.data() + start, data_.size() - start), rows, cols, n};
    }

private:
    static std::size_t index(int i, int j) { return static_cast<std::size_t>(i) + static_cast<std::size_t>(j) * n; }

    std::vector<double> data_ = std::vector<double>(n * n);
};

using vector = std::vector<double>;
/// Where the products run: on a unit, or in binary64.
using place = std::optional<mfma::model>;

/// A power of two that brings the largest of these numbers to 64 or more, but below 128.
double scale_of(const square &a, int top, int left, int rows, int cols)
{
    double largest = 0, scale = 1;
    for (int j = left; j < left + cols; j++)
        for (int i = top; i < top + rows; i++)
            largest = std::max(largest, std::fabs(a(i, j)));
    while (largest > 0 && largest * scale < 64)
        scale *= 2;
    while (largest * scale >= 128)
        scale /= 2;
    return scale;
}

/// The trailing block, from (end, end) on, less the product of the blocks on its left and above it.
void update(const place &where, square &a, int first, int end)
{
    if (!where) {
        for (int j = end; j < n; j++)
            for (int p = first; p < end; p++)
                for (int i = end; i < n; i++)
                    a(i, j) -= a(i, p) * a(p, j);
        return;
    }
    const int rest = n - end, k = end - first;
    const double scale_l = scale_of(a, end, first, rest, k), scale_u = scale_of(a, first, end, k, rest);
    const double both = scale_l * scale_u;
    square scaled;
    for (int j = 0; j < rest; j++)
        for (int p = 0; p < k; p++)
            scaled(p, j) = a(first + p, end + j) * scale_u;
    const auto trailing = a.part(end, end, rest, rest);
    mfma::gemm(*where, -scale_l, a.part(end, first, rest, k), scaled.part(0, 0, k, rest), both, trailing, trailing);
    for (int j = end; j < n; j++)
        for (int i = end; i < n; i++)
            a(i, j) /= both;
}

/// A becomes its factors L and U; returns how its rows were exchanged.
std::vector<int> factor(const place &where, square &a)
{
    std::vector<int> pivot;
    for (int first = 0; first < n; first += block) {
        const int end = std::min(first + block, n);
        for (int j = first; j < end; j++) {
            int largest = j;
            for (int i = j + 1; i < n; i++)
                if (std::fabs(a(i, j)) > std::fabs(a(largest, j)))
                    largest = i;
            pivot.push_back(largest);
            for (int c = 0; c < n; c++)
                std::swap(a(j, c), a(largest, c));
            for (int i = j + 1; i < n; i++)
                a(i, j) /= a(j, j);
            for (int c = j + 1; c < end; c++)
                for (int i = j + 1; i < n; i++)
                    a(i, c) -= a(i, j) * a(j, c);
        }
        for (int c = end; c < n; c++)
            for (int j = first; j < end; j++)
                for (int i = j + 1; i < end; i++)
                    a(i, c) -= a(i, j) * a(j, c);
        update(where, a, first, end);
    }
    return pivot;
}

vector solve(const square &lu, const std::vector<int> &pivot, vector x)
{
    for (int j = 0; j < n; j++)
        std::swap(x[j], x[pivot[j]]);
    for (int j = 0; j < n; j++)
        for (int i = j + 1; i < n; i++)
            x[i] -= lu(i, j) * x[j];
    for (int j = n - 1; j >= 0; j--) {
        x[j] /= lu(j, j);
        for (int i = 0; i < j; i++)
            x[i] -= lu(i, j) * x[j];
    }
    return x;
}

double largest_of(const vector &x)
{
    double largest = 0;
    for (const double number : x)
        largest = std::max(largest, std::fabs(number));
    return largest;
}

/// The solution of A x = b, and the normwise backward error after each step.
std::pair<vector, vector> refine(const place &where, const square &a, const vector &b)
{
    square lu = a;
    const std::vector<int> pivot = factor(where, lu);
    vector sums(n), x(n), r = b, errors;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            sums[i] += std::fabs(a(i, j));
    for (int step = 0; step < steps; step++) {
        const vector correction = solve(lu, pivot, r);
        for (int i = 0; i < n; i++)
            x[i] += correction[i];
        r = b;
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++)
                r[i] -= a(i, j) * x[j];
        errors.push_back(largest_of(r) / (largest_of(sums) * largest_of(x) + largest_of(b)));
    }
    return {x, errors};
}

/// Numbers between -1 and 1, and a checksum of others.
class numbers {
public:
    double next()
    {
        state_ = (state_ * 1103515245 + 12345) % 2147483648;
        return static_cast<double>(state_) / 1073741824.0 - 1.0;
    }
    void add(const vector &x)
    {
        for (const double number : x) {
            std::uint64_t bits;
            std::memcpy(&bits, &number, sizeof bits);
            sum_ = (sum_ << 5 | sum_ >> 59) ^ bits;
        }
    }
    std::uint64_t sum() const { return sum_; }

private:
    std::int64_t state_ = 1;
    std::uint64_t sum_ = 0;
};

} // namespace

int main()
try {
    numbers source;
    square a;
    vector b(n);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            a(i, j) = source.next();
    for (int i = 0; i < n; i++)
        a(i, i) += diagonal;
    for (double &number : b)
        number = source.next();
    const std::array<place, 3> places{place(), mfma::model("MI300X", "fp16"), mfma::model("H100", "fp8-e4m3")};
    std::array<vector, 3> errors;
    for (std::size_t p = 0; p < places.size(); p++) {
        const auto [x, history] = refine(places[p], a, b);
        source.add(history);
        source.add(x);
        errors[p] = history;
    }
    std::printf(" step      binary64   MI300X fp16      H100 fp8\n");
    for (std::size_t step = 0; step < steps; step++)
        std::printf("%5zu%14.3E%14.3E%14.3E\n", step + 1, errors[0][step], errors[1][step], errors[2][step]);
    std::printf("checksum %016" PRIx64 "\n", source.sum());
    return 0;
} catch (const mfma::error &error) {
    std::fprintf(stderr, "%s: %s\n", error.kind(), error.what());
    return 1;
}
