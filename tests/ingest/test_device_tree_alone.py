"""A device tree file without the files that it is used with: what it leaves open is not made up."""

import pytest

from hwdoc_ingest.device_trees.device_tree import read_device_tree
from hwdoc_ingest.reading import no_progress


def read(tmp_path, text):
    path = tmp_path / "a.dtsi"
    path.write_text(text)
    return read_device_tree(path, "a", no_progress)


def lines_of(reading):
    found = [c for c in reading.candidates if c.field == "interrupts.irq"]
    return [(c.instance, c.value, c.condition, c.confidence) for c in found]


GIC = 'gic: interrupt-controller@100 { compatible = "arm,gic-400"; #interrupt-cells = <3>; interrupt-controller; };'
PLIC = "plic: interrupt-controller@200 { #interrupt-cells = <1>; interrupt-controller; };"


@pytest.mark.parametrize(
    ("controllers", "specifier", "found"),
    [
        (GIC, "0 50 4", (50, "GIC SPI; hardware interrupt 82", 0.99)),
        ("", "0 50 4", (50, "GIC SPI; hardware interrupt 82", 0.7)),
        ("", "1 13 8", (13, "GIC PPI; hardware interrupt 29", 0.7)),
        ("", "GIC_SPI 50 4", (50, "GIC SPI; hardware interrupt 82", 0.99)),
        (PLIC, "17", (17, "of plic", 0.99)),
        ("", "17", (17, None, 0.7)),
        (GIC + PLIC, "17 4", (17, None, 0.7)),
    ],
)
def test_interrupts_whose_controller_the_file_does_not_name(tmp_path, controllers, specifier, found):
    tree = f"/ {{ soc {{ {controllers} npu: npu@1000 {{ interrupts = <{specifier}>; }}; }}; }};"
    assert lines_of(read(tmp_path, tree)) == [("npu", *found)]


CACHES = """
/ { cpus { #address-cells = <1>; #size-cells = <0>;
    cpu@0 { device_type = "cpu"; compatible = "arm,cortex-a35"; reg = <0>; next-level-cache = <&l2>;
        d-cache-size = <SIZE>; d-cache-line-size = <32>; d-cache-sets = <128>; };
    l2: l2-cache { compatible = "cache"; cache-level = <2>; cache-size = <OUTER>;
        cache-line-size = <64>; cache-sets = <512>; };
}; };
"""


@pytest.mark.parametrize(
    ("size", "outer", "sure"),
    [("0x8000", "0x80000", (0.99, 0.99)), ("0x8000", "0x7d000", (0.99, 0.6)), ("33000", "0x80000", (0.6, 0.99))],
)
def test_a_cache_that_is_no_whole_number_of_ways_is_doubted(tmp_path, size, outer, sure):
    reading = read(tmp_path, CACHES.replace("SIZE", size).replace("OUTER", outer))
    sizes = {c.field: c for c in reading.candidates if c.field.endswith("size_bytes")}
    assert (sizes["cpu.l1d_cache.size_bytes"].confidence, sizes["cpu.l2_cache.size_bytes"].confidence) == sure
    told = "no whole number of ways by its own lines and sets"
    assert (sizes["cpu.l2_cache.size_bytes"].condition == told) is (outer == "0x7d000")


def test_an_overlay_says_that_it_adds_to_another_tree(tmp_path):
    text = '/dts-v1/;\n/plugin/;\n&uart0 { status = "okay"; };\n'
    assert read(tmp_path, text).notes == (
        "line 2: an overlay: it adds to a device tree that is not part of this document.",
    )
