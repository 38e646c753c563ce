"""A Chinese data sheet of a chip that does not exist, with what it says as facts. Everything in it is invented."""

from __future__ import annotations

from invented_sheets import HEIGHT, Facts, Paper, fact
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfbase.pdfmetrics import registerFont

SONG = "STSong-Light"
"""A font that every PDF reader has: nothing is embedded."""


class ChinesePaper(Paper):
    """A PDF in Chinese."""

    def __init__(self, size: float = 10) -> None:
        registerFont(UnicodeCIDFont(SONG))
        super().__init__(size)

    def text(self, x: float, words: str, bold: bool = False, size: float | None = None) -> None:
        self.canvas.setFont(SONG, size or self.size)
        self.canvas.drawString(x, HEIGHT - self.y, words)


def chinese() -> tuple[bytes, Facts]:
    """Features as a list, electrical tables, a memory map and prose."""
    paper = ChinesePaper()
    paper.line(50, "云岭 YL320 微控制器数据手册", size=20)
    paper.heading("1 产品特性")
    for title, items in (
        ("处理器", ["32位RISC-V内核，主频高达320MHz", "支持五级流水线，单精度浮点单元", "16KB指令缓存和32KB数据缓存",
                    "指令缓存为四路组相联，缓存行大小为32字节"]),
        ("存储器", ["片上SRAM容量为480KB", "128KB启动ROM", "内置4MB闪存", "8Kbit eFuse",
                    "支持16位DDR3接口，速率最高1333Mbps"]),
        ("人工智能", ["神经网络处理器算力高达1.2TOPS，支持INT8和INT16", "支持TensorFlow、ONNX、PyTorch等深度学习框架"]),
        ("系统", ["DMA控制器支持8个通道，最大突发长度16拍", "外部晶振：40MHz", "内部32kHz RC振荡器", "64个中断源",
                  "采用40nm工艺"]),
    ):  # fmt: skip
        paper.line(50, title, size=12)
        for item in items:
            paper.line(56, f"\u2022 {item}")
        paper.y += 4
    paper.heading("2 说明")
    for words in (
        "复位后，处理器从地址0x00010000开始执行。上一代芯片YL160的片上SRAM容量为128KB，没有二级缓存。",
        "例如，一个64KB的指令缓存需要12位索引地址。SPI接口时钟频率最高80MHz，UART波特率最高4Mbps。",
    ):
        paper.line(50, words)
    paper.canvas.showPage()
    paper.y = 60
    paper.heading("3 地址映射")
    paper.line(50, "表 3-1 存储器映射")
    paper.y += 10
    paper.ruled((50, 190, 300, 410, 540), [
        ("模块", "起始地址", "结束地址", "大小"),
        ("启动ROM", "0x0000_0000", "0x0001_FFFF", "128KB"),
        ("系统SRAM", "0x2000_0000", "0x2007_7FFF", "480KB"),
        ("UART0", "0x4000_0000", "0x4000_0FFF", "4KB"),
        ("看门狗", "0x4000_1000", "0x4000_1FFF", "4KB"),
        ("保留", "0x4000_2000", "0x4000_FFFF", ""),
        ("DMAC", "0x4001_0000", "0x4001_0FFF", "4KB"),
    ])  # fmt: skip
    places = (50, 110, 300, 345, 390, 435)
    header = ("符号", "参数", "最小值", "典型值", "最大值", "单位")
    paper.heading("4 电气特性")
    paper.heading("4.1 绝对最大额定值")
    paper.columns(places, [
        header,
        ("VDD", "电源电压", "-0.3", "", "4.0", "V"),
        ("TSTG", "存储温度", "-65", "", "150", "℃"),
    ], rule=True)  # fmt: skip
    paper.heading("4.2 推荐工作条件")
    paper.columns(places, [
        header,
        ("VDD", "电源电压", "1.8", "3.3", "3.6", "V"),
        ("TA", "环境温度", "-40", "25", "85", "℃"),
        ("TJ", "结温", "-40", "", "125", "℃"),
    ], rule=True)  # fmt: skip
    paper.heading("4.3 电流")
    paper.columns((50, 150, 330, 390, 450), [
        ("参数", "条件", "典型值", "最大值", "单位"),
        ("工作电流", "运行模式，320MHz", "28", "36", "mA"),
        ("待机电流", "待机模式", "90", "130", "μA"),
        ("深度睡眠电流", "仅RTC运行", "9", "13", "μA"),
    ])  # fmt: skip
    return paper.done(), [
        fact("cpu.word_bits", 32),
        fact("cpu.clock_hz", 320e6, max=320e6),
        fact("cpu.pipeline_stages", 5),
        fact("cpu.l1i_cache.size_bytes", 16 << 10),
        fact("cpu.l1d_cache.size_bytes", 32 << 10),
        fact("cpu.l1i_cache.ways", 4),
        fact("cpu.l1i_cache.line_bytes", 32),
        fact("memory.sram.size_bytes", 480 << 10),
        fact("memory.rom.size_bytes", 128 << 10),
        fact("memory.flash.size_bytes", 4 << 20),
        fact("memory.otp.size_bits", 8192),
        fact("memory.dram.bus_width_bits", 16),
        fact("memory.dram.data_rate_mtps", 1333, max=1333),
        fact("npu.tops", 1.2, max=1.2),
        fact("npu.data_types", ["INT8", "INT16"]),
        fact("npu.frameworks", ["TensorFlow", "ONNX", "PyTorch"]),
        fact("dma.channels", 8),
        fact("dma.max_burst_beats", 16, max=16),
        fact("clock.xtal_hz", 40e6),
        fact("clock.rc_hz", 32e3),
        fact("interrupts.count", 64),
        fact("chip.process_nm", 40),
        fact("reset.vector", 0x10000),
        fact("memory.region.base", 0x0, instance="启动ROM"),
        fact("memory.region.size_bytes", 128 << 10, instance="启动ROM"),
        fact("memory.region.base", 0x20000000, instance="系统SRAM"),
        fact("memory.region.size_bytes", 480 << 10, instance="系统SRAM"),
        fact("mmio.base", 0x40000000, instance="UART0"),
        fact("mmio.base", 0x40001000, instance="看门狗"),
        fact("mmio.base", 0x40010000, instance="DMAC"),
        fact("power.supply_v", 3.3, min=1.8, typ=3.3, max=3.6),
        fact("thermal.storage_c", [-65, 150], min=-65, max=150),
        fact("thermal.ambient_c", [-40, 85], min=-40, typ=25, max=85),
        fact("thermal.junction_c", [-40, 125], min=-40, max=125),
        fact("power.current_a", 0.028, typ=0.028, max=0.036, instance="运行模式，320MHz"),
        fact("power.current_a", 90e-6, typ=90e-6, max=130e-6, instance="待机模式"),
        fact("power.current_a", 9e-6, typ=9e-6, max=13e-6, instance="仅RTC运行"),
    ]


def chinese_brief() -> tuple[bytes, Facts]:
    """A brief of names and values, ruled tables with short headers, and a memory map of ranges."""
    paper = ChinesePaper(9)
    paper.line(50, "青溪 QX86 应用处理器 产品简介", size=18)
    paper.heading("主要特性")
    for item in (
        "四核 Cortex-A55 处理器，主频最高 1.6GHz",
        "每个核包含 32KB 指令缓存和 32KB 数据缓存，共享 512KB 三级缓存",
        "NPU：算力高达 3.2TOPS，支持 INT4/INT8/INT16 混合运算",
        "支持 32 位 LPDDR4/LPDDR4X，最高速率 4266Mbps",
        "2 个 8 通道 DMA 控制器；256 个外设中断",
        "采用先进的 12 纳米工艺",
    ):
        paper.line(56, f"\u25cf {item}")
    paper.heading("规格")
    for name, value in (
        ("封装", "FCBGA 441"),
        ("工作温度", "-20℃ ～ 85℃"),
        ("存储温度", "-55℃ ～ 150℃"),
        ("典型功耗", "2.4W"),
    ):
        paper.text(50, name)
        paper.line(230, value)
    paper.heading("电气参数")
    paper.y += 10
    paper.ruled((50, 150, 320, 380, 440, 500, 545), [
        ("参数", "说明", "最小", "典型", "最大", "单位"),
        ("VDD_CORE", "内核电压", "0.72", "0.8", "0.88", "V"),
        ("TJ", "结温", "-20", "", "115", "℃"),
    ])  # fmt: skip
    paper.heading("地址空间")
    paper.y += 10
    paper.ruled((50, 260, 420, 545), [
        ("地址范围", "模块名称", "大小"),
        ("0x00000000 ~ 0x0000FFFF", "引导ROM", "64KB"),
        ("0x00200000 ~ 0x0023FFFF", "片内SRAM", "256KB"),
        ("0xFE000000 ~ 0xFE00FFFF", "中断控制器", "64KB"),
    ])  # fmt: skip
    return paper.done(), [
        fact("cpu.cores", 4, instance="Cortex-A55"),
        fact("cpu.clock_hz", 1.6e9, max=1.6e9, instance="Cortex-A55"),
        fact("cpu.l1i_cache.size_bytes", 32 << 10),
        fact("cpu.l1d_cache.size_bytes", 32 << 10),
        fact("cpu.l3_cache.size_bytes", 512 << 10),
        fact("npu.tops", 3.2, max=3.2),
        fact("npu.data_types", ["INT4", "INT8", "INT16"]),
        fact("memory.dram.types", ["LPDDR4", "LPDDR4X"]),
        fact("memory.dram.bus_width_bits", 32),
        fact("memory.dram.data_rate_mtps", 4266, max=4266),
        fact("dma.controllers", 2),
        fact("dma.channels", 8),
        fact("interrupts.count", 256),
        fact("chip.process_nm", 12),
        fact("thermal.ambient_c", [-20, 85], min=-20, max=85),
        fact("thermal.storage_c", [-55, 150], min=-55, max=150),
        fact("power.typ_w", 2.4),
        fact("power.supply_v", 0.8, min=0.72, typ=0.8, max=0.88),
        fact("thermal.junction_c", [-20, 115], min=-20, max=115),
        fact("memory.region.base", 0x0, instance="引导ROM"),
        fact("memory.region.base", 0x200000, instance="片内SRAM"),
        fact("memory.region.size_bytes", 256 << 10, instance="片内SRAM"),
        fact("mmio.base", 0xFE000000, instance="中断控制器"),
    ]
