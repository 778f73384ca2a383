// The C++ layer: handles, exceptions, spans, matrices of every storage.
#include <mfma.hpp>

#include <array>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <thread>

static int failures = 0;

#define CHECK(condition)                                                                  \
    do {                                                                                  \
        if (!(condition)) {                                                               \
            failures++;                                                                   \
            std::printf("%s:%d: %s\n", __FILE__, __LINE__, #condition);                   \
        }                                                                                 \
    } while (0)

template <class Call>
static void throws(mfma_status status, const char *text, Call call)
{
    try {
        call();
        failures++;
        std::printf("nothing thrown, expected: %s\n", text);
    } catch (const mfma::error &error) {
        if (error.status() != status || std::strstr(error.what(), text) == nullptr) {
            failures++;
            std::printf("status %d, \"%s\"; expected %d, \"%s\"\n", error.status(), error.what(), status, text);
        }
    }
}

static void products()
{
    const mfma::model mi300x("MI300X", "fp16");
    const std::vector<double> a{1, 4, 2, 5, 3, 6}, b{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    std::vector<double> d(8);
    mfma::gemm(mi300x, 1.0, mfma::matrix(a, 2, 3), mfma::matrix(b, 3, 4), mfma::matrix(d, 2, 4));
    CHECK((d == std::vector<double>{14, 32, 32, 77, 50, 122, 68, 167}));
    // In place, with gaps.
    std::vector<double> c(12, 100.0);
    mfma::gemm(mi300x, -1.0, mfma::matrix(a, 2, 3), mfma::matrix(b, 3, 4), 1.0, mfma::matrix(c, 2, 4, 3),
               mfma::matrix(c, 2, 4, 3));
    CHECK(c[0] == 86 && c[1] == 68 && c[2] == 100 && c[3] == 68);
    // A'A, row-major, in floats, on raw binary16.
    std::array<float, 9> square{};
    std::vector<std::uint16_t> raw(6);
    mfma::convert(MFMA_FMT_FP64, mfma::span<const double>(a), MFMA_FMT_FP16, mfma::span<std::uint16_t>(raw));
    const mfma::matrix rows(raw, 3, 2);
    mfma::options how;
    how.row_major = true;
    how.threads = 1;
    mfma::gemm(mi300x, 1.0, rows, rows.transposed(), mfma::matrix(square, 3, 3), how);
    CHECK(square[0] == 17 && square[1] == 22 && square[4] == 29 && square[8] == 45);
    throws(MFMA_ERR_INVALID_SIZE, "A (2 x 3), B (4 x 3) and D (2 x 4) do not go together", [&] {
        mfma::gemm(mi300x, 1.0, mfma::matrix(a, 2, 3), mfma::matrix(b, 4, 3), mfma::matrix(d, 2, 4));
    });
    throws(MFMA_ERR_INVALID_SIZE, "D has fewer elements (8) than 2 x 4 with a leading dimension of 3 needs", [&] {
        mfma::gemm(mi300x, 1.0, mfma::matrix(a, 2, 3), mfma::matrix(b, 3, 4), mfma::matrix(d, 2, 4, 3));
    });
    throws(MFMA_ERR_INVALID_ARGUMENT, "another size than its raw format", [&] {
        std::vector<std::uint32_t> wide(6);
        mfma::gemm(mi300x, 1.0, mfma::matrix(wide, 2, 3), mfma::matrix(b, 3, 4), mfma::matrix(d, 2, 4));
    });
    throws(MFMA_ERR_OVERLAP, "D overlaps A", [&] {
        mfma::gemm(mi300x, 1.0, mfma::matrix(d, 2, 2), mfma::matrix(b, 2, 2), mfma::matrix(d, 2, 2));
    });
}

static void models()
{
    throws(MFMA_ERR_UNKNOWN_ARCH, "MI9000", [] { mfma::arch("MI9000"); });
    throws(MFMA_ERR_UNSUPPORTED, "CDNA1 has no unit", [] { mfma::model("MI100", "tf32"); });
    throws(MFMA_ERR_UNKNOWN_INSTRUCTION, "nonsense", [] { mfma::model::from_instruction("nonsense", "MI100"); });
    const mfma::model model = mfma::model::from_instruction("v_mfma_f32_32x32x8_f16", "MI300X");
    CHECK(model.a() == MFMA_FMT_FP16 && model.d() == MFMA_FMT_FP32 && model.a().name() == "fp16");
    CHECK(mfma::arch("mi300x") == mfma::arch(MFMA_ARCH_CDNA3) && mfma::arch("mi300x").name() == "CDNA3");
    mfma::params features = model.features();
    CHECK(features.fma == 8 && features.late_sum_bits == 32);
    features.late_sum_bits = 31;
    features.late_total_bits = MFMA_NONE;
    const mfma::model custom(features, MFMA_FMT_FP16, MFMA_FMT_FP16, MFMA_FMT_FP32);
    mfma::model copy = custom;
    copy = model;
    CHECK(copy.get() == model.get());
    CHECK(mfma::capabilities().size() > 50);
    CHECK(mfma::decode(MFMA_FMT_BF16, 0x3fc0).value == 1.5);
    const std::uint16_t one = 0x3c00, two = 0x4000;
    const std::vector<std::uint16_t> a{one, one, two, two}, b{two, one, two, one};
    std::vector<std::uint32_t> c(2), d(2);
    mfma::dot_batch(model, 2, mfma::span(a.data(), a.size()), mfma::span(b.data(), b.size()),
                    mfma::span(c.data(), c.size()), mfma::span(d.data(), d.size()));
    CHECK(d[0] == 0x40400000 && d[1] == 0x40c00000);
}

static void progress()
{
    mfma::params features("H100", MFMA_FMT_FP16, MFMA_FMT_FP16, MFMA_FMT_FP32);
    features.fma = 7;
    const mfma::model slow(features, MFMA_FMT_FP16, MFMA_FMT_FP16, MFMA_FMT_FP32);
    const std::vector<double> a(1000 * 1000, 1.5);
    std::vector<double> d(1000 * 1000);
    const mfma::matrix square(a, 1000, 1000);
    mfma::options how;
    const std::thread::id mine = std::this_thread::get_id();
    bool elsewhere = false;
    how.progress = [&](double done) {
        elsewhere |= std::this_thread::get_id() != mine || done < 0 || done > 1;
        return false;
    };
    throws(MFMA_ERR_CANCELLED, "cancelled", [&] { mfma::gemm(slow, 1.0, square, square, mfma::matrix(d, 1000, 1000), how); });
    CHECK(!elsewhere);
    how.progress = [](double) -> bool { throw std::runtime_error("mine"); };
    try {
        mfma::gemm(slow, 1.0, square, square, mfma::matrix(d, 1000, 1000), how);
        CHECK(false);
    } catch (const std::runtime_error &error) {
        CHECK(std::strcmp(error.what(), "mine") == 0);
    }
}

/* A unit as a black box; what it throws; a dot product step by step. */
static void questions()
{
    const mfma::model mi100("MI100", "fp16");
    const mfma::black_box gpu = [&](std::int64_t count, std::int64_t k, const void *a, const void *b, const void *c, void *d) {
        mfma::check(mfma_dot_batch(mi100.get(), count, k, a, b, c, d));
    };
    const mfma::probed found = mfma::probe(gpu);
    CHECK(found.report.mismatches == 0 && found.features.fma == 4 && found.features.scheme == MFMA_SCHEME_CORRECT_ROUNDING);
    CHECK(found.text.size() + 1 == found.report.text_size && found.text.find("CDNA1") != std::string::npos);
    CHECK(!found.units.empty() && !found.findings.empty());
    CHECK(mfma::capabilities()[static_cast<std::size_t>(found.units[0])].arch == MFMA_ARCH_CDNA1);
    const mfma::black_box broken = [](auto...) { throw std::runtime_error("mine"); };
    for (int which = 0; which < 2; which++) {
        try {
            which == 0 ? (void)mfma::probe(broken) : (void)mfma::validate(mfma::campaign(mi100, 100), broken);
            CHECK(false);
        } catch (const std::runtime_error &error) {
            CHECK(std::strcmp(error.what(), "mine") == 0);
        }
    }
    mfma::probe_args wide(MFMA_FMT_BF16, MFMA_FMT_BF16, MFMA_FMT_FP32);
    CHECK(wide.a == MFMA_FMT_BF16 && wide.k == 64);
    wide.k = 3;
    throws(MFMA_ERR_INVALID_ARGUMENT, "k is 3", [&] { mfma::probe(gpu, wide); });
    CHECK(mfma::validate(mfma::campaign(mi100, 5000)).mismatches == 0);
    CHECK(mfma::validate(mfma::campaign(mi100, 5000), gpu).mismatches == 0);
    const mfma::model mi300x("MI300X", "fp16");
    mfma::campaign two(mi100, 5000);
    two.other = mi300x.get();
    CHECK(mfma::validate(two).mismatches > 0);
    const std::uint16_t a[]{0x8c00, 0x8be0}, b[]{0x0c00, 0x0800};
    const auto steps = mfma::explain_steps(mi300x, mfma::span(a), mfma::span(b), std::uint32_t{0x3f800000});
    CHECK(steps.size() > 5 && steps.back().bits == 0x3f7fffff);
    const std::string text = mfma::explain(mi300x, mfma::span(a), mfma::span(b), std::uint32_t{0x3f800000});
    CHECK(text.find("3f7fffff") != std::string::npos && text.back() == '\n');
    throws(MFMA_ERR_INVALID_ARGUMENT, "size of the unit's formats", [&] {
        mfma::explain(mi300x, mfma::span(a), mfma::span(b), std::uint16_t{0});
    });
}

/* Why two units differ, in which order one adds, and campaigns with what they find. */
static void differences()
{
    const mfma::model volta("V100", "fp16"), hopper("H100", "fp16");
    const auto found = mfma::separate<std::uint16_t>(volta, hopper);
    CHECK(found && !found->a.empty() && found->a.size() == found->b.size());
    if (!found)
        return;
    const auto k = static_cast<std::int64_t>(found->a.size());
    const mfma::span<const std::uint16_t> a(found->a), b(found->b);
    const std::vector<std::uint32_t> c{found->c};
    const mfma::span<const std::uint32_t> only(c);
    std::vector<std::uint32_t> x(1), y(1);
    mfma::dot_batch(volta, k, a, b, only, mfma::span<std::uint32_t>(x));
    mfma::dot_batch(hopper, k, a, b, only, mfma::span<std::uint32_t>(y));
    CHECK(x[0] != y[0]);
    const auto again = mfma::separate<std::uint16_t>(volta, hopper, 1);
    CHECK(again && again->a == found->a && again->c == found->c);
    CHECK(!mfma::separate<std::uint16_t>(hopper, hopper));
    mfma::attribution why = mfma::attribute(volta, hopper, k, a, b, only);
    CHECK(why.differing == 1 && !why.causes.empty() && why.causes[0].first == 0);
    mfma::params features = hopper.features();
    features.alignment_bits = 23;
    const mfma::model almost(features, MFMA_FMT_FP16, MFMA_FMT_FP16, MFMA_FMT_FP32);
    /* 1 - 2^-24, and 1 + 1 */
    const std::uint16_t p[]{0x8c00, 0x3c00}, q[]{0x0c00, 0x3c00};
    const std::uint32_t ones[]{0x3f800000, 0x3f800000};
    why = mfma::attribute(hopper, almost, 1, mfma::span(p), mfma::span(q), mfma::span(ones));
    CHECK(why.differing == 1 && why.causes.size() == 1 && std::strcmp(why.causes[0].features, "alignment_bits") == 0);
    throws(MFMA_ERR_INVALID_SIZE, "a (2) or b (2) has fewer elements than 2 vectors of length 2", [&] {
        mfma::attribute(hopper, almost, 2, mfma::span(p), mfma::span(q), mfma::span(ones));
    });
    throws(MFMA_ERR_INVALID_ARGUMENT, "formats", [&] { mfma::separate<std::uint16_t>(hopper, mfma::model("H100", "bf16")); });
    throws(MFMA_ERR_INVALID_ARGUMENT, "size of the unit's formats", [&] { mfma::separate<std::uint8_t>(volta, hopper); });

    const mfma::model mi250("MI250", "fp16");
    const mfma::black_box gpu = [&](std::int64_t count, std::int64_t length, const void *u, const void *v, const void *w,
                                    void *d) { mfma::check(mfma_dot_batch(mi250.get(), count, length, u, v, w, d)); };
    CHECK(mfma::summation_order(gpu, 4) == "(c + ((p1 + p2) + (p3 + p4)))");
    throws(MFMA_ERR_INVALID_ARGUMENT, "n is 65", [&] { mfma::summation_order(gpu, 65); });
    const mfma::black_box empty;
    throws(MFMA_ERR_INVALID_ARGUMENT, "unit is an empty function", [&] { mfma::summation_order(empty, 4); });
    throws(MFMA_ERR_INVALID_ARGUMENT, "unit is an empty function", [&] { mfma::probe(empty); });
    throws(MFMA_ERR_INVALID_ARGUMENT, "unit is an empty function",
           [&] { mfma::validate(mfma::campaign(mi250, 100), empty); });
    const std::function<bool(double)> stop = [](double) { return false; };
    throws(MFMA_ERR_CANCELLED, "cancelled", [&] { mfma::probe(gpu, {}, stop); });
    const std::function<bool(double)> broken = [](double) -> bool { throw std::runtime_error("mine"); };
    try {
        mfma::probe(gpu, {}, broken);
        CHECK(false);
    } catch (const std::runtime_error &error) {
        CHECK(std::strcmp(error.what(), "mine") == 0);
    }
}

static void campaigns()
{
    const mfma::model mi300x("MI300X", "fp16"), mi100("MI100", "fp16");
    mfma::campaign how(mi300x, 20000);
    how.other = mi100.get(), how.sampler = "directed", how.seed = 5, how.first = 100, how.keep = 4;
    const mfma::validated report = mfma::validate(how);
    CHECK(report.mismatches > 4 && report.indices.size() == 4 && report.expected.size() == 4 && report.got.size() == 4);
    CHECK(mfma::sample_length(mi300x) == 16);
    std::vector<std::uint16_t> a(16), b(16);
    std::vector<std::uint32_t> c(1), d(1);
    const mfma::span<std::uint32_t> out(d);
    mfma::sample(mi300x, 16, mfma::span<std::uint16_t>(a), mfma::span<std::uint16_t>(b), mfma::span<std::uint32_t>(c), "directed",
                 5, report.indices[3]);
    mfma::dot_batch(mi300x, 16, mfma::span<std::uint16_t>(a), mfma::span<std::uint16_t>(b), mfma::span<std::uint32_t>(c), out);
    CHECK(d[0] == report.expected[3]);
    mfma::dot_batch(mi100, 16, mfma::span<std::uint16_t>(a), mfma::span<std::uint16_t>(b), mfma::span<std::uint32_t>(c), out);
    CHECK(d[0] == report.got[3] && d[0] != report.expected[3]);
    const mfma::validated part = mfma::validate(mfma::campaign(mi300x, std::int64_t{1} << 40), [](double) { return false; });
    CHECK(part.next == part.cases && part.cases < std::int64_t{1} << 40);
    throws(MFMA_ERR_IO, "/no/such/dump", [&] { mfma::compare_dump(how, "/no/such/dump"); });
    throws(MFMA_ERR_INVALID_ARGUMENT, "unknown sampler 'nice'", [&] {
        mfma::sample(mi300x, 16, mfma::span<std::uint16_t>(a), mfma::span<std::uint16_t>(b), mfma::span<std::uint32_t>(c), "nice");
    });
    const double bound = mfma::mismatch_bound(2, 1, 0.5);
    CHECK(bound > 0.4999999 && bound < 0.5000001);
}

int main()
{
    products();
    models();
    questions();
    differences();
    campaigns();
    progress();
    CHECK(mfma::version() == "1.0.0" && mfma::num_threads() >= 1);
    mfma::set_num_threads(0);
    std::printf("%d failures\n", failures);
    return failures != 0;
}
