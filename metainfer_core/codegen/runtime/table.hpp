// The realised table: what the program executes from, and what is read back from its binary (section "metainfer").
//
// Plain integers and one pool of text, no pointers, little-endian, no padding: the same bytes on every target. Step
// code takes its addresses, types and kernel names from the constexpr table and asserts them when it is compiled;
// the program walks the linked copy of the same constants when it runs.
#pragma once
#include <cstddef>
#include <cstdint>

namespace mi {

constexpr uint32_t ABSENT = 0xffffffffu;
constexpr uint64_t NOWHERE = 0xffffffffffffffffull;

// Consecutive entries of Table::lists.
struct List {
    uint32_t first, count;
};

struct Header {
    char magic[8];                // "metainf2"
    uint32_t target, model;       // text
    uint32_t arenas, tensors, steps, lists, text_bytes, padding;
    List inputs, outputs;         // tensors
    uint64_t weights_bytes, weights_alignment_bytes;
};

struct ArenaRow {
    uint64_t size_bytes;
    uint32_t alignment_bytes;
    uint32_t name;  // text
};

// Values of TensorRow::element_type.
constexpr uint32_t FLOAT32 = 0, INT8 = 1, UINT8 = 2, INT16 = 3, INT32 = 4, INT64 = 5, BOOL = 6;
constexpr uint32_t FLOAT16 = 7, BFLOAT16 = 8;
constexpr uint32_t INT4 = 9, INT6 = 10;  // codes of so many bits, each in an int8_t
constexpr size_t ELEMENT_BYTES[] = {4, 1, 1, 2, 4, 8, 1, 2, 2, 1, 1};

// Bits of a code that does not fill its int8_t; 0 for all other types.
constexpr uint32_t code_bits(uint32_t element_type) {
    return element_type == INT4 ? 4 : (element_type == INT6 ? 6 : 0);
}

struct TensorRow {
    uint64_t size_bytes;
    uint64_t offset_bytes;          // in its arena
    uint64_t weights_offset_bytes;  // NOWHERE: not a constant
    uint32_t name;                  // text
    uint32_t element_type;
    uint32_t arena;                 // ABSENT: it is only read from the weights
    List shape;
    List scales;                    // bits of float32; none: not quantized
    List zero_points;               // int32
    uint32_t padding;
};

struct StepRow {
    uint64_t scratch_offset_bytes, scratch_bytes;
    uint32_t kernel, unit;          // text
    uint32_t scratch_arena;
    uint32_t is_called;             // 0: the output shares its input's bytes
    List nodes;                     // text
    List inputs, outputs;           // tensors; ABSENT: left out
    List moved;                     // of a transfer: rows, row bytes, source offset, stride, target offset, stride
    List loop;                      // of a step whose loops are written out otherwise: unroll, likely inside
};

template <uint32_t A, uint32_t T, uint32_t S, uint32_t L, uint32_t N>
struct Table {
    Header header;
    ArenaRow arenas[A];
    TensorRow tensors[T];
    StepRow steps[S];
    uint32_t lists[L];
    char text[N];
};

static_assert(sizeof(List) == 8 && sizeof(Header) == 72 && sizeof(ArenaRow) == 16 && sizeof(TensorRow) == 64 &&
                  sizeof(StepRow) == 72,
              "The table has no padding of the compiler's own.");

// Element types of C++ as the table names them.
template <class E>
struct ElementType;
template <>
struct ElementType<float> { static constexpr uint32_t value = FLOAT32; };
template <>
struct ElementType<int8_t> { static constexpr uint32_t value = INT8; };
template <>
struct ElementType<int16_t> { static constexpr uint32_t value = INT16; };
template <>
struct ElementType<int32_t> { static constexpr uint32_t value = INT32; };
template <>
struct ElementType<int64_t> { static constexpr uint32_t value = INT64; };
struct Float16;  // kernels/half.hpp
struct BFloat16;
template <>
struct ElementType<Float16> { static constexpr uint32_t value = FLOAT16; };
template <>
struct ElementType<BFloat16> { static constexpr uint32_t value = BFLOAT16; };

// Whether two texts are equal, at compile time.
constexpr bool same_text(const char* one, const char* other) {
    while (*one != 0 && *one == *other) ++one, ++other;
    return *one == *other;
}

}  // namespace mi
