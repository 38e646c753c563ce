// From a 32-bit accumulator to an 8-bit integer: y = clamp(round(accumulator * multiplier / 2^shift) + zero point).
//
// Rounding: ONE rounding of the exact 64-bit product, half up (towards plus infinity): floor(product / 2^shift + 1/2).
// (Jacob et al., CVPR 2018, use the same fixed-point factor; their reference code rounds twice.) Then saturation.
// 2^30 <= multiplier < 2^31, 1 <= shift <= 62, |accumulator| < 2^31: the product and its rounding term fit in int64.
#pragma once
#include "vector.hpp"

namespace mi {

MI_INLINE int32_t requantize(int32_t accumulator, int32_t multiplier, int32_t shift, int32_t zero_point, int32_t low,
                             int32_t high) {
    const int64_t rounded = static_cast<int64_t>(accumulator) * multiplier + (int64_t{1} << (shift - 1));
    if (shift >= 32) {  // the same value from the upper half alone, which fills vectors of 32-bit lanes
        const int32_t value = static_cast<int32_t>(rounded >> 32) >> (shift - 32);
        return minimum(maximum(value, low - zero_point), high - zero_point) + zero_point;
    }
    const int64_t value = (rounded >> shift) + zero_point;
    return static_cast<int32_t>(value < low ? low : (value > high ? high : value));
}

// The same for an 8-bit output, then through a table of 256 entries where there is one: a fused activation.
MI_INLINE int8_t requantize_int8(int32_t accumulator, int32_t multiplier, int32_t shift, int32_t zero_point,
                                 int32_t low, int32_t high, const int8_t* table) {
    const int32_t value = requantize(accumulator, multiplier, shift, zero_point, low, high);
    return table ? table[value + 128] : static_cast<int8_t>(value);
}

}  // namespace mi
