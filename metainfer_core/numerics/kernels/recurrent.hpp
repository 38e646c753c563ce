// LSTM and GRU over time, float32, with ONNX's gate orders and default activations.
#pragma once
#include "gemm.hpp"

namespace mi {

struct RecurrentParams {
    int32_t length, batch, input_size, hidden_size;
    int32_t directions, first_is_reverse;
    int32_t block;                // of the packed weights
    int32_t linear_before_reset;  // GRU only
    int32_t scratch_bytes;
};

MI_INLINE void multiply_rows(const float* rows, int32_t count, int32_t depth, int32_t columns, int32_t block,
                             const float* weights, const float* bias, float* output) {
    gemm<1, Float>(rows, count, depth, columns, depth, block, weights, bias, 1,
                   [&](int32_t row, int32_t column, float* sums, int32_t n) {
                       for (int32_t i = 0; i < n; ++i) output[int64_t{row} * columns + column + i] = sums[i];
                   });
}

MI_INLINE int64_t packed_size(int32_t columns, int32_t depth, int32_t block) {
    return int64_t{divide_up(columns, block)} * block * depth;
}

// Runs `step(direction, input row, state, output row)` over time in each direction.
template <class Step>
MI_INLINE void over_time(const RecurrentParams p, const float* input, float* output, Step step) {
    const int32_t state = p.batch * p.hidden_size;
    for (int32_t direction = 0; direction < p.directions; ++direction) {
        const bool reverse = direction == 1 || p.first_is_reverse != 0;
        for (int32_t t = 0; t < p.length; ++t) {
            const int32_t time = reverse ? p.length - 1 - t : t;
            float* row = output ? output + (int64_t{time} * p.directions + direction) * state : nullptr;
            step(direction, input + int64_t{time} * p.batch * p.input_size, row);
        }
    }
}

// input_weights, recurrent_weights: [direction] of what gemm_float32 takes, columns in gate order i, o, f, c.
// bias: [direction][4 hidden], of input and recurrence together. A null state starts from zero.
MI_KERNEL void lstm_float32(const RecurrentParams p, const float* input, const float* input_weights,
                            const float* recurrent_weights, const float* bias, const float* initial_hidden,
                            const float* initial_cell, float* output, float* last_hidden, float* last_cell,
                            float* scratch) {
    const int32_t hidden = p.hidden_size, columns = 4 * hidden, state = p.batch * hidden;
    float* from_input = scratch;
    float* from_state = from_input + p.batch * columns;
    float* h = from_state + p.batch * columns;
    float* c = h + p.directions * state;
    float* zeros = c + p.directions * state;
    for (int32_t i = 0; i < p.directions * state; ++i) {
        h[i] = initial_hidden ? initial_hidden[i] : 0.0f;
        c[i] = initial_cell ? initial_cell[i] : 0.0f;
    }
    for (int32_t i = 0; i < columns; ++i) zeros[i] = 0.0f;
    over_time(p, input, output, [&](int32_t direction, const float* x, float* y) {
        float *hd = h + direction * state, *cd = c + direction * state;
        multiply_rows(x, p.batch, p.input_size, columns, p.block,
                      input_weights + direction * packed_size(columns, p.input_size, p.block),
                      bias + direction * columns, from_input);
        multiply_rows(hd, p.batch, hidden, columns, p.block,
                      recurrent_weights + direction * packed_size(columns, hidden, p.block), zeros, from_state);
        for (int32_t row = 0; row < p.batch; ++row) {
            float* g = from_input + int64_t{row} * columns;
            const float* r = from_state + int64_t{row} * columns;
            for (int32_t i = 0; i < columns; ++i) g[i] += r[i];
            for (int32_t i = 0; i < hidden; ++i) {
                const float cell = __builtin_fmaf(sigmoid(g[2 * hidden + i]), cd[row * hidden + i],
                                                  sigmoid(g[i]) * hyperbolic_tangent(g[3 * hidden + i]));
                cd[row * hidden + i] = cell;
                hd[row * hidden + i] = sigmoid(g[hidden + i]) * hyperbolic_tangent(cell);
            }
        }
        for (int32_t i = 0; y && i < state; ++i) y[i] = hd[i];
    });
    for (int32_t i = 0; last_hidden && i < p.directions * state; ++i) last_hidden[i] = h[i];
    for (int32_t i = 0; last_cell && i < p.directions * state; ++i) last_cell[i] = c[i];
}

// Gate order z, r, h. The recurrent weights of the gates z and r and of the candidate h are packed apart.
// bias: [direction][3 hidden], added to the product with the input; candidate_bias: [direction][hidden], added to the
// product with the state (inside the reset gate where linear_before_reset is set).
MI_KERNEL void gru_float32(const RecurrentParams p, const float* input, const float* input_weights,
                           const float* gate_weights, const float* candidate_weights, const float* bias,
                           const float* candidate_bias, const float* initial_hidden, float* output,
                           float* last_hidden, float* scratch) {
    const int32_t hidden = p.hidden_size, columns = 3 * hidden, state = p.batch * hidden;
    float* from_input = scratch;
    float* gates = from_input + p.batch * columns;
    float* candidate = gates + 2 * state;
    float* reset = candidate + state;
    float* h = reset + state;
    float* zeros = h + p.directions * state;
    for (int32_t i = 0; i < p.directions * state; ++i) h[i] = initial_hidden ? initial_hidden[i] : 0.0f;
    for (int32_t i = 0; i < 2 * hidden; ++i) zeros[i] = 0.0f;
    over_time(p, input, output, [&](int32_t direction, const float* x, float* y) {
        float* hd = h + direction * state;
        const float* candidate_pack = candidate_weights + direction * packed_size(hidden, hidden, p.block);
        multiply_rows(x, p.batch, p.input_size, columns, p.block,
                      input_weights + direction * packed_size(columns, p.input_size, p.block),
                      bias + direction * columns, from_input);
        multiply_rows(hd, p.batch, hidden, 2 * hidden, p.block,
                      gate_weights + direction * packed_size(2 * hidden, hidden, p.block), zeros, gates);
        for (int32_t row = 0; row < p.batch; ++row) {
            const float* g = from_input + int64_t{row} * columns;
            for (int32_t i = 0; i < 2 * hidden; ++i) {
                gates[row * 2 * hidden + i] = sigmoid(g[i] + gates[row * 2 * hidden + i]);
            }
            for (int32_t i = 0; i < hidden; ++i) {
                reset[row * hidden + i] = gates[row * 2 * hidden + hidden + i] * hd[row * hidden + i];
            }
        }
        multiply_rows(p.linear_before_reset ? hd : reset, p.batch, hidden, hidden, p.block, candidate_pack,
                      candidate_bias + direction * hidden, candidate);
        for (int32_t row = 0; row < p.batch; ++row) {
            const float* g = from_input + int64_t{row} * columns + 2 * hidden;
            const float *update = gates + row * 2 * hidden, *r = update + hidden;
            for (int32_t i = 0; i < hidden; ++i) {
                const float recurrent = candidate[row * hidden + i];
                const float n = hyperbolic_tangent(g[i] + (p.linear_before_reset ? r[i] * recurrent : recurrent));
                hd[row * hidden + i] = __builtin_fmaf(update[i], hd[row * hidden + i], (1.0f - update[i]) * n);
            }
        }
        for (int32_t i = 0; y && i < state; ++i) y[i] = hd[i];
    });
    for (int32_t i = 0; last_hidden && i < p.directions * state; ++i) last_hidden[i] = h[i];
}

}  // namespace mi
