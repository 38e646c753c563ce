// Reductions along one axis of [outer][count][inner], softmax and normalisation.
//
// Order of a sum: along contiguous elements, element i goes to partial sum i mod 16 and the sixteen are added as a
// tree; along strided ones, one after the other.
#pragma once
#include "elementwise.hpp"

namespace mi {

struct ReduceParams {
    int32_t outer, count, inner;
    int32_t half_sums;  // float16 only: each term and sum is rounded to 16 bits
    int32_t flush;      // 16-bit floats only: see narrow
};

template <class Term>
MI_INLINE float sum_of(int32_t count, Term term) {
    alignas(64) float partial[16] = {};
    int32_t first = 0;
    for (; first + 16 <= count; first += 16) {
        for (int32_t lane = 0; lane < 16; ++lane) partial[lane] += term(first + lane);
    }
    for (int32_t lane = 0; first + lane < count; ++lane) partial[lane] += term(first + lane);
    for (int32_t width = 8; width > 0; width /= 2) {
        for (int32_t lane = 0; lane < width; ++lane) partial[lane] += partial[lane + width];
    }
    return partial[0];
}

// output = last(sum of first(x), count).
template <class First, class Last>
MI_INLINE void reduce_sum_of(const ReduceParams p, const float* input, float* output, First first, Last last) {
    const float n = static_cast<float>(p.count);
    for (int32_t outer = 0; outer < p.outer; ++outer, input += int64_t{p.count} * p.inner, output += p.inner) {
        if (p.inner == 1) {
            output[0] = last(sum_of(p.count, [&](int32_t i) { return first(input[i]); }), n);
            continue;
        }
        for (int32_t i = 0; i < p.inner; ++i) output[i] = 0.0f;
        for (int32_t k = 0; k < p.count; ++k) {
            for (int32_t i = 0; i < p.inner; ++i) output[i] += first(input[int64_t{k} * p.inner + i]);
        }
        for (int32_t i = 0; i < p.inner; ++i) output[i] = last(output[i], n);
    }
}

// output = combine(... combine(x0, x1) ..., xn).
template <class T, class Combine>
MI_INLINE void reduce_with(const ReduceParams p, const T* input, T* output, Combine combine) {
    for (int32_t outer = 0; outer < p.outer; ++outer, input += int64_t{p.count} * p.inner, output += p.inner) {
        for (int32_t i = 0; i < p.inner; ++i) output[i] = input[i];
        for (int32_t k = 1; k < p.count; ++k) {
            for (int32_t i = 0; i < p.inner; ++i) output[i] = combine(output[i], input[int64_t{k} * p.inner + i]);
        }
    }
}

#define MI_REDUCE_SUM(name, first, last)                                                               \
    MI_KERNEL void reduce_##name##_float32(const ReduceParams p, const float* input, float* output) { \
        reduce_sum_of(                                                                                 \
            p, input, output, [](float x) { return first; }, [](float x, float n) { return (void)n, last; }); \
    }
MI_REDUCE_SUM(sum, x, x)
MI_REDUCE_SUM(mean, x, x / n)
MI_REDUCE_SUM(l1, absolute(x), x)
MI_REDUCE_SUM(l2, x* x, square_root(x))
MI_REDUCE_SUM(sum_square, x* x, x)
MI_REDUCE_SUM(log_sum, x, logarithm(x))
#undef MI_REDUCE_SUM

#define MI_REDUCE(name, type, element, expression)                                                       \
    MI_KERNEL void reduce_##name##_##element(const ReduceParams p, const type* input, type* output) { \
        reduce_with(p, input, output, [](type a, type b) { return expression; });                        \
    }
MI_REDUCE(max, float, float32, greater_of(a, b))
MI_REDUCE(min, float, float32, lesser_of(a, b))
MI_REDUCE(prod, float, float32, a* b)
MI_REDUCE(max, int32_t, int32, greater_of(a, b))
MI_REDUCE(min, int32_t, int32, lesser_of(a, b))
MI_REDUCE(sum, int32_t, int32, wrapping_add(a, b))
MI_REDUCE(prod, int32_t, int32, wrapping_mul(a, b))
MI_REDUCE(max, int64_t, int64, greater_of(a, b))
MI_REDUCE(min, int64_t, int64, lesser_of(a, b))
MI_REDUCE(sum, int64_t, int64, wrapping_add(a, b))
MI_REDUCE(prod, int64_t, int64, wrapping_mul(a, b))
#undef MI_REDUCE

// Index of the first greatest (least) element.
template <class Better>
MI_INLINE void arg_best(const ReduceParams p, const float* input, int64_t* output, Better better) {
    for (int32_t outer = 0; outer < p.outer; ++outer, input += int64_t{p.count} * p.inner) {
        for (int32_t i = 0; i < p.inner; ++i) {
            int32_t best = 0;
            for (int32_t k = 1; k < p.count; ++k) {
                if (better(input[int64_t{k} * p.inner + i], input[int64_t{best} * p.inner + i])) best = k;
            }
            *output++ = best;
        }
    }
}
MI_KERNEL void arg_max_float32(const ReduceParams p, const float* input, int64_t* output) {
    arg_best(p, input, output, [](float a, float b) { return a > b; });
}
MI_KERNEL void arg_min_float32(const ReduceParams p, const float* input, int64_t* output) {
    arg_best(p, input, output, [](float a, float b) { return a < b; });
}

// x - greatest, then its exponential divided by the sum of all (log softmax: minus the logarithm of the sum).
template <bool LOGARITHM>
MI_INLINE void softmax(const ReduceParams p, const float* input, float* output) {
    for (int32_t outer = 0; outer < p.outer; ++outer) {
        for (int32_t i = 0; i < p.inner; ++i) {
            const float* x = input + int64_t{outer} * p.count * p.inner + i;
            float* y = output + int64_t{outer} * p.count * p.inner + i;
            const int64_t step = p.inner;
            float greatest = x[0];
            for (int32_t k = 1; k < p.count; ++k) greatest = greater_of(x[k * step], greatest);
            for (int32_t k = 0; k < p.count; ++k) y[k * step] = exponential(x[k * step] - greatest);
            const float sum = sum_of(p.count, [&](int32_t k) { return y[k * step]; });
            if (LOGARITHM) {
                const float shift = logarithm(sum);
                for (int32_t k = 0; k < p.count; ++k) y[k * step] = (x[k * step] - greatest) - shift;
            } else {
                for (int32_t k = 0; k < p.count; ++k) y[k * step] = y[k * step] / sum;
            }
        }
    }
}
MI_KERNEL_IN_PLACE void softmax_float32(const ReduceParams p, const float* input, float* output) {
    softmax<false>(p, input, output);
}
MI_KERNEL void log_softmax_float32(const ReduceParams p, const float* input, float* output) {
    softmax<true>(p, input, output);
}

struct NormalizeParams {
    int32_t rows, columns;
    float epsilon;
    int32_t half_sums;  // float16 only: each difference, square and sum is rounded to 16 bits
    int32_t flush;      // 16-bit floats only: see narrow
};

// Each row to mean 0 and variance 1: (x - mean) / sqrt(variance + epsilon), two passes.
MI_KERNEL_IN_PLACE void normalize_float32(const NormalizeParams p, const float* input, float* output) {
    for (int32_t row = 0; row < p.rows; ++row, input += p.columns, output += p.columns) {
        const float count = static_cast<float>(p.columns);
        const float mean = sum_of(p.columns, [&](int32_t i) { return input[i]; }) / count;
        const float variance = sum_of(p.columns, [&](int32_t i) {
                                   const float d = input[i] - mean;
                                   return d * d;
                               }) / count;
        const float deviation = square_root(variance + p.epsilon);
        for (int32_t i = 0; i < p.columns; ++i) output[i] = (input[i] - mean) / deviation;
    }
}

struct AffineParams {
    int32_t outer, channels, inner;
    int32_t activation;
    float alpha, beta;
    int32_t flush;  // 16-bit floats only: see narrow
};

// x * scale + shift for each channel of [outer][channels][inner], one rounding (batch normalisation).
MI_KERNEL_IN_PLACE void affine_float32(const AffineParams p, const float* input, const float* scale, const float* shift,
                              float* output) {
    for (int32_t outer = 0; outer < p.outer; ++outer) {
        for (int32_t channel = 0; channel < p.channels; ++channel, input += p.inner, output += p.inner) {
            for (int32_t i = 0; i < p.inner; ++i) {
                output[i] = __builtin_fmaf(input[i], scale[channel], shift[channel]);
            }
            activate(p.activation, p.alpha, p.beta, output, p.inner);
        }
    }
}

}  // namespace mi
