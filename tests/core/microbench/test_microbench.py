"""Samples that are known say what they were made from; the measuring program runs for real."""

import datetime
import json
import random
from pathlib import Path
from types import SimpleNamespace

import pytest
import typer

from metainfer_core.cli import console, profile_commands
from metainfer_core.errors import InputError, UnsupportedError
from metainfer_core.microbench.findings import alignment, cache_steps, chase_points
from metainfer_core.microbench.measure import (
    SWEPT_CHANNELS,
    Measurement,
    Sample,
    chased_sizes,
    everything,
    interrupted_share,
    measure,
    spread,
)
from metainfer_core.microbench.new_version import Run, measured_values, new_version, next_version
from metainfer_core.microbench.program import Program
from metainfer_core.microbench.this_machine import unit_of_this_machine
from metainfer_core.spec.checking.validate import validate
from metainfer_core.spec.drafting.host import host_spec
from metainfer_core.spec.files.yaml_file import parse_spec, read_spec, save_spec, write_spec
from metainfer_core.spec.hardware_spec import HardwareSpec

KIB = 1024
RUN = Run("2026-05-04", "Tarn", "g++ 12", "sha256:" + "1" * 64, "tarn_v1.1.0.measured.json")
SPEC = HardwareSpec.from_plain(
    {
        "name": "tarn",
        "version": "1.0.0",
        "compute_units": {
            "cpu": {
                "kind": "cpu",
                "core_type": "Tarn",
                "cores": 2,
                "clock_hz": {"max": 2e9},
                "l1d_cache": {"size_bytes": {"typ": 32 * KIB}, "sharing_mode": "per_core"},
                "launch_overhead_us": {"typ": 1},
            }
        },
        "memories": {"dram": {"kind": "dram", "size_bytes": {"typ": 1 << 30}, "bandwidth_gbps": {"typ": 10}}},
        "assumed": {"memories.dram.bandwidth_gbps": "a guess", "compute_units.cpu.launch_overhead_us": "a guess"},
        "change_log": ["v1.0.0: first version"],
    }
)


def time_of(size):
    """Of a machine with 32 KiB at 1 ns, 512 KiB at 4 ns, and memory of 80 ns."""
    return 1.0 if size <= 32 * KIB else 4.0 if size <= 512 * KIB else 80.0


def sample(name, amount, ns_each, noise=0.01, repetitions=9, seed=0):
    generator = random.Random(f"{name} {seed}")
    times = tuple(max(1, round(amount * ns_each * (1 + noise * generator.random()))) for _ in range(repetitions))
    return Sample(measurement=Measurement(name=name, words=tuple(name.split()), amount=amount), nanoseconds=times)


def samples(channel_width=16):
    found = {f"chase {size}": sample(f"chase {size}", 20_000, time_of(size)) for size in chased_sizes(64 << 20)}
    found["clock"] = sample("clock", 400_000, 0.5)  # 2 GHz
    found["read 1"] = sample("read 1", 1e8, 1 / 6)
    found["read 2"] = sample("read 2", 2e8, 1 / 9)
    found["call"] = sample("call", 100_000, 25.0)
    for kernel, rate in (("gemm_float32", 32.0), ("gemm_int8", 64.0)):
        for channels in SWEPT_CHANNELS:
            padded = -(-channels // channel_width) * channel_width
            name = f"{kernel} {channels}"
            found[name] = sample(name, 4e6, padded / channels / rate)
    return found


def test_levels_of_memory_are_found_where_they_end():
    steps = cache_steps(chase_points(samples()))
    assert [(step.fits_bytes, round(step.nanoseconds.nominal)) for step in steps] == [
        (32 * KIB, 1), (512 * KIB, 4), (64 << 20, 80),
    ]  # fmt: skip
    assert [step.too_large_bytes for step in steps] == [48 * KIB, 768 * KIB, None]


def test_what_lies_partly_in_two_levels_belongs_to_none():
    points = [
        (size * KIB, spread([t])) for size, t in [(8, 1.0), (16, 1.01), (24, 1.9), (32, 4.0), (48, 4.1), (64, 4.0)]
    ]
    assert [(step.fits_bytes, step.too_large_bytes) for step in cache_steps(points)] == [
        (16 * KIB, 32 * KIB), (64 * KIB, None),
    ]  # fmt: skip


@pytest.mark.parametrize("width", [1, 2, 4, 8, 16, 32])
def test_the_alignment_is_found_that_the_arithmetic_has(width):
    generator = random.Random(width)
    rates = {c: 50 * c / (-(-c // width) * width) * (1 - 0.01 * generator.random()) for c in SWEPT_CHANNELS}
    assert alignment(rates) == width


def test_overhead_that_wide_products_hide_is_no_alignment():
    assert alignment({channels: channels / (1 + channels / 50) for channels in SWEPT_CHANNELS}) == 1


def test_interrupted_repetitions_are_left_out_and_counted():
    quiet = Sample(measurement=Measurement(name="call", words=(), amount=10), nanoseconds=(100, 110, 105))
    busy = Sample(measurement=quiet.measurement, nanoseconds=(100, 110, 5000))
    assert busy.kept == (100, 110)
    assert (busy.nanoseconds_each.low, busy.nanoseconds_each.high) == (10.0, 11.0)
    assert interrupted_share([quiet, busy]) == pytest.approx(1 / 6)


def test_the_order_is_that_of_the_seed_and_all_are_measured():
    class Recorder:
        def __init__(self):
            self.ran = []

        def run(self, *words, repetitions):
            self.ran.append(words)
            return (1000,) * repetitions

    plan, ran = everything(2, 1 << 20, 1 << 30), []
    for seed in (5, 5, 6):
        recorder = Recorder()
        assert list(measure(recorder, plan, 3, seed, lambda *_: None)) == [each.name for each in plan]
        ran.append(recorder.ran)
    assert ran[0] == ran[1] != ran[2]
    assert sorted(map(str, ran[0])) == sorted(map(str, ran[2]))


def test_a_new_version_holds_ranges_and_leaves_what_a_document_states():
    before = SPEC.plain()
    after = new_version(SPEC, measured_values(SPEC, "cpu", samples()), RUN, next_version(SPEC.version))
    unit = after.compute_units["cpu"]
    assert SPEC.plain() == before
    assert (after.version, after.last_verified_date) == ("1.1.0", "2026-05-04")
    assert unit.clock_hz == SPEC.compute_units["cpu"].clock_hz
    assert unit.l1d_cache.size_bytes.typ == 32 * KIB
    assert unit.l1d_cache.latency_cycles.nominal == pytest.approx(2, rel=0.02)
    assert unit.l2_cache.latency_cycles.nominal == pytest.approx(8, rel=0.02)
    assert (unit.l2_cache.size_bytes.min, unit.l2_cache.size_bytes.max) == (512 * KIB, 768 * KIB - 1)
    assert after.memories["dram"].latency_cycles.nominal == pytest.approx(160, rel=0.02)
    assert after.memories["dram"].bandwidth_gbps.nominal == pytest.approx(9, rel=0.02)
    assert unit.launch_overhead_us.nominal == pytest.approx(0.025, rel=0.02)
    assert unit.macs_per_cycle["float32"].nominal == pytest.approx(16, rel=0.02)
    assert unit.macs_per_cycle["int8"].nominal == pytest.approx(32, rel=0.02)
    assert unit.channel_multiple == 16
    latency = unit.l1d_cache.latency_cycles
    assert latency.min < latency.typ < latency.max
    assert latency.std > 0


def test_what_was_assumed_is_now_traced_to_the_record():
    after = new_version(SPEC, measured_values(SPEC, "cpu", samples()), RUN, "1.1.0")
    assert after.assumed == {}
    assert after.sources["microbenchmarks"].document_digest == RUN.digest
    assert after.provenance["memories.dram.bandwidth_gbps"].page == "read 2"
    assert after.change_log[-1].startswith("v1.1.0: ")
    assert after.change_log[-1].endswith("measured on Tarn")
    found = validate(write_spec(after), "tarn_v1.1.0.yaml", datetime.date(2026, 5, 5))
    assert [finding.message for finding in found if finding.severity == "error"] == []
    assert parse_spec(write_spec(after), "tarn_v1.1.0.yaml") == after


def test_no_alignment_is_written_where_there_is_none():
    paths = [each.path for each in measured_values(SPEC, "cpu", samples(channel_width=1))]
    assert "compute_units.cpu.channel_multiple" not in paths


@pytest.mark.parametrize(("version", "following"), [("1.0.0", "1.1.0"), ("2.9.4", "2.10.0"), ("draft", "1.1.0")])
def test_versions_go_on(version, following):
    assert next_version(version) == following


def test_another_machine_is_refused():
    host = HardwareSpec.from_plain(
        {"name": "h", "version": "1.0.0", "compute_units": {"cpu": {"kind": "cpu", "core_type": "Cortex-A76"}}}
    )
    with pytest.raises(InputError, match="does not describe this machine"):
        unit_of_this_machine(SPEC, None, host)
    with pytest.raises(InputError, match="does not describe this machine"):
        unit_of_this_machine(SPEC, "cpu", host)
    with pytest.raises(InputError, match="has no CPU 'gpu'"):
        unit_of_this_machine(SPEC, "gpu", host)
    assert unit_of_this_machine(host, None, host) == ("cpu", "Cortex-A76")


def test_the_program_measures_this_machine(tmp_path):
    program = Program(tmp_path)
    near = program.run("chase", 16 * KIB, 20_000, 1, repetitions=5)
    far = program.run("chase", 64 * KIB * KIB, 20_000, 1, repetitions=5)
    assert min(far) > 3 * min(near)
    full = min(program.run("gemm_float32", 64, 16, 256, repetitions=5))
    assert full > 0
    with pytest.raises(UnsupportedError, match="The measurement dance failed"):
        program.run("dance")


def run_command(monkeypatch, capsys, *words):
    monkeypatch.setattr("sys.argv", ["meta-infer", "profile", *words])
    app = typer.Typer(no_args_is_help=True)
    profile_commands.commands(app)
    app.callback()(lambda: None)
    with pytest.raises(SystemExit) as ended:
        console.run(app)
    printed = capsys.readouterr()
    return int(str(ended.value.code)), printed.out, printed.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "nothing to measure"),
        (("--full",), "needs the spec"),
        (("x.bin", "--full"), "Both a package and --full"),
        (("x.bin",), "x.bin"),
    ],
)
def test_what_cannot_be_measured_is_said(monkeypatch, capsys, tmp_path, words, message):
    monkeypatch.chdir(tmp_path)
    status, _, err = run_command(monkeypatch, capsys, *words)
    assert status == 2
    assert message in err


def test_nothing_is_overwritten(monkeypatch, capsys, tmp_path):
    spec = tmp_path / "here_v1.0.0.yaml"
    save_spec(HardwareSpec.from_plain(host_spec().plain() | {"name": "here"}), spec)
    there = tmp_path / "here_v1.1.0.yaml"
    there.write_text("mine")
    unit = next(iter(read_spec(spec).compute_units))
    status, _, err = run_command(monkeypatch, capsys, "--full", "--hw-spec", str(spec), "--unit", unit)
    assert (status, "nothing is overwritten" in err) == (2, True)
    assert there.read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["here_v1.0.0.yaml", "here_v1.1.0.yaml"]


@pytest.mark.slow
def test_this_machine_is_measured_into_a_new_version(monkeypatch, capsys, tmp_path):
    spec = tmp_path / "here_v1.0.0.yaml"
    save_spec(HardwareSpec.from_plain(host_spec().plain() | {"name": "here"}), spec)
    before, unit = spec.read_bytes(), next(iter(read_spec(spec).compute_units))
    status, out, _ = run_command(
        monkeypatch, capsys, "--full", "--hw-spec", str(spec), "--unit", unit, "--repetitions", "3", "--json"
    )
    answer = json.loads(out)
    assert status == 0
    assert spec.read_bytes() == before
    after = read_spec(Path(answer["spec"]))
    assert after.version == "1.1.0"
    assert after.compute_units[unit].macs_per_cycle["float32"].nominal > 0.1
    assert not [path for path in after.assumed if "bandwidth" in path or "macs" in path or "launch" in path]
    record = json.loads((tmp_path / "here_v1.1.0.measured.json").read_bytes())
    assert len(record["samples"]) > 100


def test_a_spec_and_its_record_are_written_both_or_not_at_all(monkeypatch, capsys, tmp_path):
    """A record left alone would keep the next run from writing; what another run wrote meanwhile stays."""
    spec = tmp_path / "here_v1.0.0.yaml"
    save_spec(HardwareSpec.from_plain(host_spec().plain() | {"name": "here"}), spec)
    unit = next(iter(read_spec(spec).compute_units))
    monkeypatch.setattr(profile_commands, "Program", lambda _: SimpleNamespace(compiler="c++"))
    monkeypatch.setattr(profile_commands, "measured_values", lambda *_: {})
    monkeypatch.setattr(profile_commands, "_report", lambda *_: None)
    there = tmp_path / "here_v1.1.0.yaml"

    def full_disk(*_):
        raise InputError("full")

    def another_was_faster(*_):
        there.write_text("theirs")
        return {}

    command = ("--full", "--hw-spec", str(spec), "--unit", unit)
    monkeypatch.setattr(profile_commands, "measure", lambda *_: {})
    with monkeypatch.context() as full:
        full.setattr(profile_commands, "save_spec", full_disk)
        assert run_command(monkeypatch, capsys, *command)[0] == 2
    assert list(tmp_path.iterdir()) == [spec]
    monkeypatch.setattr(profile_commands, "measure", another_was_faster)
    status, _, err = run_command(monkeypatch, capsys, *command)
    assert (status, f"{there}: this is there already." in err) == (2, True)
    assert there.read_text() == "theirs"
    assert sorted(tmp_path.iterdir()) == [spec, there]
