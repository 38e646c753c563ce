// 2-D convolution, NCHW, with groups, strides, dilations and padding; a 1-D one is a 2-D one of height 1.
//
// Output pixels lie in the lanes, four filters in the rows of a register tile. A band of output rows at a time: the
// input rows that it needs are copied once into scratch, padded, and split by stride phase, so that every load in the
// inner loop is contiguous and unconditional. A 1x1 convolution without stride or padding reads its input in place.
//
// Each output is the bias plus the products by input channel, kernel row, kernel column, summed in groups of GROUP
// (float32: fused multiply-add, so one rounding each). Padding takes part as zero (int8: as the zero point).
#pragma once
#include "activation.hpp"
#include "half.hpp"
#include "packed.hpp"
#include "requantize.hpp"
#include "vector.hpp"

namespace mi {

struct Conv2dParams {
    int32_t batch, groups;
    int32_t channels;  // input channels of one group
    int32_t height, width;
    int32_t filters;  // output channels of one group
    int32_t out_height, out_width;
    int32_t kernel_height, kernel_width;
    int32_t stride_height, stride_width;
    int32_t dilation_height, dilation_width;
    int32_t pad_top, pad_left;
    int32_t band_rows;      // output rows in a band
    int32_t block;          // conv2d_rows only: filters that are packed together; a multiple of 16
    int32_t scratch_bytes;  // 0: read the input in place
    int32_t activation;     // floats only
    float alpha, beta;
    int32_t input_zero_point, output_zero_point, low, high;  // int8 only
    int32_t half_sums;  // float16 only: each product and sum is rounded to 16 bits
    int32_t flush;      // 16-bit floats only: see narrow
    int32_t weight_group;  // packed weights only: channels that share a scale; 0: all
    int32_t knee;  // int8 with a curve only: the code of 3 in what hard-swish reads, a power of two, at most 2^14
    int32_t unroll;         // see repeat
    int32_t likely_inside;  // conv2d_rows only: whether taps lie inside the input, see expected
};

constexpr int32_t FILTER_BLOCK = 4;

// sums += group; group = 0.
template <int32_t ROWS, int32_t VECTORS, class Vector>
MI_INLINE void add_group(Vector (&group)[ROWS][VECTORS], Vector (&sums)[ROWS][VECTORS]) {
    MI_UNROLL
    for (int32_t r = 0; r < ROWS; ++r) {
        MI_UNROLL
        for (int32_t v = 0; v < VECTORS; ++v) sums[r][v] += group[r][v], group[r][v] = Vector{};
    }
}

// Where the taps of one band lie: [channel][row][stride phase][column].
struct Band {
    int32_t columns;  // of one phase; at least one vector of any target (16 lanes)
    int32_t row;      // distance of rows
    int32_t rows;
    MI_INLINE explicit Band(const Conv2dParams p)
        : columns(maximum(p.out_width, 16) + (p.kernel_width - 1) * p.dilation_width / p.stride_width),
          row(columns * p.stride_width),
          rows((p.band_rows - 1) * p.stride_height + (p.kernel_height - 1) * p.dilation_height + 1) {}
};

// Whether some tap of the kernel reads positions of this residue modulo the stride.
MI_INLINE bool is_read(int32_t residue, int32_t kernel, int32_t dilation, int32_t stride) {
    for (int32_t k = 0; k < kernel; ++k) {
        if (k * dilation % stride == residue) return true;
    }
    return false;
}

// Calls `copy(i, stride * i + shift)` for first <= i < end, with a constant stride where that lets it vectorise.
template <class Copy>
MI_INLINE void copy_columns(int32_t stride, int32_t shift, int32_t first, int32_t end, Copy copy) {
    if (stride == 1) {
        for (int32_t i = first; i < end; ++i) copy(i, i + shift);
    } else if (stride == 2) {
        for (int32_t i = first; i < end; ++i) copy(i, i * 2 + shift);
    } else {
        for (int32_t i = first; i < end; ++i) copy(i, i * stride + shift);
    }
}

// Copies STEP input rows, element by element side by side, padded and split by phase. A null row is all padding.
template <int32_t STEP, class Target, class Source>
MI_INLINE void copy_phases(const Conv2dParams p, const Band& band, const Source* const (&rows)[STEP], Source padding,
                           Target* target) {
    for (int32_t phase = 0; phase < p.stride_width; ++phase, target += band.columns * STEP) {
        if (!is_read(phase, p.kernel_width, p.dilation_width, p.stride_width)) continue;
        const int32_t shift = phase - p.pad_left;  // input column = stride * column + shift
        const int32_t beyond = p.width > shift ? divide_up(p.width - shift, p.stride_width) : 0;
        const int32_t end = minimum(beyond, band.columns);
        const int32_t first = minimum(shift >= 0 ? 0 : divide_up(-shift, p.stride_width), end);
        for (int32_t i = 0; i < first * STEP; ++i) target[i] = padding;
        for (int32_t i = end * STEP; i < band.columns * STEP; ++i) target[i] = padding;
        if (STEP == 2 && rows[0] && rows[STEP - 1]) {
            copy_columns(p.stride_width, shift, first, end, [=](int32_t i, int32_t column) {
                target[i * 2] = rows[0][column], target[i * 2 + 1] = rows[STEP - 1][column];
            });
            continue;
        }
        for (int32_t r = 0; r < STEP; ++r) {
            const Source* row = rows[r];
            copy_columns(p.stride_width, shift, first, end, [=](int32_t i, int32_t column) {
                target[i * STEP + r] = row ? row[column] : padding;
            });
        }
    }
}

// The input row under kernel row offset `y` of the band that starts at output row `first`; null where it is padding.
template <class Source>
MI_INLINE const Source* input_row(const Conv2dParams p, const Source* plane, int32_t first, int32_t y) {
    const int32_t row = first * p.stride_height - p.pad_top + y;
    return plane && row >= 0 && row < p.height ? plane + row * p.width : nullptr;
}

// Adds the products of all taps to the sums of four filters and VECTORS pixel vectors, GROUP products at a time.
template <int32_t VECTORS, int32_t STEP, class Vector, class Value>
MI_INLINE void add_taps(const Conv2dParams p, int32_t channels, int64_t plane, int32_t row, int32_t columns,
                        const Value* const (&base)[VECTORS], const Value* weights,
                        Vector (&sums)[FILTER_BLOCK][VECTORS]) {
    Vector group[FILTER_BLOCK][VECTORS] = {};
    int32_t left = GROUP;
    int64_t first = 0;
    repeat(channels, p.unroll, [&]() __attribute__((always_inline)) {
        for (int32_t y = 0; y < p.kernel_height; ++y) {
            const int64_t line = first + int64_t{y} * p.dilation_height * row;
            int32_t phase = 0, column = 0;
            for (int32_t x = 0; x < p.kernel_width; ++x) {
                const int64_t offset = (line + phase * columns + column) * STEP;
                decltype(load(base[0])) inputs[VECTORS];
                MI_UNROLL
                for (int32_t v = 0; v < VECTORS; ++v) inputs[v] = load(base[v] + offset);
                MI_UNROLL
                for (int32_t f = 0; f < FILTER_BLOCK; ++f) {
                    const auto weight = broadcastable(weights + f * STEP);
                    MI_UNROLL
                    for (int32_t v = 0; v < VECTORS; ++v) group[f][v] = multiply_add(weight, inputs[v], group[f][v]);
                }
                weights += FILTER_BLOCK * STEP;
                phase += p.dilation_width;
                while (phase >= p.stride_width) phase -= p.stride_width, ++column;
                if (__builtin_expect(--left == 0, 0)) add_group(group, sums), left = GROUP;
            }
        }
        first += plane;
    });
    add_group(group, sums);
}

// Vectors of a band are numbered row by row; the last of a row is moved left so that it ends with the row.
struct Vectors {
    int32_t per_row, lanes, last;
    MI_INLINE explicit Vectors(const Conv2dParams p)
        : per_row(divide_up(p.out_width, LANES)),
          lanes(minimum(LANES, p.out_width)),
          last(maximum(p.out_width - LANES, 0)) {}
    MI_INLINE int32_t column(int32_t index) const { return minimum(index % per_row * LANES, last); }
};

// VECTORS vectors from number `first` on, for one block of filters. `finish(sums, filter, lanes)` turns sums of one
// vector into outputs in place; the sums start from `start(filter)`.
template <int32_t VECTORS, int32_t STEP, class Vector, class Value, class Sum, class Output, class Start, class Finish>
MI_INLINE void conv2d_tile(const Conv2dParams p, int32_t channels, int64_t plane, int32_t row, int32_t columns,
                           const Value* band, const Value* weights, int32_t first, int32_t filters, Output* output,
                           Start start, Finish finish) {
    const Vectors vectors(p);
    const Value* base[VECTORS];
    for (int32_t v = 0; v < VECTORS; ++v) {
        const int64_t line = int64_t{(first + v) / vectors.per_row} * p.stride_height * row;
        base[v] = band + (line + vectors.column(first + v)) * STEP;
    }
    Vector sums[FILTER_BLOCK][VECTORS];
    MI_UNROLL
    for (int32_t f = 0; f < FILTER_BLOCK; ++f) {
        const Sum initial = f < filters ? start(f) : Sum{0};
        MI_UNROLL
        for (int32_t v = 0; v < VECTORS; ++v) sums[f][v] = Vector{} + initial;
    }
    add_taps<VECTORS, STEP>(p, channels, plane, row, columns, base, weights, sums);
    alignas(64) Sum results[FILTER_BLOCK][VECTORS * LANES];
    MI_UNROLL
    for (int32_t f = 0; f < FILTER_BLOCK; ++f) {
        MI_UNROLL
        for (int32_t v = 0; v < VECTORS; ++v) store(results[f] + v * LANES, sums[f][v]);
    }
    for (int32_t f = 0; f < filters; ++f) {
        Output* target = output + int64_t{f} * p.out_height * p.out_width;
        Output finished[VECTORS * LANES];
        finish(f, results[f], finished, VECTORS * LANES);
        for (int32_t v = 0; v < VECTORS; ++v) {
            const int32_t index = first + v;
            Output* place = target + int64_t{index / vectors.per_row} * p.out_width + vectors.column(index);
            if (vectors.lanes == LANES) {
                for (int32_t i = 0; i < LANES; ++i) place[i] = finished[v * LANES + i];
            } else {
                for (int32_t i = 0; i < vectors.lanes; ++i) place[i] = finished[v * LANES + i];
            }
        }
    }
}

// The vectors first .. end of a band, for one block of filters.
template <int32_t STEP, class Vector, class Value, class Sum, class Output, class Start, class Finish>
MI_INLINE void conv2d_vectors(const Conv2dParams p, int32_t channels, int64_t plane, int32_t row, int32_t columns,
                              const Value* band, const Value* weights, int32_t first, int32_t end, int32_t filters,
                              Output* output, Start start, Finish finish) {
    for (; first + 3 <= end; first += 3) {
        conv2d_tile<3, STEP, Vector, Value, Sum>(p, channels, plane, row, columns, band, weights, first, filters,
                                                 output, start, finish);
    }
    if (end - first == 2) {
        conv2d_tile<2, STEP, Vector, Value, Sum>(p, channels, plane, row, columns, band, weights, first, filters,
                                                 output, start, finish);
    } else if (end - first == 1) {
        conv2d_tile<1, STEP, Vector, Value, Sum>(p, channels, plane, row, columns, band, weights, first, filters,
                                                 output, start, finish);
    }
}

// Vectors whose inputs should stay in the first cache levels while all filters pass over them.
constexpr int32_t CHUNK = 24;

// Calls `block(filter, first vector, end)` for each chunk of the vectors of `rows` output rows and each block of filters.
template <class Block>
MI_INLINE void for_blocks(const Conv2dParams p, int32_t rows, Block block) {
    const int32_t count = rows * Vectors(p).per_row;
    for (int32_t first = 0; first < count; first += CHUNK) {
        for (int32_t filter = 0; filter < p.filters; filter += FILTER_BLOCK) {
            block(filter, first, minimum(first + CHUNK, count));
        }
    }
}

// float32 reads a 1x1 convolution's input in place; 16-bit floats are widened in scratch. `weights(number, wide)` gives
// block `number` of the weights in float32, in place or in `wide`, which lies in scratch behind the band.
template <class Vector, class Element, class Weights>
MI_INLINE void conv2d_floats(const Conv2dParams p, const Element* input, Weights weights, const float* bias,
                             Element* output, float* scratch) {
    const Band band(p);
    const int64_t in_plane = int64_t{p.height} * p.width, out_plane = int64_t{p.out_height} * p.out_width;
    const bool in_place = sizeof(Element) == 4 && p.scratch_bytes == 0;
    float* wide_weights = scratch + int64_t{p.channels} * band.rows * band.row;
    for (int32_t image = 0; image < p.batch * p.groups; ++image) {
        const int32_t group = image % p.groups;
        const Element* source = input + image * p.channels * in_plane;
        Element* target = output + image * p.filters * out_plane;
        for (int32_t first = 0; first < p.out_height; first += p.band_rows) {
            const int32_t rows = minimum(p.band_rows, p.out_height - first);
            if (!in_place) {
                for (int32_t channel = 0; channel < p.channels; ++channel) {
                    for (int32_t y = 0; y < band.rows; ++y) {
                        if (!is_read(y % p.stride_height, p.kernel_height, p.dilation_height, p.stride_height)) continue;
                        copy_phases<1>(p, band, {input_row(p, source + channel * in_plane, first, y)}, Element{},
                                       scratch + int64_t{channel * band.rows + y} * band.row);
                    }
                }
            }
            const float* base = in_place ? reinterpret_cast<const float*>(source) + int64_t{first} * p.width : scratch;
            const int64_t plane = in_place ? in_plane : int64_t{band.rows} * band.row;
            const int32_t row = in_place ? p.width : band.row;
            for_blocks(p, rows, [&](int32_t filter, int32_t begin, int32_t end) {
                const float* start = bias + group * p.filters + filter;
                const int64_t number = int64_t{group} * divide_up(p.filters, FILTER_BLOCK) + filter / FILTER_BLOCK;
                conv2d_vectors<1, Vector, float, float>(
                    p, p.channels, plane, row, band.columns, base, weights(number, wide_weights), begin, end,
                    minimum(FILTER_BLOCK, p.filters - filter),
                    target + filter * out_plane + first * p.out_width, [start](int32_t f) { return start[f]; },
                    [&p](int32_t, float* sums, Element* finished, int32_t count) {
                        activate(p.activation, p.alpha, p.beta, sums, count);
                        for (int32_t i = 0; i < count; ++i) narrow(sums[i], p.flush, finished + i);
                    });
            });
        }
    }
}

template <class Element>
MI_INLINE auto blocks_of(const Conv2dParams p, const Element* weights) {
    const int64_t block = int64_t{FILTER_BLOCK} * p.channels * p.kernel_height * p.kernel_width;
    return [=](int64_t number, float* wide) { return widened(weights + number * block, block, wide); };
}

// weights: [group][filter / 4][channel][kernel row][kernel column][4], filled up with zeros.
MI_KERNEL void conv2d_float32(const Conv2dParams p, const float* input, const float* weights, const float* bias,
                              float* output, float* scratch) {
    conv2d_floats<Float>(p, input, blocks_of(p, weights), bias, output, scratch);
}
MI_KERNEL void conv2d_float16(const Conv2dParams p, const Float16* input, const Float16* weights, const float* bias,
                              Float16* output, float* scratch) {
    if (p.half_sums) return conv2d_floats<HalfSums>(p, input, blocks_of(p, weights), bias, output, scratch);
    conv2d_floats<Float>(p, input, blocks_of(p, weights), bias, output, scratch);
}
MI_KERNEL void conv2d_bfloat16(const Conv2dParams p, const BFloat16* input, const BFloat16* weights, const float* bias,
                               BFloat16* output, float* scratch) {
    conv2d_floats<Float>(p, input, blocks_of(p, weights), bias, output, scratch);
}

// weights: as for conv2d_float32, packed; scale and zero_point: of each block one after the other (see packed.hpp).
#define MI_PACKED_CONV(bits)                                                                                       \
    MI_KERNEL void conv2d_float32_int##bits(const Conv2dParams p, const float* input, const uint8_t* weights,      \
                                            const float* scale, const int8_t* zero_point, const float* bias,       \
                                            float* output, float* scratch) {                                       \
        const int32_t taps = p.kernel_height * p.kernel_width;                                                     \
        const int64_t block = int64_t{FILTER_BLOCK} * p.channels * taps;                                           \
        const int64_t scales = scales_of_block(p.channels, taps, FILTER_BLOCK, p.weight_group);                    \
        const auto blocks = [=](int64_t number, float* wide) -> const float* {                                     \
            dequantize_block<bits>(weights, number * block, p.channels, taps, FILTER_BLOCK, p.weight_group,        \
                                   scale + number * scales, zero_point ? zero_point + number * scales : nullptr,   \
                                   wide);                                                                          \
            return wide;                                                                                           \
        };                                                                                                         \
        conv2d_floats<Float>(p, input, blocks, bias, output, scratch);                                             \
    }
MI_PACKED_CONV(4)
MI_PACKED_CONV(6)
#undef MI_PACKED_CONV

// weights: [group][filter / 4][channel / 2][kernel row][kernel column][4][2], filled up with zeros.
// bias holds -input_zero_point * (sum of the filter's weights) already; multiplier and shift are
// per filter; table may be null, and so may the factors of the curve (see finish_int8), which are per filter.
MI_KERNEL void conv2d_int8(const Conv2dParams p, const int8_t* input, const int8_t* weights, const int32_t* bias,
                           const int32_t* multiplier, const int32_t* shift, const int8_t* table,
                           const int32_t* curve_multiplier, const int32_t* curve_shift, int8_t* output,
                           int16_t* scratch) {
    const Band band(p);
    const int64_t in_plane = int64_t{p.height} * p.width, out_plane = int64_t{p.out_height} * p.out_width;
    const int32_t pairs = divide_up(p.channels, 2);
    const int64_t block = int64_t{2 * FILTER_BLOCK} * pairs * p.kernel_height * p.kernel_width;
    const int64_t plane = int64_t{band.rows} * band.row;
    int16_t* wide_weights = scratch + 2 * pairs * plane;
    const int8_t padding = static_cast<int8_t>(p.input_zero_point);
    for (int32_t image = 0; image < p.batch * p.groups; ++image) {
        const int32_t group = image % p.groups;
        const int8_t* source = input + image * p.channels * in_plane;
        int8_t* target = output + image * p.filters * out_plane;
        for (int32_t first = 0; first < p.out_height; first += p.band_rows) {
            const int32_t rows = minimum(p.band_rows, p.out_height - first);
            for (int32_t pair = 0; pair < pairs; ++pair) {
                const int8_t* even = source + 2 * pair * in_plane;
                const int8_t* odd = 2 * pair + 1 < p.channels ? even + in_plane : nullptr;
                for (int32_t y = 0; y < band.rows; ++y) {
                    if (!is_read(y % p.stride_height, p.kernel_height, p.dilation_height, p.stride_height)) continue;
                    copy_phases<2>(p, band, {input_row(p, even, first, y), input_row(p, odd, first, y)}, padding,
                                   scratch + 2 * (pair * plane + int64_t{y} * band.row));
                }
            }
            for_blocks(p, rows, [&](int32_t filter, int32_t begin, int32_t end) {
                const int64_t number = int64_t{group} * divide_up(p.filters, FILTER_BLOCK) + filter / FILTER_BLOCK;
                for (int64_t i = 0; i < block; ++i) wide_weights[i] = weights[number * block + i];
                const int32_t channel = group * p.filters + filter;
                conv2d_vectors<2, Int, int16_t, int32_t>(
                    p, pairs, plane, band.row, band.columns, scratch, wide_weights, begin, end,
                    minimum(FILTER_BLOCK, p.filters - filter), target + filter * out_plane + first * p.out_width,
                    [=](int32_t f) { return bias[channel + f]; },
                    [=, &p](int32_t f, const int32_t* sums, int8_t* finished, int32_t count) {
                        finish_int8<0>(p, sums, count, channel + f, multiplier, shift, table, curve_multiplier,
                                       curve_shift, finished, 1);
                    });
            });
        }
    }
}

}  // namespace mi
