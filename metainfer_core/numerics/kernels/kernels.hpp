// All kernels.
#pragma once
#include "conv2d.hpp"
#include "depthwise_conv2d.hpp"
#include "elementwise.hpp"
#include "gemm.hpp"
#include "half.hpp"
#include "half_reduce.hpp"
#include "movement.hpp"
#include "pool.hpp"
#include "quantize.hpp"
#include "recurrent.hpp"
#include "reduce.hpp"
#include "transfer.hpp"
