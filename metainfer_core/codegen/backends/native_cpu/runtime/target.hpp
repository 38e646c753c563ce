// What the program needs from an x86-64 processor: its time-stamp counter, and which instructions it has.
#pragma once
#include <cstdint>

static inline uint64_t metainfer_ticks() { return __builtin_ia32_rdtsc(); }

static bool same_name(const char* one, const char* other) {
    while (*one != 0 && *one == *other) ++one, ++other;
    return *one == *other;
}

static bool metainfer_supports(const char* variant) {
    __builtin_cpu_init();
    const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                    __builtin_cpu_supports("avx512cd");
    return same_name(variant, "x86_64_v4") ? v4 : v3;
}
