// Microbenchmarks of the machine that runs this: what no program on it can exceed. Prints one JSON object.
//
// Bytes a second: the best of several passes over a buffer far larger than any cache, and over one that stays in the
// first level. Multiply-accumulates a second: the two steps that all matrix kernels are made of, on independent sums
// in registers, enough of them to hide the latency, with inputs from the first-level cache.
#include <cstdio>
#include <ctime>

#include "kernels/vector.hpp"

static double now() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

constexpr int64_t LARGE = int64_t{64} << 20, SMALL = int64_t{16} << 10;
constexpr int32_t PASSES = 5, SUMS = 12;
alignas(64) static unsigned char buffer[LARGE];

// Seconds of the fastest of several calls.
template <class Work>
static double fastest(Work work) {
    double best = 1e30;
    for (int32_t pass = 0; pass < PASSES; ++pass) {
        const double began = now();
        work();
        const double seconds = now() - began;
        if (seconds < best) best = seconds;
    }
    return best;
}

// Reads `bytes` bytes `times` times.
static mi::Int read(int64_t bytes, int64_t times) {
    mi::Int sum{};
    for (int64_t time = 0; time < times; ++time) {
        for (int64_t at = 0; at < bytes; at += MI_VECTOR_BYTES) {
            sum ^= *reinterpret_cast<const mi::UnalignedInt*>(buffer + at);
        }
        __asm__ volatile("" : : "r"(buffer) : "memory");
    }
    return sum;
}

// Adds scalar * input to independent sums; the inputs stay in the first-level cache.
template <class Vector, class Scalar, class Element>
static Vector accumulate(Scalar scalar, const Element* inputs, int64_t times) {
    constexpr int32_t STEP = static_cast<int32_t>(MI_VECTOR_BYTES / sizeof(Element));
    Vector sums[SUMS];
    for (int32_t i = 0; i < SUMS; ++i) sums[i] = Vector{} + static_cast<decltype(sums[0][0] + 0)>(i);
    for (int64_t time = 0; time < times; ++time) {
        MI_UNROLL
        for (int32_t i = 0; i < SUMS; ++i) sums[i] = mi::multiply_add(scalar, mi::load(inputs + i * STEP), sums[i]);
        __asm__ volatile("" : : "r"(inputs) : "memory");
    }
    Vector total{};
    for (int32_t i = 0; i < SUMS; ++i) total += sums[i];
    return total;
}

int main(int count, char**) {
    for (int64_t at = 0; at < LARGE; ++at) buffer[at] = static_cast<unsigned char>(at + count);
    constexpr int64_t TIMES = 200000, SMALL_TIMES = 500;
    volatile int32_t sink = 0;

    const double large = fastest([&] { sink = sink + read(LARGE, 1)[0]; });
    const double small = fastest([&] { sink = sink + read(SMALL, SMALL_TIMES)[0]; });
    alignas(64) static float floats[SUMS * mi::LANES];
    for (float& number : floats) number = 1e-3f * static_cast<float>(count);
    const double floating = fastest([&] {
        sink = sink + static_cast<int32_t>(accumulate<mi::Float>(1e-3f * static_cast<float>(count), floats, TIMES)[0]);
    });
    const int16_t* pairs = reinterpret_cast<const int16_t*>(buffer);
    const double integer = fastest([&] { sink = sink + accumulate<mi::Int>(0x00010001 * count, pairs, TIMES)[0]; });

    const double macs = 1e-9 * TIMES * SUMS * mi::LANES;
    std::printf("{\"main_memory_read_gbps\": %.3f, \"first_level_read_gbps\": %.3f, ", 1e-9 * LARGE / large,
                1e-9 * SMALL * SMALL_TIMES / small);
    std::printf("\"float32_gmacs\": %.3f, \"int8_gmacs\": %.3f}\n", macs / floating, 2 * macs / integer);
    return 0;
}
