"""A first spec from what Linux says: of a machine with two kinds of core, threads and NUMA nodes, and of this one."""

import datetime
import json

import pytest

from metainfer_core.errors import InputError, UnsupportedError
from metainfer_core.spec.checking.validate import validate
from metainfer_core.spec.drafting.host import host_spec
from metainfer_core.spec.drafting.host_facts import numbers_of, read_host
from metainfer_core.spec.files.yaml_file import parse_spec, write_spec


def write(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")


def cache(level, kind, size, shared, ways="8"):
    return {"level": level, "type": kind, "size": size, "coherency_line_size": "64", "ways_of_associativity": ways,
            "number_of_sets": str(int(size[:-1]) * 1024 // 64 // int(ways)), "shared_cpu_list": shared}  # fmt: skip


@pytest.fixture
def board(tmp_path):
    """Two big cores with two threads each, two little ones; the last level belongs to all."""
    write(tmp_path, {
        "sys/devices/system/cpu/online": "0-5",
        "sys/devices/system/node/node0/cpulist": "0-3",
        "sys/devices/system/node/node1/cpulist": "4-5",
        "proc/meminfo": "MemTotal:        4194304 kB\nMemFree: 1 kB",
        "proc/device-tree/model": "Tarn Board A\x00",
        "proc/cpuinfo": "\n\n".join(
            f"processor\t: {number}\nmodel name\t: {'Big' if number < 4 else 'Little'}\n"
            f"flags\t\t: fpu sse2 {'avx2 avx512_bf16' if number < 4 else ''}" for number in range(6)
        ),
    })  # fmt: skip
    for number in range(6):
        big = number < 4
        place = f"sys/devices/system/cpu/cpu{number}"
        pair = f"{number // 2 * 2}-{number // 2 * 2 + 1}"
        own = pair if big else str(number)
        write(tmp_path, {
            f"{place}/topology/core_id": str(number // 2 if big else number),
            f"{place}/topology/physical_package_id": "0",
            f"{place}/cpufreq/cpuinfo_max_freq": "2400000" if big else "1800000",
            f"{place}/cpufreq/cpuinfo_min_freq": "600000",
        })  # fmt: skip
        caches = [cache("1", "Data", "64K" if big else "32K", own), cache("1", "Instruction", "32K", own),
                  cache("2", "Unified", "512K" if big else "256K", "0-3" if big else "4-5"),
                  cache("3", "Unified", "4096K", "0-5")]  # fmt: skip
        for index, files in enumerate(caches):
            write(tmp_path, {f"{place}/cache/index{index}/{name}": text for name, text in files.items()})
    return tmp_path


def test_two_kinds_of_core_are_two_units(board):
    spec = host_spec(board, "x86_64")
    big, little = spec.compute_units["cpu0"], spec.compute_units["cpu1"]
    assert (spec.name, big.core_type, little.core_type) == ("tarn_board_a", "Big", "Little")
    assert (big.cores, little.cores) == (2, 2)
    assert (big.clock_hz.min, big.clock_hz.max) == (600e6, 2.4e9)
    assert (big.vector_width_bits, little.vector_width_bits) == (256, 128)
    assert "bfloat16" in big.data_types
    assert "bfloat16" not in little.data_types
    assert spec.other["cpu0.threads"] == 4
    assert spec.memories["dram"].size_bytes.typ == 4 << 30
    assert spec.other["numa.node1.processors"] == "4-5"


def test_sharing_counts_cores_and_not_threads(board):
    spec = host_spec(board, "x86_64")
    big, little = spec.compute_units["cpu0"], spec.compute_units["cpu1"]
    assert (big.l1d_cache.sharing_mode, big.l1d_cache.shared_by) == ("per_core", None)
    assert (big.l2_cache.sharing_mode, big.l2_cache.shared_by) == ("shared", 2)
    assert (little.l2_cache.size_bytes.typ, little.l1d_cache.size_bytes.typ) == (256 << 10, 32 << 10)
    assert (spec.l3_cache.size_bytes.typ, spec.l3_cache.shared_by) == (4 << 20, 4)
    assert big.l3_cache is None


def test_every_value_has_a_file_and_words_or_a_reason(board):
    spec = host_spec(board, "x86_64")
    found = validate(write_spec(spec), "tarn_board_a_v1.0.0.yaml", datetime.date(2026, 1, 1))
    assert [finding.message for finding in found if finding.code != "HW009"] == ["last_verified_date is missing."]
    place = spec.provenance["compute_units.cpu1.clock_hz"]
    assert (place.page, place.text) == ("/sys/devices/system/cpu/cpu4/cpufreq/cpuinfo_max_freq", "1800000")
    assert "macs_per_cycle.float32" in " ".join(spec.assumed)


def test_the_digest_is_that_of_what_was_read(board):
    before = host_spec(board, "x86_64").sources["this_machine"].document_digest
    assert host_spec(board, "x86_64").sources["this_machine"].document_digest == before
    write(board, {"proc/meminfo": "MemTotal: 8388608 kB"})
    assert host_spec(board, "x86_64").sources["this_machine"].document_digest != before


def test_what_the_system_does_not_tell_is_left_out(tmp_path):
    write(
        tmp_path, {"proc/cpuinfo": "processor\t: 0\nBogoMIPS\t: 48.00\nFeatures\t: fp asimd asimdhp\nCPU part\t: 0xd03"}
    )
    spec = host_spec(tmp_path, "aarch64")
    unit = spec.compute_units["cpu"]
    assert unit.core_type == "Cortex-A53"
    assert (unit.cores, unit.clock_hz, unit.l1d_cache, unit.vector_width_bits) == (1, None, None, 128)
    assert "float16" in unit.data_types
    assert spec.memories["dram"].size_bytes is None
    assert parse_spec(write_spec(spec), "x.yaml") == spec


def test_a_system_without_processors_is_refused(tmp_path):
    with pytest.raises(UnsupportedError, match="nothing about its processors"):
        read_host(tmp_path)


@pytest.mark.parametrize(("text", "numbers"), [("0", (0,)), ("0-3,8", (0, 1, 2, 3, 8)), ("7,2-3", (7, 2, 3))])
def test_lists_of_processors(text, numbers):
    assert numbers_of(text) == numbers


@pytest.mark.parametrize("text", ["", "a", "0-99999", "1-"])
def test_what_is_no_list_of_processors(text):
    with pytest.raises(InputError):
        numbers_of(text)


def test_this_machine_can_be_described():
    spec = host_spec()
    assert parse_spec(write_spec(spec), "host_v1.0.0.yaml") == spec
    assert sum(unit.cores or 0 for unit in spec.compute_units.values()) >= 1
    assert json.dumps(spec.plain())
