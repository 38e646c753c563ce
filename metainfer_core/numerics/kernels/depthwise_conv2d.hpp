// Depthwise 2-D convolution, NCHW: each output channel reads one input channel. Output pixels lie in the lanes.
//
// Each output is one sum: bias first, then the products by kernel row, kernel column (float32: fused multiply-add).
#pragma once
#include "conv2d.hpp"

namespace mi {

// VECTORS vectors of one row of outputs, from the taps at `line`. The loop over kernel rows takes STEP of them at a time.
template <int32_t VECTORS, int32_t STEP, class Vector, class Sum, class Value, class Output, class Finish>
MI_INLINE void depthwise_tile(const Conv2dParams p, const Band& band, const Value* line, const Value* weight,
                              int32_t number, Sum start, Output* output, Finish finish) {
    const Vectors vectors(p);
    int32_t first[VECTORS];
    Vector sums[VECTORS];
    MI_UNROLL
    for (int32_t v = 0; v < VECTORS; ++v) first[v] = vectors.column(number + v), sums[v] = Vector{} + start;
    for (int32_t y = 0; y < p.kernel_height; y += STEP) {
        const Value* row = line + int64_t{y} * p.dilation_height * band.row * STEP;
        int32_t phase = 0, column = 0;
        for (int32_t x = 0; x < p.kernel_width; ++x, weight += STEP) {
            const auto factor = broadcastable(weight);
            const Value* tap = row + (phase * band.columns + column) * STEP;
            MI_UNROLL
            for (int32_t v = 0; v < VECTORS; ++v) {
                sums[v] = multiply_add(factor, load(tap + first[v] * STEP), sums[v]);
            }
            phase += p.dilation_width;
            while (phase >= p.stride_width) phase -= p.stride_width, ++column;
        }
    }
    alignas(64) Sum results[VECTORS * LANES];
    MI_UNROLL
    for (int32_t v = 0; v < VECTORS; ++v) store(results + v * LANES, sums[v]);
    Output finished[VECTORS * LANES];
    finish(results, finished, VECTORS * LANES);
    for (int32_t v = 0; v < VECTORS; ++v) {
        for (int32_t i = 0; i < vectors.lanes; ++i) output[first[v] + i] = finished[v * LANES + i];
    }
}

// One row of outputs.
template <int32_t STEP, class Vector, class Sum, class Value, class Output, class Finish>
MI_INLINE void depthwise_row(const Conv2dParams p, const Band& band, const Value* line, const Value* weights,
                             Sum start, Output* output, Finish finish) {
    const int32_t count = Vectors(p).per_row;
    int32_t number = 0;
    for (; number + 4 <= count; number += 4) {
        depthwise_tile<4, STEP, Vector>(p, band, line, weights, number, start, output, finish);
    }
    for (; number < count; ++number) {
        depthwise_tile<1, STEP, Vector>(p, band, line, weights, number, start, output, finish);
    }
}

template <class Vector, class Element>
MI_INLINE void depthwise_floats(const Conv2dParams p, const Element* input, const Element* weights, const float* bias,
                                Element* output, float* scratch) {
    const Band band(p);
    const int32_t taps = p.kernel_height * p.kernel_width;
    float* wide_weights = scratch + int64_t{band.rows} * band.row;
    for (int32_t plane = 0; plane < p.batch * p.groups; ++plane) {
        const Element* source = input + int64_t{plane} * p.height * p.width;
        for (int32_t first = 0; first < p.out_height; first += p.band_rows) {
            for (int32_t y = 0; y < band.rows; ++y) {
                copy_phases<1>(p, band, {input_row(p, source, first, y)}, Element{}, scratch + int64_t{y} * band.row);
            }
            for (int32_t filter = 0; filter < p.filters; ++filter) {
                const int32_t channel = plane % p.groups * p.filters + filter;
                const float* weight = widened(weights + int64_t{channel} * taps, taps, wide_weights);
                for (int32_t y = first; y < minimum(first + p.band_rows, p.out_height); ++y) {
                    Element* target = output + ((int64_t{plane} * p.filters + filter) * p.out_height + y) * p.out_width;
                    depthwise_row<1, Vector>(p, band, scratch + int64_t{y - first} * p.stride_height * band.row,
                                             weight, bias[channel], target,
                                             [&](float* sums, Element* finished, int32_t count) {
                                                 activate(p.activation, p.alpha, p.beta, sums, count);
                                                 for (int32_t i = 0; i < count; ++i) {
                                                     narrow(sums[i], p.flush, finished + i);
                                                 }
                                             });
                }
            }
        }
    }
}

// groups = input channels; filters = output channels of each. weights: [output channel][kernel row][kernel column].
MI_KERNEL void depthwise_conv2d_float32(const Conv2dParams p, const float* input, const float* weights,
                                        const float* bias, float* output, float* scratch) {
    depthwise_floats<Float>(p, input, weights, bias, output, scratch);
}
MI_KERNEL void depthwise_conv2d_float16(const Conv2dParams p, const Float16* input, const Float16* weights,
                                        const float* bias, Float16* output, float* scratch) {
    if (p.half_sums) return depthwise_floats<HalfSums>(p, input, weights, bias, output, scratch);
    depthwise_floats<Float>(p, input, weights, bias, output, scratch);
}
MI_KERNEL void depthwise_conv2d_bfloat16(const Conv2dParams p, const BFloat16* input, const BFloat16* weights,
                                         const float* bias, BFloat16* output, float* scratch) {
    depthwise_floats<Float>(p, input, weights, bias, output, scratch);
}

// Kernel rows come in pairs: scratch holds (input row, input row + dilation) side by side.
// weights: [output channel][kernel row / 2][kernel column][2], filled up with zeros; bias, multiplier and shift as for
// conv2d_int8.
MI_KERNEL void depthwise_conv2d_int8(const Conv2dParams p, const int8_t* input, const int8_t* weights,
                                     const int32_t* bias, const int32_t* multiplier, const int32_t* shift,
                                     const int8_t* table, const int32_t* curve_multiplier,
                                     const int32_t* curve_shift, int8_t* output, int16_t* scratch) {
    const Band band(p);
    const int32_t taps = divide_up(p.kernel_height, 2) * p.kernel_width * 2;
    const int8_t padding = static_cast<int8_t>(p.input_zero_point);
    int16_t* wide_weights = scratch + 2 * int64_t{band.rows} * band.row;
    for (int32_t plane = 0; plane < p.batch * p.groups; ++plane) {
        const int8_t* source = input + int64_t{plane} * p.height * p.width;
        for (int32_t first = 0; first < p.out_height; first += p.band_rows) {
            for (int32_t y = 0; y < band.rows; ++y) {
                const int32_t next = y + p.dilation_height;
                copy_phases<2>(p, band, {input_row(p, source, first, y), input_row(p, source, first, next)}, padding,
                               scratch + 2 * int64_t{y} * band.row);
            }
            for (int32_t filter = 0; filter < p.filters; ++filter) {
                const int32_t channel = plane % p.groups * p.filters + filter;
                for (int32_t i = 0; i < taps; ++i) wide_weights[i] = weights[int64_t{channel} * taps + i];
                for (int32_t y = first; y < minimum(first + p.band_rows, p.out_height); ++y) {
                    int8_t* target = output + ((int64_t{plane} * p.filters + filter) * p.out_height + y) * p.out_width;
                    depthwise_row<2, Int>(p, band, scratch + 2 * int64_t{y - first} * p.stride_height * band.row,
                                          wide_weights, bias[channel], target,
                                          [&](const int32_t* sums, int8_t* finished, int32_t count) {
                                              finish_int8<0>(p, sums, count, channel, multiplier, shift, table,
                                                             curve_multiplier, curve_shift, finished, 1);
                                          });
                }
            }
        }
    }
}

}  // namespace mi
