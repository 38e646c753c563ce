// What the program needs from an Armv8-A processor: its virtual counter. Every one of them has Advanced SIMD.
#pragma once
#include <cstdint>

static inline uint64_t metainfer_ticks() {
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}

static bool metainfer_supports(const char*) { return true; }
