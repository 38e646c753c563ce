// Vectors of the target's width, and the two multiply-accumulate steps that all matrix kernels share.
//
// The order of every sum is fixed by the kernels, never by the vector width: lanes hold different outputs, and each
// output adds its products one after the other. So any width, and any target, gives the same bits.
#pragma once
#include <cstddef>
#include <cstdint>

#if defined(__AVX512F__)
#define MI_VECTOR_BYTES 64
#elif defined(__AVX__)
#define MI_VECTOR_BYTES 32
#else
#define MI_VECTOR_BYTES 16
#endif

// low * low + high * high of each two pairs of int16, exact, where the processor has an instruction for it. By the name
// that the compiler gives it: <immintrin.h>, with nicer names for all of them, takes longer to read than a part of a
// generated program takes to compile.
#if defined(__AVX512BW__) && defined(__clang__)
#define MI_PAIR_PRODUCTS(a, b) __builtin_ia32_pmaddwd512(a, b)
#elif defined(__AVX512BW__)
#define MI_PAIR_PRODUCTS(a, b) __builtin_ia32_pmaddwd512_mask(a, b, Int{}, 0xFFFF)  // in all lanes
#elif defined(__AVX2__) && MI_VECTOR_BYTES == 32
#define MI_PAIR_PRODUCTS(a, b) __builtin_ia32_pmaddwd256(a, b)
#endif

// A kernel that a program may call. numerics/signatures.py reads these declarations, and those that a macro makes:
// params come by value (so that no store can change them), const pointers are inputs, the others outputs, and one called `scratch` is working space of `scratch_bytes`.
#define MI_KERNEL inline
// The same, and output 0 may lie exactly over an input of its size: element i is written after it was last read.
#define MI_KERNEL_IN_PLACE inline
#define MI_INLINE inline __attribute__((always_inline))
#define MI_UNROLL _Pragma("GCC unroll 16")

namespace mi {

constexpr int32_t LANES = MI_VECTOR_BYTES / 4;
constexpr int32_t MAX_RANK = 6;

// Products of a long float32 sum are added in groups of so many, each from zero, and the groups to the total: the
// rounding error grows with the square root of GROUP and of the number of groups, not of all products.
constexpr int32_t GROUP = 64;

typedef float Float __attribute__((vector_size(MI_VECTOR_BYTES)));
typedef int32_t Int __attribute__((vector_size(MI_VECTOR_BYTES)));
typedef int16_t Pairs __attribute__((vector_size(MI_VECTOR_BYTES)));  // LANES pairs of int16
typedef int8_t BytePairs __attribute__((vector_size(MI_VECTOR_BYTES / 2)));

typedef Float UnalignedFloat __attribute__((aligned(4), may_alias));
typedef Int UnalignedInt __attribute__((aligned(4), may_alias));
typedef Pairs UnalignedPairs __attribute__((aligned(2), may_alias));
typedef BytePairs UnalignedBytePairs __attribute__((aligned(1), may_alias));

MI_INLINE Float load(const float* source) { return *reinterpret_cast<const UnalignedFloat*>(source); }
MI_INLINE Pairs load(const int16_t* source) { return *reinterpret_cast<const UnalignedPairs*>(source); }
MI_INLINE Pairs load(const int8_t* source) {
    return __builtin_convertvector(*reinterpret_cast<const UnalignedBytePairs*>(source), Pairs);
}
MI_INLINE void store(float* target, Float value) { *reinterpret_cast<UnalignedFloat*>(target) = value; }
MI_INLINE void store(int32_t* target, Int value) { *reinterpret_cast<UnalignedInt*>(target) = value; }

// sum + scalar * vector, rounded once per lane.
MI_INLINE Float multiply_add(float scalar, Float vector, Float sum) {
    MI_UNROLL
    for (int32_t lane = 0; lane < LANES; ++lane) sum[lane] = __builtin_fmaf(scalar, vector[lane], sum[lane]);
    return sum;
}

// sum + low * low + high * high of the pairs; exact. `scalar` holds two int16: the low half is the first.
MI_INLINE Int multiply_add(int32_t scalar, Pairs vector, Int sum) {
#if defined(MI_PAIR_PRODUCTS)
    return sum + MI_PAIR_PRODUCTS((Pairs)(scalar - Int{}), vector);
#else
    const Int pairs = (Int)vector;
    const int32_t first = static_cast<int16_t>(scalar), second = scalar >> 16;
    return sum + ((pairs << 16) >> 16) * first + (pairs >> 16) * second;
#endif
}

// What `multiply_add` takes as its scalar: one float, or two int16 that stand side by side.
MI_INLINE float broadcastable(const float* source) { return *source; }
MI_INLINE int32_t broadcastable(const int16_t* source) {
    int32_t pair;
    __builtin_memcpy(&pair, source, 4);
    return pair;
}

// Calls `body` `count` times, TIMES calls after one another in each turn of the loop.
template <int32_t TIMES, class Body>
MI_INLINE void in_turns(int32_t count, Body body) {
    int32_t i = 0;
    for (; i + TIMES <= count; i += TIMES) {
        MI_UNROLL
        for (int32_t t = 0; t < TIMES; ++t) body();
    }
    for (; i < count; ++i) body();
}

// Calls `body` `count` times. `unroll` (2, 4 or 8; else 1): calls in each turn of the loop, where the program knows it
// when it is compiled; the order is the same.
template <class Body>
MI_INLINE void repeat(int32_t count, int32_t unroll, Body body) {
    if (__builtin_constant_p(unroll) && unroll == 2) return in_turns<2>(count, body);
    if (__builtin_constant_p(unroll) && unroll == 4) return in_turns<4>(count, body);
    if (__builtin_constant_p(unroll) && unroll == 8) return in_turns<8>(count, body);
    for (int32_t i = 0; i < count; ++i) body();
}

// `condition`, which is mostly true (hint 1) or mostly false (hint 2) where a branch hint says so.
MI_INLINE bool expected(bool condition, int32_t hint) {
    if (hint == 1) return __builtin_expect(condition, 1);
    if (hint == 2) return __builtin_expect(condition, 0);
    return condition;
}

MI_INLINE constexpr int32_t minimum(int32_t a, int32_t b) { return a < b ? a : b; }
MI_INLINE constexpr int32_t maximum(int32_t a, int32_t b) { return a > b ? a : b; }
MI_INLINE constexpr int32_t divide_up(int32_t a, int32_t b) { return (a + b - 1) / b; }

}  // namespace mi
