"""Capacity, alignment and the default memory follow the spec."""

from typing import Any

import pytest

from metainfer_core.codegen.memories import alignment_bytes, weights_memory
from metainfer_core.errors import InputError
from metainfer_core.spec.default_memory import UNNAMED, capacity_bytes, default_memory, main_memory
from metainfer_core.spec.hardware_spec import HardwareSpec


def spec(**fields: Any) -> HardwareSpec:
    return HardwareSpec.from_plain({"name": "chip", "version": "1.0.0", **fields})


CHIP = spec(
    memories={
        "sram": {"kind": "sram", "size_bytes": 4096, "alignment_bytes": 32, "reserved_bytes": 96},
        "ddr": {"kind": "dram", "size_bytes": {"min": 1000, "max": 2000}, "accessible_by": ["cpu"]},
        "psram": {"kind": "psram", "size_bytes": 500},
        "flash": {"kind": "flash", "size_bytes": 800},
    }
)


def test_the_default_is_the_largest_main_memory() -> None:
    assert default_memory(CHIP) == "ddr"


def test_the_default_is_one_that_every_unit_reaches() -> None:
    assert default_memory(CHIP, frozenset({"cpu"})) == "ddr"
    assert default_memory(CHIP, frozenset({"cpu", "npu"})) == "psram"


def test_on_chip_memory_is_the_default_where_there_is_no_other() -> None:
    assert default_memory(spec(memories={"tcm": {"kind": "tcm"}, "flash": {"kind": "flash"}})) == "tcm"
    assert default_memory(spec()) == UNNAMED


def test_the_main_memory_is_the_default_where_that_is_outside_of_the_chip() -> None:
    assert main_memory(CHIP) == "ddr"
    assert main_memory(spec(memories={"tcm": {"kind": "tcm"}})) is None
    assert main_memory(spec()) is None


def test_a_memory_for_instructions_takes_no_tensors() -> None:
    memories = {
        "iccm": {"kind": "tcm", "size_bytes": 9000, "holds": "instructions"},
        "dccm": {"kind": "tcm", "size_bytes": 10},
    }
    assert default_memory(spec(memories=memories)) == "dccm"
    memories["iccm"]["holds"] = "both"
    assert default_memory(spec(memories=memories)) == "iccm"


def test_capacity_is_the_least_size_less_what_is_reserved() -> None:
    assert capacity_bytes(CHIP, "sram") == 4000
    assert capacity_bytes(CHIP, "ddr") == 1000
    assert capacity_bytes(spec(memories={"ddr": {"kind": "dram"}}), "ddr") is None


def test_weights_go_to_flash_where_they_fit() -> None:
    assert weights_memory(CHIP, 800, "ddr") == "flash"
    assert weights_memory(CHIP, 801, "ddr") == "ddr"


def test_alignment_is_the_widest_that_the_spec_asks_for() -> None:
    assert alignment_bytes(spec(), UNNAMED) == 16
    assert alignment_bytes(CHIP, "sram") == 32
    assert alignment_bytes(spec(l2_cache={"line_bytes": 64}), UNNAMED) == 64
    assert alignment_bytes(spec(dma={"alignment_bytes": 128}), UNNAMED) == 128
    units = {"cpu": {"kind": "cpu", "l1d_cache": {"line_bytes": 64}}, "npu": {"kind": "npu"}}
    assert alignment_bytes(spec(compute_units=units), UNNAMED) == 64


@pytest.mark.parametrize("value", [0, -64, 48])
def test_an_alignment_that_is_no_power_of_two_is_refused(value: int) -> None:
    with pytest.raises(InputError, match=rf"memories\.ddr\.alignment_bytes is {value}"):
        alignment_bytes(spec(memories={"ddr": {"kind": "dram", "alignment_bytes": value}}), "ddr")
