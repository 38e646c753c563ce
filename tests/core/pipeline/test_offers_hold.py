"""Whatever is offered for random small networks on random chips is legal and built, or refused before it is offered."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from npu_bench import chip
from tiny_models import from_text

from metainfer_core import pipeline
from metainfer_core.pipeline.steps import compile_policy, prepare, samples_for
from metainfer_core.policy.objective import Objective

ROUGH = Objective(fast=True, min_sqnr_db=-100.0, min_channel_sqnr_db=-100.0)
SEEDS, OFFERED = 5, 3
"""How many networks are tried, and how many at least get nodes on the NPU: a property of nothing proves nothing."""


def network(chance: random.Random) -> str:
    """A chain of random layers on images, with a branch that is added now and then."""
    channels, size, inputs, lines, last = chance.choice((3, 8, 16)), 16, [], [], "x"
    shape = f"float[1,{channels},{size},{size}] x"
    for index in range(chance.randint(2, 5)):
        kind, name, made = chance.choice(("conv", "conv", "deep", "act", "pool", "add")), f"n{index}", f"t{index}"
        if kind == "conv":
            kernel, filters = chance.choice((1, 3, 5)), chance.choice((1, 6, 16, 33))
            inputs.append(f"float[{filters},{channels},{kernel},{kernel}] w_{index}")
            lines.append(f"[{name}] {made} = Conv <pads = [{', '.join([str(kernel // 2)] * 4)}]> ({last}, w_{index})")
            channels = filters
        elif kind == "deep":
            inputs.append(f"float[{channels},1,3,3] w_{index}")
            lines.append(f"[{name}] {made} = Conv <group = {channels}, pads = [1, 1, 1, 1]> ({last}, w_{index})")
        elif kind == "act":
            lines.append(f"[{name}] {made} = {chance.choice(('Relu', 'HardSwish', 'Sigmoid', 'Softmax'))} ({last})")
        elif kind == "pool" and size > 4:
            lines.append(f"[{name}] {made} = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> ({last})")
            size //= 2
        else:
            lines.append(f"[{name}] {made} = Add ({last}, {last})")
        last = made
    result = f"float[1,{channels},{size},{size}] {last}"
    return f"net ({', '.join([shape, *inputs])}) => ({result}) {{ {' '.join(lines)} }}"


@pytest.mark.slow
def test_what_is_offered_is_built(tmp_path: Path) -> None:
    on_npu = 0
    for seed in range(SEEDS):
        chance = random.Random(seed)
        path = tmp_path / f"net{seed}.onnx"
        path.write_bytes(from_text(network(chance), seed).SerializeToString())
        unit = chance.choice(({}, {"channel_multiple": 8}, {"data_types": ("int8", "float16")}))
        spec = chip(chance.choice((512, 2048, 10240)), dma={"max_transfer_bytes": chance.choice((64, 1024))}, **unit)
        net = prepare(path)
        samples = samples_for(net, None).first(2)
        goal = ROUGH.plain() | {"precision": "fp16" if "data_types" in unit else "int8"}
        policy = pipeline.adapt(net, spec, samples, samples, Objective.from_plain(goal)).policy
        compiled = compile_policy(net, spec, policy, "sim_npu", samples.feeds)
        assert (seed, compiled.violations, compiled.differences) == (seed, (), ())
        on_npu += any(line.params.get("target_hw") == "npu" for line in policy.actions)
    assert on_npu >= OFFERED
