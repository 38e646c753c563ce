// Pools over blocks of channels (see blocked.hpp), and the way into and out of such blocks.
#pragma once
#include "blocked.hpp"
#include "pool.hpp"

namespace mi {

struct BlockedPoolParams {
    int32_t planes;  // batch * blocks of channels
    int32_t block;   // channels that lie together
    int32_t height, width, out_height, out_width;
    int32_t kernel_height, kernel_width, stride_height, stride_width, dilation_height, dilation_width;
    int32_t pad_top, pad_left, pad_bottom, pad_right;
    int32_t count_include_pad;                               // average only
    int32_t input_zero_point, output_zero_point, low, high;  // average only
    int32_t scratch_bytes;                                   // average only: one sum a channel
    int32_t likely_inside;                                   // whether taps lie inside the input, see expected
};

// For each output pixel of each block: `add(sum, value)` for each input in the window, by row and column, beginning with
// `initial`; `sums_of(target)` is where the sums of a pixel stand, and `finish(target, row, column)` ends them.
template <class Sum, class Value, class Sums, class Add, class Finish>
MI_INLINE void blocked_pool(const BlockedPoolParams p, const Value* input, Value* output, Sum initial, Sums sums_of,
                            Add add, Finish finish) {
    for (int32_t number = 0; number < p.planes; ++number) {
        const Value* plane = input + int64_t{number} * p.height * p.width * p.block;
        for (int32_t pixel = 0; pixel < p.out_height * p.out_width; ++pixel) {
            Value* target = output + (int64_t{number} * p.out_height * p.out_width + pixel) * p.block;
            const int32_t out_y = pixel / p.out_width, out_x = pixel % p.out_width;
            Sum* sums = sums_of(target);
            for (int32_t i = 0; i < p.block; ++i) sums[i] = initial;
            for (int32_t ky = 0; ky < p.kernel_height; ++ky) {
                for (int32_t kx = 0; kx < p.kernel_width; ++kx) {
                    const Value* source =
                        position(p, plane, out_y * p.stride_height - p.pad_top + ky * p.dilation_height,
                                 out_x * p.stride_width - p.pad_left + kx * p.dilation_width, p.block,
                                 static_cast<const Value*>(nullptr));
                    if (!source) continue;
                    for (int32_t i = 0; i < p.block; ++i) sums[i] = add(sums[i], source[i]);
                }
            }
            finish(target, out_y, out_x);
        }
    }
}

MI_KERNEL void max_pool_blocked_float32(const BlockedPoolParams p, const float* input, float* output) {
    blocked_pool(
        p, input, output, -FLOAT_INFINITY, [](float* target) { return target; },
        [](float a, float b) { return greater_of(b, a); }, [](float*, int32_t, int32_t) {});
}

MI_KERNEL void max_pool_blocked_int8(const BlockedPoolParams p, const int8_t* input, int8_t* output) {
    blocked_pool(
        p, input, output, int8_t{-128}, [](int8_t* target) { return target; },
        [](int8_t a, int8_t b) { return a > b ? a : b; }, [](int8_t*, int32_t, int32_t) {});
}

// multiplier, shift: as for average_pool_int8.
MI_KERNEL void average_pool_blocked_int8(const BlockedPoolParams p, const int8_t* input, const int32_t* multiplier,
                                         const int32_t* shift, int8_t* output, int32_t* scratch) {
    blocked_pool(
        p, input, output, int32_t{0}, [=](int8_t*) { return scratch; },
        [=](int32_t a, int8_t b) { return a + b - p.input_zero_point; },
        [=](int8_t* target, int32_t y, int32_t x) {
            const int32_t n = maximum(window_count(p, y, x), 1) - 1;
            for (int32_t i = 0; i < p.block; ++i) {
                target[i] = static_cast<int8_t>(
                    requantize(scratch[i], multiplier[n], shift[n], p.output_zero_point, p.low, p.high));
            }
        });
}

// Between [planes][channels][pixels] and [planes][channels / block][pixels][block]: `to_blocks` says which way.
struct RelayoutParams {
    int32_t planes;  // batch * blocks of channels
    int32_t block;   // channels that lie together
    int32_t pixels;
    int32_t to_blocks;
};

constexpr int32_t TURN = 16;

// rows x columns to columns x rows, a square of TURN elements a side at a time, which stays in registers or first cache.
template <class T>
MI_INLINE void turn(const T* input, int32_t rows, int32_t columns, T* output) {
    for (int32_t row = 0; row < rows; row += TURN) {
        for (int32_t column = 0; column < columns; column += TURN) {
            const int32_t height = minimum(TURN, rows - row), width = minimum(TURN, columns - column);
            const T* source = input + int64_t{row} * columns + column;
            T* target = output + int64_t{column} * rows + row;
            if (height == TURN && width == TURN) {
                T square[TURN][TURN];
                for (int32_t r = 0; r < TURN; ++r) __builtin_memcpy(square[r], source + int64_t{r} * columns, sizeof square[r]);
                for (int32_t c = 0; c < TURN; ++c) {
                    T line[TURN];
                    for (int32_t r = 0; r < TURN; ++r) line[r] = square[r][c];
                    __builtin_memcpy(target + int64_t{c} * rows, line, sizeof line);
                }
                continue;
            }
            for (int32_t c = 0; c < width; ++c) {
                for (int32_t r = 0; r < height; ++r) target[int64_t{c} * rows + r] = source[int64_t{r} * columns + c];
            }
        }
    }
}

#define MI_RELAYOUT(bits)                                                                                          \
    MI_KERNEL void relayout_##bits(const RelayoutParams p, const uint##bits##_t* input, uint##bits##_t* output) {    \
        const int64_t plane = int64_t{p.block} * p.pixels;                                                         \
        for (int32_t number = 0; number < p.planes; ++number, input += plane, output += plane) {                   \
            if (p.to_blocks) {                                                                                     \
                turn(input, p.block, p.pixels, output);                                                            \
            } else {                                                                                               \
                turn(input, p.pixels, p.block, output);                                                            \
            }                                                                                                      \
        }                                                                                                          \
    }
MI_RELAYOUT(8)
MI_RELAYOUT(32)
#undef MI_RELAYOUT

}  // namespace mi
