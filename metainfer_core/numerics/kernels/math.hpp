// Elementary functions in float32: branch-free, made of exactly rounded operations only, so that they vectorise and
// give the same bits on every target (libm does not). Error bounds in ulp are tested against float64.
//
// Polynomials are least-maximum-error fits over the reduced range, made for this file. A NaN stays a NaN.
#pragma once
#include "vector.hpp"

namespace mi {

constexpr float FLOAT_INFINITY = __builtin_inff();

MI_INLINE float as_float(int32_t bits) {
    float value;
    __builtin_memcpy(&value, &bits, 4);
    return value;
}
MI_INLINE int32_t as_bits(float value) {
    int32_t bits;
    __builtin_memcpy(&bits, &value, 4);
    return bits;
}
MI_INLINE double as_double(int64_t bits) {
    double value;
    __builtin_memcpy(&value, &bits, 8);
    return value;
}

// Nearest integer, ties to even, for |x| < 2^22 (the sum drops the fraction).
MI_INLINE float round_even_small(float x) { return (x + 12582912.0f) - 12582912.0f; }

MI_INLINE float absolute(float x) { return as_float(as_bits(x) & 0x7fffffff); }
MI_INLINE float copy_sign(float magnitude, float sign) {
    return as_float((as_bits(magnitude) & 0x7fffffff) | (as_bits(sign) & static_cast<int32_t>(0x80000000u)));
}
MI_INLINE float square_root(float x) { return __builtin_sqrtf(x); }
MI_INLINE float round_even(float x) {
    const float rounded = copy_sign(round_even_small(x), x);
    return absolute(x) < 4194304.0f ? rounded : __builtin_rintf(x);
}
MI_INLINE float floor_of(float x) { return __builtin_floorf(x); }
MI_INLINE float ceil_of(float x) { return __builtin_ceilf(x); }

// e^x. Reduction x = n ln 2 + r, ln 2 in two parts; degree 6; 2^n in two factors so that denormals come out.
MI_INLINE float exponential(float x) {
    const float above = x > -104.0f ? x : -104.0f;
    const float inside = above < 89.0f ? above : 89.0f;
    const float n = round_even_small(inside * 1.44269504f);
    float r = __builtin_fmaf(n, -0.693145752f, inside);
    r = __builtin_fmaf(n, -1.42860677e-6f, r);
    float q = 1.39505977e-3f;
    q = __builtin_fmaf(q, r, 8.36895395e-3f);
    q = __builtin_fmaf(q, r, 4.16662042e-2f);
    q = __builtin_fmaf(q, r, 1.66665183e-1f);
    q = __builtin_fmaf(q, r, 5.00000010e-1f);
    const float p = __builtin_fmaf(r * r, q, r) + 1.0f;
    const int32_t exponent = static_cast<int32_t>(n);
    const int32_t half = exponent >> 1;
    const float y = p * as_float((half + 127) << 23) * as_float((exponent - half + 127) << 23);
    return x == x ? y : x;
}

MI_INLINE float sigmoid(float x) { return 1.0f / (1.0f + exponential(-x)); }

// Odd polynomial near zero, else 1 - 2 / (e^2|x| + 1).
MI_INLINE float hyperbolic_tangent(float x) {
    const float s = x * x;
    float q = -5.66076955e-3f;
    q = __builtin_fmaf(q, s, 2.06019882e-2f);
    q = __builtin_fmaf(q, s, -5.37292232e-2f);
    q = __builtin_fmaf(q, s, 1.33313289e-1f);
    q = __builtin_fmaf(q, s, -3.33332783e-1f);
    const float small = __builtin_fmaf(x * s, q, x);
    const float large = copy_sign(1.0f - 2.0f / (exponential(2.0f * absolute(x)) + 1.0f), x);
    return absolute(x) < 0.625f ? small : large;
}

// 2^x in float64, for |x| < 1000, to about 1e-14.
MI_INLINE double exponential2(double x) {
    const double n = (x + 6755399441055744.0) - 6755399441055744.0;
    const double r = x - n;
    double q = 1.0210533218923956e-07;
    q = __builtin_fma(q, r, 1.3259598290460417e-06);
    q = __builtin_fma(q, r, 1.5252646392127645e-05);
    q = __builtin_fma(q, r, 1.540343396211341e-04);
    q = __builtin_fma(q, r, 1.333355825195781e-03);
    q = __builtin_fma(q, r, 9.6181291936428e-03);
    q = __builtin_fma(q, r, 5.550410866428024e-02);
    q = __builtin_fma(q, r, 2.402265069564158e-01);
    q = __builtin_fma(q, r, 6.93147180559954e-01);
    q = __builtin_fma(q, r, 1.0);
    return q * as_double((static_cast<int64_t>(n) + 1023) << 52);
}

// Natural logarithm of a positive finite number in float64, to about 1e-13: x = 2^n m, m near 1, series in (m-1)/(m+1).
MI_INLINE double logarithm64(float x) {
    const float scaled = x < 1.17549435e-38f ? x * 8388608.0f : x;  // denormals
    const int32_t shift = x < 1.17549435e-38f ? 23 : 0;
    const int32_t offset = as_bits(scaled) - 0x3f3504f3;  // sqrt(1/2)
    const int32_t n = offset >> 23;
    const double m = as_float((offset & 0x007fffff) + 0x3f3504f3);
    const double z = (m - 1.0) / (m + 1.0), s = z * z;
    double q = 1.0 / 15.0;
    q = __builtin_fma(q, s, 1.0 / 13.0);
    q = __builtin_fma(q, s, 1.0 / 11.0);
    q = __builtin_fma(q, s, 1.0 / 9.0);
    q = __builtin_fma(q, s, 1.0 / 7.0);
    q = __builtin_fma(q, s, 1.0 / 5.0);
    q = __builtin_fma(q, s, 1.0 / 3.0);
    q = __builtin_fma(q, s, 1.0);
    return __builtin_fma(static_cast<double>(n - shift), 0.69314718055994530942, 2.0 * z * q);
}

MI_INLINE float logarithm(float x) {
    const bool usual = x > 0.0f && x < FLOAT_INFINITY;
    const float y = static_cast<float>(logarithm64(usual ? x : 1.0f));
    const float special = x == 0.0f ? -FLOAT_INFINITY : (x > 0.0f ? x : __builtin_nanf(""));
    return usual ? y : special;
}

// x^y as 2^(y log2 |x|) in float64; a negative base needs an integer exponent.
MI_INLINE float power(float x, float y) {
    if (y == 0.0f || x == 1.0f) return 1.0f;
    if (x != x || y != y) return x + y;
    const float size = absolute(x);
    const bool is_integer = absolute(y) >= 8388608.0f || floor_of(y) == y;
    const bool is_odd = is_integer && absolute(y) < 16777216.0f && (static_cast<int32_t>(y) & 1) != 0;
    if (x < 0.0f && !is_integer && size < FLOAT_INFINITY) return __builtin_nanf("");
    float magnitude;
    if (size == 0.0f || size == FLOAT_INFINITY) {
        magnitude = (size == 0.0f) == (y > 0.0f) ? 0.0f : FLOAT_INFINITY;
    } else if (absolute(y) == FLOAT_INFINITY) {
        magnitude = size == 1.0f ? 1.0f : ((size > 1.0f) == (y > 0.0f) ? FLOAT_INFINITY : 0.0f);
    } else {
        const double e = static_cast<double>(y) * logarithm64(size) * 1.44269504088896340736;
        magnitude = static_cast<float>(exponential2(e > 400.0 ? 400.0 : (e < -400.0 ? -400.0 : e)));
    }
    return as_bits(x) < 0 && is_odd ? -magnitude : magnitude;
}

// Gauss error function: odd polynomial below 1, else 1 - exp(polynomial), all in float64.
MI_INLINE float error_function(float x) {
    const double t = absolute(x), s = t * t;
    double small = -9.680131484365715e-06;
    small = __builtin_fma(small, s, 1.1270542781140348e-04);
    small = __builtin_fma(small, s, -8.484711216108239e-04);
    small = __builtin_fma(small, s, 5.221074862408593e-03);
    small = __builtin_fma(small, s, -2.686544581601993e-02);
    small = __builtin_fma(small, s, 1.1283782747113907e-01);
    small = __builtin_fma(small, s, -3.761263848380396e-01);
    small = __builtin_fma(small, s, 1.128379167063158);
    const double u = t > 1.0 ? (t < 4.0 ? t : 4.0) : 1.0;
    double large = 1.5998235284333972e-06;
    large = __builtin_fma(large, u, -4.5298182724243775e-05);
    large = __builtin_fma(large, u, 5.902039821468513e-04);
    large = __builtin_fma(large, u, -4.72769195001946e-03);
    large = __builtin_fma(large, u, 2.6327533809262928e-02);
    large = __builtin_fma(large, u, -1.0990974872581455e-01);
    large = __builtin_fma(large, u, -6.320134192270801e-01);
    large = __builtin_fma(large, u, -1.1301197304763326);
    large = __builtin_fma(large, u, 2.910293378405e-04);
    const double tail = t < 4.0 ? 1.0 - exponential2(large * 1.44269504088896340736) : 1.0;
    const float y = static_cast<float>(t < 1.0 ? t * small : tail);
    return x == x ? copy_sign(y, x) : x;
}

}  // namespace mi
