"""What device trees of many makers write in forms of their own: buses in parts, old bindings, memories in blocks."""

import pytest

from hwdoc_ingest.device_trees.device_tree import read_device_tree
from hwdoc_ingest.reading import no_progress

ELSEWHERE = "address on {}, which stands in another file"


def read(tmp_path, text):
    path = tmp_path / "a.dtsi"
    path.write_text(text)
    return read_device_tree(path, "a", no_progress).candidates


def said(tmp_path, text, field):
    return [
        (c.instance, c.value if c.max is None else c.max, c.condition) for c in read(tmp_path, text) if c.field == field
    ]


def test_a_bus_that_is_only_added_to_by_its_path(tmp_path):
    tree = """/ { soc { bus@2000000 { spi5: spi@2018000 { compatible = "x,spi"; reg = <0x02018000 0x4000>; }; };
        codec@48 { reg = <0x48>; }; };
      real: real { #address-cells = <1>; #size-cells = <1>; cell@38 { reg = <0x38 0x4>; }; };
      efuse: efuse { compatible = "x,efuse"; cell@40 { reg = <0x40 0x4>; }; }; };"""
    bases = [c for c in read(tmp_path, tree) if c.field == "mmio.base"]
    assert [(c.instance, c.value, c.confidence) for c in bases] == [("spi5", "0x2018000", 0.7)]
    assert bases[0].condition == ELSEWHERE.format("bus@2000000")


@pytest.mark.parametrize(
    "inside",
    [
        "/ { soc { state@2620000 { gpio@240 { reg = <0x240 0x4>; }; }; }; };",
        "/ { soc { nand-controller { nand@3000 { reg = <0x3000 0x4>; }; }; }; };",
        "&nand { partition@1000 { reg = <0x1000 0x4>; }; };",
        "&spmi_bus { pmic@4 { reg = <0x4 SPMI_USID>; }; };",
    ],
)
def test_a_place_inside_a_block_of_another_file_is_no_address(tmp_path, inside):
    assert read(tmp_path, inside) == ()
    seen = "&bus { uart@2620240 { reg = <0x2620240 0x4>; }; };"
    assert [value for _, value, _ in said(tmp_path, seen, "mmio.base")] == ["0x2620240"]


def test_blocks_inside_a_block_on_a_bus_of_another_file(tmp_path):
    tree = """&main { conf: bus@100000 { compatible = "simple-bus"; #address-cells = <1>; #size-cells = <1>;
        ranges = <0x0 0x00 0x00100000 0x20000>; phy: phy@4044 { compatible = "x,phy"; reg = <0x4044 0x8>; }; };
      ram: sram@70000000 { compatible = "mmio-sram"; reg = <0x00 0x70000000 0x00 0x10000>; }; };"""
    assert said(tmp_path, tree, "mmio.base") == [("phy", "0x104044", ELSEWHERE.format("&main"))]
    assert said(tmp_path, tree, "memory.region.base") == [("ram", "0x70000000", ELSEWHERE.format("&main"))]


def test_a_bus_whose_widths_stand_elsewhere_is_read_by_what_is_on_it(tmp_path):
    tree = """/ { #address-cells = <2>; #size-cells = <1>; soc { ranges = <0x7e000000 0x0 0xfe000000 0x1800000>;
        uart: serial@7e201000 { reg = <0x7e201000 0x200>; }; }; };"""
    assert said(tmp_path, tree, "mmio.base") == [("uart", "0xfe201000", None)]


def test_sizes_and_rates_in_the_macros_of_zephyr(tmp_path):
    tree = """/ { clocks { xo: xo { compatible = "fixed-clock"; clock-frequency = <DT_FREQ_M(32)>; }; };
      soc { sram1: memory@20008000 { compatible = "mmio-sram"; reg = <0x20008000 DT_SIZE_K(48)>; };
        dtcm: memory@20000000 { compatible = "arm,dtcm"; reg = <0x20000000 DT_SIZE_K(64)>; };
        fc { #address-cells = <1>; #size-cells = <1>;
          flash0: flash@10000000 { compatible = "soc-nv-flash"; reg = <0x10000000 DT_SIZE_M(2)>; }; };
        odd: memory@30000000 { compatible = "mmio-sram"; reg = <0x30000000 RAM_SIZE>; }; }; };"""
    assert said(tmp_path, tree, "clock.xtal_hz") == [("xo", 32_000_000, None)]
    assert said(tmp_path, tree, "memory.sram.size_bytes") == [("sram1", 48 * 1024, ELSEWHERE.format("soc"))]
    assert said(tmp_path, tree, "memory.tcm.size_bytes") == [("dtcm", 64 * 1024, ELSEWHERE.format("soc"))]
    assert said(tmp_path, tree, "memory.flash.size_bytes") == [("flash0", 2 << 20, None)]


def test_memory_regions_clocks_and_cores_in_the_bindings_of_zephyr(tmp_path):
    tree = """/ { #address-cells = <1>; #size-cells = <1>;
      cpus { cpu@0 { device_type = "cpu"; compatible = "arm,cortex-m4f"; xtal-freq = <DT_FREQ_M(40)>; }; };
      ccm0: memory@10000000 { compatible = "zephyr,memory-region"; reg = <0x10000000 DT_SIZE_K(64)>; };
      regs: memory@1a000000 { compatible = "zephyr,memory-region"; reg = <0x1a000000 DT_SIZE_M(8)>; };
      ccm: ccm@20c4000 { compatible = "x,ccm"; reg = <0x20c4000 0x4000>; };
      hse: clk { compatible = "st,stm32-hse-clock"; clock-frequency = <DT_FREQ_M(8)>; };
      pll: pll { compatible = "x,pll-clock"; clock-frequency = <DT_FREQ_M(8)>; }; };
      &nvic { arm,num-irq-priority-bits = <4>; };"""
    assert said(tmp_path, tree, "cpu.core_type") == [("Cortex-M4F", "Cortex-M4F", None)]
    assert said(tmp_path, tree, "memory.tcm.size_bytes") == [("ccm0", 64 << 10, None)]
    regions = [("ccm0", "0x10000000", None), ("regs", "0x1a000000", None)]
    assert said(tmp_path, tree, "memory.region.base") == regions
    assert said(tmp_path, tree, "mmio.base") == [("ccm", "0x20c4000", None)]
    assert said(tmp_path, tree, "clock.xtal_hz") == [(None, 40_000_000, None), ("hse", 8_000_000, None)]
    assert said(tmp_path, tree, "interrupts.priority_levels") == [("nvic", 16, "derived: 2^4")]


def test_memories_among_the_registers_of_a_core(tmp_path):
    tree = """/ { #address-cells = <1>; #size-cells = <1>; r5: r5f@78000000 { compatible = "x,r5f";
      reg = <0x78000000 0x8000>, <0x78100000 0x4000>, <0x100 0x10>; reg-names = "atcm", "l2sram", "cfg"; }; };"""
    assert said(tmp_path, tree, "memory.tcm.size_bytes") == [("r5 (atcm)", 0x8000, None)]
    assert said(tmp_path, tree, "memory.sram.size_bytes") == [("r5 (l2sram)", 0x4000, None)]
    assert len(said(tmp_path, tree, "mmio.base")) == 3


def test_a_part_of_a_memory_and_a_size_to_be_filled_in_are_no_sizes(tmp_path):
    tree = """/ { #address-cells = <1>; #size-cells = <1>; memory@80000000 { device_type = "memory";
      reg = <0x80000000 0>; };
      ram: sram@1000 { compatible = "mmio-sram"; reg = <0x1000 0x800>; #address-cells = <1>; #size-cells = <1>;
        ranges = <0 0x1000 0x800>; box: shared-sram@400 { reg = <0x400 0x100>; }; }; };"""
    assert said(tmp_path, tree, "memory.sram.size_bytes") == [("ram", 0x800, None)]
    assert ("box", "0x1400", "part of ram") in said(tmp_path, tree, "memory.region.base")
    assert said(tmp_path, tree, "memory.dram.size_bytes") == []
    assert ("memory@80000000", "0x80000000", None) in said(tmp_path, tree, "memory.region.base")


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("clk_hse", "clock.xtal_hz"),
        ("clk_hsi", "clock.rc_fast_hz"),
        ("xo_board", "clock.xtal_hz"),
        ("ckil", "clock.xtal_hz"),
        ("frosc", "clock.rc_fast_hz"),
        ("sosc", "clock.xtal_hz"),
        ("iosc", "clock.rc_fast_hz"),
        ("oscillator", "clock.xtal_hz"),
        ("clk_lfxo", "clock.xtal_hz"),
        ("clk_lfrc", "clock.rc_fast_hz"),
        ("pclk", None),
    ],
)
def test_crystals_and_the_oscillators_inside_the_chip(tmp_path, name, field):
    tree = f'/ {{ {name} {{ compatible = "fixed-clock"; clock-frequency = <1000000>; }}; }};'
    assert [c.field for c in read(tmp_path, tree)] == ([field] if field else [])


def test_a_slow_oscillator_inside_the_chip(tmp_path):
    tree = '/ { clk_lsi { compatible = "fixed-clock"; clock-frequency = <32000>; }; };'
    assert said(tmp_path, tree, "clock.rc_hz") == [("clk_lsi", 32000, None)]


def test_operating_points_of_the_first_binding(tmp_path):
    tree = """/ { cpus { #address-cells = <1>; #size-cells = <0>; cpu0: cpu@0 { device_type = "cpu";
      compatible = "arm,cortex-a9"; reg = <0>; operating-points = < 996000 1250000 1200000 1275000 396000 975000 >; };
    }; };"""
    assert said(tmp_path, tree, "cpu.clock_hz") == [("Cortex-A9", 1.2e9, "highest operating point of cpu0")]


GPU = "&clk GPU3D_CORE>, <&clk GPU3D_SHADER>, <&clk GPU_AXI"


@pytest.mark.parametrize(
    ("clocks", "rates", "found"),
    [
        (GPU, "800000000>, <1000000000>, <400000000", 800_000_000),
        ("&clk GPU_A>, <&clk GPU_B>, <&clk GPU_AHB", "7>, <7>, <5", 7),
        ("&clk GPU_A>, <&clk GPU_B", "7>, <8", None),
    ],
)
def test_the_boot_rate_of_a_unit_with_several_clocks(tmp_path, clocks, rates, found):
    tree = f"""/ {{ gpu: gpu@1 {{ compatible = "x,gpu"; assigned-clocks = <{clocks}>;
      assigned-clock-rates = <{rates}>; }}; }};"""
    assert [value for _, value, _ in said(tmp_path, tree, "gpu.clock_hz")] == ([found] if found else [])


@pytest.mark.parametrize(
    ("node", "compatible", "field", "model"),
    [
        ("gpu", '"qcom,adreno-630.2", "qcom,adreno"', "gpu.model", "Adreno 630"),
        ("gpu", '"ti,x-gpu", "img,powervr-sgx544"', "gpu.model", "PowerVR SGX544"),
        ("gpu", '"x,mali", "arm,mali-t760"', "gpu.model", "Mali-T760"),
        ("npu", '"arm,ethos-u55"', "npu.model", "Ethos-U55"),
        ("gpu", '"x,mali", "arm,mali-bifrost"', None, None),
    ],
)
def test_models_of_accelerators(tmp_path, node, compatible, field, model):
    found = read(tmp_path, f"/ {{ {node}@1 {{ compatible = {compatible}; }}; }};")
    assert [(c.field, c.value) for c in found] == ([(field, model)] if field else [])


def test_what_cores_and_their_controllers_count(tmp_path):
    tree = """/ { cpus { cpu@0 { device_type = "cpu"; compatible = "x,u74"; d-tlb-size = <32>; i-tlb-size = <40>;
        next-level-cache = <&l2>; }; l2: l2 { compatible = "cache"; cache-level = <2>; cache-size = <0x10000>;
        cache-block-size = <64>; cache-sets = <128>; }; };
      timer { compatible = "arm,armv8-timer"; clock-frequency = <24000000>; };
      nvic: nvic { interrupt-controller; arm,num-irq-priority-bits = <3>; };
      icu: icu { interrupt-controller; mrvl,intc-nr-irqs = <64>; };
      dma: dma { #dma-cells = <1>; dma-requests = <0>; }; };"""
    found = {(c.field, c.instance): c.value for c in read(tmp_path, tree)}
    assert found["cpu.tlb.entries", "u74 data TLB"] == 32
    assert found["cpu.tlb.entries", "u74 instruction TLB"] == 40
    assert (found["cpu.l2_cache.line_bytes", "u74"], found["cpu.l2_cache.ways", "u74"]) == (64, 8)
    assert found["cpu.clock_timebase_hz", None] == 24_000_000
    assert found["interrupts.priority_levels", "nvic"] == 8
    assert found["interrupts.count", "icu"] == 64
    assert "dma.requests" not in {field for field, _ in found}


def test_lines_of_a_controller_that_names_their_kind_first(tmp_path):
    tree = """/ { interrupt-parent = <&aic>; aic: ic { interrupt-controller; #interrupt-cells = <3>; };
      i2c0: i2c { interrupts = <AIC_IRQ 627 IRQ_TYPE_LEVEL_HIGH>; };
      pmu { interrupts = <AIC_FIQ CORE_PMU IRQ_TYPE_LEVEL_HIGH>; }; };"""
    assert said(tmp_path, tree, "interrupts.irq") == [("i2c0", 627, "AIC line")]
