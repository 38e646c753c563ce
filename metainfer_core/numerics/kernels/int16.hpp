// 16-bit activations: layers with 8-bit weights, summed in 64 bits, and arithmetic on two tensors. Zero points are 0.
//
// Rounding as in requantize.hpp, once and half up, of the exact product (128 bits hold it), then saturation.
#pragma once
#include "conv2d.hpp"
#include "gemm.hpp"
#include "pool.hpp"
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

// Windows without any input do not occur: the greatest begins with the least code.
MI_KERNEL void max_pool_int16(const PoolParams p, const int16_t* input, int16_t* output) {
    pool(
        p, input, int16_t{-32768}, [](int16_t a, int16_t b) { return a > b ? a : b; },
        [=](int64_t index, int16_t greatest, int32_t, int32_t) { output[index] = greatest; });
}

// multiplier, shift: input scale / (output scale * n) for a window of n inputs, at index n - 1.
MI_KERNEL void average_pool_int16(const PoolParams p, const int16_t* input, const int32_t* multiplier,
                                  const int32_t* shift, int16_t* output) {
    pool(
        p, input, int64_t{0}, [](int64_t a, int16_t b) { return a + b; },
        [=](int64_t index, int64_t sum, int32_t y, int32_t x) {
            const int32_t n = maximum(window_count(p, y, x), 1) - 1;
            output[index] = requantize_int16(sum, multiplier[n], shift[n], p.low, p.high);
        });
}

struct MeanInt16Params {
    int32_t rows, columns;
    int32_t multiplier, shift;  // input scale / (output scale * columns)
    int32_t low, high;
};

// The mean of each row.
MI_KERNEL void mean_int16(const MeanInt16Params p, const int16_t* input, int16_t* output) {
    for (int32_t row = 0; row < p.rows; ++row, input += p.columns) {
        int64_t sum = 0;
        for (int32_t i = 0; i < p.columns; ++i) sum += input[i];
        output[row] = requantize_int16(sum, p.multiplier, p.shift, p.low, p.high);
    }
}

// Between codes of several widths, and from one scale of 16-bit codes to another. Codes of 4 and 6 bits lie in int8_t.
struct RescaleParams {
    int32_t count;
    int32_t multiplier, shift;
    int32_t input_zero_point, output_zero_point;  // 0 of 16-bit codes
    int32_t low, high;
};

#define MI_RESCALE(from, from_type, to, to_type)                                                               \
    MI_KERNEL_IN_PLACE void rescale_##from##_##to(const RescaleParams p, const from_type* input, to_type* output) { \
        for (int32_t i = 0; i < p.count; ++i) {                                                                \
            output[i] = static_cast<to_type>(requantize(input[i] - p.input_zero_point, p.multiplier, p.shift,  \
                                                        p.output_zero_point, p.low, p.high));                  \
        }                                                                                                      \
    }
MI_RESCALE(int16, int16_t, int16, int16_t)
MI_RESCALE(int16, int16_t, int8, int8_t)
MI_RESCALE(int8, int8_t, int16, int16_t)
MI_RESCALE(int8, int8_t, int8, int8_t)
#undef MI_RESCALE

struct BinaryInt16Params {
    int32_t rank;
    int32_t shape[6];
    int32_t left_step[6], right_step[6];
    int32_t left_multiplier, right_multiplier;  // mul_int16: left_multiplier only
    int32_t shift, low, high;
};

template <class Function>
MI_INLINE void binary_int16(const BinaryInt16Params p, const int16_t* left, const int16_t* right, int16_t* output,
                            Function function) {
    const int32_t count = p.shape[p.rank - 1];
    const int32_t left_step = p.left_step[p.rank - 1], right_step = p.right_step[p.rank - 1];
    for_each_row(p.rank, p.shape, p.left_step, p.right_step, [&](int64_t to, int64_t from_left, int64_t from_right) {
        for (int32_t i = 0; i < count; ++i) {
            output[to + i] = function(left[from_left + int64_t{i} * left_step], right[from_right + int64_t{i} * right_step]);
        }
    });
}

// y = clamp(floor((a * left_multiplier + b * right_multiplier) / 2^shift + 1/2)): one rounding, half up. Each product is
// below 2^46, so 64 bits hold all of it.
MI_KERNEL_IN_PLACE void add_int16(const BinaryInt16Params p, const int16_t* left, const int16_t* right,
                                  int16_t* output) {
    binary_int16(p, left, right, output, [&p](int64_t a, int64_t b) {
        const int64_t sum = a * p.left_multiplier + b * p.right_multiplier + (int64_t{1} << (p.shift - 1));
        const int64_t value = sum >> p.shift;
        return static_cast<int16_t>(value < p.low ? p.low : (value > p.high ? p.high : value));
    });
}
MI_KERNEL_IN_PLACE void mul_int16(const BinaryInt16Params p, const int16_t* left, const int16_t* right,
                                  int16_t* output) {
    binary_int16(p, left, right, output, [&p](int32_t a, int32_t b) {
        return static_cast<int16_t>(requantize(a * b, p.left_multiplier, p.shift, 0, p.low, p.high));
    });
}

}  // namespace mi
