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
};

// Calls `add(value)` for each input in the window of an output, by row and column.
template <class Value, class Add>
MI_INLINE void for_window(const PoolParams& p, const Value* plane, int32_t out_y, int32_t out_x, Add add) {
    for (int32_t ky = 0; ky < p.kernel_height; ++ky) {
        const int32_t y = out_y * p.stride_height - p.pad_top + ky * p.dilation_height;
        if (y < 0 || y >= p.height) continue;
        for (int32_t kx = 0; kx < p.kernel_width; ++kx) {
            const int32_t x = out_x * p.stride_width - p.pad_left + kx * p.dilation_width;
            if (x >= 0 && x < p.width) add(plane[y * p.width + x]);
        }
    }
}

// Taps of one axis that lie in 0 <= position < end, for the window that starts at `start`.
MI_INLINE int32_t taps_inside(int32_t start, int32_t kernel, int32_t dilation, int32_t begin, int32_t end) {
    int32_t count = 0;
    for (int32_t k = 0; k < kernel; ++k) count += start + k * dilation >= begin && start + k * dilation < end;
    return count;
}

// Inputs that an average divides by: those inside the image, or inside the padded image.
MI_INLINE int32_t window_count(const PoolParams& p, int32_t out_y, int32_t out_x) {
    const int32_t y = out_y * p.stride_height - p.pad_top, x = out_x * p.stride_width - p.pad_left;
    const bool padded = p.count_include_pad != 0;
    return taps_inside(y, p.kernel_height, p.dilation_height, padded ? -p.pad_top : 0,
                       p.height + (padded ? p.pad_bottom : 0)) *
           taps_inside(x, p.kernel_width, p.dilation_width, padded ? -p.pad_left : 0,
                       p.width + (padded ? p.pad_right : 0));
}

template <class Value, class Output>
MI_INLINE void for_outputs(const PoolParams& p, const Value* input, Output output) {
    for (int32_t plane = 0; plane < p.planes; ++plane) {
        const Value* source = input + int64_t{plane} * p.height * p.width;
        for (int32_t y = 0; y < p.out_height; ++y) {
            for (int32_t x = 0; x < p.out_width; ++x) {
                output((int64_t{plane} * p.out_height + y) * p.out_width + x, source, y, x);
            }
        }
    }
}

MI_KERNEL void max_pool_float32(const PoolParams& p, const float* input, float* output) {
    for_outputs(p, input, [&](int64_t index, const float* plane, int32_t y, int32_t x) {
        float greatest = -FLOAT_INFINITY;
        for_window(p, plane, y, x, [&](float value) { greatest = greater_of(value, greatest); });
        output[index] = greatest;
    });
}

MI_KERNEL void max_pool_int8(const PoolParams& p, const int8_t* input, int8_t* output) {
    for_outputs(p, input, [&](int64_t index, const int8_t* plane, int32_t y, int32_t x) {
        int8_t greatest = -128;
        for_window(p, plane, y, x, [&](int8_t value) { greatest = value > greatest ? value : greatest; });
        output[index] = greatest;
    });
}

// The sum in window order, then one division.
MI_KERNEL void average_pool_float32(const PoolParams& p, const float* input, float* output) {
    for_outputs(p, input, [&](int64_t index, const float* plane, int32_t y, int32_t x) {
        float sum = 0.0f;
        for_window(p, plane, y, x, [&](float value) { sum += value; });
        output[index] = sum / static_cast<float>(window_count(p, y, x));
    });
}

// multiplier, shift: input scale / (output scale * n) for a window of n inputs, at index n - 1.
MI_KERNEL void average_pool_int8(const PoolParams& p, const int8_t* input, const int32_t* multiplier,
                                 const int32_t* shift, int8_t* output) {
    for_outputs(p, input, [&](int64_t index, const int8_t* plane, int32_t y, int32_t x) {
        int32_t sum = 0;
        for_window(p, plane, y, x, [&](int8_t value) { sum += value - p.input_zero_point; });
        const int32_t n = maximum(window_count(p, y, x), 1) - 1;
        output[index] =
            static_cast<int8_t>(requantize(sum, multiplier[n], shift[n], p.output_zero_point, p.low, p.high));
    });
}

}  // namespace mi
