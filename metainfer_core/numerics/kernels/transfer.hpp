// What a DMA engine does: runs of bytes from one memory to another.
#pragma once
#include "vector.hpp"

namespace mi {

// `rows` runs of `row_bytes`, each a descriptor of the engine. Offsets and strides are bytes from the start of the tensors.
struct TransferParams {
    int32_t rows, row_bytes;
    int32_t source_offset, source_stride;
    int32_t target_offset, target_stride;
};

MI_KERNEL void transfer(const TransferParams p, const uint8_t* input, uint8_t* output) {
    for (int32_t row = 0; row < p.rows; ++row) {
        const uint8_t* source = input + p.source_offset + int64_t{row} * p.source_stride;
        uint8_t* target = output + p.target_offset + int64_t{row} * p.target_stride;
        for (int32_t i = 0; i < p.row_bytes; ++i) target[i] = source[i];
    }
}

}  // namespace mi
