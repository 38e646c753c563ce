// Weights of 4 or 6 bits, packed without gaps and unpacked block by block where they are used: 4 bits, two a byte, the
// first in the low half; 6 bits, four in three bytes, the first in the lowest bits. Codes are signed.
//
// real = (code - zero point) * scale, in float32, so a kernel gives the bits that it gives on the dequantized weights.
#pragma once
#include "vector.hpp"

namespace mi {

template <int32_t BITS>
MI_INLINE int32_t unpacked(const uint8_t* bytes, int64_t index) {
    static_assert(BITS == 4 || BITS == 6, "Other widths leave gaps.");
    if (BITS == 4) return static_cast<int8_t>(bytes[index >> 1] << (index & 1 ? 0 : 4)) >> 4;
    const uint8_t* three = bytes + (index >> 2) * 3;
    const uint32_t together = three[0] | three[1] << 8 | three[2] << 16;
    return static_cast<int32_t>(together << (26 - 6 * (index & 3))) >> 26;
}

// Codes `first` .. `first + count`.
template <int32_t BITS, class Target>
MI_INLINE void unpack(const uint8_t* bytes, int64_t first, int64_t count, Target* target) {
    for (int64_t i = 0; i < count; ++i) target[i] = static_cast<Target>(unpacked<BITS>(bytes, first + i));
}

// One block of weights [channel][tap][width] in float32.
//
// scale, zero_point: for each of the `width` outputs one number (group 0), or one for each `group` channels of each tap:
// [channel / group][tap][width]. A null zero_point is 0 everywhere.
template <int32_t BITS>
MI_INLINE void dequantize_block(const uint8_t* bytes, int64_t first, int32_t channels, int32_t taps, int32_t width,
                                int32_t group, const float* scale, const int8_t* zero_point, float* target) {
    for (int32_t channel = 0; channel < channels; ++channel) {
        for (int32_t tap = 0; tap < taps; ++tap, target += width, first += width) {
            const int32_t row = group ? (channel / group * taps + tap) * width : 0;
            for (int32_t i = 0; i < width; ++i) {
                const int32_t zero = zero_point ? zero_point[row + i] : 0;
                target[i] = static_cast<float>(unpacked<BITS>(bytes, first + i) - zero) * scale[row + i];
            }
        }
    }
}

// Numbers of one block that `dequantize_block` reads scales of.
MI_INLINE int64_t scales_of_block(int32_t channels, int32_t taps, int32_t width, int32_t group) {
    return group ? int64_t{divide_up(channels, group)} * taps * width : width;
}

}  // namespace mi
