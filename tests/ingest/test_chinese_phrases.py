"""How Chinese data sheets phrase what a chip has: one sentence each, and exactly what is read out of it."""

import pytest
from chinese_sheet import chinese, chinese_brief
from phrase_reading import between, candidates, one, read, spoken, up_to

from hwdoc_ingest.fields import candidate_json
from hwdoc_ingest.intake.pdf_reading import read_pdf_bytes
from hwdoc_ingest.judging.scoring import judge
from hwdoc_ingest.page.pages import Word
from hwdoc_ingest.reading import no_progress
from hwdoc_ingest.statements.chinese_terms import english, in_english, sentences
from hwdoc_ingest.statements.statement import RowCell, row

KB, MB, GB = 1 << 10, 1 << 20, 1 << 30
L1I, L1D, L2 = (f"cpu.{level}_cache" for level in ("l1i", "l1d", "l2"))
SAID = [
    ("32位RISC-V内核，主频高达320MHz", one("cpu.word_bits", 32) | one("cpu.clock_hz", up_to(320e6), "RISC-V")),
    ("处理器主频：480 MHz", one("cpu.clock_hz", 480e6)),
    ("四核Cortex-A53处理器", one("cpu.cores", 4, "Cortex-A53") | one("cpu.core_type", "Cortex-A53")),
    ("最高主频１．５ＧＨｚ", one("cpu.clock_hz", up_to(1.5e9))),
    ("支持五级流水线", one("cpu.pipeline_stages", 5)),
    ("流水线深度为8级", one("cpu.pipeline_stages", 8)),
    ("十二级流水线，浮点运算单元", one("cpu.pipeline_stages", 12)),
    ("32KB指令缓存和16KB数据缓存", one(f"{L1I}.size_bytes", 32 * KB) | one(f"{L1D}.size_bytes", 16 * KB)),
    ("指令缓存和数据缓存各32KB", one(f"{L1I}.size_bytes", 32 * KB) | one(f"{L1D}.size_bytes", 32 * KB)),
    ("指令缓存与数据缓存分别为32KB和64KB", one(f"{L1I}.size_bytes", 32 * KB) | one(f"{L1D}.size_bytes", 64 * KB)),
    ("二级缓存容量256KB", one(f"{L2}.size_bytes", 256 * KB)),
    ("指令缓存为4路组相联，缓存行大小为32字节", one(f"{L1I}.ways", 4) | one(f"{L1I}.line_bytes", 32)),
    ("512KB二级高速缓存，八路组相联", one(f"{L2}.size_bytes", 512 * KB) | one(f"{L2}.ways", 8)),
    ("片上SRAM容量为512KB", one("memory.sram.size_bytes", 512 * KB)),
    ("512KB SRAM，其中64KB可保持", one("memory.sram.size_bytes", 512 * KB)),
    ("128 KB 启动ROM", one("memory.rom.size_bytes", 128 * KB, "启动ROM")),
    ("8MB伪静态随机存储器", one("memory.psram.size_bytes", 8 * MB)),
    ("内置4MB闪存", one("memory.flash.size_bytes", 4 * MB)),
    ("64KB紧耦合存储器", one("memory.tcm.size_bytes", 64 * KB)),
    ("4096位eFuse", one("memory.otp.size_bits", 4096)),
    ("DDR数据位宽：16位/32位", one("memory.dram.bus_width_bits", (16, 32))),
    ("支持DDR3、DDR3L和LPDDR4", one("memory.dram.types", ("DDR3", "DDR3L", "LPDDR4"))),
    ("DDR最大容量支持8GB", one("memory.dram.max_size_bytes", up_to(8 * GB))),
    ("DMA支持8个通道", one("dma.channels", 8)),
    ("DMA通道数：8", one("dma.channels", 8)),
    ("2个DMA控制器", one("dma.controllers", 2)),
    ("DMA最大突发长度为16拍", one("dma.max_burst_beats", up_to(16))),
    ("32个DMA请求", one("dma.requests", 32)),
    ("NPU算力高达1TOPS", one("npu.tops", up_to(1))),
    ("NPU支持INT8和INT16", one("npu.data_types", ("INT8", "INT16"))),
    ("NPU支持TensorFlow、ONNX等深度学习框架", one("npu.frameworks", ("TensorFlow", "ONNX"))),
    ("64个中断源", one("interrupts.count", 64)),
    ("16级中断优先级", one("interrupts.priority_levels", 16)),
    ("外部晶振：40MHz", one("clock.xtal_hz", 40e6)),
    ("支持24/32/40 MHz 晶振", one("clock.xtal_hz", (24e6, 32e6, 40e6))),
    ("内部32kHz RC振荡器", one("clock.rc_hz", 32e3)),
    ("工作电压：1.8V～3.6V", one("power.supply_v", between(1.8, 3.6))),
    ("工作环境温度 －40℃ 至 ＋105℃", one("thermal.ambient_c", between(-40, 105))),
    ("结温范围：-40～125℃", one("thermal.junction_c", between(-40, 125))),
    ("储存温度：-55℃~150℃", one("thermal.storage_c", between(-55, 150))),
    ("深度睡眠电流 10uA", one("power.current_a", 1e-5, "深度睡眠")),
    ("最大功耗为2.5W", one("power.max_w", up_to(2.5))),
    ("复位向量为0x80000000", one("reset.vector", "0x80000000")),
    ("复位后，处理器从地址0x00010000开始执行", one("reset.vector", "0x10000")),
    ("采用22纳米工艺", one("chip.process_nm", 22)),
    ("多达 96KB 的 SRAM", one("memory.sram.size_bytes", up_to(96 * KB))),
    ("4KB L1 指令缓存（I-Cache）", one(f"{L1I}.size_bytes", 4 * KB)),
    ("2 个 8 通道 DMA 控制器", one("dma.controllers", 2) | one("dma.channels", 8)),
    ("两个 RISC-V 处理器", one("cpu.cores", 2, "RISC-V")),
    (
        "拥有 384 KB 闪存、400 KB SRAM",
        one("memory.flash.size_bytes", 384 * KB) | one("memory.sram.size_bytes", 400 * KB),
    ),
    ("睡眠电流小于 5uA", one("power.current_a", up_to(5e-6), "睡眠电流")),
    ("2.0V ∼ 5.5V 供电", one("power.supply_v", between(2.0, 5.5))),
    ("外部 4 ～ 24MHz 高速晶体振荡器", one("clock.xtal_hz", between(4e6, 24e6))),
    ("内置的 8MHz 高速 RC 振荡器", one("clock.rc_fast_hz", 8e6)),
    ("256 个外设中断", one("interrupts.count", 256)),
    ("每个核包含32KB指令缓存", one(f"{L1I}.size_bytes", 32 * KB)),
    (
        "ITCM 64KB，DTCM 128KB",
        one("memory.tcm.size_bytes", 64 * KB, "ITCM") | one("memory.tcm.size_bytes", 128 * KB, "DTCM"),
    ),
    ("8MB 片上 SRAM，其中 6MB 通用", one("memory.sram.size_bytes", 8 * MB)),
    ("CPU核心电压：1.1V", one("power.supply_v", 1.1, "核心电压")),
    ("每个处理器核包含256KB私有二级缓存", one(f"{L2}.size_bytes", 256 * KB)),
    ("CPU 复位后从 0x1FFF0000 处开始执行代码", one("reset.vector", "0x1fff0000")),
]


@pytest.mark.parametrize(("text", "expected"), SAID, ids=[text for text, _ in SAID])
def test_phrases(text, expected):
    assert read(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "上一代芯片的SRAM为128KB",
        "例如，64KB的指令缓存需要12位地址",
        "UART波特率最高4Mbps",
        "SPI接口时钟频率最高80MHz",
        "摄像头接口时钟频率最高96MHz",
        "I2S支持8个通道",
        "不支持二级缓存",
        "SRAM中16KB用于缓存",
        "寄存器位[7:0]表示8个通道",
        "ADC参考电压为1.2V",
        "在25℃的温度下测得",
        "定时器由32个计数器组成",
        "16 位定时器，4 个通道",
        "三个核心优势",
        "3个处理器接口",
        "GPIO 中断 16 个",
        "看门狗复位后地址为0x100",
        "保留16KB SRAM用于蓝牙",
        "电源电压为3.3V时，需外接电容",
        "12 位 ADC，16 个通道",
        "支持最大 8GB 的 eMMC",
    ],
)
def test_what_is_not_the_chips_is_not_read(text):
    assert read(text) == set()


def test_sentences_of_one_line_are_read_apart():
    line = "例如，旧芯片有64KB的指令缓存。DMA支持8个通道。"
    assert read(line) == one("dma.channels", 8)
    assert [c.text for c in candidates(spoken(line))] == ["DMA支持8个通道。"]


def test_the_document_is_quoted_in_its_own_words_and_boxed_by_its_words():
    (found,) = candidates(spoken("封装内 置有 启动ROM 128KB"))
    assert (found.text, found.instance) == ("封装内置有启动ROM 128KB", "启动ROM")
    assert found.box == (20, 0, 39, 9)


def test_a_row_keeps_its_condition_and_mode_as_printed():
    mode = "运行模式，320MHz"
    cells = [
        ("参数", "工作电流", None),
        ("条件", mode, None),
        ("最大值", "36", "max"),
        ("单位", "mA", None),
    ]
    laid = [
        RowCell((Word(text, (100.0 * i, 0, 100.0 * i + 50, 9), 9, 9),), header, bound)
        for i, (header, text, bound) in enumerate(cells)
    ]
    (found,) = candidates(row(3, laid, ("电气特性",), False))
    assert (found.field, found.max, found.condition, found.instance) == ("power.current_a", 0.036, mode, mode)


def test_limits_are_told_from_recommendations():
    assert [english(each) for each in ("4.1 绝对最大额定值", "推荐工作条件")] == [
        "4.1 absolute maximum ratings",
        "recommended operating conditions",
    ]
    strengths = {c.strength for c in candidates(spoken("存储温度：-55～150℃", "绝对最大额定值"))}
    assert strengths == {"must"}


def test_english_is_left_alone():
    said = spoken("32 KB instruction cache", "Features")
    assert in_english(said) is said
    assert list(sentences(said)) == [said]


def judged(sheet):
    """The candidates of a sheet, the facts that are missed, and what is wrong."""
    data, facts = sheet()
    reading = read_pdf_bytes(data, "doc", "chinese.pdf", no_progress)
    found = [candidate_json(candidate) for candidate in reading.candidates]
    judgement = judge(found, facts)
    missed = [fact["field"] for at, fact in enumerate(facts) if at not in judgement.found]
    return found, missed, [(found[at]["field"], found[at].get("value")) for at, _ in judgement.wrong]


def test_a_chinese_sheet_is_read_without_a_wrong_value():
    found, missed, wrong = judged(chinese)
    assert (missed, wrong) == ([], [])
    for field, value in (
        ("memory.sram.size_bytes", 128 * KB),  # of an earlier chip
        ("cpu.l1i_cache.size_bytes", 64 * KB),  # an example
        ("power.supply_v", 4),  # an absolute maximum
        ("cpu.clock_hz", 80e6),  # of an interface
    ):
        assert all(value not in (c.get("value"), c.get("max")) for c in found if c["field"] == field)


def test_a_chinese_brief_is_read_without_a_wrong_value():
    _, missed, wrong = judged(chinese_brief)
    assert (missed, wrong) == ([], [])
