// One measurement a start: what and how large by arguments, the nanoseconds of each repetition on stdout.
//
//   microbench clock ADDS                        a chain of dependent additions: one takes one cycle
//   microbench chase BYTES LOADS SEED            loads that each wait for the one before, over BYTES of memory
//   microbench read|write|copy BYTES THREADS     streams over BYTES in each thread
//   microbench call CALLS                        calls of a kernel with one number, through a pointer
//   microbench wake ROUNDS                       handing work to a waiting thread and getting it back
//   microbench gemm_float32|gemm_int8 ROWS COLUMNS DEPTH
//
// REPETITIONS stands in the environment as `REPETITIONS`. A first repetition that is not printed warms up.
#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "kernels.hpp"

namespace {

using Clock = std::chrono::steady_clock;
constexpr int64_t LINE = 64;

volatile uint64_t sink;

int repetitions() {
    const char* text = std::getenv("REPETITIONS");
    return text ? std::atoi(text) : 5;
}

void measure(const std::function<void()>& work) {
    work();
    for (int i = 0; i < repetitions(); ++i) {
        const auto start = Clock::now();
        work();
        const auto end = Clock::now();
        std::printf("%lld\n", static_cast<long long>(std::chrono::nanoseconds(end - start).count()));
    }
}

// Memory of its own pages, large ones where the system has them, so that address translation hides less.
char* pages(int64_t bytes) {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        std::fprintf(stderr, "no memory\n");
        std::exit(1);
    }
    madvise(memory, bytes, MADV_HUGEPAGE);
    std::memset(memory, 1, bytes);
    return static_cast<char*>(memory);
}

void clock_chain(int64_t adds) {
    measure([&] {
        uint64_t value = 1, step = sink + 3;
        for (int64_t i = 0; i < adds / 16; ++i) {
#if defined(__x86_64__)
#define ADD asm volatile("addq %1, %0" : "+r"(value) : "r"(step));
#elif defined(__aarch64__)
#define ADD asm volatile("add %0, %0, %1" : "+r"(value) : "r"(step));
#endif
            ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD
        }
        sink = value;
    });
}

// One round trip over all lines in random order (Sattolo's algorithm: a single cycle), 64 bytes apart.
void chase(int64_t bytes, int64_t loads, uint64_t seed) {
    const int64_t count = bytes / LINE;
    char* memory = pages(bytes);
    std::vector<uint32_t> order(count);
    for (int64_t i = 0; i < count; ++i) order[i] = static_cast<uint32_t>(i);
    uint64_t state = seed * 6364136223846793005ull + 1442695040888963407ull;
    for (int64_t i = count - 1; i > 0; --i) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        std::swap(order[i], order[(state >> 33) % i]);
    }
    for (int64_t i = 0; i < count; ++i) {
        char* here = memory + LINE * i;
        char* next = memory + LINE * order[i];
        std::memcpy(here, &next, sizeof next);
    }
    void** at = reinterpret_cast<void**>(memory);
    for (int64_t i = 0; i < count; ++i) at = static_cast<void**>(*at);  // all of it has been touched once
    measure([&] {
        for (int64_t i = 0; i < loads / 8; ++i) {
            at = static_cast<void**>(*at), at = static_cast<void**>(*at);
            at = static_cast<void**>(*at), at = static_cast<void**>(*at);
            at = static_cast<void**>(*at), at = static_cast<void**>(*at);
            at = static_cast<void**>(*at), at = static_cast<void**>(*at);
        }
        sink = reinterpret_cast<uint64_t>(at);
    });
}

typedef uint64_t Wide __attribute__((vector_size(32), aligned(32)));

uint64_t read_all(const char* memory, int64_t bytes) {
    const Wide* at = reinterpret_cast<const Wide*>(memory);
    Wide a{}, b{}, c{}, d{};
    for (int64_t i = 0; i + 4 <= bytes / 32; i += 4) a += at[i], b += at[i + 1], c += at[i + 2], d += at[i + 3];
    const Wide sum = a + b + c + d;
    return sum[0] + sum[1] + sum[2] + sum[3];
}

void stream(const char* what, int64_t bytes, int threads) {
    std::vector<char*> from(threads), to(threads);
    for (int i = 0; i < threads; ++i) from[i] = pages(bytes), to[i] = what[0] == 'c' ? pages(bytes) : from[i];
    measure([&] {
        std::atomic<uint64_t> total{0};
        auto work = [&](int i) {
            if (what[0] == 'r') total += read_all(from[i], bytes);
            if (what[0] == 'w') std::memset(to[i], 2, bytes), total += to[i][bytes / 2];
            if (what[0] == 'c') std::memcpy(to[i], from[i], bytes), total += to[i][bytes / 2];
        };
        std::vector<std::thread> others;
        for (int i = 1; i < threads; ++i) others.emplace_back(work, i);
        work(0);
        for (auto& other : others) other.join();
        sink = total;
    });
}

void call(int64_t calls) {
    const mi::GemmParams p{1, 1, 1, 16, 0, 0, 0.0f, 0.0f, 0, 0, 0};
    alignas(64) float input[16] = {1}, weights[16] = {1}, bias[16] = {}, output[16] = {};
    auto* volatile kernel = +[](const mi::GemmParams* q, const float* x, const float* w, const float* b, float* y) {
        mi::gemm_float32(*q, x, w, b, y);
    };
    measure([&] {
        for (int64_t i = 0; i < calls; ++i) kernel(&p, input, weights, bias, output);
        sink = static_cast<uint64_t>(output[0]);
    });
}

void wake(int64_t rounds) {
    measure([&] {
        std::atomic<int64_t> asked{0}, answered{0};
        std::thread other([&] {
            for (int64_t i = 1; i <= rounds; ++i) {
                while (asked.load(std::memory_order_acquire) < i) std::this_thread::yield();
                answered.store(i, std::memory_order_release);
            }
        });
        for (int64_t i = 1; i <= rounds; ++i) {
            asked.store(i, std::memory_order_release);
            while (answered.load(std::memory_order_acquire) < i) std::this_thread::yield();
        }
        other.join();
    });
}

// Repeats the product until it has at least 4 million multiply-accumulates.
int64_t rounds_of(int64_t rows, int64_t columns, int64_t depth) {
    const int64_t macs = rows * columns * depth;
    return macs >= 4000000 ? 1 : 4000000 / macs + 1;
}

void gemm_float32(int32_t rows, int32_t columns, int32_t depth) {
    const int32_t block = 16, packed = (columns + block - 1) / block * block;
    const mi::GemmParams p{rows, columns, depth, block, 0, 0, 0.0f, 0.0f, 0, 0, 0};
    std::vector<float> input(int64_t{rows} * depth, 0.5f), weights(int64_t{packed} * depth, 0.25f);
    std::vector<float> bias(packed, 0.0f), output(int64_t{rows} * columns + 64, 0.0f);
    const int64_t rounds = rounds_of(rows, columns, depth);
    measure([&] {
        for (int64_t i = 0; i < rounds; ++i) {
            mi::gemm_float32(p, input.data(), weights.data(), bias.data(), output.data());
            sink = static_cast<uint64_t>(output[0]);
        }
    });
}

void gemm_int8(int32_t rows, int32_t columns, int32_t depth) {
    const int32_t block = 16, packed = (columns + block - 1) / block * block, pairs = (depth + 1) / 2;
    const int32_t scratch_bytes = rows * pairs * 2 * 2;
    const mi::GemmParams p{rows, columns, depth, block, scratch_bytes, 0, 0.0f, 0.0f, 0, -128, 127};
    std::vector<int8_t> input(int64_t{rows} * depth, 1), weights(int64_t{packed} * pairs * 2, 1);
    std::vector<int32_t> bias(packed, 0), multiplier(packed, 1 << 30), shift(packed, 0);
    std::vector<int8_t> output(int64_t{rows} * columns + 64, 0);
    std::vector<int16_t> scratch(int64_t{rows} * pairs * 2 + 64, 0);
    const int64_t rounds = rounds_of(rows, columns, depth);
    measure([&] {
        for (int64_t i = 0; i < rounds; ++i) {
            mi::gemm_int8(p, input.data(), weights.data(), bias.data(), multiplier.data(), shift.data(), nullptr,
                          nullptr, nullptr, output.data(), scratch.data());
            sink = static_cast<uint64_t>(output[0]);
        }
    });
}

}  // namespace

int main(int count, char** words) {
    int64_t n[3] = {};
    for (int i = 2; i < count && i < 5; ++i) n[i - 2] = std::atoll(words[i]);
    const char* what = count > 1 ? words[1] : "";
    if (!std::strcmp(what, "clock")) clock_chain(n[0]);
    else if (!std::strcmp(what, "chase")) chase(n[0], n[1], n[2]);
    else if (!std::strcmp(what, "read") || !std::strcmp(what, "write") || !std::strcmp(what, "copy"))
        stream(what, n[0], static_cast<int>(n[1]));
    else if (!std::strcmp(what, "call")) call(n[0]);
    else if (!std::strcmp(what, "wake")) wake(n[0]);
    else if (!std::strcmp(what, "gemm_float32")) gemm_float32(n[0], n[1], n[2]);
    else if (!std::strcmp(what, "gemm_int8")) gemm_int8(n[0], n[1], n[2]);
    else return 2;
    return 0;
}
