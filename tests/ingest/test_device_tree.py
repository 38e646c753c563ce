import struct

import pytest

from hwdoc_ingest.device_trees.device_tree import read_device_tree, read_device_tree_blob
from hwdoc_ingest.device_trees.device_tree_source import parse_source
from hwdoc_ingest.intake.read_document import read_document
from hwdoc_ingest.reading import no_progress
from metainfer_core.errors import InputError

CHIP = """\
/dts-v1/;
#include <dt-bindings/interrupt-controller/arm-gic.h>
#define SPI_OF(n) ((n) - 32)
#define SHIFT 5
/ {
	compatible = "acme,devkit", "acme,a1000";
	#address-cells = <2>;
	#size-cells = <2>;
	interrupt-parent = <&gic>;
	cpus {
		#address-cells = <1>;
		#size-cells = <0>;
		cpu0: cpu@0 {
			device_type = "cpu"; compatible = "arm,cortex-a55";
			reg = <0x0>;
			i-cache-size = <0x8000>;
			i-cache-line-size = <64>;
			i-cache-sets = <(1 << 7)>; /* four ways */
			d-cache-size = <(32 * 1024)>;
			next-level-cache = <&l2>;
			operating-points-v2 = <&points>;
		};
		cpu1: cpu@1 {
			device_type = "cpu"; compatible = "arm,cortex-a55";
			reg = <0x1>;
			i-cache-size = <0x8000>;
			i-cache-line-size = <64>;
			i-cache-sets = <128>;
			d-cache-size = <0x8000>;
			next-level-cache = <&l2>;
			operating-points-v2 = <&points>;
		};
		l2: l2-cache { compatible = "cache"; cache-size = <0x40000>; cache-line-size = <64>; cache-sets = <512>; };
	};
	points: opp-table {
		opp-1 { opp-hz = /bits/ 64 <1200000000>; };
		opp-2 { opp-hz = /bits/ 64 <1800000000>; };
	};
	osc: clock { compatible = "fixed-clock"; clock-frequency = <24000000>; clock-output-names = "xtal"; };
	pll: pll { compatible = "fixed-clock"; clock-frequency = <700000000>; };
	memory@80000000 { device_type = "memory"; reg = <0x0 0x80000000 0x1 0x0>; };
	soc {
		#address-cells = <1>;
		#size-cells = <1>;
		ranges = <0x0 0x0 0x30000000 0x10000000>;
		gic: interrupt-controller@800000 {
			compatible = "arm,gic-v3"; #interrupt-cells = <3>; interrupt-controller; reg = <0x800000 0x10000>;
		};
		uart0: serial@1000 {
			compatible = "acme,uart";
			reg = <0x1000 0x100>;
			interrupts = <GIC_SPI SPI_OF(42) 4>;
			status = "disabled";
		};
		uart1: serial@2000 { reg = <0x2000 0x100>, <0x2100 0x10>; interrupts = <GIC_SPI UNKNOWN_LINE 4>; };
		timer { interrupts = <GIC_PPI 13 8>, <GIC_PPI 14 8>; interrupt-names = "secure", "plain"; };
		i2c@3000 {
			#address-cells = <1>;
			#size-cells = <0>;
			reg = <0x3000 0x100>;
			sensor@48 { reg = <0x48>; };
		};
		dma: dma-controller@4000 {
			compatible = "snps,axi-dma-1.01a";
			reg = <0x4000 0x1000>;
			#dma-cells = <1>;
			dma-channels = <8>;
			snps,data-width = <SHIFT>;
		};
		npu: npu@5000 {
			compatible = "acme,npu";
			reg = <0x5000 0x1000>;
			assigned-clocks = <&osc>, <&pll 3>;
			assigned-clock-rates = <0>, <600000000>;
		};
		ocram: sram@900000 { compatible = "mmio-sram"; reg = <0x900000 0x20000>; };
		doomed: gone@1 { reg = <0x1 0x1>; };
		/delete-node/ gone@1;
	};
};
&uart1 { status = "okay"; /* extended */ };
&elsewhere { status = "okay"; };
"""


def read(tmp_path, text):
    path = tmp_path / "chip.dts"
    path.write_text(text)
    return read_device_tree(path, "chip", no_progress)


def said(reading):
    return {(c.field, c.instance): (c.max if c.value is None else c.value) for c in reading.candidates}


@pytest.fixture
def reading(tmp_path):
    return read(tmp_path, CHIP)


@pytest.mark.parametrize(
    ("field", "instance", "value"),
    [
        ("chip.name", None, "a1000"),
        ("cpu.cores", "Cortex-A55", 2),
        ("cpu.core_type", "Cortex-A55", "Cortex-A55"),
        ("cpu.l1i_cache.size_bytes", "Cortex-A55", 32768),
        ("cpu.l1i_cache.line_bytes", "Cortex-A55", 64),
        ("cpu.l1i_cache.sets", "Cortex-A55", 128),
        ("cpu.l1i_cache.ways", "Cortex-A55", 4),
        ("cpu.l1d_cache.size_bytes", "Cortex-A55", 32768),
        ("cpu.l2_cache.size_bytes", "Cortex-A55", 262144),
        ("cpu.l2_cache.line_bytes", "Cortex-A55", 64),
        ("cpu.l2_cache.ways", "Cortex-A55", 8),
        ("cpu.clock_hz", "Cortex-A55", 1.8e9),
        ("clock.xtal_hz", "osc", 24000000),
        ("memory.region.base", "memory@80000000", "0x80000000"),
        ("memory.dram.size_bytes", "memory@80000000", 1 << 32),
        ("memory.sram.size_bytes", "ocram", 0x20000),
        ("memory.region.base", "ocram", "0x30900000"),
        ("mmio.base", "gic", "0x30800000"),
        ("mmio.base", "uart0", "0x30001000"),
        ("mmio.base", "uart1", "0x30002000"),
        ("mmio.base", "uart1 (reg 2)", "0x30002100"),
        ("mmio.base", "i2c@3000", "0x30003000"),
        ("interrupts.irq", "uart0", 10),
        ("interrupts.irq", "timer (secure)", 13),
        ("dma.channels", "dma", 8),
        ("dma.data_width_bits", "dma", 256),
        ("npu.clock_hz", "npu", 600000000),
    ],
)
def test_values(reading, field, instance, value):
    assert said(reading)[field, instance] == value


def test_what_is_not_said(reading):
    fields = said(reading)
    assert ("mmio.base", "sensor@48") not in fields  # an address on I2C is none of the processor's
    assert ("mmio.base", "ocram") not in fields
    assert ("mmio.base", "gone@1") not in fields
    assert ("interrupts.irq", "uart1") not in fields
    assert ("clock.xtal_hz", "pll") not in fields


def test_where_and_how_sure(reading):
    one = next(c for c in reading.candidates if c.field == "interrupts.irq" and c.instance == "uart0")
    line = CHIP.split("\n").index("\t\t\tinterrupts = <GIC_SPI SPI_OF(42) 4>;") + 1
    assert (one.page, one.text) == (line, "interrupts = <GIC_SPI SPI_OF(42) 4>;")
    assert one.condition == "GIC SPI; hardware interrupt 42; disabled in this file"
    rate = next(c for c in reading.candidates if c.field == "npu.clock_hz")
    assert rate.confidence == 0.5
    assert "not the maximum" in rate.condition
    cache = next(c for c in reading.candidates if c.field == "cpu.l2_cache.size_bytes")
    assert cache.sharing == "shared"


def test_what_is_missing_is_noted(reading):
    assert reading.notes[0].startswith("line 2: <dt-bindings/interrupt-controller/arm-gic.h> is included")
    assert any("UNKNOWN_LINE in interrupts of uart1 is defined elsewhere" in note for note in reading.notes)


def test_riscv_interrupts_of_a_plic(tmp_path):
    text = """/ { #address-cells = <1>; #size-cells = <1>; interrupt-parent = <&plic>;
    cpus { timebase-frequency = <1000000>; cpu@0 { device_type = "cpu"; compatible = "sifive,u74", "riscv";
      riscv,isa = "rv64imafdc";
      intc: interrupt-controller { compatible = "riscv,cpu-intc"; #interrupt-cells = <1>; }; }; };
    plic: plic@c000000 { #interrupt-cells = <1>; reg = <0xc000000 0x4000000>; riscv,ndev = <52>;
      interrupts-extended = <&intc 11>, <&intc 9>; };
    spi: spi@1000 { reg = <0x1000 0x100>; interrupts = <7>, <8>; };
    mixed: mixed@2000 { reg = <0x2000 0x100>; interrupts-extended = <&intc 3>, <&plic 9>; }; };"""
    fields = said(read(tmp_path, text))
    assert fields["cpu.isa", "u74"] == "rv64imafdc"
    assert fields["cpu.clock_timebase_hz", None] == 1000000
    assert fields["interrupts.external_count", "plic"] == 52
    assert (fields["interrupts.irq", "spi"], fields["interrupts.irq", "spi (interrupt 2)"]) == (7, 8)
    assert ("interrupts.irq", "plic") not in fields
    assert 3 not in {value for (field, _), value in fields.items() if field == "interrupts.irq"}


def test_what_another_file_includes(tmp_path):
    """A bus that is only extended here, and a root whose widths stand elsewhere."""
    text = """&bus { uart: serial@2800000 { reg = <0x0 0x2800000 0x0 0x100>; }; };
    &i2c { sensor@48 { reg = <0x48>; }; };
    / { spi: spi@12d20000 { reg = <0x12d20000 0x100>; }; };"""
    reading = read(tmp_path, text)
    assert said(reading) == {("mmio.base", "uart"): "0x2800000", ("mmio.base", "spi"): "0x12d20000"}
    uart = next(c for c in reading.candidates if c.instance == "uart")
    assert (uart.confidence, uart.condition) == (0.7, "address on &bus, which stands in another file")


def test_macros_in_the_place_of_values_labels_and_statements(tmp_path):
    text = """/ { LABEL(x): node { function = LED_STATUS; pins = PIN(1, 2); name = PRE "fix"; after = <1>; };
    PINS(gpa0, (1 + 2));
    long = "one", \\
      "two"; };"""
    tree = parse_source(text.replace("\\\\", "\\"), tmp_path)
    assert tree.root.children["node"].number("after") == 1
    assert tree.root.texts("long") == ("one", "two")
    assert [note.split(": ")[1] for note in tree.notes] == [
        "LED_STATUS in function is defined elsewhere.",
        "PIN in pins is defined elsewhere.",
        "PINS(gpa0, (1 + 2)) is a macro that is not known here.",
    ]


def test_the_same_core_with_other_caches_stays_apart(tmp_path):
    def core(at, size):
        return f'cpu@{at} {{ device_type = "cpu"; compatible = "arm,cortex-a7"; i-cache-size = <{size}>; }};'

    reading = read(tmp_path, f"/ {{ cpus {{ {core(0, 16384)} {core(1, 32768)} {core(2, 32768)} }}; }};")
    sizes = [c.value for c in reading.candidates if c.field == "cpu.l1i_cache.size_bytes"]
    assert sizes == [16384, 32768]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("/ {\n a = <1 2;\n};", ":2: "),
        ("/ {\n a = <1>\n};", ":3: "),
        ("/ {\n node {\n", "is not closed"),
        ("/ {\n a = ;\n};", ":2: "),
        ("/ {\n a = /frobs/ <1>;\n};", "/frobs/ is no value"),
        ("/ { " * 100 + "};" * 100, "nested more than 64 deep"),
        ("/ { a = <(1 + 2>; };", "')' was expected"),
    ],
)
def test_broken_source_names_its_line(tmp_path, text, place):
    with pytest.raises(InputError) as fault:
        read(tmp_path, text)
    assert place in str(fault.value)


def test_preprocessor_lines(tmp_path):
    text = "#if 0\n/ { a = <1>; };\n#else\n/ { b = <2>; };\n#endif\n#ifdef X\n/ { c = <3>; };\n#endif\n"
    tree = parse_source(text, tmp_path)
    assert sorted(tree.root.properties) == ["b", "c"]
    assert tree.notes == ["line 6: #ifdef X is not decided here: both branches were read."]


def test_comment_marks_inside_a_text(tmp_path):
    tree = parse_source('/ { url = "http://x/*y*/"; /* out */ };', tmp_path)
    assert tree.root.texts("url") == ("http://x/*y*/",)


def blob(node):
    """A device tree blob of (name, {property: bytes}, [nodes])."""
    strings = bytearray()

    def part(node):
        name, properties, children = node
        words = struct.pack(">I", 1) + name.encode() + b"\0"
        words += b"\0" * (-len(words) % 4)
        for key, value in properties.items():
            words += struct.pack(">III", 3, len(value), len(strings)) + value + b"\0" * (-len(value) % 4)
            strings.extend(key.encode() + b"\0")
        return words + b"".join(map(part, children)) + struct.pack(">I", 2)

    structure = part(node) + struct.pack(">I", 9)
    offset = 40
    total = offset + len(structure) + len(strings)
    header = (0xD00DFEED, total, offset, offset + len(structure), 40, 17, 16, 0, len(strings), len(structure))
    return struct.pack(">10I", *header) + structure + bytes(strings)


CELL = {number: struct.pack(">I", number) for number in (1, 2, 7, 0x1000, 0x100, 0x4000)}
SMALL = (
    "",
    {"#address-cells": CELL[1], "#size-cells": CELL[1], "compatible": b"acme,a1\0", "interrupt-parent": CELL[7]},
    [
        ("pic@4000", {"reg": CELL[0x4000] + CELL[0x100], "#interrupt-cells": CELL[1], "phandle": CELL[7]}, []),
        ("serial@1000", {"reg": CELL[0x1000] + CELL[0x100], "interrupts": CELL[2]}, []),
    ],
)


def test_a_blob_says_what_its_source_says(tmp_path):
    path = tmp_path / "a.dtb"
    path.write_bytes(blob(SMALL))
    reading = read_device_tree_blob(path, "a", no_progress)
    fields = said(reading)
    assert fields["mmio.base", "serial@1000"] == "0x1000"
    assert fields["interrupts.irq", "serial@1000"] == 2
    one = next(c for c in reading.candidates if c.field == "mmio.base" and c.value == "0x1000")
    assert (one.page, one.text) == ("/serial@1000", "reg = <0x1000 0x100>;")


def lay_out(folder, node):
    """The folders in which Linux shows the tree (name, {property: bytes}, [nodes])."""
    folder.mkdir()
    for name, data in node[1].items():
        (folder / name).write_bytes(data)
    for child in node[2]:
        lay_out(folder / child[0], child)


def test_a_live_tree_says_what_its_blob_says(tmp_path):
    lay_out(tmp_path / "device-tree", SMALL)
    (tmp_path / "device-tree" / "circle").symlink_to(tmp_path / "device-tree")
    (tmp_path / "a.dtb").write_bytes(blob(SMALL))
    live = read_document(tmp_path / "device-tree", "a", no_progress)
    assert said(live) == said(read_document(tmp_path / "a.dtb", "a", no_progress))


@pytest.mark.parametrize("end", range(8, 250, 11))
def test_a_cut_blob_is_refused(tmp_path, end):
    path = tmp_path / "cut.dtb"
    path.write_bytes(blob(SMALL)[:end])
    with pytest.raises(InputError, match="broken at byte"):
        read_device_tree_blob(path, "cut", no_progress)


def test_a_spec_is_drafted_from_a_tree_in_one_command(tmp_path, monkeypatch, capsys):
    import json

    import typer

    from metainfer_core.cli import console, spec_commands
    from metainfer_core.spec.files.yaml_file import read_spec

    tree = tmp_path / "board.dts"
    tree.write_text(
        '/dts-v1/;\n/ {\n\tcompatible = "acme,board", "acme,tarn";\n\t#address-cells = <1>;\n\t#size-cells = <1>;\n'
        "\tcpus {\n\t\t#address-cells = <1>;\n\t\t#size-cells = <0>;\n"
        '\t\tcpu@0 { device_type = "cpu"; compatible = "arm,cortex-a55"; reg = <0>; d-cache-size = <0x8000>; };\n\t};\n'
        '\tmemory@80000000 { device_type = "memory"; reg = <0x80000000 0x40000000>; };\n};\n'
    )
    output = tmp_path / "tarn_v1.2.0.yaml"
    monkeypatch.setattr("sys.argv", ["meta-infer", "spec", "from-dts", str(tree), "--output", str(output), "--json"])
    app = typer.Typer(no_args_is_help=True)
    spec_commands.commands(app)
    app.callback()(lambda: None)
    with pytest.raises(SystemExit) as ended:
        console.run(app)
    assert ended.value.code == 0
    spec = read_spec(output)
    assert (spec.name, spec.version) == ("tarn", "1.2.0")
    assert spec.compute_units["cortex_a55"].l1d_cache.size_bytes.typ == 32768
    assert spec.provenance["compute_units.cortex_a55.l1d_cache.size_bytes"].page == 9
    answer = json.loads(capsys.readouterr().out)
    assert answer["spec"] == str(output)
    assert answer["assumed"] == {}


def test_a_machine_without_a_device_tree_says_so(tmp_path, monkeypatch):
    from metainfer_core.cli import spec_commands

    nowhere = tmp_path / "device-tree"
    monkeypatch.setattr(spec_commands, "LIVE_TREE", nowhere)
    with pytest.raises(InputError, match="shows no device tree") as refusal:
        spec_commands.from_device_tree(tmp_path / "x_v1.0.0.yaml", nowhere)
    assert "spec host" in refusal.value.fix


def test_a_tree_that_says_nothing_makes_no_spec(tmp_path):
    from metainfer_core.cli import spec_commands

    empty = tmp_path / "empty.dts"
    empty.write_text("/dts-v1/;\n/ { };\n")
    with pytest.raises(InputError, match="nothing in this device tree"):
        spec_commands.from_device_tree(tmp_path / "x_v1.0.0.yaml", empty)
    assert not (tmp_path / "x_v1.0.0.yaml").exists()
