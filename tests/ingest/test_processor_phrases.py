"""How data sheets of application processors and AI chips say what they have; all chips are invented."""

import pytest
from phrase_reading import candidates, one, read, spoken, up_to

from hwdoc_ingest.rules.core_names import core_names
from hwdoc_ingest.statements.statement import Statement

KB, MB, GB = 1 << 10, 1 << 20, 1 << 30

SAID = [
    # Accelerators and the clock that stands with their names
    ("3D GPU PowerVR Rogue 7XE GE7777, up to 666 MHz, 77 GFLOPS", "Processors", one("gpu.clock_hz", up_to(666e6))),
    ("3D GPU PowerVR Rogue 7XE GE7777, up to 666 MHz, 77 GFLOPS", "Processors", one("gpu.gflops", 77)),
    ("3D GPU PowerVR Rogue 7XE GE7777", "Processors", one("gpu.model", "PowerVR Rogue 7XE GE7777")),
    ("The GPU computes 12.5 GFLOPS at 640 MHz with 16-bit data.", "Graphics", one("gpu.clock_hz", 640e6)),
    ("Arm Mali-G77 MC3-2EE GPU", "Graphics", one("gpu.model", "Mali-G77 MC3-2EE")),
    ("Imagination BXM-8-256 GPU", "GPU", one("gpu.model", "BXM-8-256")),
    ("an 840 MHz NPU beside two cores", "Overview", one("npu.clock_hz", 840e6)),
    ("NPU @ 650 MHz, 2048 KB buffer", "AI", one("npu.clock_hz", 650e6)),
    ("内置双核480MHz HiFi3 和 720MHz AIPU", "概述", one("npu.clock_hz", 720e6) | one("dsp.model", "HiFi3")),
    ("Accelerator: 6 dense TOPS / 48 sparse TOPS", "AI", one("npu.tops", 6) | one("npu.tops", 48)),
    ("AI engine with up to 22 sparse TOPS", "Features", one("npu.tops", up_to(22))),
    ("Tensilica HiFi 3 audio engine", "Features", one("dsp.model", "HiFi 3")),
    # Clusters and cores
    ("Quad-core Cortex-A75@1.7GHz + E999 RISC-V@250MHz", "CPU", one("cpu.clock_hz", 250e6, "E999 RISC-V")),
    (
        "This chip has six Cortex-A75 cores, operates at up to 1.9 GHz and supports dual-channel LPDDR3.",
        "Overview",
        one("cpu.clock_hz", up_to(1.9e9), "Cortex-A75"),
    ),
    (
        "Up to two Control Units (MCU), based on dual-core Arm Cortex-R5F processor, up to 15K DMIPS",
        "Overview",
        one("cpu.cores", up_to(4), "Cortex-R5F") | one("cpu.dhrystone_mips", up_to(15000), "Cortex-R5F"),
    ),
    (
        "It has three quad-core Arm Cortex-A75 CPU clusters and a Arm Mali-G77 GPU.",
        "Overview",
        one("cpu.cores", 12, "Cortex-A75"),
    ),
    ("It has a dual-core GPU and six Cortex-A75 cores.", "Overview", one("cpu.cores", 6, "Cortex-A75")),
    ("处理器:双核A53 1.5GHz,NPU 0.4T", "规格", one("cpu.cores", 2)),
    (
        "Up to 180 MHz (up to 12 MHz in autonomous mode)",
        "32-bit Arm Cortex-M0+ in the LowRun domain",
        one("cpu.clock_hz", up_to(180e6), "Cortex-M0+"),
    ),
    # Caches
    ("2 MiB Unified L3-Cache (for all eight cores)", "CPU", one("cpu.l3_cache.size_bytes", 2 * MB)),
    ("L2$ 3 MiB 12-way set associative", "Cache", one("cpu.l2_cache.ways", 12)),
    (
        "L1 48-Kbyte I / 24-Kbyte D for each core",
        "Core",
        one("cpu.l1i_cache.size_bytes", 48 * KB) | one("cpu.l1d_cache.size_bytes", 24 * KB),
    ),
    # Memories
    (
        "A 96-KB boot ROM and 320 KB of OCRAM are provided.",
        "Overview",
        one("memory.sram.size_bytes", 320 * KB, "OCRAM"),
    ),
    (
        "600 Kbytes of internal SRAM: 200 Kbytes of AXI SYSRAM + 300 Kbytes of AHB SRAM, "
        "96 Kbytes of AHB SRAM with ECC in backup domain and 4 Kbytes of SRAM in Backup domain",
        "Memories",
        one("memory.sram.size_bytes", 600 * KB, "internal SRAM")
        | one("memory.sram.size_bytes", 200 * KB, "AXI SYSRAM")
        | one("memory.sram.size_bytes", 300 * KB, "AHB SRAM")
        | one("memory.sram.size_bytes", 96 * KB, "AHB SRAM backup domain")
        | one("memory.sram.size_bytes", 4 * KB, "Backup domain"),
    ),
    ("Integrated a 256Mbit DDR2 in the package", "SDRAM", one("memory.dram.size_bytes", 32 * MB)),
    ("Integrated a 256Mbit DDR2 in the package", "SDRAM", one("memory.dram.types", ("DDR2",))),
    ("Capacity is 3GB", "Build-in Dynamic Memory Interface", one("memory.dram.size_bytes", 3 * GB)),
    ("LPDDR4X up to 6GB, 4266Mbps", "Memory", one("memory.dram.max_size_bytes", up_to(6 * GB))),
    ("Max Mem 12 GiB", "Memory controller", one("memory.dram.max_size_bytes", up_to(12 * GB))),
    ("Max Bandwidth 17.5 GB/s", "Memory controller", one("memory.dram.bandwidth_Bps", up_to(17.5e9))),
    ("up to LPDDR2/LPDDR3-1200 16/32-bit", "DDR memory", one("memory.dram.types", ("LPDDR2", "LPDDR3"))),
    ("Supports LPDDR5 memory types", "External Memory Interface (EMIF)", one("memory.dram.types", ("LPDDR5",))),
    (
        "4 GB 64-bit LPDDR5 DRAM; Maximum Operating Frequency: 1500 MHz",
        "Memory",
        one("memory.dram.clock_hz", up_to(1.5e9)),
    ),
]


@pytest.mark.parametrize(("text", "path", "facts"), SAID)
def test_what_a_phrase_says_is_read(text, path, facts):
    assert facts <= read(text, path)


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("双核HiFi3 480MHz,1MB SRAM", "cpu.clock_hz"),
        ("双核HiFi3 480MHz,1MB SRAM", "cpu.cores"),
        ("12 TOPS/W sparse", "npu.tops"),
        ("GPU: quad-core, 800 MHz", "cpu.cores"),
        ("NPU: dual core, 2 TOPS each", "cpu.cores"),
        ("DDR3 controller, integrated DDR4/LPDDR4 PHY", "memory.dram.size_bytes"),
    ],
)
def test_what_a_phrase_does_not_say_is_not_read(text, field):
    assert field not in {found for found, _, _ in read(text, "Features")}


def test_a_number_of_all_cores_before_the_clusters_is_no_clusters():
    said = read("Octa-core CPU: 2x Arm Cortex-A78 up to 2.2 GHz, 6x Arm Cortex-A55 up to 2.0 GHz", "CPU")
    cores = {(value, instance) for field, value, instance in said if field == "cpu.cores"}
    assert cores == {(2, "Cortex-A78"), (6, "Cortex-A55")}


def test_a_size_that_can_be_ordered_is_not_the_size():
    said = read("内置DDR3 64MB(可定制128M)", "参考设计")
    assert {value for field, value, _ in said if field == "memory.dram.size_bytes"} == {64 * MB}


def test_cores_are_known_by_the_names_that_a_list_gives_them():
    statement = Statement(1, "Three RISC-V cores named XRV, YRV0 and YRV1", (), ())
    assert core_names([statement]) == ("XRV", "YRV0", "YRV1")


def test_what_holds_in_a_mode_of_several_words_is_said_with_its_condition_and_less_sure():
    (found,) = candidates(spoken("In Dual Core mode, each core has 96KB of TCM", "Memory"))
    (always,) = candidates(spoken("Each core has 96KB of TCM", "Memory"))
    assert (found.field, found.value, found.condition) == ("memory.tcm.size_bytes", 96 * KB, "In Dual Core mode")
    assert found.confidence < 0.75 * always.confidence
