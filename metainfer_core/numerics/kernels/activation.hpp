// Activations that a producing kernel can apply to its own result, and that stand alone as elementwise kernels.
#pragma once
#include "math.hpp"

namespace mi {

// Values of the `activation` parameter.
constexpr int32_t ACTIVATION_NONE = 0;
constexpr int32_t ACTIVATION_RELU = 1;
constexpr int32_t ACTIVATION_CLIP = 2;          // to alpha .. beta
constexpr int32_t ACTIVATION_LEAKY_RELU = 3;    // slope alpha below zero
constexpr int32_t ACTIVATION_HARD_SIGMOID = 4;  // clip(alpha x + beta, 0, 1)
constexpr int32_t ACTIVATION_HARD_SWISH = 5;    // x clip(x / 6 + 1 / 2, 0, 1)
constexpr int32_t ACTIVATION_SIGMOID = 6;
constexpr int32_t ACTIVATION_TANH = 7;

// NaN stays NaN: each comparison with it is false.
MI_INLINE float clip(float x, float low, float high) { return x < low ? low : (x > high ? high : x); }
MI_INLINE float relu(float x) { return x < 0.0f ? 0.0f : x; }
MI_INLINE float leaky_relu(float x, float slope) { return x < 0.0f ? slope * x : x; }
MI_INLINE float hard_sigmoid(float x, float alpha, float beta) {
    return clip(__builtin_fmaf(alpha, x, beta), 0.0f, 1.0f);
}
MI_INLINE float hard_swish(float x) { return x * hard_sigmoid(x, 1.0f / 6.0f, 0.5f); }

// Applies one of the activations above to `count` values in place.
MI_INLINE void activate(int32_t activation, float alpha, float beta, float* values, int32_t count) {
    switch (activation) {
        case ACTIVATION_RELU:
            for (int32_t i = 0; i < count; ++i) values[i] = relu(values[i]);
            break;
        case ACTIVATION_CLIP:
            for (int32_t i = 0; i < count; ++i) values[i] = clip(values[i], alpha, beta);
            break;
        case ACTIVATION_LEAKY_RELU:
            for (int32_t i = 0; i < count; ++i) values[i] = leaky_relu(values[i], alpha);
            break;
        case ACTIVATION_HARD_SIGMOID:
            for (int32_t i = 0; i < count; ++i) values[i] = hard_sigmoid(values[i], alpha, beta);
            break;
        case ACTIVATION_HARD_SWISH:
            for (int32_t i = 0; i < count; ++i) values[i] = hard_swish(values[i]);
            break;
        case ACTIVATION_SIGMOID:
            for (int32_t i = 0; i < count; ++i) values[i] = sigmoid(values[i]);
            break;
        case ACTIVATION_TANH:
            for (int32_t i = 0; i < count; ++i) values[i] = hyperbolic_tangent(values[i]);
            break;
        default: break;
    }
}

}  // namespace mi
