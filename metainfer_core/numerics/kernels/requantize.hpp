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

// The same for shift >= 33, by 32-bit steps that fill vectors even where each lane has a shift of its own:
// floor(x / 2^s + 1/2) = floor((floor(x / 2^(s - 1)) + 1) / 2), and the upper half of the product holds all of that.
MI_INLINE int32_t requantize_upper(int32_t accumulator, int32_t multiplier, int32_t shift, int32_t zero_point,
                                   int32_t low, int32_t high) {
    const int32_t upper = static_cast<int32_t>((static_cast<int64_t>(accumulator) * multiplier) >> 32);
    const int32_t value = ((upper >> (shift - 33)) + 1) >> 1;
    return minimum(maximum(value, low - zero_point), high - zero_point) + zero_point;
}

// The same for an 8-bit output, then through a table of 256 entries where there is one: a fused activation.
MI_INLINE int8_t requantize_int8(int32_t accumulator, int32_t multiplier, int32_t shift, int32_t zero_point,
                                 int32_t low, int32_t high, const int8_t* table) {
    const int32_t value = requantize(accumulator, multiplier, shift, zero_point, low, high);
    return table ? table[value + 128] : static_cast<int8_t>(value);
}

// Hard-swish of an unrounded sum. What it reads has 16 bits, of which `knee` codes stand for 3: first rounding. x below -3
// gives 0, so codes end there. x * min(max(x + 3, 0), 6) is exact in 31 bits; its second rounding is the result's.
MI_INLINE int8_t hard_swish_int8(int32_t accumulator, int32_t multiplier, int32_t shift, int32_t knee,
                                 int32_t curve_multiplier, int32_t curve_shift, int32_t zero_point, int32_t low,
                                 int32_t high) {
    const int32_t x = requantize(accumulator, multiplier, shift, 0, -knee, 32767);
    const int32_t product = x * minimum(x + knee, 2 * knee);
    return static_cast<int8_t>(requantize(product, curve_multiplier, curve_shift, zero_point, low, high));
}

// How a kernel ends its sums: rounded to 8 bits with the factor of their channel, or, where there are factors of a curve,
// through hard-swish, rounded with these. CHANNEL_STEP: 0: all sums are of one channel; 1: each is of the next one.
template <int32_t CHANNEL_STEP, class Params>
MI_INLINE void finish_int8(const Params& p, const int32_t* sums, int32_t count, int32_t channel,
                           const int32_t* multiplier, const int32_t* shift, const int8_t* table,
                           const int32_t* curve_multiplier, const int32_t* curve_shift, int8_t* output,
                           int64_t output_step) {
    multiplier += channel, shift += channel;
    if (curve_multiplier) {
        curve_multiplier += channel, curve_shift += channel;
        for (int32_t i = 0; i < count; ++i) {
            const int32_t c = i * CHANNEL_STEP;
            output[i * output_step] = hard_swish_int8(sums[i], multiplier[c], shift[c], p.knee, curve_multiplier[c],
                                                      curve_shift[c], p.output_zero_point, p.low, p.high);
        }
        return;
    }
    int32_t least = 62;
    for (int32_t i = 0; i < count * CHANNEL_STEP; ++i) least = minimum(least, shift[i]);
    if (CHANNEL_STEP && least >= 33) {
        for (int32_t i = 0; i < count; ++i) {
            const int32_t value =
                requantize_upper(sums[i], multiplier[i], shift[i], p.output_zero_point, p.low, p.high);
            output[i * output_step] = table ? table[value + 128] : static_cast<int8_t>(value);
        }
        return;
    }
    for (int32_t i = 0; i < count; ++i) {
        const int32_t c = i * CHANNEL_STEP;
        output[i * output_step] =
            requantize_int8(sums[i], multiplier[c], shift[c], p.output_zero_point, p.low, p.high, table);
    }
}

}  // namespace mi
