// Kernels that only move elements, by their size in bits.
#pragma once
#include "elementwise.hpp"

namespace mi {

// output[out_offset + sum of index * out_step] = input[in_offset + sum of index * in_step] over all of `shape`:
// transpose, slice, pad, expand, spreading with zeros. `fill` first sets all `out_count` elements of the output.
struct CopyParams {
    int32_t rank;
    int32_t shape[6];
    int32_t in_step[6], out_step[6];
    int32_t in_offset, out_offset;
    int32_t out_count;  // 0: the copy covers the whole output
};

template <class T>
MI_INLINE void copy(const CopyParams p, const T* input, const T* fill, T* output) {
    for (int32_t i = 0; i < p.out_count; ++i) output[i] = *fill;
    const int32_t count = p.shape[p.rank - 1], from = p.in_step[p.rank - 1], to = p.out_step[p.rank - 1];
    for_each_row(p.rank, p.shape, p.in_step, p.out_step, [&](int64_t, int64_t in, int64_t out) {
        const T* x = input + p.in_offset + in;
        T* y = output + p.out_offset + out;
        if (from == 1 && to == 1) {
            for (int32_t i = 0; i < count; ++i) y[i] = x[i];
        } else {
            for (int32_t i = 0; i < count; ++i) y[int64_t{i} * to] = x[int64_t{i} * from];
        }
    });
}

struct ViewParams {
    int32_t bytes;
};

// The same bytes under another shape. Nothing is called where input and output lie in the same place.
MI_KERNEL void view(const ViewParams p, const uint8_t* input, uint8_t* output) {
    for (int32_t i = 0; i < p.bytes; ++i) output[i] = input[i];
}

// Along one axis of [outer][axis][inner]: `extent` holds (axis * inner) of each input.
struct ConcatParams {
    int32_t outer, count;
    int32_t extent[16];
};

template <class T>
MI_INLINE void concat(const ConcatParams p, const T* const* inputs, T* output) {
    for (int32_t outer = 0; outer < p.outer; ++outer) {
        for (int32_t k = 0; k < p.count; ++k) {
            const T* source = inputs[k] + int64_t{outer} * p.extent[k];
            for (int32_t i = 0; i < p.extent[k]; ++i) output[i] = source[i];
            output += p.extent[k];
        }
    }
}

// output[outer][i][inner] = input[outer][index[i]][inner]. A negative index counts from the end; one outside is
// brought to the nearest inside, so that no index reads beyond the input.
struct GatherParams {
    int32_t outer, axis, inner, count;
};

template <class T, class Index>
MI_INLINE void gather(const GatherParams p, const T* input, const Index* indices, T* output) {
    for (int32_t outer = 0; outer < p.outer; ++outer, input += int64_t{p.axis} * p.inner) {
        for (int32_t k = 0; k < p.count; ++k, output += p.inner) {
            const int64_t index = indices[k] < 0 ? indices[k] + int64_t{p.axis} : int64_t{indices[k]};
            const int64_t inside = index < 0 ? 0 : (index < p.axis ? index : p.axis - 1);
            for (int32_t i = 0; i < p.inner; ++i) output[i] = input[inside * p.inner + i];
        }
    }
}

#define MI_MOVEMENT(bits)                                                                                          \
    MI_KERNEL void copy_##bits(const CopyParams p, const uint##bits##_t* input, const uint##bits##_t* fill,       \
                               uint##bits##_t* output) {                                                           \
        copy(p, input, fill, output);                                                                              \
    }                                                                                                              \
    MI_KERNEL void concat_##bits(const ConcatParams p, const uint##bits##_t* const* inputs,                       \
                                 uint##bits##_t* output) {                                                         \
        concat(p, inputs, output);                                                                                 \
    }                                                                                                              \
    MI_KERNEL void gather_##bits##_int32(const GatherParams p, const uint##bits##_t* input,                       \
                                         const int32_t* indices, uint##bits##_t* output) {                         \
        gather(p, input, indices, output);                                                                         \
    }                                                                                                              \
    MI_KERNEL void gather_##bits##_int64(const GatherParams p, const uint##bits##_t* input,                       \
                                         const int64_t* indices, uint##bits##_t* output) {                         \
        gather(p, input, indices, output);                                                                         \
    }
MI_MOVEMENT(8)
MI_MOVEMENT(16)
MI_MOVEMENT(32)
MI_MOVEMENT(64)
#undef MI_MOVEMENT

}  // namespace mi
