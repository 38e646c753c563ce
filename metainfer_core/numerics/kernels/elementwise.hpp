// One value at a time: unary functions, binary operators with broadcasting, choice and casts.
#pragma once
#include "activation.hpp"
#include "half.hpp"
#include "vector.hpp"

namespace mi {

struct UnaryParams {
    int32_t count;
    float alpha, beta;  // of the activations that have them
    int32_t flush;      // 16-bit floats only: see narrow
};

// Shapes are collapsed when the model is lowered: a step of 0 repeats the operand along that axis.
struct BinaryParams {
    int32_t rank;
    int32_t shape[6];
    int32_t left_step[6], right_step[6];
    int32_t activation;  // float outputs only
    float alpha, beta;
    int32_t flush;  // 16-bit floats only: see narrow
};

struct WhereParams {
    int32_t rank;
    int32_t shape[6];
    int32_t condition_step[6], left_step[6], right_step[6];
};

// Calls `row(output offset, left offset, right offset)` for each row along the last axis.
template <class Row>
MI_INLINE void for_each_row(int32_t rank, const int32_t* shape, const int32_t* left_step, const int32_t* right_step,
                            Row row) {
    int32_t index[MAX_RANK] = {};
    int64_t output = 0, left = 0, right = 0;
    for (;;) {
        row(output, left, right);
        output += shape[rank - 1];
        int32_t axis = rank - 2;
        for (; axis >= 0; --axis) {
            left += left_step[axis], right += right_step[axis];
            if (++index[axis] < shape[axis]) break;
            left -= int64_t{left_step[axis]} * shape[axis], right -= int64_t{right_step[axis]} * shape[axis];
            index[axis] = 0;
        }
        if (axis < 0) return;
    }
}

template <class Input, class Output, class Function>
MI_INLINE void unary(const UnaryParams p, const Input* input, Output* output, Function function) {
    for (int32_t i = 0; i < p.count; ++i) output[i] = function(input[i]);
}

template <class Input, class Output, class Function, class Finish>
MI_INLINE void binary(const BinaryParams p, const Input* left, const Input* right, Output* output, Function function,
                      Finish finish) {
    const int32_t count = p.shape[p.rank - 1];
    const int32_t left_step = p.left_step[p.rank - 1], right_step = p.right_step[p.rank - 1];
    for_each_row(p.rank, p.shape, p.left_step, p.right_step, [&](int64_t to, int64_t from_left, int64_t from_right) {
        const Input *a = left + from_left, *b = right + from_right;
        Output* y = output + to;
        if (left_step == 1 && right_step == 1) {
            for (int32_t i = 0; i < count; ++i) y[i] = function(a[i], b[i]);
        } else if (left_step == 1 && right_step == 0) {
            const Input value = *b;
            for (int32_t i = 0; i < count; ++i) y[i] = function(a[i], value);
        } else if (left_step == 0 && right_step == 1) {
            const Input value = *a;
            for (int32_t i = 0; i < count; ++i) y[i] = function(value, b[i]);
        } else {
            for (int32_t i = 0; i < count; ++i) y[i] = function(a[int64_t{i} * left_step], b[int64_t{i} * right_step]);
        }
        finish(y, count);
    });
}

template <class Half, class Function>
MI_INLINE void unary_half(const UnaryParams p, const Half* input, Half* output, Function function) {
    for (int32_t i = 0; i < p.count; ++i) narrow(function(input[i]), p.flush, output + i);
}

constexpr int32_t HALF_CHUNK = 64;

// As `binary`, with the results of HALF_CHUNK elements in float32 until they are stored.
template <class Half, class Function>
MI_INLINE void binary_half(const BinaryParams p, const Half* left, const Half* right, Half* output, Function function) {
    const int32_t count = p.shape[p.rank - 1];
    const int32_t left_step = p.left_step[p.rank - 1], right_step = p.right_step[p.rank - 1];
    for_each_row(p.rank, p.shape, p.left_step, p.right_step, [&](int64_t to, int64_t from_left, int64_t from_right) {
        for (int32_t first = 0; first < count; first += HALF_CHUNK) {
            const int32_t size = minimum(HALF_CHUNK, count - first);
            float results[HALF_CHUNK];
            for (int32_t i = 0; i < size; ++i) {
                results[i] = function(left[from_left + int64_t{first + i} * left_step],
                                      right[from_right + int64_t{first + i} * right_step]);
            }
            activate(p.activation, p.alpha, p.beta, results, size);
            for (int32_t i = 0; i < size; ++i) narrow(results[i], p.flush, output + to + first + i);
        }
    });
}

template <class Function>
MI_INLINE void binary_float32(const BinaryParams p, const float* left, const float* right, float* output,
                              Function function) {
    binary(p, left, right, output, function,
           [&](float* values, int32_t count) { activate(p.activation, p.alpha, p.beta, values, count); });
}
template <class Input, class Output, class Function>
MI_INLINE void binary_plain(const BinaryParams p, const Input* left, const Input* right, Output* output,
                            Function function) {
    binary(p, left, right, output, function, [](Output*, int32_t) {});
}

// NaN in either gives NaN.
template <class T>
MI_INLINE T greater_of(T a, T b) {
    return a > b || a != a ? a : b;
}
template <class T>
MI_INLINE T lesser_of(T a, T b) {
    return a < b || a != a ? a : b;
}

// Integers wrap; a quotient by zero is zero.
template <class T>
MI_INLINE T wrapping_add(T a, T b) {
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
template <class T>
MI_INLINE T wrapping_sub(T a, T b) {
    return static_cast<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
template <class T>
MI_INLINE T wrapping_mul(T a, T b) {
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
template <class T>
MI_INLINE T quotient(T a, T b) {
    if (b == 0) return 0;
    return b == -1 ? wrapping_sub(T{0}, a) : static_cast<T>(a / b);
}

// Truncates; outside the range saturates; NaN gives zero.
template <class T>
MI_INLINE T to_integer(float x) {
    constexpr float limit = static_cast<float>(uint64_t{1} << (8 * sizeof(T) - 1));
    constexpr T greatest = static_cast<T>((uint64_t{1} << (8 * sizeof(T) - 1)) - 1), least = -greatest - 1;
    if (x != x) return 0;
    return x >= limit ? greatest : (x < -limit ? least : static_cast<T>(x));
}

#define MI_UNARY(name, expression)                                                        \
    MI_KERNEL_IN_PLACE void name##_float32(const UnaryParams p, const float* input, float* output) { \
        unary(p, input, output, [&p](float x) { return expression; });                    \
    }                                                                                     \
    MI_KERNEL_IN_PLACE void name##_float16(const UnaryParams p, const Float16* input, Float16* output) { \
        unary_half(p, input, output, [&p](float x) { return expression; });               \
    }                                                                                     \
    MI_KERNEL_IN_PLACE void name##_bfloat16(const UnaryParams p, const BFloat16* input, BFloat16* output) { \
        unary_half(p, input, output, [&p](float x) { return expression; });               \
    }
MI_UNARY(relu, relu(x))
MI_UNARY(clip, clip(x, p.alpha, p.beta))
MI_UNARY(leaky_relu, leaky_relu(x, p.alpha))
MI_UNARY(hard_sigmoid, hard_sigmoid(x, p.alpha, p.beta))
MI_UNARY(hard_swish, hard_swish(x))
MI_UNARY(sigmoid, sigmoid(x))
MI_UNARY(tanh, hyperbolic_tangent(x))
MI_UNARY(exp, exponential(x))
MI_UNARY(log, logarithm(x))
MI_UNARY(sqrt, square_root(x))
MI_UNARY(square, x* x)
MI_UNARY(reciprocal, 1.0f / x)
MI_UNARY(neg, -x)
MI_UNARY(abs, absolute(x))
MI_UNARY(erf, error_function(x))
MI_UNARY(floor, floor_of(x))
MI_UNARY(ceil, ceil_of(x))
MI_UNARY(round, round_even(x))
MI_UNARY(sign, x > 0.0f ? 1.0f : (x < 0.0f ? -1.0f : x))
MI_UNARY(elu, elu(x, p.alpha))
MI_UNARY(selu, p.beta * elu(x, p.alpha))
MI_UNARY(softplus, softplus(x))
MI_UNARY(softsign, x / (1.0f + absolute(x)))
MI_UNARY(gelu, gelu(x))
MI_UNARY(gelu_tanh, gelu_tanh(x))
MI_UNARY(mish, mish(x))
#undef MI_UNARY

#define MI_BINARY(name, expression)                                                                              \
    MI_KERNEL_IN_PLACE void name##_float32(const BinaryParams p, const float* left, const float* right, float* output) { \
        binary_float32(p, left, right, output, [](float a, float b) { return expression; });                     \
    }                                                                                                            \
    MI_KERNEL_IN_PLACE void name##_float16(const BinaryParams p, const Float16* left, const Float16* right,      \
                                           Float16* output) {                                                    \
        binary_half(p, left, right, output, [](float a, float b) { return expression; });                        \
    }                                                                                                            \
    MI_KERNEL_IN_PLACE void name##_bfloat16(const BinaryParams p, const BFloat16* left, const BFloat16* right,   \
                                            BFloat16* output) {                                                  \
        binary_half(p, left, right, output, [](float a, float b) { return expression; });                        \
    }
MI_BINARY(add, a + b)
MI_BINARY(sub, a - b)
MI_BINARY(mul, a* b)
MI_BINARY(div, a / b)
MI_BINARY(max, greater_of(a, b))
MI_BINARY(min, lesser_of(a, b))
MI_BINARY(pow, power(a, b))
MI_BINARY(prelu, a < 0.0f ? a * b : a)
#undef MI_BINARY

#define MI_INTEGER(name, type, element, expression)                                                               \
    MI_KERNEL_IN_PLACE void name##_##element(const BinaryParams p, const type* left, const type* right, type* output) { \
        binary_plain(p, left, right, output, [](type a, type b) { return expression; });                          \
    }
MI_INTEGER(add, int32_t, int32, wrapping_add(a, b))
MI_INTEGER(sub, int32_t, int32, wrapping_sub(a, b))
MI_INTEGER(mul, int32_t, int32, wrapping_mul(a, b))
MI_INTEGER(div, int32_t, int32, quotient(a, b))
MI_INTEGER(max, int32_t, int32, greater_of(a, b))
MI_INTEGER(min, int32_t, int32, lesser_of(a, b))
MI_INTEGER(add, int64_t, int64, wrapping_add(a, b))
MI_INTEGER(sub, int64_t, int64, wrapping_sub(a, b))
MI_INTEGER(mul, int64_t, int64, wrapping_mul(a, b))
MI_INTEGER(div, int64_t, int64, quotient(a, b))
MI_INTEGER(max, int64_t, int64, greater_of(a, b))
MI_INTEGER(min, int64_t, int64, lesser_of(a, b))
MI_INTEGER(and, uint8_t, bool, static_cast<uint8_t>(a & b))
MI_INTEGER(or, uint8_t, bool, static_cast<uint8_t>(a | b))
MI_INTEGER(xor, uint8_t, bool, static_cast<uint8_t>(a ^ b))
#undef MI_INTEGER

#define MI_COMPARISON(name, type, element, operator)                                                                 \
    MI_KERNEL_IN_PLACE void name##_##element(const BinaryParams p, const type* left, const type* right, uint8_t* output) { \
        binary_plain(p, left, right, output, [](type a, type b) { return static_cast<uint8_t>(a operator b); });     \
    }
MI_COMPARISON(equal, float, float32, ==)
MI_COMPARISON(equal, int32_t, int32, ==)
MI_COMPARISON(equal, int64_t, int64, ==)
MI_COMPARISON(less, float, float32, <)
MI_COMPARISON(less, int32_t, int32, <)
MI_COMPARISON(less, int64_t, int64, <)
MI_COMPARISON(less_or_equal, float, float32, <=)
MI_COMPARISON(less_or_equal, int32_t, int32, <=)
MI_COMPARISON(less_or_equal, int64_t, int64, <=)
MI_COMPARISON(greater, float, float32, >)
MI_COMPARISON(greater, int32_t, int32, >)
MI_COMPARISON(greater, int64_t, int64, >)
MI_COMPARISON(greater_or_equal, float, float32, >=)
MI_COMPARISON(greater_or_equal, int32_t, int32, >=)
MI_COMPARISON(greater_or_equal, int64_t, int64, >=)
#undef MI_COMPARISON

MI_KERNEL_IN_PLACE void not_bool(const UnaryParams p, const uint8_t* input, uint8_t* output) {
    unary(p, input, output, [](uint8_t x) { return static_cast<uint8_t>(x == 0); });
}
MI_KERNEL_IN_PLACE void isnan_float32(const UnaryParams p, const float* input, uint8_t* output) {
    unary(p, input, output, [](float x) { return static_cast<uint8_t>(x != x); });
}

#define MI_WHERE(bits)                                                                                             \
    MI_KERNEL_IN_PLACE void where_##bits(const WhereParams p, const uint8_t* condition, const uint##bits##_t* left,        \
                                const uint##bits##_t* right, uint##bits##_t* output) {                             \
        const int32_t last = p.rank - 1;                                                                           \
        const uint8_t* chosen = condition;                                                                         \
        int32_t index[MAX_RANK] = {};                                                                              \
        for_each_row(p.rank, p.shape, p.left_step, p.right_step, [&](int64_t to, int64_t a, int64_t b) {           \
            for (int32_t i = 0; i < p.shape[last]; ++i) {                                                          \
                output[to + i] = chosen[int64_t{i} * p.condition_step[last]]                                       \
                                     ? left[a + int64_t{i} * p.left_step[last]]                                    \
                                     : right[b + int64_t{i} * p.right_step[last]];                                 \
            }                                                                                                      \
            for (int32_t axis = last - 1; axis >= 0; --axis) {                                                     \
                chosen += p.condition_step[axis];                                                                  \
                if (++index[axis] < p.shape[axis]) break;                                                          \
                chosen -= int64_t{p.condition_step[axis]} * p.shape[axis];                                         \
                index[axis] = 0;                                                                                   \
            }                                                                                                      \
        });                                                                                                        \
    }
MI_WHERE(8)
MI_WHERE(16)
MI_WHERE(32)
MI_WHERE(64)
#undef MI_WHERE

#define MI_CAST(from, from_type, to, to_type, expression)                                               \
    MI_KERNEL_IN_PLACE void cast_##from##_##to(const UnaryParams p, const from_type* input, to_type* output) { \
        unary(p, input, output, [](from_type x) { return static_cast<to_type>(expression); });          \
    }
MI_CAST(float32, float, int32, int32_t, to_integer<int32_t>(x))
MI_CAST(float32, float, int64, int64_t, to_integer<int64_t>(x))
MI_CAST(float32, float, bool, uint8_t, x != 0.0f)
MI_CAST(int32, int32_t, float32, float, x)
MI_CAST(int32, int32_t, int64, int64_t, x)
MI_CAST(int32, int32_t, bool, uint8_t, x != 0)
MI_CAST(int64, int64_t, float32, float, x)
MI_CAST(int64, int64_t, int32, int32_t, x)
MI_CAST(int64, int64_t, bool, uint8_t, x != 0)
MI_CAST(bool, uint8_t, float32, float, x)
MI_CAST(bool, uint8_t, int32, int32_t, x)
MI_CAST(bool, uint8_t, int64, int64_t, x)
MI_CAST(uint8, uint8_t, float32, float, x)
MI_CAST(uint8, uint8_t, int32, int32_t, x)
MI_CAST(int8, int8_t, float32, float, x)
MI_CAST(int8, int8_t, int32, int32_t, x)
#undef MI_CAST

}  // namespace mi
