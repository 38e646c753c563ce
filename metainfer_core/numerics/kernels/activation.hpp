// Activations that a producing kernel can apply to its own result, and that stand alone as elementwise kernels.
#pragma once
#include "math.hpp"

namespace mi {

// Values of the `activation` parameter; numerics/activations.py reads these lines.
constexpr int32_t ACTIVATION_NONE = 0;
constexpr int32_t ACTIVATION_RELU = 1;
constexpr int32_t ACTIVATION_CLIP = 2;          // to alpha .. beta
constexpr int32_t ACTIVATION_LEAKY_RELU = 3;    // slope alpha below zero
constexpr int32_t ACTIVATION_HARD_SIGMOID = 4;  // clip(alpha x + beta, 0, 1)
constexpr int32_t ACTIVATION_HARD_SWISH = 5;    // x clip(x / 6 + 1 / 2, 0, 1)
constexpr int32_t ACTIVATION_SIGMOID = 6;
constexpr int32_t ACTIVATION_TANH = 7;
constexpr int32_t ACTIVATION_ELU = 8;  // alpha (e^x - 1) below zero
constexpr int32_t ACTIVATION_GELU = 9;
constexpr int32_t ACTIVATION_GELU_TANH = 10;  // its approximation by tanh
constexpr int32_t ACTIVATION_SOFTPLUS = 11;
constexpr int32_t ACTIVATION_MISH = 12;

// NaN stays NaN: each comparison with it is false.
MI_INLINE float clip(float x, float low, float high) { return x < low ? low : (x > high ? high : x); }
MI_INLINE float relu(float x) { return x < 0.0f ? 0.0f : x; }
MI_INLINE float leaky_relu(float x, float slope) { return x < 0.0f ? slope * x : x; }
MI_INLINE float hard_sigmoid(float x, float alpha, float beta) {
    return clip(__builtin_fmaf(alpha, x, beta), 0.0f, 1.0f);
}
MI_INLINE float hard_swish(float x) { return x * hard_sigmoid(x, 1.0f / 6.0f, 0.5f); }
MI_INLINE float elu(float x, float alpha) { return x < 0.0f ? alpha * (exponential(x) - 1.0f) : x; }
MI_INLINE float gelu(float x) { return 0.5f * x * (1.0f + error_function(x * 0.707106781f)); }
MI_INLINE float gelu_tanh(float x) {
    return 0.5f * x * (1.0f + hyperbolic_tangent(0.797884561f * __builtin_fmaf(0.044715f * x * x, x, x)));
}
MI_INLINE float softplus(float x) { return relu(x) + logarithm(1.0f + exponential(-absolute(x))); }
MI_INLINE float mish(float x) { return x * hyperbolic_tangent(softplus(x)); }

template <class Function>
MI_INLINE void apply(float* values, int32_t count, Function function) {
    for (int32_t i = 0; i < count; ++i) values[i] = function(values[i]);
}

// Applies one of the activations above to `count` values in place.
MI_INLINE void activate(int32_t activation, float alpha, float beta, float* values, int32_t count) {
    switch (activation) {
        case ACTIVATION_RELU: return apply(values, count, relu);
        case ACTIVATION_CLIP: return apply(values, count, [=](float x) { return clip(x, alpha, beta); });
        case ACTIVATION_LEAKY_RELU: return apply(values, count, [=](float x) { return leaky_relu(x, alpha); });
        case ACTIVATION_HARD_SIGMOID: return apply(values, count, [=](float x) { return hard_sigmoid(x, alpha, beta); });
        case ACTIVATION_HARD_SWISH: return apply(values, count, hard_swish);
        case ACTIVATION_SIGMOID: return apply(values, count, sigmoid);
        case ACTIVATION_TANH: return apply(values, count, hyperbolic_tangent);
        case ACTIVATION_ELU: return apply(values, count, [=](float x) { return elu(x, alpha); });
        case ACTIVATION_GELU: return apply(values, count, gelu);
        case ACTIVATION_GELU_TANH: return apply(values, count, gelu_tanh);
        case ACTIVATION_SOFTPLUS: return apply(values, count, softplus);
        case ACTIVATION_MISH: return apply(values, count, mish);
        default: return;
    }
}

}  // namespace mi
