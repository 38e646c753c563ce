"""Whose a value is where its sentence does not say: the unit, accelerator or part above; and how lists tell of them."""

from phrase_reading import candidates, one, read, spoken, up_to

KB = 1024


def test_a_unit_by_its_number_above_owns_what_stands_below():
    assert read("Integrates 96 KB L2 cache", "CPU subsystem", "CPU2 subsystem") == one(
        "cpu.l2_cache.size_bytes", 96 * KB, "CPU2"
    )
    assert read("24KB TCM", "Processor", "Cluster 1") == one("memory.tcm.size_bytes", 24 * KB, "Cluster 1")
    assert read("96 KB L2 cache", "Memory of 2 CPUs") == one("cpu.l2_cache.size_bytes", 96 * KB)


def test_what_a_sentence_about_an_accelerator_gives_is_the_accelerators():
    assert one("npu.sram.size_bytes", 24 << 20) <= read("Each NPU packs 24 MiB of SRAM for results.")
    assert read("The GPU has a 96 KB L2 cache.") == one("gpu.l2_cache.size_bytes", 96 * KB)
    assert one("memory.sram.size_bytes", 3 << 20) <= read("The AI SoC has 3 MB of SRAM.")


def test_a_rate_is_of_each_unit_or_of_all():
    assert one("npu.tops", 3, "Each NPU") <= read("Each NPU delivers 3 TOPS.")
    assert one("npu.tops", 6, "combined") <= read("The two NPUs deliver a combined 6 TOPS.")
    assert one("npu.tops", 6) <= read("The NPU delivers 6 TOPS.")


def test_a_name_may_stand_apart_from_its_value_by_a_dash():
    assert one("cpu.clock_hz", up_to(1.1e9), "CPU core") <= read("CPU core – up to 1.1 GHz")
    said = candidates(spoken("CPU core – up to 1.1 GHz"))
    assert said[0].text == "CPU core - up to 1.1 GHz"
    assert one("thermal.storage_c", (-45, None, 140)) <= read("Storage temperature -45 – 140 °C")


def test_a_core_is_named_by_all_the_names_that_stand_together():
    said = read("It has four Cortex-A73 big cores at up to 2.1 GHz along with four Cortex-A53 little cores at 1.3 GHz.")
    assert one("cpu.clock_hz", up_to(2.1e9), "Cortex-A73 big cores") <= said
    said = read("The two cores are referred to as Falcon 3 Gold and have a maximum clock speed of 2.1 GHz.")
    assert one("cpu.clock_hz", up_to(2.1e9), "Falcon 3 Gold") <= said


def test_a_graphics_processor_without_the_word_gpu_has_its_own_clock():
    said = read("It has a Mali G71 (10 core) IGP operating at 750 MHz and two CPUs.")
    assert one("gpu.clock_hz", 750_000_000) | one("gpu.cores", 10) <= said
    assert not any(field == "cpu.clock_hz" for field, *_ in said)


def test_what_is_counted_below_a_processors_name_is_its_cores():
    assert one("cpu.cores", 6, "Cluster1") <= read("Hexa-core", "RISC-V processor", "Cluster1")
    assert not any(field == "cpu.cores" for field, *_ in read("Quad-core", "Security"))
    assert one("cpu.cores", 2, "Falcon 2") <= read("CPU core – Dual Falcon 2, 64-bit")
    assert one("cpu.cores", 3, "Cortex-A75") <= read("the chip has three high-end custom Cortex-A75 cores")
    assert one("cpu.cores", 8) <= read("an octacore system-on-chip")
    assert one("cpu.cores", 6, "Cortex-A55") <= read("CPU: 6× Cortex-A55 at 1.7 GHz")


def test_a_memory_with_its_size_first_is_one_that_is_there():
    assert one("memory.dram.size_bytes", 6 << 30) <= read("Memory: 6 GB LPDDR5 128-bit")
    for said in ("Supports 6 GB LPDDR5", "6 GB LPDDR5 per channel", "6 GB LPDDR4/LPDDR5"):
        assert not any(field == "memory.dram.size_bytes" for field, *_ in read(said, "Memory")), said


def test_how_a_memory_is_told_in_lists():
    assert one("memory.dram.channel_width_bits", 16) <= read("16-bit per channel LPDDR4, two channels", "DDR")
    assert one("memory.dram.data_rate_mtps", up_to(2933), "LPDDR4") <= read("LPDDR4, the max speed is 2933Mbps", "DDR")
    assert one("memory.dram.bus_width_bits", 64) <= read("One 64-bit DDR4 SDRAM controller with ECC", "Features")
    assert one("memory.dram.channels", 2) <= read("fed with dual LPDDR2 low-power DRAM channels", "Memory")
    assert one("memory.dram.max_size_bytes", up_to(6 << 30)) <= read("up to 6 GiB of quad-channel LPDDR4X memory")


def test_caches_told_one_after_the_other():
    told = one("cpu.l1i_cache.size_bytes", 24 * KB) | one("cpu.l1d_cache.size_bytes", 24 * KB)
    assert told <= read("two caches: a 24-KB cache for instructions and a 24-KB cache for data")
    assert told <= read("a 24KB instruction and a 24KB data Level 1 cache")
    assert one("cpu.l2_cache.size_bytes", 3 << 20) <= read("The L2 memory system size is 3 MB.")


def test_a_list_of_frameworks_ends_where_names_end():
    said = read("The NPU supports frameworks such as Caffe, ONNX, supports models on the device", "NPU")
    assert one("npu.frameworks", ("Caffe", "ONNX")) <= said
