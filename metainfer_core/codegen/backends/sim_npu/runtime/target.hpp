// The simulated NPU runs on an x86-64 processor: its time-stamp counter, and whether it has the instructions.
#pragma once
#include <cstdint>

static inline uint64_t metainfer_ticks() { return __builtin_ia32_rdtsc(); }

static bool metainfer_supports(const char*) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
}
