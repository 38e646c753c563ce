"""How manuals of cores, accelerators and application processors say what they have; all chips are invented."""

import pytest
from phrase_reading import between, candidates, one, read, up_to

from hwdoc_ingest.page.pages import Word
from hwdoc_ingest.statements.statement import RowCell, row

KB = 1 << 10


def caches(instruction, data, instance=None):
    return one("cpu.l1i_cache.size_bytes", instruction, instance) | one("cpu.l1d_cache.size_bytes", data, instance)


def row_of(*cells, path=("Configuration",)):
    def words(text, x):
        return tuple(Word(each, (x + 9.0 * i, 0, x + 9.0 * i + 8, 9), 9, 9) for i, each in enumerate(text.split()))

    laid = [RowCell(words(text, 100.0 * at), header) for at, (header, text) in enumerate(cells)]
    return row(3, laid, path, False)


WAYS = one("cpu.l1i_cache.ways", 3) | one("cpu.l1d_cache.ways", 2)
SAID = [
    # Two caches in one breath
    ("24KiB (Instruction) / 48KiB (Data) L1-Cache per core", "CPU", caches(24 * KB, 48 * KB)),
    ("96 KB ICache / DCache", "", caches(96 * KB, 96 * KB)),
    ("64KB/16KB I-cache/D-cache", "", caches(64 * KB, 16 * KB)),
    (
        "The instruction cache of the Q7 has a storage capacity of 6 KB, while the data cache has a capacity of 3 KB.",
        "Cache",
        caches(6 * KB, 3 * KB),
    ),
    ("24 KiB data (2-way) + 96 KiB instruction (3-way) L1 cache per core", "", caches(96 * KB, 24 * KB) | WAYS),
    ("L1 cache 88 KiB (64 KiB I-cache with parity, 24 KiB D-cache with ECC)", "", caches(64 * KB, 24 * KB)),
    ("L1 Data Cache 96KB, 6Ways, 8Banks", "", one("cpu.l1d_cache.size_bytes", 96 * KB) | one("cpu.l1d_cache.ways", 6)),
    ("It implements two separate 24 KB L1 caches for instruction and data.", "", caches(24 * KB, 24 * KB)),
    ("24+48 kB instruction and data L1 caches", "", caches(24 * KB, 48 * KB)),
    ("its own dedicated 96KB L2 backside cache", "", one("cpu.l2_cache.size_bytes", 96 * KB)),
    # Lines that are told in two ways
    ("The line size is four instructions (16 bytes).", "Instruction Cache", one("cpu.l1i_cache.line_bytes", 16)),
    ("It has a fixed 64-byte (sixteen words) line size.", "Data Cache", one("cpu.l1d_cache.line_bytes", 64)),
    (
        "The write policy is writeback, so a line may wait to be updated.",
        "Data Cache",
        one("cpu.l1d_cache.write_policy", "write-back"),
    ),
    # How many instructions at once
    ("The X6 can keep up by issuing three instructions simultaneously.", "", one("cpu.issue_width", 3)),
    ("In the best case, four instructions are issued each cycle.", "", one("cpu.issue_width", 4)),
    ("It runs six instructions per cycle for up to ten times the speed of a DSP", "", set()),
    # How many cores
    ("2x quad-core CPU clusters on one fabric", "CPU", one("cpu.cores", 8)),
    (
        "three dual-core Cortex-A57 clusters",
        "CPU",
        one("cpu.cores", 6, "Cortex-A57") | one("cpu.core_type", "Cortex-A57"),
    ),
    ("Each cluster contains 2 to 6 cores.", "", one("cpu.cores", between(2, 6))),
    ("Chapter 2 to 6 cores", "", set()),
    ("The SoC contains three 64 bit RV64GCV CPUs.", "", one("cpu.cores", 3) | one("cpu.isa", "RV64GCV")),
    ("six Acme Falcon processor cores", "CPU", one("cpu.cores", 6)),
    ("Up to 12 RISC-V cores", "CPU", one("cpu.cores", up_to(12))),
    (
        "It combines six dual-threaded q65 Acme Architecture processor cores for twelve threads",
        "",
        one("cpu.cores", 6, "q65"),
    ),
    ("seven 64-bit LX46 cores", "", one("cpu.cores", 7, "LX46")),
    ("Two of the cores run eight tasks", "", set()),
    # Cores by number
    ("CPU1: RISC-V Core, 24KB I-cache", "", one("cpu.l1i_cache.size_bytes", 24 * KB, "CPU1")),
    (
        "quad Arm Cortex-A55 (1.9GHz) and Arm Cortex-M33 (210MHz)",
        "",
        one("cpu.cores", 4, "Cortex-A55")
        | one("cpu.clock_hz", 1.9e9, "Cortex-A55")
        | one("cpu.clock_hz", 210e6, "Cortex-M33"),
    ),
    # Rates that are written out
    (
        "The DSP delivers up to 900 million floating-point operations per second, 1,200 million instructions a second.",
        "",
        one("cpu.peak_flops", up_to(900e6)) | one("cpu.mips", 1200),
    ),
    ("The NPU performs 3 trillion operations per second.", "", one("npu.tops", 3)),
    ("It does 600 million multiply-accumulate operations per second.", "DSP", set()),
    ("The GPU does 90 billion floating-point operations per second.", "", set()),
    ("120 peak MFLOP/s at 200MHz", "", one("cpu.peak_flops", 120e6)),
    # An efficiency is no rate
    ("3 TOPS per watt", "2x Edge NPU accelerator", set()),
    ("It delivers 90 gigaflops per second.", "DSP", one("cpu.peak_flops", 90e9)),
    ("The combination of units gives up to 7 TOPS of performance.", "", one("npu.tops", up_to(7))),
    ("It accelerates networks to more than 2 TOPS.", "Neural engine", set()),
    # What an accelerator counts with, how many there are, and what they have
    (
        "KPU: INT4 and INT16 inference performance: Net-50>85fps@INT16",
        "",
        one("npu.data_types", ("INT4", "INT16")),
    ),
    ("Data type supported = INT16", "NPU", one("npu.data_types", ("INT16",))),
    ("The NPU targets 8-bit and 16-bit integer networks", "", one("npu.data_types", ("INT8", "INT16"))),
    ("96 INT8 MACs with two pipelines", "Small DLA", one("npu.macs", 96)),
    ("The DLA has 1536 8-bit MACs (or 768 16-bit MACs).", "", one("npu.macs", 1536)),
    ("3x Acme Edge TPU", "", one("npu.cores", 3)),
    ("three neural processing units operating at 1.5 GHz", "", one("npu.cores", 3) | one("npu.clock_hz", 1.5e9)),
    ("3 TOPS NPU", "", one("npu.tops", 3)),
    ("384 CUDA cores, 48 Tensor cores", "Acme GPU", set()),
    ("The convolution buffer has 12 banks of 24KB each, totally 288KB.", "DLA", one("npu.sram.size_bytes", 288 * KB)),
    # Memory outside the chip
    ("up to 24GB of LPDDR4X, and up to 512GB UFS storage", "", one("memory.dram.max_size_bytes", up_to(24 << 30))),
    (
        "Its DDR4 interface is 128-bit, supporting speeds up to 2666 Mbps",
        "",
        one("memory.dram.bus_width_bits", 128)
        | one("memory.dram.data_rate_mtps", up_to(2666), "DDR4")
        | one("memory.dram.types", ("DDR4",)),
    ),
    (
        "RAM: 32-bit LPDDR4 / DDR4 / LPDDR3",
        "",
        one("memory.dram.bus_width_bits", 32) | one("memory.dram.types", ("LPDDR4", "DDR4", "LPDDR3")),
    ),
    (
        "Supports LPDDR4X, dual channel, maximum 24GB address space",
        "",
        one("memory.dram.channels", 2) | one("memory.dram.max_size_bytes", up_to(24 << 30)),
    ),
    # Buses by what they carry
    ("The 77x has a 64-bit external data bus and a 32-bit address bus.", "", one("bus.width_bits", 64)),
    ("It has a 32-bit address bus.", "", set()),
    ("AXI4-256 master", "Bus interface", one("bus.width_bits", 256, "AXI4")),
    ("A wide 512-bit AXI bus fills the caches.", "", one("bus.width_bits", 512, "AXI") | one("bus.width_bits", 512)),
    # Other numbers of cores
    ("one 96-bit AltiVec unit", "CPU", one("cpu.vector_width_bits", 96)),
    ("Instructions operate on 192-bit vectors.", "", one("cpu.vector_width_bits", 192)),
    ("Two register files each contain 24 32-bit registers for a total of 48 registers.", "", one("cpu.registers", 48)),
    ("384bit RVV 1.0 support", "CPU", one("cpu.vector_width_bits", 384)),
    ("The multi-cycle divider takes 29 cycles.", "Pipeline", one("latency.divider_cycles", 29)),
    ("C908@1.1GHz", "", one("cpu.clock_hz", 1.1e9, "C908")),
    ("A72 大核主频最高可达 2.1GHz", "产品特性", one("cpu.clock_hz", up_to(2.1e9), "A72 大核")),
    ("Up to 18 TOPS (INT8)", "AI performance", one("npu.tops", up_to(18))),
    # Of clusters, of registers, of caches told the other way round
    (
        "It has three clusters of two Cortex-A57 cores each.",
        "CPU",
        one("cpu.cores", 6, "Cortex-A57") | one("cpu.core_type", "Cortex-A57"),
    ),
    ("2 clusters, each with 6 processor cores", "CPU", one("cpu.cores", 12)),
    (
        "It holds 12 KB of cache for instructions, from which three are taken.",
        "",
        one("cpu.l1i_cache.size_bytes", 12 * KB),
    ),
    ("It holds 12 KB of cache for instructions and data.", "", set()),
    ("The integer register file contains 72 registers.", "CPU", one("cpu.registers", 72)),
    ("The vector register file contains 24 registers.", "CPU", set()),
    (
        "Integer multiply and divide have latencies of 5 and 23 cycles.",
        "CPU",
        one("latency.multiplier_cycles", 5) | one("latency.divider_cycles", 23),
    ),
    (
        "Supports INT4/INT8/BFP16 MAC hybrid operation",
        "NPU",
        one("npu.data_types", ("INT4", "INT8", "BFP16")),
    ),
    # The clock before the count of the cores that it is of
    (
        "1.9 GHz dual-core Cortex-A57 and 1.3GHz Quad core ARM Cortex-A35",
        "",
        one("cpu.clock_hz", 1_900_000_000, "Cortex-A57")
        | one("cpu.clock_hz", 1_300_000_000, "Cortex-A35")
        | one("cpu.cores", 2, "Cortex-A57")
        | one("cpu.cores", 4, "Cortex-A35"),
    ),
    ("a Mali G57 MP14 GPU", "", one("gpu.model", "Mali G57 MP14") | one("gpu.cores", 14)),
    # Kinds of memory that share their letters, and a clock beside its rate
    (
        "It supports LPDDR3/4/4X SDRAM.",
        "Memory",
        one("memory.dram.types", ("LPDDR3", "LPDDR4", "LPDDR4X")),
    ),
    ("mDDR(LPDDR), DDR2 and DDR3 controller", "Memory", one("memory.dram.types", ("LPDDR", "DDR2", "DDR3"))),
    (
        "DDR3: 533-MHz clock (1066-MHz data rate)",
        "Memory",
        one("memory.dram.clock_hz", 533_000_000, "DDR3") | one("memory.dram.data_rate_mtps", 1066, "DDR3"),
    ),
]


@pytest.mark.parametrize(("text", "above", "said"), SAID, ids=[text for text, _, _ in SAID])
def test_what_is_said_is_read_and_nothing_else(text, above, said):
    assert read(text, *(("Features", above) if above else ("Features",))) == said


def test_a_name_with_a_number_of_its_own_takes_no_other_of_the_list():
    said = read("The device includes 96 KB of L2 memory, 6 MB of on-chip memory", "Overview")
    assert {value for field, value, _ in said if field == "memory.l2.size_bytes"} == {96 * KB}


def test_both_translation_buffers_are_told_of():
    text = (
        "The MMU has two 96-entry, two-way translation lookaside buffers (TLBs), one for instructions and one for data."
    )
    assert read(text) >= one("cpu.tlb.entries", 96, "instruction") | one("cpu.tlb.entries", 96, "data")
    assert read("24-entry ITLB / DTLB") >= one("cpu.tlb.entries", 24, "data")


PARAMETERS = [
    # Parameters of a core by their names in the source: name, default, what is said of it
    ("ICacheByteSize", "24576", "Size in bytes", one("cpu.l1i_cache.size_bytes", 24 * KB)),
    ("C_DCACHE_LINE_LEN", "16", "Length of a line in bytes", one("cpu.l1d_cache.line_bytes", 16)),
    ("DCacheLineWidth", "256", "The width of a line in bits.", one("cpu.l1d_cache.line_bytes", 32)),
    ("DCacheLineWidth", "256", "The width of a line.", set()),
    ("IcacheSetAssoc", "4", "Associativity", one("cpu.l1i_cache.ways", 4)),
    ("NrDataTlbEntries", "24", "Entries", one("cpu.tlb.entries", 24, "data TLB")),
    ("VLEN", "384", "Length of a vector register", one("cpu.vector_width_bits", 384)),
    ("NumWays", "2", "The number of ways.", set()),
    ("DCacheFifoDepth", "4", "Depth", set()),
]


@pytest.mark.parametrize(("name", "default", "told", "said"), PARAMETERS)
def test_a_parameter_of_the_source_is_read_where_it_says_what_it_counts(name, default, told, said):
    found = candidates(row_of(("Parameter", name), ("Default", default), ("Description", told)))
    assert {(c.field, c.value, c.instance) for c in found} == said


def test_ways_are_of_the_only_cache_that_the_heading_names():
    row = row_of(("Parameter", "NumWays"), ("Default", "2"), ("Description", "Ways"), path=("Instruction cache",))
    assert {(c.field, c.value) for c in candidates(row)} == {("cpu.l1i_cache.ways", 2)}
