// Between float32 and 8-bit integers, and elementwise arithmetic on 8-bit integers.
#pragma once
#include "elementwise.hpp"
#include "requantize.hpp"

namespace mi {

// The tensor as [outer][channels][inner], with a scale and a zero point for each channel (one channel: for all).
struct QuantizeParams {
    int32_t outer, channels, inner;
    int32_t low, high;  // quantize only
};

// integer = clamp(round_half_even(real / scale) + zero point), as ONNX QuantizeLinear; NaN gives the zero point.
template <class Output>
MI_INLINE void quantize(const QuantizeParams p, const float* input, const float* scale, const int32_t* zero_point,
                        Output* output) {
    for (int32_t plane = 0; plane < p.outer * p.channels; ++plane) {
        const int32_t channel = plane % p.channels;
        const float divisor = scale[channel];
        const int32_t zero = zero_point[channel];
        const float low = static_cast<float>(p.low - zero), high = static_cast<float>(p.high - zero);
        const float* source = input + int64_t{plane} * p.inner;
        Output* target = output + int64_t{plane} * p.inner;
        for (int32_t i = 0; i < p.inner; ++i) {
            const float quotient = source[i] / divisor;
            const float number = quotient == quotient ? quotient : 0.0f;
            target[i] = static_cast<Output>(static_cast<int32_t>(round_even_small(clip(number, low, high))) + zero);
        }
    }
}

// real = (integer - zero point) * scale.
template <class Input>
MI_INLINE void dequantize(const QuantizeParams p, const Input* input, const float* scale, const int32_t* zero_point,
                          float* output) {
    for (int32_t plane = 0; plane < p.outer * p.channels; ++plane) {
        const float factor = scale[plane % p.channels];
        const int32_t zero = zero_point[plane % p.channels];
        const int64_t first = int64_t{plane} * p.inner;
        for (int32_t i = 0; i < p.inner; ++i) {
            output[first + i] = static_cast<float>(static_cast<int32_t>(input[first + i]) - zero) * factor;
        }
    }
}

MI_KERNEL_IN_PLACE void quantize_int8(const QuantizeParams p, const float* input, const float* scale,
                             const int32_t* zero_point, int8_t* output) {
    quantize(p, input, scale, zero_point, output);
}
MI_KERNEL_IN_PLACE void dequantize_int8(const QuantizeParams p, const int8_t* input, const float* scale,
                               const int32_t* zero_point, float* output) {
    dequantize(p, input, scale, zero_point, output);
}
MI_KERNEL_IN_PLACE void dequantize_uint8(const QuantizeParams p, const uint8_t* input, const float* scale,
                                const int32_t* zero_point, float* output) {
    dequantize(p, input, scale, zero_point, output);
}
MI_KERNEL_IN_PLACE void dequantize_int32(const QuantizeParams p, const int32_t* input, const float* scale,
                                const int32_t* zero_point, float* output) {
    dequantize(p, input, scale, zero_point, output);
}

struct LookupParams {
    int32_t count;
};

// output = table[input + 128]: any function of one 8-bit value, and any change of scale.
MI_KERNEL_IN_PLACE void lookup_int8(const LookupParams p, const int8_t* input, const int8_t* table,
                                    int8_t* output) {
    for (int32_t i = 0; i < p.count; ++i) output[i] = table[input[i] + 128];
}

struct BinaryInt8Params {
    int32_t rank;
    int32_t shape[6];
    int32_t left_step[6], right_step[6];
    int32_t left_zero_point, right_zero_point, output_zero_point;
    int32_t left_multiplier, right_multiplier;  // mul_int8: left_multiplier only
    int32_t shift, low, high;
};

template <class Function>
MI_INLINE void binary_int8(const BinaryInt8Params p, const int8_t* left, const int8_t* right, int8_t* output,
                           Function function) {
    const int32_t count = p.shape[p.rank - 1];
    const int32_t left_step = p.left_step[p.rank - 1], right_step = p.right_step[p.rank - 1];
    for_each_row(p.rank, p.shape, p.left_step, p.right_step, [&](int64_t to, int64_t from_left, int64_t from_right) {
        const int8_t *a = left + from_left, *b = right + from_right;
        int8_t* y = output + to;
        if (left_step == 1 && right_step == 1) {
            for (int32_t i = 0; i < count; ++i) y[i] = function(a[i] - p.left_zero_point, b[i] - p.right_zero_point);
        } else if (left_step == 1 && right_step == 0) {
            const int32_t value = *b - p.right_zero_point;
            for (int32_t i = 0; i < count; ++i) y[i] = function(a[i] - p.left_zero_point, value);
        } else {
            for (int32_t i = 0; i < count; ++i) {
                y[i] = function(a[int64_t{i} * left_step] - p.left_zero_point,
                                b[int64_t{i} * right_step] - p.right_zero_point);
            }
        }
    });
}

// y = clamp(floor((a * left_multiplier + b * right_multiplier) / 2^shift + 1/2) + zero point): one rounding, half up.
// The multipliers are below 2^21 in size, so all of it fits in 32 bits.
MI_KERNEL_IN_PLACE void add_int8(const BinaryInt8Params p, const int8_t* left, const int8_t* right,
                                 const int8_t* table, int8_t* output) {
    binary_int8(p, left, right, output, [&p, table](int32_t a, int32_t b) {
        const int32_t sum = a * p.left_multiplier + b * p.right_multiplier + (1 << (p.shift - 1));
        const int32_t value = minimum(maximum((sum >> p.shift) + p.output_zero_point, p.low), p.high);
        return table ? table[value + 128] : static_cast<int8_t>(value);
    });
}
MI_KERNEL_IN_PLACE void mul_int8(const BinaryInt8Params p, const int8_t* left, const int8_t* right,
                                 const int8_t* table, int8_t* output) {
    binary_int8(p, left, right, output, [&p, table](int32_t a, int32_t b) {
        return requantize_int8(a * b, p.left_multiplier, p.shift, p.output_zero_point, p.low, p.high, table);
    });
}

}  // namespace mi
