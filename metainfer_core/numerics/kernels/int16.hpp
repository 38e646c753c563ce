// 16-bit activations with 8-bit weights, summed in 64 bits. Zero points are 0.
//
// Rounding as in requantize.hpp, once and half up, of the exact product (128 bits hold it), then saturation.
#pragma once
#include "conv2d.hpp"
#include "gemm.hpp"
#include "quantize.hpp"

namespace mi {

MI_INLINE int16_t requantize_int16(int64_t sum, int32_t multiplier, int32_t shift, int32_t low, int32_t high) {
    typedef __int128 Wide;
    const Wide value = (static_cast<Wide>(sum) * multiplier + (static_cast<Wide>(1) << (shift - 1))) >> shift;
    return static_cast<int16_t>(value < low ? low : (value > high ? high : value));
}

MI_KERNEL_IN_PLACE void quantize_int16(const QuantizeParams p, const float* input, const float* scale,
                                       const int32_t* zero_point, int16_t* output) {
    quantize(p, input, scale, zero_point, output);
}
MI_KERNEL_IN_PLACE void dequantize_int16(const QuantizeParams p, const int16_t* input, const float* scale,
                                         const int32_t* zero_point, float* output) {
    dequantize(p, input, scale, zero_point, output);
}

constexpr int32_t INT16_CHUNK = 32;

// weights: [output channel][input channel][kernel row][kernel column]; bias, multiplier and shift per output channel.
MI_KERNEL void conv2d_int16(const Conv2dParams p, const int16_t* input, const int8_t* weights, const int64_t* bias,
                            const int32_t* multiplier, const int32_t* shift, int16_t* output) {
    const int32_t taps = p.channels * p.kernel_height * p.kernel_width;
    for (int32_t plane = 0; plane < p.batch * p.groups * p.filters; ++plane) {
        const int32_t channel = plane % (p.groups * p.filters);
        const int16_t* source = input + int64_t{plane / p.filters} * p.channels * p.height * p.width;
        for (int32_t y = 0; y < p.out_height; ++y) {
            for (int32_t first = 0; first < p.out_width; first += INT16_CHUNK) {
                const int32_t count = minimum(INT16_CHUNK, p.out_width - first);
                int64_t sums[INT16_CHUNK];
                for (int32_t i = 0; i < count; ++i) sums[i] = bias[channel];
                for (int32_t tap = 0; tap < taps; ++tap) {
                    const int32_t kx = tap % p.kernel_width, ky = tap / p.kernel_width % p.kernel_height;
                    const int32_t row = y * p.stride_height - p.pad_top + ky * p.dilation_height;
                    if (row < 0 || row >= p.height) continue;
                    const int64_t weight = weights[int64_t{channel} * taps + tap];
                    const int16_t* line =
                        source + (int64_t{tap / (p.kernel_height * p.kernel_width)} * p.height + row) * p.width;
                    for (int32_t i = 0; i < count; ++i) {
                        const int32_t x = (first + i) * p.stride_width - p.pad_left + kx * p.dilation_width;
                        if (x >= 0 && x < p.width) sums[i] += weight * line[x];
                    }
                }
                int16_t* target = output + (int64_t{plane} * p.out_height + y) * p.out_width + first;
                for (int32_t i = 0; i < count; ++i) {
                    target[i] = requantize_int16(sums[i], multiplier[channel], shift[channel], p.low, p.high);
                }
            }
        }
    }
}

// weights: [depth][columns]; bias, multiplier and shift per column.
MI_KERNEL void gemm_int16(const GemmParams p, const int16_t* input, const int8_t* weights, const int64_t* bias,
                          const int32_t* multiplier, const int32_t* shift, int16_t* output) {
    for (int32_t row = 0; row < p.rows; ++row, input += p.depth, output += p.columns) {
        for (int32_t first = 0; first < p.columns; first += INT16_CHUNK) {
            const int32_t count = minimum(INT16_CHUNK, p.columns - first);
            int64_t sums[INT16_CHUNK];
            for (int32_t i = 0; i < count; ++i) sums[i] = bias[first + i];
            for (int32_t k = 0; k < p.depth; ++k) {
                const int8_t* line = weights + int64_t{k} * p.columns + first;
                for (int32_t i = 0; i < count; ++i) sums[i] += int64_t{input[k]} * line[i];
            }
            for (int32_t i = 0; i < count; ++i) {
                output[first + i] = requantize_int16(sums[i], multiplier[first + i], shift[first + i], p.low, p.high);
            }
        }
    }
}

}  // namespace mi
