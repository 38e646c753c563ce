// Steps 0 to 7 of small: one function a kernel call, its parameters fixed. Generated.
#include "kernels/conv2d.hpp"
#include "kernels/gemm.hpp"
#include "kernels/pool.hpp"
#include "kernels/quantize.hpp"
#include "layout.hpp"

namespace small_program {
namespace METAINFER_VARIANT {

// x.quantize
__attribute__((flatten)) void step_0() {
    static constexpr mi::QuantizeParams params = {1, 1, 128, -128, 127};
    METAINFER_CALL(0, quantize_int8, params, input<0, 0, float>(), input<0, 1, float>(), input<0, 2, int32_t>(), output<0, 0, int8_t>());
}

// conv1, norm1, relu1, r1.quantize
__attribute__((flatten)) void step_1() {
    static constexpr mi::Conv2dParams params = {1, 1, 2, 8, 8, 8, 8, 8, 3, 3, 1, 1, 1, 1, 1, 1, 8, 0, 864, 0, 0, 0, -1, -128, -128, 127, 0, 0, 0, 0, 0, 0};
    static_assert(is_zero_point<3>(params.input_zero_point), "The table declares another zero point.");
    static_assert(is_zero_point<8>(params.output_zero_point), "The table declares another zero point.");
    METAINFER_CALL(1, conv2d_int8, params, input<1, 0, int8_t>(), input<1, 1, int8_t>(), input<1, 2, int32_t>(), input<1, 3, int32_t>(), input<1, 4, int32_t>(), input<1, 5, int8_t>(), input<1, 6, int32_t>(), input<1, 7, int32_t>(), output<1, 0, int8_t>(), scratch<1, int16_t>());
}

// conv2, c2.quantize
__attribute__((flatten)) void step_2() {
    static constexpr mi::Conv2dParams params = {1, 1, 8, 1, 64, 8, 1, 64, 1, 1, 1, 1, 1, 1, 0, 0, 1, 0, 1088, 0, 0, 0, -128, 5, -128, 127, 0, 0, 0, 0, 0, 0};
    static_assert(is_zero_point<8>(params.input_zero_point), "The table declares another zero point.");
    static_assert(is_zero_point<13>(params.output_zero_point), "The table declares another zero point.");
    METAINFER_CALL(2, conv2d_int8, params, input<2, 0, int8_t>(), input<2, 1, int8_t>(), input<2, 2, int32_t>(), input<2, 3, int32_t>(), input<2, 4, int32_t>(), input<2, 5, int8_t>(), input<2, 6, int32_t>(), input<2, 7, int32_t>(), output<2, 0, int8_t>(), scratch<2, int16_t>());
}

// add2, relu2, r2.quantize
__attribute__((flatten)) void step_3() {
    static constexpr mi::BinaryInt8Params params = {1, {512, 1, 1, 1, 1, 1}, {1, 0, 0, 0, 0, 0}, {1, 0, 0, 0, 0, 0}, 5, -128, -128, 1100145, 206277, 19, -128, 127};
    static_assert(is_zero_point<13>(params.left_zero_point), "The table declares another zero point.");
    static_assert(is_zero_point<8>(params.right_zero_point), "The table declares another zero point.");
    static_assert(is_zero_point<14>(params.output_zero_point), "The table declares another zero point.");
    METAINFER_CALL(3, add_int8, params, input<3, 0, int8_t>(), input<3, 1, int8_t>(), input<3, 2, int8_t>(), output<3, 0, int8_t>());
}

// pool, p.quantize
__attribute__((flatten)) void step_4() {
    static constexpr mi::PoolParams params = {8, 8, 8, 1, 1, 8, 8, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    METAINFER_CALL(4, max_pool_int8, params, input<4, 0, int8_t>(), output<4, 0, int8_t>());
}

// f.dequantize
__attribute__((flatten)) void step_6() {
    static constexpr mi::QuantizeParams params = {1, 1, 8, 0, 0};
    METAINFER_CALL(6, dequantize_int8, params, input<6, 0, int8_t>(), input<6, 1, float>(), input<6, 2, int32_t>(), output<6, 0, float>());
}

// classifier
__attribute__((flatten)) void step_7() {
    static constexpr mi::GemmParams params = {1, 3, 8, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    METAINFER_CALL(7, gemm_float32, params, input<7, 0, float>(), input<7, 1, float>(), input<7, 2, float>(), output<7, 0, float>());
}

}  // namespace METAINFER_VARIANT
}  // namespace small_program
