// Between integer codes of one scale and 16-bit floats: what stands between the two at the border of a 16-bit node.
//
// The real number is the float32 one that dequantize and quantize would pass on, so the bits are those of two steps.
#pragma once
#include "half.hpp"
#include "quantize.hpp"

namespace mi {

struct HalfCodesParams {
    int32_t count;
    float scale;
    int32_t zero_point;
    int32_t low, high;  // of codes; narrow only
};

#define MI_HALF_CODES(half, half_type, codes, codes_type)                                                           \
    MI_KERNEL_IN_PLACE void widen_##codes##_##half(const HalfCodesParams p, const codes_type* input,                \
                                                   half_type* output) {                                             \
        for (int32_t i = 0; i < p.count; ++i) {                                                                     \
            narrow(static_cast<float>(static_cast<int32_t>(input[i]) - p.zero_point) * p.scale, 0, output + i);     \
        }                                                                                                           \
    }                                                                                                               \
    MI_KERNEL_IN_PLACE void narrow_##half##_##codes(const HalfCodesParams p, const half_type* input,                \
                                                    codes_type* output) {                                           \
        const float low = static_cast<float>(p.low - p.zero_point), high = static_cast<float>(p.high - p.zero_point); \
        for (int32_t i = 0; i < p.count; ++i) {                                                                     \
            const float quotient = static_cast<float>(input[i]) / p.scale;                                          \
            const float number = quotient == quotient ? quotient : 0.0f;                                            \
            const int32_t rounded = static_cast<int32_t>(round_even_small(clip(number, low, high)));                \
            output[i] = static_cast<codes_type>(rounded + p.zero_point);                                            \
        }                                                                                                           \
    }
MI_HALF_CODES(float16, Float16, int8, int8_t)
MI_HALF_CODES(float16, Float16, int16, int16_t)
MI_HALF_CODES(bfloat16, BFloat16, int8, int8_t)
MI_HALF_CODES(bfloat16, BFloat16, int16, int16_t)
#undef MI_HALF_CODES

}  // namespace mi
