// Convolution and pooling with channels in the lanes. A tensor is [batch][channel / block][row][column][block]: with one
// block of all channels that is NHWC, with smaller ones NCHWc. Every channel count is a multiple of its block.
//
// Each output is what the kernels on NCHW give, bit for bit: int8 sums are exact in any order; float32 sums have the
// same order (bias, then input channel, kernel row, kernel column, in groups of GROUP; depthwise in one sum).
#pragma once
#include "activation.hpp"
#include "gemm.hpp"
#include "requantize.hpp"
#include "vector.hpp"

namespace mi {

struct BlockedConvParams {
    int32_t batch, groups;
    int32_t channels;  // input channels of one group
    int32_t height, width;
    int32_t filters;  // output channels of one group
    int32_t out_height, out_width;
    int32_t kernel_height, kernel_width;
    int32_t stride_height, stride_width;
    int32_t dilation_height, dilation_width;
    int32_t pad_top, pad_left;
    int32_t in_block, out_block;  // channels that lie together in the input and in the output
    int32_t block;                // conv2d only: filters that are packed together; a multiple of 16
    int32_t band_pixels;          // conv2d only: output pixels that are gathered in scratch at a time
    int32_t scratch_bytes;
    int32_t activation;  // floats only
    float alpha, beta;
    int32_t input_zero_point, output_zero_point, low, high;  // int8 only
    int32_t knee;  // int8 with a curve only: the code of 3 in what hard-swish reads, a power of two, at most 2^14
    int32_t unroll;         // conv2d only: see repeat
    int32_t likely_inside;  // whether taps lie inside the input, see expected
};

// The first of the `block` channels of an input position, or `outside` where that is padding.
template <class Params, class Source>
MI_INLINE const Source* position(const Params& p, const Source* plane, int32_t y, int32_t x, int32_t block,
                                 const Source* outside) {
    const bool inside = y >= 0 && y < p.height && x >= 0 && x < p.width;
    return expected(inside, p.likely_inside) ? plane + (int64_t{y} * p.width + x) * block : outside;
}

// Writes the outputs of neighbouring filters of one pixel to where their blocks lie.
template <class Output>
MI_INLINE void put(const BlockedConvParams p, const Output* finished, int32_t filter, int32_t count, int32_t pixel,
                   Output* image) {
    const int64_t pixels = int64_t{p.out_height} * p.out_width;
    if (p.out_block == p.filters) {
        Output* target = image + pixel * p.filters + filter;
        for (int32_t i = 0; i < count; ++i) target[i] = finished[i];
        return;
    }
    for (int32_t i = 0; i < count; ++i) {
        const int32_t at = filter + i;
        image[(at / p.out_block * pixels + pixel) * p.out_block + at % p.out_block] = finished[i];
    }
}

// The inputs of `count` output pixels from `first` on, one row a pixel. CHANNEL_FIRST: [channel][kernel row][kernel
// column], else [kernel row][kernel column][channel].
template <bool CHANNEL_FIRST, class Target, class Source>
MI_INLINE void gather(const BlockedConvParams p, const Source* image, Source padding, int32_t first, int32_t count,
                      int32_t row_step, Target* rows) {
    const int32_t taps = p.kernel_height * p.kernel_width;
    const int64_t plane = int64_t{p.height} * p.width * p.in_block;
    for (int32_t pixel = first; pixel < first + count; ++pixel, rows += row_step) {
        const int32_t top = pixel / p.out_width * p.stride_height - p.pad_top;
        const int32_t left = pixel % p.out_width * p.stride_width - p.pad_left;
        for (int32_t tap = 0; tap < taps; ++tap) {
            const int32_t y = top + tap / p.kernel_width * p.dilation_height;
            const int32_t x = left + tap % p.kernel_width * p.dilation_width;
            for (int32_t channel = 0; channel < p.channels; channel += p.in_block) {
                const Source* source =
                    position(p, image + channel / p.in_block * plane, y, x, p.in_block, static_cast<const Source*>(nullptr));
                const int32_t step = CHANNEL_FIRST ? taps : 1;
                Target* target = rows + (CHANNEL_FIRST ? channel * taps + tap : tap * p.channels + channel);
                if (source) {
                    for (int32_t i = 0; i < p.in_block; ++i) target[i * step] = source[i];
                } else {
                    for (int32_t i = 0; i < p.in_block; ++i) target[i * step] = padding;
                }
            }
        }
        for (int32_t i = p.channels * taps; i < row_step; ++i) rows[i] = 0;
    }
}

// weights as for gemm_float32, depth = [channel][kernel row][kernel column]. One group.
MI_KERNEL void conv2d_blocked_float32(const BlockedConvParams p, const float* input, const float* weights,
                                      const float* bias, float* output, float* scratch) {
    const int32_t depth = p.channels * p.kernel_height * p.kernel_width, pixels = p.out_height * p.out_width;
    for (int32_t image = 0; image < p.batch; ++image) {
        const float* source = input + int64_t{image} * p.channels * p.height * p.width;
        float* target = output + int64_t{image} * p.filters * pixels;
        for (int32_t first = 0; first < pixels; first += p.band_pixels) {
            const int32_t count = minimum(p.band_pixels, pixels - first);
            gather<true>(p, source, 0.0f, first, count, depth, scratch);
            gemm<1, Float>(scratch, count, depth, p.filters, depth, p.block, weights, bias, p.unroll,
                           [&](int32_t pixel, int32_t filter, float* sums, int32_t many) {
                               activate(p.activation, p.alpha, p.beta, sums, many);
                               put(p, sums, filter, many, first + pixel, target);
                           });
        }
    }
}

// weights as for gemm_int8, depth = [kernel row][kernel column][channel]; bias, multiplier, shift, table and curve as for
// conv2d_int8. One group.
MI_KERNEL void conv2d_blocked_int8(const BlockedConvParams p, const int8_t* input, const int8_t* weights,
                                   const int32_t* bias, const int32_t* multiplier, const int32_t* shift,
                                   const int8_t* table, const int32_t* curve_multiplier, const int32_t* curve_shift,
                                   int8_t* output, int16_t* scratch) {
    const int32_t pairs = divide_up(p.channels * p.kernel_height * p.kernel_width, 2);
    const int32_t pixels = p.out_height * p.out_width;
    for (int32_t image = 0; image < p.batch; ++image) {
        const int8_t* source = input + int64_t{image} * p.channels * p.height * p.width;
        int8_t* target = output + int64_t{image} * p.filters * pixels;
        for (int32_t first = 0; first < pixels; first += p.band_pixels) {
            const int32_t count = minimum(p.band_pixels, pixels - first);
            gather<false>(p, source, static_cast<int8_t>(p.input_zero_point), first, count, 2 * pairs, scratch);
            gemm<2, Int>(scratch, count, 2 * pairs, p.filters, pairs, p.block, weights, bias, p.unroll,
                         [&](int32_t pixel, int32_t filter, int32_t* sums, int32_t many) {
                             int8_t finished[64];
                             finish_int8<1>(p, sums, many, filter, multiplier, shift, table, curve_multiplier,
                                            curve_shift, finished, 1);
                             put(p, finished, filter, many, first + pixel, target);
                         });
        }
    }
}

constexpr int32_t MOST_TAPS = 256;  // of a depthwise kernel

// Calls `sum(block number, pixel, tap)` for each output pixel of each block of channels of each image, where `tap(t)` is
// where tap t of the pixel lies; `outside` holds a block of padding, which is also the tap after the last one.
template <class Source, class Sum>
MI_INLINE void for_pixels(const BlockedConvParams p, const Source* input, const Source* outside, Sum sum) {
    const int32_t blocks = p.groups / p.in_block, taps = p.kernel_height * p.kernel_width;
    const int32_t reach_y = (p.kernel_height - 1) * p.dilation_height, reach_x = (p.kernel_width - 1) * p.dilation_width;
    int32_t offsets[MOST_TAPS + 1] = {};
    for (int32_t t = 0; t < taps; ++t) {
        offsets[t] = (t / p.kernel_width * p.dilation_height * p.width + t % p.kernel_width * p.dilation_width) * p.in_block;
    }
    for (int32_t number = 0; number < p.batch * blocks; ++number) {
        const Source* plane = input + int64_t{number} * p.height * p.width * p.in_block;
        for (int32_t pixel = 0; pixel < p.out_height * p.out_width; ++pixel) {
            const int32_t y = pixel / p.out_width * p.stride_height - p.pad_top;
            const int32_t x = pixel % p.out_width * p.stride_width - p.pad_left;
            const bool inside = y >= 0 && y + reach_y < p.height && x >= 0 && x + reach_x < p.width;
            if (expected(inside, p.likely_inside)) {
                const Source* first = plane + (int64_t{y} * p.width + x) * p.in_block;
                sum(number, pixel, [=, &offsets](int32_t t) { return first + offsets[t]; });
                continue;
            }
            const Source* at[MOST_TAPS + 1];
            for (int32_t t = 0; t < taps; ++t) {
                at[t] = position(p, plane, y + t / p.kernel_width * p.dilation_height,
                                 x + t % p.kernel_width * p.dilation_width, p.in_block, outside);
            }
            at[taps] = outside;
            sum(number, pixel, [&at](int32_t t) { return at[t]; });
        }
    }
}

// LANES pairs of two taps side by side.
MI_INLINE Pairs paired(const int8_t* first, const int8_t* second) {
    typedef int8_t Bytes __attribute__((vector_size(LANES)));
    Bytes a, b;
    __builtin_memcpy(&a, first, LANES);
    __builtin_memcpy(&b, second, LANES);
#if MI_VECTOR_BYTES == 64
    const BytePairs both = __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23, 8, 24,
                                                   9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
#elif MI_VECTOR_BYTES == 32
    const BytePairs both = __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15);
#else
    const BytePairs both = __builtin_shufflevector(a, b, 0, 4, 1, 5, 2, 6, 3, 7);
#endif
    return __builtin_convertvector(both, Pairs);
}

MI_INLINE Int multiply_add(Pairs a, Pairs b, Int sum) {
#if defined(MI_PAIR_PRODUCTS)
    return sum + MI_PAIR_PRODUCTS(a, b);
#else
    const Int left = (Int)a, right = (Int)b;
    return sum + ((left << 16) >> 16) * ((right << 16) >> 16) + (left >> 16) * (right >> 16);
#endif
}

// VECTORS vectors of channels of one pixel, from channel `channel` of the block on. weights: [tap / 2][channel][2].
template <int32_t VECTORS, class Tap>
MI_INLINE void depthwise_vectors(Tap tap, int32_t pairs, int32_t channel, const int16_t* weights,
                                 int32_t weights_step, const int32_t* start, int32_t* sums) {
    Int total[VECTORS];
    MI_UNROLL
    for (int32_t v = 0; v < VECTORS; ++v) __builtin_memcpy(&total[v], start + v * LANES, sizeof(Int));
    for (int32_t t = 0; t < pairs; ++t, weights += weights_step) {
        const int8_t *even = tap(2 * t) + channel, *odd = tap(2 * t + 1) + channel;
        MI_UNROLL
        for (int32_t v = 0; v < VECTORS; ++v) {
            const int32_t at = v * LANES;
            total[v] = multiply_add(load(weights + 2 * at), paired(even + at, odd + at), total[v]);
        }
    }
    MI_UNROLL
    for (int32_t v = 0; v < VECTORS; ++v) store(sums + v * LANES, total[v]);
}

// The same in float32. weights: [tap][channel].
template <int32_t VECTORS, class Tap>
MI_INLINE void depthwise_vectors(Tap tap, int32_t taps, int32_t channel, const float* weights, int32_t weights_step,
                                 const float* start, float* sums) {
    Float total[VECTORS];
    MI_UNROLL
    for (int32_t v = 0; v < VECTORS; ++v) total[v] = load(start + v * LANES);
    for (int32_t t = 0; t < taps; ++t, weights += weights_step) {
        const float* source = tap(t) + channel;
        MI_UNROLL
        for (int32_t v = 0; v < VECTORS; ++v) {
            const Float factor = load(weights + v * LANES), value = load(source + v * LANES);
            MI_UNROLL
            for (int32_t lane = 0; lane < LANES; ++lane) {
                total[v][lane] = __builtin_fmaf(factor[lane], value[lane], total[v][lane]);
            }
        }
    }
    MI_UNROLL
    for (int32_t v = 0; v < VECTORS; ++v) store(sums + v * LANES, total[v]);
}

// groups = channels, one filter each; in_block = out_block. weights: [tap][channel]. At most MOST_TAPS taps.
MI_KERNEL void depthwise_conv2d_blocked_float32(const BlockedConvParams p, const float* input, const float* weights,
                                                const float* bias, float* output, float* scratch) {
    const int32_t taps = p.kernel_height * p.kernel_width;
    const int32_t blocks = p.groups / p.in_block, pixels = p.out_height * p.out_width;
    for (int32_t i = 0; i < p.in_block; ++i) scratch[i] = 0.0f;
    for_pixels(p, input, scratch, [&](int32_t number, int32_t pixel, auto tap) {
        float* target = output + (int64_t{number} * pixels + pixel) * p.out_block;
        const int32_t first = number % blocks * p.in_block;
        int32_t channel = 0;
        for (; channel + 4 * LANES <= p.in_block; channel += 4 * LANES) {
            depthwise_vectors<4>(tap, taps, channel, weights + first + channel, p.groups, bias + first + channel,
                                 target + channel);
        }
        for (; channel + LANES <= p.in_block; channel += LANES) {
            depthwise_vectors<1>(tap, taps, channel, weights + first + channel, p.groups, bias + first + channel,
                                 target + channel);
        }
        for (; channel < p.in_block; ++channel) {
            float sum = bias[first + channel];
            for (int32_t t = 0; t < taps; ++t) {
                sum = __builtin_fmaf(weights[int64_t{t} * p.groups + first + channel], tap(t)[channel], sum);
            }
            target[channel] = sum;
        }
        activate(p.activation, p.alpha, p.beta, target, p.in_block);
    });
}

// groups = channels, one filter each; in_block = out_block. weights: [tap / 2][channel][2], filled up with zeros; the rest
// as for conv2d_int8. At most MOST_TAPS taps.
MI_KERNEL void depthwise_conv2d_blocked_int8(const BlockedConvParams p, const int8_t* input, const int8_t* weights,
                                             const int32_t* bias, const int32_t* multiplier, const int32_t* shift,
                                             const int8_t* table, const int32_t* curve_multiplier,
                                             const int32_t* curve_shift, int8_t* output, int16_t* scratch) {
    const int32_t taps = p.kernel_height * p.kernel_width, pairs = divide_up(taps, 2);
    const int32_t blocks = p.groups / p.in_block, pixels = p.out_height * p.out_width, step = 2 * p.groups;
    int8_t* outside = reinterpret_cast<int8_t*>(scratch + int64_t{pairs} * step);
    for (int64_t i = 0; i < int64_t{pairs} * step; ++i) scratch[i] = weights[i];
    for (int32_t i = 0; i < p.in_block; ++i) outside[i] = static_cast<int8_t>(p.input_zero_point);
    for_pixels(p, input, outside, [&](int32_t number, int32_t pixel, auto tap) {
        int8_t* target = output + (int64_t{number} * pixels + pixel) * p.out_block;
        const int32_t first = number % blocks * p.in_block;
        alignas(64) int32_t sums[4 * LANES];
        int32_t channel = 0;
        const auto finish = [&](int32_t count) {
            finish_int8<1>(p, sums, count, first + channel, multiplier, shift, table, curve_multiplier, curve_shift,
                           target + channel, 1);
            channel += count;
        };
        for (; channel + 4 * LANES <= p.in_block; finish(4 * LANES)) {
            depthwise_vectors<4>(tap, pairs, channel, scratch + 2 * int64_t{first + channel}, step,
                                 bias + first + channel, sums);
        }
        if (channel + 2 * LANES <= p.in_block) {
            depthwise_vectors<2>(tap, pairs, channel, scratch + 2 * int64_t{first + channel}, step,
                                 bias + first + channel, sums);
            finish(2 * LANES);
        }
        if (channel + LANES <= p.in_block) {
            depthwise_vectors<1>(tap, pairs, channel, scratch + 2 * int64_t{first + channel}, step,
                                 bias + first + channel, sums);
            finish(LANES);
        }
        for (; channel < p.in_block; finish(1)) {
            const int16_t* factor = scratch + 2 * int64_t{first + channel};
            sums[0] = bias[first + channel];
            for (int32_t t = 0; t < taps; ++t) sums[0] += tap(t)[channel] * factor[int64_t{t / 2} * step + t % 2];
        }
    });
}

}  // namespace mi
