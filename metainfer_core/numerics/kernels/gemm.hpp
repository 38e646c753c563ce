// Matrix products. Output columns lie in the lanes; each output is the bias plus the products in order of depth, summed
// in groups of GROUP (float32: fused multiply-add, so one rounding each). Weights are packed when the model is lowered.
#pragma once
#include "activation.hpp"
#include "conv2d.hpp"
#include "requantize.hpp"
#include "vector.hpp"

namespace mi {

struct GemmParams {
    int32_t rows, columns, depth;
    int32_t block;          // columns that are packed together; a multiple of 16
    int32_t scratch_bytes;  // not for float32
    int32_t activation;     // floats only
    float alpha, beta;
    int32_t output_zero_point, low, high;  // int8 only
    int32_t half_sums;  // float16 only: each product and sum is rounded to 16 bits
    int32_t flush;      // 16-bit floats only: see narrow
    int32_t weight_group;  // packed weights only: rows of the matrix that share a scale; 0: all
    int32_t knee;  // int8 with a curve only: the code of 3 in what hard-swish reads, a power of two, at most 2^14
    int32_t unroll;  // see repeat
};


// ROWS x (VECTORS * LANES) outputs. `steps` counts products (float32) or pairs of products (int8).
template <int32_t ROWS, int32_t VECTORS, int32_t STEP, class Vector, class Sum, class Input, class Weight>
MI_INLINE void gemm_tile(const Input* input, int64_t input_row, int32_t steps, const Weight* weights, int32_t block,
                         const Sum* start, int32_t unroll, Sum (&results)[ROWS][VECTORS * LANES]) {
    Vector sums[ROWS][VECTORS], group[ROWS][VECTORS] = {};
    MI_UNROLL
    for (int32_t v = 0; v < VECTORS; ++v) {
        Vector initial;
        __builtin_memcpy(&initial, start + v * LANES, sizeof(Vector));
        MI_UNROLL
        for (int32_t r = 0; r < ROWS; ++r) sums[r][v] = initial;
    }
    for (int32_t first = 0; first < steps; first += GROUP) {
        int32_t k = first;
        repeat(minimum(GROUP, steps - first), unroll, [&]() __attribute__((always_inline)) {
            decltype(load(weights)) loaded[VECTORS];
            MI_UNROLL
            for (int32_t v = 0; v < VECTORS; ++v) loaded[v] = load(weights + v * LANES * STEP);
            MI_UNROLL
            for (int32_t r = 0; r < ROWS; ++r) {
                const auto value = broadcastable(input + r * input_row + k * STEP);
                MI_UNROLL
                for (int32_t v = 0; v < VECTORS; ++v) group[r][v] = multiply_add(value, loaded[v], group[r][v]);
            }
            ++k, weights += block * STEP;
        });
        add_group(group, sums);
    }
    MI_UNROLL
    for (int32_t r = 0; r < ROWS; ++r) {
        MI_UNROLL
        for (int32_t v = 0; v < VECTORS; ++v) store(results[r] + v * LANES, sums[r][v]);
    }
}

// ROWS rows of outputs. `finish(column, sums, count)` writes the outputs of one row.
template <int32_t ROWS, int32_t VECTORS, int32_t STEP, class Vector, class Sum, class Input, class Weight, class Finish>
MI_INLINE void gemm_rows(const Input* input, int64_t input_row, int32_t columns, int32_t steps, int32_t block,
                         const Weight* weights, const Sum* bias, int32_t unroll, Finish finish) {
    for (int32_t first = 0; first < columns; first += block, weights += int64_t{steps} * block * STEP) {
        alignas(64) Sum start[64] = {};
        for (int32_t i = 0; i < minimum(block, columns - first); ++i) start[i] = bias[first + i];
        int32_t column = 0;
        while (column < block && first + column < columns) {
            if (block - column >= VECTORS * LANES) {
                alignas(64) Sum results[ROWS][VECTORS * LANES];
                gemm_tile<ROWS, VECTORS, STEP, Vector>(input, input_row, steps, weights + column * STEP, block,
                                                       start + column, unroll, results);
                const int32_t count = minimum(VECTORS * LANES, columns - first - column);
                for (int32_t r = 0; r < ROWS; ++r) finish(r, first + column, results[r], count);
                column += VECTORS * LANES;
            } else {
                alignas(64) Sum results[ROWS][LANES];
                gemm_tile<ROWS, 1, STEP, Vector>(input, input_row, steps, weights + column * STEP, block,
                                                 start + column, unroll, results);
                const int32_t count = minimum(LANES, columns - first - column);
                for (int32_t r = 0; r < ROWS; ++r) finish(r, first + column, results[r], count);
                column += LANES;
            }
        }
    }
}

constexpr int32_t GEMM_MAX_BLOCK = 64;
constexpr int32_t GEMV_VECTORS = minimum(8, GEMM_MAX_BLOCK / LANES);

// All rows: four at a time, then one at a time.
template <int32_t STEP, class Vector, class Sum, class Input, class Weight, class Finish>
MI_INLINE void gemm(const Input* input, int32_t rows, int64_t input_row, int32_t columns, int32_t steps, int32_t block,
                    const Weight* weights, const Sum* bias, int32_t unroll, Finish finish) {
    int32_t row = 0;
    for (; row + 4 <= rows; row += 4) {
        gemm_rows<4, 2, STEP, Vector>(input + row * input_row, input_row, columns, steps, block, weights, bias,
                                      unroll, [&](int32_t r, int32_t column, Sum* sums, int32_t count) {
                                          finish(row + r, column, sums, count);
                                      });
    }
    for (; row < rows; ++row) {
        gemm_rows<1, GEMV_VECTORS, STEP, Vector>(input + row * input_row, input_row, columns, steps, block, weights,
                                                 bias, unroll,
                                                 [&](int32_t, int32_t column, Sum* sums, int32_t count) {
                                                     finish(row, column, sums, count);
                                                 });
    }
}

template <class Vector, class Element>
MI_INLINE void gemm_floats(const GemmParams p, const Element* input, const Element* weights, const float* bias,
                           Element* output, float* scratch) {
    const float* wide = widened(input, int64_t{p.rows} * p.depth, scratch);
    gemm<1, Vector>(wide, p.rows, p.depth, p.columns, p.depth, p.block, weights, bias, p.unroll,
                    [&](int32_t row, int32_t column, float* sums, int32_t count) {
                        activate(p.activation, p.alpha, p.beta, sums, count);
                        Element* target = output + int64_t{row} * p.columns + column;
                        for (int32_t i = 0; i < count; ++i) narrow(sums[i], p.flush, target + i);
                    });
}

// weights: [column / block][depth][block], filled up with zeros.
MI_KERNEL void gemm_float32(const GemmParams p, const float* input, const float* weights, const float* bias,
                            float* output) {
    gemm_floats<Float>(p, input, weights, bias, output, nullptr);
}
MI_KERNEL void gemm_float16(const GemmParams p, const Float16* input, const Float16* weights, const float* bias,
                            Float16* output, float* scratch) {
    if (p.half_sums) return gemm_floats<HalfSums>(p, input, weights, bias, output, scratch);
    gemm_floats<Float>(p, input, weights, bias, output, scratch);
}
MI_KERNEL void gemm_bfloat16(const GemmParams p, const BFloat16* input, const BFloat16* weights, const float* bias,
                             BFloat16* output, float* scratch) {
    gemm_floats<Float>(p, input, weights, bias, output, scratch);
}

// weights: [column / block][depth / 2][block][2], filled up with zeros. bias holds -input_zero_point * (sum of the
// column's weights) already; multiplier and shift are per column.
MI_KERNEL void gemm_int8(const GemmParams p, const int8_t* input, const int8_t* weights, const int32_t* bias,
                         const int32_t* multiplier, const int32_t* shift, const int8_t* table,
                         const int32_t* curve_multiplier, const int32_t* curve_shift, int8_t* output,
                         int16_t* scratch) {
    const int32_t pairs = divide_up(p.depth, 2);
    for (int32_t row = 0; row < p.rows; ++row) {
        int16_t* wide = scratch + int64_t{row} * pairs * 2;
        for (int32_t k = 0; k < p.depth; ++k) wide[k] = input[int64_t{row} * p.depth + k];
        for (int32_t k = p.depth; k < 2 * pairs; ++k) wide[k] = 0;
    }
    gemm<2, Int>(scratch, p.rows, 2 * pairs, p.columns, pairs, p.block, weights, bias, p.unroll,
                 [&](int32_t row, int32_t column, int32_t* sums, int32_t count) {
                     finish_int8<1>(p, sums, count, column, multiplier, shift, table, curve_multiplier, curve_shift,
                                    output + int64_t{row} * p.columns + column, 1);
                 });
}

// `gemm` with each block of columns unpacked to scratch before all rows pass over it; the same sums in the same order.
template <int32_t BITS, class Finish>
MI_INLINE void gemm_packed(const float* input, int32_t rows, int32_t columns, int32_t channels, int32_t taps,
                           int32_t block, int32_t group, const uint8_t* weights, const float* scale,
                           const int8_t* zero_point, const float* bias, float* scratch, Finish finish) {
    const int32_t depth = channels * taps;
    const int64_t scales = scales_of_block(channels, taps, block, group);
    for (int32_t first = 0, number = 0; first < columns; first += block, ++number) {
        dequantize_block<BITS>(weights, int64_t{number} * depth * block, channels, taps, block, group,
                               scale + number * scales, zero_point ? zero_point + number * scales : nullptr, scratch);
        gemm<1, Float>(input, rows, depth, minimum(block, columns - first), depth, block, scratch, bias + first, 1,
                       [&](int32_t row, int32_t column, float* sums, int32_t count) {
                           finish(row, first + column, sums, count);
                       });
    }
}

// weights: as for gemm_float32, packed; scale and zero_point: of each block one after the other (see packed.hpp).
#define MI_PACKED_GEMM(bits)                                                                                       \
    MI_KERNEL void gemm_float32_int##bits(const GemmParams p, const float* input, const uint8_t* weights,          \
                                          const float* scale, const int8_t* zero_point, const float* bias,         \
                                          float* output, float* scratch) {                                         \
        gemm_packed<bits>(input, p.rows, p.columns, p.depth, 1, p.block, p.weight_group, weights, scale, zero_point, \
                          bias, scratch, [&](int32_t row, int32_t column, float* sums, int32_t count) {            \
                              activate(p.activation, p.alpha, p.beta, sums, count);                                \
                              float* target = output + int64_t{row} * p.columns + column;                          \
                              for (int32_t i = 0; i < count; ++i) target[i] = sums[i];                             \
                          });                                                                                      \
    }
MI_PACKED_GEMM(4)
MI_PACKED_GEMM(6)
#undef MI_PACKED_GEMM

// The inputs of each output pixel as one row, [pixel][channel][kernel row][kernel column], rows `row_step` apart.
template <class Target, class Source>
MI_INLINE void pixels_to_rows(const Conv2dParams p, const Source* input, Source padding, int64_t row_step,
                              Target* rows) {
    for (int32_t out_y = 0; out_y < p.out_height; ++out_y) {
        for (int32_t out_x = 0; out_x < p.out_width; ++out_x, rows += row_step) {
            Target* target = rows;
            for (int32_t channel = 0; channel < p.channels; ++channel) {
                const Source* plane = input + int64_t{channel} * p.height * p.width;
                for (int32_t ky = 0; ky < p.kernel_height; ++ky) {
                    const int32_t y = out_y * p.stride_height - p.pad_top + ky * p.dilation_height;
                    for (int32_t kx = 0; kx < p.kernel_width; ++kx) {
                        const int32_t x = out_x * p.stride_width - p.pad_left + kx * p.dilation_width;
                        const bool inside = y >= 0 && y < p.height && x >= 0 && x < p.width;
                        if (expected(inside, p.likely_inside)) {
                            *target++ = static_cast<Target>(plane[y * p.width + x]);
                        } else {
                            *target++ = static_cast<Target>(padding);
                        }
                    }
                }
            }
            while (target < rows + row_step) *target++ = 0;
        }
    }
}

template <class Vector, class Element>
MI_INLINE void conv2d_rows_floats(const Conv2dParams p, const Element* input, const Element* weights, const float* bias,
                                  Element* output, float* scratch) {
    const int32_t depth = p.channels * p.kernel_height * p.kernel_width, pixels = p.out_height * p.out_width;
    for (int32_t image = 0; image < p.batch; ++image) {
        pixels_to_rows(p, input + int64_t{image} * p.channels * p.height * p.width, Element{}, depth, scratch);
        Element* target = output + int64_t{image} * p.filters * pixels;
        gemm<1, Vector>(scratch, pixels, depth, p.filters, depth, p.block, weights, bias, p.unroll,
                        [&](int32_t pixel, int32_t filter, float* sums, int32_t count) {
                            activate(p.activation, p.alpha, p.beta, sums, count);
                            for (int32_t i = 0; i < count; ++i) {
                                narrow(sums[i], p.flush, target + int64_t{filter + i} * pixels + pixel);
                            }
                        });
    }
}

// The convolution of conv2d_float32 for few output pixels and one group: filters in the lanes; the same sums in the
// same order. weights as for gemm_float32, depth = channels * kernel height * kernel width, packed by p.block.
MI_KERNEL void conv2d_rows_float32(const Conv2dParams p, const float* input, const float* weights, const float* bias,
                                   float* output, float* scratch) {
    conv2d_rows_floats<Float>(p, input, weights, bias, output, scratch);
}
MI_KERNEL void conv2d_rows_float16(const Conv2dParams p, const Float16* input, const Float16* weights,
                                   const float* bias, Float16* output, float* scratch) {
    if (p.half_sums) return conv2d_rows_floats<HalfSums>(p, input, weights, bias, output, scratch);
    conv2d_rows_floats<Float>(p, input, weights, bias, output, scratch);
}
MI_KERNEL void conv2d_rows_bfloat16(const Conv2dParams p, const BFloat16* input, const BFloat16* weights,
                                    const float* bias, BFloat16* output, float* scratch) {
    conv2d_rows_floats<Float>(p, input, weights, bias, output, scratch);
}

#define MI_PACKED_ROWS(bits)                                                                                       \
    MI_KERNEL void conv2d_rows_float32_int##bits(const Conv2dParams p, const float* input, const uint8_t* weights, \
                                                 const float* scale, const int8_t* zero_point, const float* bias,  \
                                                 float* output, float* scratch) {                                  \
        const int32_t taps = p.kernel_height * p.kernel_width, depth = p.channels * taps;                          \
        const int32_t pixels = p.out_height * p.out_width;                                                         \
        for (int32_t image = 0; image < p.batch; ++image) {                                                        \
            pixels_to_rows(p, input + int64_t{image} * p.channels * p.height * p.width, 0.0f, depth, scratch);     \
            float* target = output + int64_t{image} * p.filters * pixels;                                          \
            gemm_packed<bits>(scratch, pixels, p.filters, p.channels, taps, p.block, p.weight_group, weights, scale, \
                              zero_point, bias, scratch + int64_t{pixels} * depth,                                 \
                              [&](int32_t pixel, int32_t filter, float* sums, int32_t count) {                     \
                                  activate(p.activation, p.alpha, p.beta, sums, count);                            \
                                  for (int32_t i = 0; i < count; ++i) {                                            \
                                      target[int64_t{filter + i} * pixels + pixel] = sums[i];                      \
                                  }                                                                                \
                              });                                                                                  \
        }                                                                                                          \
    }
MI_PACKED_ROWS(4)
MI_PACKED_ROWS(6)
#undef MI_PACKED_ROWS

// The same in int8; weights as for gemm_int8.
MI_KERNEL void conv2d_rows_int8(const Conv2dParams p, const int8_t* input, const int8_t* weights, const int32_t* bias,
                                const int32_t* multiplier, const int32_t* shift, const int8_t* table,
                                const int32_t* curve_multiplier, const int32_t* curve_shift, int8_t* output,
                                int16_t* scratch) {
    const int32_t pairs = divide_up(p.channels * p.kernel_height * p.kernel_width, 2);
    const int32_t pixels = p.out_height * p.out_width;
    for (int32_t image = 0; image < p.batch; ++image) {
        pixels_to_rows(p, input + int64_t{image} * p.channels * p.height * p.width,
                       static_cast<int8_t>(p.input_zero_point), 2 * pairs, scratch);
        int8_t* target = output + int64_t{image} * p.filters * pixels;
        gemm<2, Int>(scratch, pixels, 2 * pairs, p.filters, pairs, p.block, weights, bias, p.unroll,
                     [&](int32_t pixel, int32_t filter, int32_t* sums, int32_t count) {
                         finish_int8<1>(p, sums, count, filter, multiplier, shift, table, curve_multiplier, curve_shift,
                                        target + int64_t{filter} * pixels + pixel, pixels);
                     });
    }
}

struct MatmulParams {
    int32_t batch, rows, columns, depth;
    int32_t left_step, right_step;  // elements from one batch to the next; 0: the same matrix for all
    int32_t activation;
    float alpha, beta;
    int32_t half_sums;  // float16 only: each product and sum is rounded to 16 bits
    int32_t flush;      // 16-bit floats only: see narrow
    int32_t scratch_bytes;  // 16-bit floats only: one row of sums
};

// The product of two matrices that are both computed at run time, row-major.
MI_KERNEL void matmul_float32(const MatmulParams p, const float* left, const float* right, float* output) {
    for (int32_t image = 0; image < p.batch; ++image) {
        for (int32_t row = 0; row < p.rows; ++row) {
            const float* a = left + int64_t{image} * p.left_step + int64_t{row} * p.depth;
            const float* b = right + int64_t{image} * p.right_step;
            float* y = output + (int64_t{image} * p.rows + row) * p.columns;
            for (int32_t column = 0; column < p.columns; ++column) y[column] = 0.0f;
            for (int32_t k = 0; k < p.depth; ++k, b += p.columns) {
                const float value = a[k];
                for (int32_t column = 0; column < p.columns; ++column) {
                    y[column] = __builtin_fmaf(value, b[column], y[column]);
                }
            }
            activate(p.activation, p.alpha, p.beta, y, p.columns);
        }
    }
}

// The same in 16 bits; scratch holds the sums of one row.
template <class Half>
MI_INLINE void matmul_half(const MatmulParams p, const Half* left, const Half* right, Half* output, float* scratch) {
    for (int32_t image = 0; image < p.batch; ++image) {
        for (int32_t row = 0; row < p.rows; ++row) {
            const Half* a = left + int64_t{image} * p.left_step + int64_t{row} * p.depth;
            const Half* b = right + int64_t{image} * p.right_step;
            Half* y = output + (int64_t{image} * p.rows + row) * p.columns;
            for (int32_t column = 0; column < p.columns; ++column) scratch[column] = 0.0f;
            for (int32_t k = 0; k < p.depth; ++k, b += p.columns) {
                const float value = a[k];
                if (p.half_sums) {
                    for (int32_t column = 0; column < p.columns; ++column) {
                        scratch[column] = rounded<Half>(scratch[column] + rounded<Half>(value * b[column]));
                    }
                } else {
                    for (int32_t column = 0; column < p.columns; ++column) {
                        scratch[column] = __builtin_fmaf(value, b[column], scratch[column]);
                    }
                }
            }
            activate(p.activation, p.alpha, p.beta, scratch, p.columns);
            for (int32_t column = 0; column < p.columns; ++column) narrow(scratch[column], p.flush, y + column);
        }
    }
}
MI_KERNEL void matmul_float16(const MatmulParams p, const Float16* left, const Float16* right, Float16* output,
                              float* scratch) {
    matmul_half(p, left, right, output, scratch);
}
MI_KERNEL void matmul_bfloat16(const MatmulParams p, const BFloat16* left, const BFloat16* right, BFloat16* output,
                               float* scratch) {
    matmul_half(p, left, right, output, scratch);
}

}  // namespace mi
