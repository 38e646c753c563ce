"""Weights as the matrix kernels read them: blocks of outputs side by side, filled up with zeros."""

from __future__ import annotations

import numpy as np

FILTER_BLOCK = 4
"""As in kernels/conv2d.hpp."""
MAX_BLOCK = 64


def gemm_block(columns: int) -> int:
    """Columns that are packed together: a multiple of 16, at most 64."""
    return min(MAX_BLOCK, -(-columns // 16) * 16)


def pack_gemm(weights: np.ndarray, block: int) -> np.ndarray:
    """[depth, columns] as [column / block][depth][block], or in pairs of depth for int8."""
    depth, columns = weights.shape
    blocks = -(-columns // block)
    if weights.dtype == np.int8:
        padded = np.zeros((-(-depth // 2) * 2, blocks * block), np.int8)
        padded[:depth, :columns] = weights
        return np.ascontiguousarray(padded.reshape(-1, 2, blocks, block).transpose(2, 0, 3, 1))
    wide = np.zeros((depth, blocks * block), weights.dtype)
    wide[:, :columns] = weights
    return np.ascontiguousarray(wide.reshape(depth, blocks, block).transpose(1, 0, 2))


def pack_conv(weights: np.ndarray, groups: int) -> np.ndarray:
    """[filters, channels, height, width] as [group][filter / 4][channel][y][x][4], or in pairs of channels for int8."""
    filters, channels, height, width = weights.shape
    per_group = filters // groups
    blocks = -(-per_group // FILTER_BLOCK)
    pair = 2 if weights.dtype == np.int8 else 1
    depth = -(-channels // pair)
    padded = np.zeros((groups, blocks * FILTER_BLOCK, depth * pair, height, width), weights.dtype)
    padded[:, :per_group, :channels] = weights.reshape(groups, per_group, channels, height, width)
    split = padded.reshape(groups, blocks, FILTER_BLOCK, depth, pair, height, width)
    return np.ascontiguousarray(split.transpose(0, 1, 3, 5, 6, 2, 4))


def pack_depthwise(weights: np.ndarray) -> np.ndarray:
    """[filters, 1, height, width] as [filter][y][x], or in pairs of rows for int8: [filter][y / 2][x][2]."""
    filters, _, height, width = weights.shape
    if weights.dtype != np.int8:
        return np.ascontiguousarray(weights.reshape(filters, height, width))
    rows = -(-height // 2)
    padded = np.zeros((filters, rows * 2, width), np.int8)
    padded[:, :height] = weights[:, 0]
    return np.ascontiguousarray(padded.reshape(filters, rows, 2, width).transpose(0, 1, 3, 2))
