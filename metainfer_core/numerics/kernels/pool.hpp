// Pooling windows over the last two axes.
#pragma once
#include "elementwise.hpp"
#include "requantize.hpp"

namespace mi {

struct PoolParams {
    int32_t planes;  // batch * channels
    int32_t height, width, out_height, out_width;
    int32_t kernel_height, kernel_width, stride_height, stride_width, dilation_height, dilation_width;
    int32_t pad_top, pad_left, pad_bottom, pad_right;
    int32_t count_include_pad;                                   // average only
    int32_t input_zero_point, output_zero_point, low, high;  // average_pool_int8 only
    int32_t half_sums;  // average_pool_float16 only: each sum is rounded to 16 bits
    int32_t flush;      // 16-bit floats only: see narrow
    int32_t likely_inside;  // whether rows of taps lie inside the input, see expected
};

// Taps of one axis that lie in 0 <= position < end, for the window that starts at `start`.
MI_INLINE int32_t taps_inside(int32_t start, int32_t kernel, int32_t dilation, int32_t begin, int32_t end) {
    int32_t count = 0;
    for (int32_t k = 0; k < kernel; ++k) count += start + k * dilation >= begin && start + k * dilation < end;
    return count;
}

// Inputs that an average divides by: those inside the image, or inside the padded image.
template <class Params>
MI_INLINE int32_t window_count(const Params& p, int32_t out_y, int32_t out_x) {
    const int32_t y = out_y * p.stride_height - p.pad_top, x = out_x * p.stride_width - p.pad_left;
    const bool padded = p.count_include_pad != 0;
    return taps_inside(y, p.kernel_height, p.dilation_height, padded ? -p.pad_top : 0,
                       p.height + (padded ? p.pad_bottom : 0)) *
           taps_inside(x, p.kernel_width, p.dilation_width, padded ? -p.pad_left : 0,
                       p.width + (padded ? p.pad_right : 0));
}

constexpr int32_t POOL_CHUNK = 64;

// Outputs of one row, POOL_CHUNK at a time: `add(sum, value)` for each input in the window, by row and column, beginning
// with `initial`; then `finish(index of the output, sum, row, column)`.
template <class Sum, class Value, class Add, class Finish>
MI_INLINE void pool(const PoolParams p, const Value* input, Sum initial, Add add, Finish finish) {
    for (int32_t row = 0; row < p.planes * p.out_height; ++row) {
        const Value* plane = input + int64_t{row / p.out_height} * p.height * p.width;
        const int32_t out_y = row % p.out_height;
        for (int32_t begin = 0; begin < p.out_width; begin += POOL_CHUNK) {
            const int32_t count = minimum(POOL_CHUNK, p.out_width - begin);
            Sum sums[POOL_CHUNK];
            for (int32_t i = 0; i < count; ++i) sums[i] = initial;
            for (int32_t ky = 0; ky < p.kernel_height; ++ky) {
                const int32_t y = out_y * p.stride_height - p.pad_top + ky * p.dilation_height;
                if (!expected(y >= 0 && y < p.height, p.likely_inside)) continue;
                for (int32_t kx = 0; kx < p.kernel_width; ++kx) {
                    const int32_t shift = begin * p.stride_width - p.pad_left + kx * p.dilation_width;
                    const int32_t first = shift >= 0 ? 0 : divide_up(-shift, p.stride_width);
                    const int32_t end =
                        p.width > shift ? minimum(divide_up(p.width - shift, p.stride_width), count) : 0;
                    const Value* line = plane + int64_t{y} * p.width + shift;
                    if (p.stride_width == 1) {
                        for (int32_t i = first; i < end; ++i) sums[i] = add(sums[i], line[i]);
                    } else {
                        for (int32_t i = first; i < end; ++i) sums[i] = add(sums[i], line[i * p.stride_width]);
                    }
                }
            }
            for (int32_t i = 0; i < count; ++i) {
                finish(int64_t{row} * p.out_width + begin + i, sums[i], out_y, begin + i);
            }
        }
    }
}

MI_KERNEL void max_pool_float32(const PoolParams p, const float* input, float* output) {
    pool(
        p, input, -FLOAT_INFINITY, [](float a, float b) { return greater_of(b, a); },
        [=](int64_t index, float greatest, int32_t, int32_t) { output[index] = greatest; });
}

MI_KERNEL void max_pool_int8(const PoolParams p, const int8_t* input, int8_t* output) {
    pool(
        p, input, int8_t{-128}, [](int8_t a, int8_t b) { return a > b ? a : b; },
        [=](int64_t index, int8_t greatest, int32_t, int32_t) { output[index] = greatest; });
}

// The sum in window order, then one division.
MI_KERNEL void average_pool_float32(const PoolParams p, const float* input, float* output) {
    pool(
        p, input, 0.0f, [](float a, float b) { return a + b; },
        [=](int64_t index, float sum, int32_t y, int32_t x) {
            output[index] = sum / static_cast<float>(window_count(p, y, x));
        });
}

// multiplier, shift: input scale / (output scale * n) for a window of n inputs, at index n - 1.
MI_KERNEL void average_pool_int8(const PoolParams p, const int8_t* input, const int32_t* multiplier,
                                 const int32_t* shift, int8_t* output) {
    pool(
        p, input, 0, [=](int32_t a, int8_t b) { return a + b - p.input_zero_point; },
        [=](int64_t index, int32_t sum, int32_t y, int32_t x) {
            const int32_t n = maximum(window_count(p, y, x), 1) - 1;
            output[index] =
                static_cast<int8_t>(requantize(sum, multiplier[n], shift[n], p.output_zero_point, p.low, p.high));
        });
}

struct MeanInt8Params {
    int32_t rows, columns;
    int32_t multiplier, shift;  // input scale / (output scale * columns)
    int32_t input_zero_point, output_zero_point, low, high;
};

// The mean of each row.
MI_KERNEL void mean_int8(const MeanInt8Params p, const int8_t* input, int8_t* output) {
    for (int32_t row = 0; row < p.rows; ++row, input += p.columns) {
        int32_t sum = 0;
        for (int32_t i = 0; i < p.columns; ++i) sum += input[i];
        output[row] = static_cast<int8_t>(requantize(sum - p.columns * p.input_zero_point, p.multiplier, p.shift,
                                                     p.output_zero_point, p.low, p.high));
    }
}

}  // namespace mi
