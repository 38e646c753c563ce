// The laws of a unit that DMA feeds, held against the table when the program is compiled: where the simulator would
// stop, the compiler does. Each function is one law and gives the number of the first step that breaks it, else NOWHERE.
#pragma once
#include "table.hpp"

namespace mi {

// A unit that works in its local memory alone, and what its DMA can move.
struct Device {
    uint32_t unit;   // text
    uint32_t arena;  // ABSENT: the program keeps nothing there
    uint64_t alignment_bytes, granule_bytes;
    uint64_t longest_bytes;  // of one run; 0: no limit
};

// One side of a transfer.
struct Side {
    uint64_t offset, stride, start, size, room;  // start: of the tensor in its memory; room: its size, rounded up
};

template <class Table>
struct Laws {
    const Table& table;
    const Device* devices;
    uint32_t count;
    uint32_t transfer;  // text: the name of the kernel

    constexpr const Device* device(const StepRow& step) const {
        for (uint32_t i = 0; i < count; ++i) {
            if (devices[i].unit == step.unit) return &devices[i];
        }
        return nullptr;
    }
    constexpr bool is_transfer(const StepRow& step) const { return step.kernel == transfer; }
    constexpr uint32_t number(const List& list, uint32_t at) const { return table.lists[list.first + at]; }
    constexpr const TensorRow& tensor(const List& list, uint32_t at) const { return table.tensors[number(list, at)]; }

    constexpr Side side(const StepRow& step, bool is_target) const {
        const TensorRow& row = tensor(is_target ? step.outputs : step.inputs, 0);
        const bool in_weights = row.arena == ABSENT;
        const uint64_t alignment =
            in_weights ? table.header.weights_alignment_bytes : table.arenas[row.arena].alignment_bytes;
        return {number(step.moved, is_target ? 4 : 2), number(step.moved, is_target ? 5 : 3),
                in_weights ? row.weights_offset_bytes : row.offset_bytes, row.size_bytes,
                (row.size_bytes + alignment - 1) / alignment * alignment};
    }

    constexpr uint64_t unaligned_transfer() const {
        for (uint32_t s = 0; s < table.header.steps; ++s) {
            const StepRow& step = table.steps[s];
            const Device* by = device(step);
            if (!is_transfer(step) || by == nullptr) continue;
            for (uint32_t i = 0; i < 2; ++i) {
                const Side one = side(step, i == 1);
                if ((one.start + one.offset) % by->alignment_bytes != 0) return s;
                if (number(step.moved, 0) > 1 && one.stride % by->alignment_bytes != 0) return s;
            }
        }
        return NOWHERE;
    }

    // No descriptor is longer than the engine allows, and none moves a part of a granule.
    constexpr uint64_t misfit_transfer() const {
        for (uint32_t s = 0; s < table.header.steps; ++s) {
            const StepRow& step = table.steps[s];
            const Device* by = device(step);
            if (!is_transfer(step) || by == nullptr) continue;
            const uint64_t run = number(step.moved, 1);
            if (by->longest_bytes != 0 && run > by->longest_bytes) return s;
            if (run % by->granule_bytes == 0) continue;
            const uint64_t whole = (run + by->granule_bytes - 1) / by->granule_bytes * by->granule_bytes;
            for (uint32_t i = 0; i < 2; ++i) {  // the tail of a tensor is its own, up to the alignment
                const Side one = side(step, i == 1);
                if (number(step.moved, 0) > 1 || one.offset + run < one.size || one.offset + whole > one.room) return s;
            }
        }
        return NOWHERE;
    }

    // Not a step but the number of a tensor that ends after its memory.
    constexpr uint64_t tensor_outside() const {
        for (uint32_t t = 0; t < table.header.tensors; ++t) {
            const TensorRow& row = table.tensors[t];
            if (row.arena != ABSENT && row.offset_bytes + row.size_bytes > table.arenas[row.arena].size_bytes) return t;
        }
        return NOWHERE;
    }

    constexpr uint64_t transfer_outside() const {
        for (uint32_t s = 0; s < table.header.steps; ++s) {
            const StepRow& step = table.steps[s];
            if (!is_transfer(step)) continue;
            const uint64_t rows = number(step.moved, 0), run = number(step.moved, 1);
            for (uint32_t i = 0; i < 2; ++i) {
                const Side one = side(step, i == 1);
                if (rows == 0 || one.offset + (rows - 1) * one.stride + run > one.size) return s;
            }
        }
        return NOWHERE;
    }

    constexpr uint64_t operand_elsewhere() const {
        for (uint32_t s = 0; s < table.header.steps; ++s) {
            const StepRow& step = table.steps[s];
            const Device* by = device(step);
            if (is_transfer(step) || by == nullptr || step.is_called == 0) continue;
            for (uint32_t i = 0; i < step.inputs.count + step.outputs.count; ++i) {
                const bool is_input = i < step.inputs.count;
                const uint32_t index = number(is_input ? step.inputs : step.outputs, is_input ? i : i - step.inputs.count);
                if (index != ABSENT && table.tensors[index].arena != by->arena) return s;
            }
        }
        return NOWHERE;
    }

    // What a step reads was written as a whole before it: by the caller, by a step, or run by run.
    constexpr uint64_t read_before_written() const {
        uint64_t written[sizeof(table.tensors) / sizeof(TensorRow)] = {};
        for (uint32_t i = 0; i < table.header.inputs.count; ++i) {
            written[number(table.header.inputs, i)] = tensor(table.header.inputs, i).size_bytes;
        }
        for (uint32_t t = 0; t < table.header.tensors; ++t) {
            if (table.tensors[t].weights_offset_bytes != NOWHERE) written[t] = table.tensors[t].size_bytes;
        }
        for (uint32_t s = 0; s < table.header.steps; ++s) {
            const StepRow& step = table.steps[s];
            for (uint32_t i = 0; i < step.inputs.count; ++i) {
                const uint32_t index = number(step.inputs, i);
                if (index != ABSENT && written[index] < table.tensors[index].size_bytes) return s;
            }
            for (uint32_t o = 0; o < step.outputs.count; ++o) {
                const uint32_t index = number(step.outputs, o);
                if (index == ABSENT) continue;
                const uint64_t all = table.tensors[index].size_bytes;
                written[index] =
                    is_transfer(step) ? written[index] + uint64_t{number(step.moved, 0)} * number(step.moved, 1) : all;
            }
        }
        for (uint32_t o = 0; o < table.header.outputs.count; ++o) {
            const uint32_t index = number(table.header.outputs, o);
            if (written[index] < table.tensors[index].size_bytes) return table.header.steps;
        }
        return NOWHERE;
    }

    // No step writes into bytes of a tensor that a later step still reads. Views share their source's bytes; an output
    // may begin where an input that dies in the same step begins.
    constexpr uint64_t overwritten() const {
        constexpr uint32_t T = sizeof(table.tensors) / sizeof(TensorRow);
        uint32_t owner[T] = {}, first[T] = {}, last[T] = {};
        for (uint32_t t = 0; t < T; ++t) owner[t] = t, first[t] = ABSENT;
        for (uint32_t s = 0; s < table.header.steps; ++s) {
            const StepRow& step = table.steps[s];
            if (step.is_called == 0) owner[number(step.outputs, 0)] = owner[number(step.inputs, 0)];
            for (uint32_t i = 0; i < step.inputs.count + step.outputs.count; ++i) {
                const bool is_input = i < step.inputs.count;
                const uint32_t index = number(is_input ? step.inputs : step.outputs, is_input ? i : i - step.inputs.count);
                if (index == ABSENT) continue;
                if (first[owner[index]] == ABSENT) first[owner[index]] = s + 1;
                last[owner[index]] = s + 1;
            }
        }
        for (uint32_t i = 0; i < table.header.inputs.count; ++i) first[owner[number(table.header.inputs, i)]] = 0;
        for (uint32_t t = 0; t < table.header.tensors; ++t) {  // constants are loaded once and stay
            if (table.tensors[t].weights_offset_bytes != NOWHERE) first[t] = 0, last[t] = table.header.steps + 1;
        }
        for (uint32_t o = 0; o < table.header.outputs.count; ++o) {
            last[owner[number(table.header.outputs, o)]] = table.header.steps + 1;
        }
        for (uint32_t s = 0; s < table.header.steps; ++s) {
            const StepRow& step = table.steps[s];
            if (step.is_called == 0) continue;
            for (uint32_t o = 0; o <= step.outputs.count; ++o) {
                const bool is_scratch = o == step.outputs.count;
                const uint32_t index = is_scratch ? ABSENT : number(step.outputs, o);
                if (is_scratch ? step.scratch_arena == ABSENT : index == ABSENT) continue;
                const uint32_t arena = is_scratch ? step.scratch_arena : table.tensors[index].arena;
                const uint64_t begin = is_scratch ? step.scratch_offset_bytes : table.tensors[index].offset_bytes;
                const uint64_t end = begin + (is_scratch ? step.scratch_bytes : table.tensors[index].size_bytes);
                for (uint32_t t = 0; t < table.header.tensors; ++t) {
                    if (owner[t] != t || table.tensors[t].arena != arena || (!is_scratch && owner[index] == t)) continue;
                    if (first[t] == ABSENT || first[t] > s + 1 || last[t] < s + 1) continue;
                    const uint64_t low = table.tensors[t].offset_bytes, high = low + table.tensors[t].size_bytes;
                    if (low >= end || begin >= high) continue;
                    const bool hands_over = !is_scratch && low == begin && last[t] == s + 1 && first[t] <= s;
                    if (!hands_over) return s;
                }
            }
        }
        return NOWHERE;
    }
};

}  // namespace mi
