// 16-bit floats: Float16 (IEEE binary16) and BFloat16 (the upper half of a binary32). Values are stored in 16 bits and
// computed in float32; each result is rounded once, half to even, when it is stored. For + - * / and the square root
// that is exactly IEEE 16-bit arithmetic (24 bits are enough for a second rounding of an 11-bit result to be harmless).
// Integer operations only, so every target gives the same bits.
#pragma once
#include "math.hpp"

namespace mi {

struct Float16 {
    uint16_t bits;
    MI_INLINE operator float() const {
        const int32_t sign = (bits & 0x8000) << 16, magnitude = (bits & 0x7fff) << 13;
        const int32_t finite = as_bits(as_float(magnitude) * 0x1p112f);  // moves the exponent; denormals come out right
        return as_float(sign | (magnitude >= 0x0f800000 ? magnitude | 0x7f800000 : finite));
    }
};

struct BFloat16 {
    uint16_t bits;
    MI_INLINE operator float() const { return as_float(static_cast<int32_t>(static_cast<uint32_t>(bits) << 16)); }
};

// `flush`: whether a result below the least normal number becomes zero, as the hardware does it.
MI_INLINE void narrow(float x, int32_t flush, Float16* result) {
    const int32_t bits = as_bits(x), magnitude = bits & 0x7fffffff;
    const int32_t normal = (magnitude + 0xfff + ((magnitude >> 13) & 1) - (112 << 23)) >> 13;
    const int32_t small = flush ? 0 : as_bits(as_float(magnitude) + 0.5f) - 0x3f000000;  // rounds to multiples of 2^-24
    const int32_t finite = magnitude < 0x38800000 ? small : normal;
    const int32_t value = magnitude > 0x7f800000 ? 0x7e00 : (magnitude >= 0x477ff000 ? 0x7c00 : finite);
    result->bits = static_cast<uint16_t>(((bits >> 16) & 0x8000) | value);
}
MI_INLINE void narrow(float x, int32_t flush, BFloat16* result) {
    const int32_t bits = as_bits(x), magnitude = bits & 0x7fffffff;
    const int32_t rounded = (magnitude + 0x7fff + ((magnitude >> 16) & 1)) >> 16;
    const int32_t finite = flush && magnitude < 0x00800000 ? 0 : rounded;
    result->bits = static_cast<uint16_t>(((bits >> 16) & 0x8000) | (magnitude > 0x7f800000 ? 0x7fc0 : finite));
}

// The same for float32 results, which stay as they are: one text serves kernels of all three types.
MI_INLINE void narrow(float x, int32_t, float* result) { *result = x; }

// A value as the type holds it.
template <class Half>
MI_INLINE float rounded(float x) {
    Half half;
    narrow(x, 0, &half);
    return half;
}

// `rounded<Float16>` of each lane.
MI_INLINE Float rounded_lanes(Float x) {
    const Int bits = (Int)x, magnitude = bits & 0x7fffffff;
    const Int normal = (magnitude + 0xfff + ((magnitude >> 13) & 1)) & ~0x1fff;
    const Int small = (Int)(((Float)magnitude + 0.5f) - 0.5f);
    const Int finite = magnitude < 0x38800000 ? small : normal;
    const Int infinite = magnitude > 0x7f800000 ? (magnitude & 0) + 0x7fc00000 : (magnitude & 0) + 0x7f800000;
    return (Float)((magnitude >= 0x477ff000 ? infinite : finite) | (bits ^ magnitude));
}

// Sums that are kept in 16 bits: each product and each sum is rounded.
struct HalfSums {
    Float lanes;
    MI_INLINE HalfSums& operator+=(const HalfSums& other) {
        lanes = rounded_lanes(lanes + other.lanes);
        return *this;
    }
};
MI_INLINE HalfSums operator+(const HalfSums& sums, float value) { return HalfSums{sums.lanes + value}; }
MI_INLINE HalfSums multiply_add(float scalar, Float vector, HalfSums sum) {
    return HalfSums{rounded_lanes(rounded_lanes(scalar * vector) + sum.lanes)};
}
MI_INLINE void store(float* target, HalfSums value) { store(target, value.lanes); }

MI_INLINE Float load(const Float16* source) {
    Float value;
    MI_UNROLL
    for (int32_t lane = 0; lane < LANES; ++lane) value[lane] = source[lane];
    return value;
}
MI_INLINE Float load(const BFloat16* source) {
    Float value;
    MI_UNROLL
    for (int32_t lane = 0; lane < LANES; ++lane) value[lane] = source[lane];
    return value;
}

// `count` values in float32: in place for float32, else copied to `scratch`.
MI_INLINE const float* widened(const float* values, int64_t, float*) { return values; }
template <class Half>
MI_INLINE const float* widened(const Half* values, int64_t count, float* scratch) {
    for (int64_t i = 0; i < count; ++i) scratch[i] = values[i];
    return scratch;
}

struct NarrowParams {
    int32_t count;
    int32_t flush;
};

#define MI_CONVERSION(element, type)                                                                                 \
    MI_KERNEL void narrow_##element(const NarrowParams p, const float* input, type* output) {                        \
        for (int32_t i = 0; i < p.count; ++i) narrow(input[i], p.flush, output + i);                                 \
    }                                                                                                                \
    MI_KERNEL void widen_##element(const NarrowParams p, const type* input, float* output) {                         \
        for (int32_t i = 0; i < p.count; ++i) output[i] = input[i];                                                  \
    }
MI_CONVERSION(float16, Float16)
MI_CONVERSION(bfloat16, BFloat16)
#undef MI_CONVERSION

}  // namespace mi
