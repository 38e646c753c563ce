// Reductions, softmax, normalisation and pooling on 16-bit floats. Sums run in float32, or are rounded to 16 bits after
// each step where the hardware sums in 16 bits (`half_sums`); terms come one after the other.
#pragma once
#include "pool.hpp"
#include "reduce.hpp"

namespace mi {

// The sum of `term(0)` .. `term(count - 1)`.
template <class Half, class Term>
MI_INLINE float half_sum(int32_t count, int32_t half_sums, Term term) {
    float sum = 0.0f;
    if (half_sums) {
        for (int32_t i = 0; i < count; ++i) sum = rounded<Half>(sum + rounded<Half>(term(i)));
    } else {
        for (int32_t i = 0; i < count; ++i) sum += term(i);
    }
    return sum;
}

// output = last(sum of first(x), count).
template <class Half, class First, class Last>
MI_INLINE void half_reduce(const ReduceParams p, const Half* input, Half* output, First first, Last last) {
    const float n = static_cast<float>(p.count);
    for (int32_t outer = 0; outer < p.outer; ++outer, input += int64_t{p.count} * p.inner) {
        for (int32_t i = 0; i < p.inner; ++i, ++output) {
            const float sum = half_sum<Half>(p.count, p.half_sums,
                                             [&](int32_t k) { return first(input[int64_t{k} * p.inner + i]); });
            narrow(last(sum, n), p.flush, output);
        }
    }
}

template <class Half, class Combine>
MI_INLINE void half_combine(const ReduceParams p, const Half* input, Half* output, Combine combine) {
    for (int32_t outer = 0; outer < p.outer; ++outer, input += int64_t{p.count} * p.inner) {
        for (int32_t i = 0; i < p.inner; ++i, ++output) {
            float best = input[i];
            for (int32_t k = 1; k < p.count; ++k) best = combine(best, float(input[int64_t{k} * p.inner + i]));
            narrow(best, p.flush, output);
        }
    }
}

// Exponentials of x - greatest, then each divided by the sum of all.
template <class Half>
MI_INLINE void half_softmax(const ReduceParams p, const Half* input, Half* output) {
    const auto stored = [&p](float x) { return p.half_sums ? rounded<Half>(x) : x; };
    for (int32_t outer = 0; outer < p.outer; ++outer) {
        for (int32_t i = 0; i < p.inner; ++i) {
            const Half* x = input + int64_t{outer} * p.count * p.inner + i;
            Half* y = output + int64_t{outer} * p.count * p.inner + i;
            float greatest = -FLOAT_INFINITY;
            for (int32_t k = 0; k < p.count; ++k) greatest = greater_of(float(x[int64_t{k} * p.inner]), greatest);
            const auto term = [&](int32_t k) {
                return stored(exponential(stored(float(x[int64_t{k} * p.inner]) - greatest)));
            };
            const float sum = half_sum<Half>(p.count, p.half_sums, term);
            for (int32_t k = 0; k < p.count; ++k) narrow(term(k) / sum, p.flush, y + int64_t{k} * p.inner);
        }
    }
}

// Each row to mean 0 and variance 1, as normalize_float32.
template <class Half>
MI_INLINE void half_normalize(const NormalizeParams p, const Half* input, Half* output) {
    const auto stored = [&p](float x) { return p.half_sums ? rounded<Half>(x) : x; };
    for (int32_t row = 0; row < p.rows; ++row, input += p.columns, output += p.columns) {
        const float count = static_cast<float>(p.columns);
        const float mean =
            stored(half_sum<Half>(p.columns, p.half_sums, [&](int32_t i) { return float(input[i]); }) / count);
        const auto deviation = [&](int32_t i) { return stored(float(input[i]) - mean); };
        const float squares = half_sum<Half>(p.columns, p.half_sums, [&](int32_t i) {
            const float d = deviation(i);
            return d * d;
        });
        const float divisor = stored(square_root(stored(stored(squares / count) + p.epsilon)));
        for (int32_t i = 0; i < p.columns; ++i) narrow(deviation(i) / divisor, p.flush, output + i);
    }
}

template <class Half>
MI_INLINE void half_affine(const AffineParams p, const Half* input, const float* scale, const float* shift,
                           Half* output) {
    for (int32_t outer = 0; outer < p.outer; ++outer) {
        for (int32_t channel = 0; channel < p.channels; ++channel, input += p.inner, output += p.inner) {
            for (int32_t first = 0; first < p.inner; first += HALF_CHUNK) {
                const int32_t size = minimum(HALF_CHUNK, p.inner - first);
                float results[HALF_CHUNK];
                for (int32_t i = 0; i < size; ++i) {
                    results[i] = __builtin_fmaf(float(input[first + i]), scale[channel], shift[channel]);
                }
                activate(p.activation, p.alpha, p.beta, results, size);
                for (int32_t i = 0; i < size; ++i) narrow(results[i], p.flush, output + first + i);
            }
        }
    }
}

template <class Half>
MI_INLINE void half_average_pool(const PoolParams p, const Half* input, Half* output) {
    pool(
        p, input, 0.0f,
        [=](float a, Half b) { return p.half_sums ? rounded<Half>(a + float(b)) : a + float(b); },
        [=](int64_t index, float sum, int32_t y, int32_t x) {
            narrow(sum / static_cast<float>(window_count(p, y, x)), p.flush, output + index);
        });
}

template <class Half>
MI_INLINE void half_max_pool(const PoolParams p, const Half* input, Half* output) {
    pool(
        p, input, -FLOAT_INFINITY, [](float a, Half b) { return greater_of(float(b), a); },
        [=](int64_t index, float greatest, int32_t, int32_t) { narrow(greatest, p.flush, output + index); });
}

#define MI_HALF_REDUCE(element, type)                                                                             \
    MI_KERNEL void reduce_sum_##element(const ReduceParams p, const type* input, type* output) {                  \
        half_reduce(p, input, output, [](float x) { return x; }, [](float x, float) { return x; });               \
    }                                                                                                             \
    MI_KERNEL void reduce_mean_##element(const ReduceParams p, const type* input, type* output) {                 \
        half_reduce(p, input, output, [](float x) { return x; }, [](float x, float n) { return x / n; });         \
    }                                                                                                             \
    MI_KERNEL void reduce_l2_##element(const ReduceParams p, const type* input, type* output) {                   \
        half_reduce(p, input, output, [](float x) { return x * x; }, [](float x, float) { return square_root(x); }); \
    }                                                                                                             \
    MI_KERNEL void reduce_sum_square_##element(const ReduceParams p, const type* input, type* output) {           \
        half_reduce(p, input, output, [](float x) { return x * x; }, [](float x, float) { return x; });           \
    }                                                                                                             \
    MI_KERNEL void reduce_max_##element(const ReduceParams p, const type* input, type* output) {                  \
        half_combine(p, input, output, [](float a, float b) { return greater_of(a, b); });                        \
    }                                                                                                             \
    MI_KERNEL void reduce_min_##element(const ReduceParams p, const type* input, type* output) {                  \
        half_combine(p, input, output, [](float a, float b) { return lesser_of(a, b); });                         \
    }                                                                                                             \
    MI_KERNEL void softmax_##element(const ReduceParams p, const type* input, type* output) {                     \
        half_softmax(p, input, output);                                                                           \
    }                                                                                                             \
    MI_KERNEL void normalize_##element(const NormalizeParams p, const type* input, type* output) {                \
        half_normalize(p, input, output);                                                                         \
    }                                                                                                             \
    MI_KERNEL void affine_##element(const AffineParams p, const type* input, const float* scale, const float* shift, \
                                    type* output) {                                                               \
        half_affine(p, input, scale, shift, output);                                                              \
    }                                                                                                             \
    MI_KERNEL void average_pool_##element(const PoolParams p, const type* input, type* output) {                  \
        half_average_pool(p, input, output);                                                                      \
    }                                                                                                             \
    MI_KERNEL void max_pool_##element(const PoolParams p, const type* input, type* output) {                      \
        half_max_pool(p, input, output);                                                                          \
    }
MI_HALF_REDUCE(float16, Float16)
MI_HALF_REDUCE(bfloat16, BFloat16)
#undef MI_HALF_REDUCE

}  // namespace mi
