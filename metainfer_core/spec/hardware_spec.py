"""HardwareSpec: the accepted facts about one chip, in base units, each with the place that it came from."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Literal

import pydantic

from metainfer_core.spec.known_issues import KnownIssue
from metainfer_core.spec.operators import OperatorRule
from metainfer_core.values import FrozenMap, JsonMap, Value, canonical_json, sha256

Address = Annotated[str, pydantic.StringConstraints(pattern=r"^0x[0-9a-f]+$")]
"""An address as hex text, so that all 64 bits survive JSON."""

DataType = Literal["int4", "int6", "int8", "uint8", "int16", "int32", "float16", "bfloat16", "tf32", "float32"]


class Quantity(Value):
    """A number with its spread, in the unit that ends the field's name (`size_bytes`, `clock_hz`).

    In a file: a bare number, a text with a unit ("512 KiB"), or a mapping {min, typ (or mean), max, std}.
    """

    min: float | None = None
    typ: float | None = None
    max: float | None = None
    std: float | None = None
    strength: Literal["must", "recommended"] | None = None
    """`must`: a law. `recommended`: a goal."""

    @pydantic.model_validator(mode="before")
    @classmethod
    def _bare_number_is_typ(cls, data: Any) -> Any:
        if isinstance(data, int | float) and not isinstance(data, bool):
            return {"typ": data}
        if isinstance(data, dict) and "mean" in data and "typ" not in data:
            return {"typ" if key == "mean" else key: value for key, value in data.items()}
        return data

    @pydantic.model_validator(mode="after")
    def _holds_a_number(self) -> Quantity:
        if self.min is None and self.typ is None and self.max is None:
            raise ValueError("a quantity needs a number: min, typ or max")
        return self

    @property
    def nominal(self) -> float:
        """The typical value; else the middle of the range, else the one bound there is."""
        if self.typ is not None:
            return self.typ
        bounds = [bound for bound in (self.min, self.max) if bound is not None]
        return sum(bounds) / len(bounds)

    @property
    def low(self) -> float:
        """The least it can be."""
        return self.nominal if self.min is None else self.min

    @property
    def high(self) -> float:
        """The most it can be."""
        return self.nominal if self.max is None else self.max


class Cache(Value):
    """Geometry and behaviour of one level of cache."""

    size_bytes: Quantity | None = None
    """Of one such cache: each core's own where `sharing_mode` is `per_core`, the whole where it is `shared`."""
    line_bytes: int | None = None
    """Bytes that are fetched and replaced together; also called the block."""
    ways: int | None = None
    """Ways of associativity; 1 is direct mapped."""
    sets: int | None = None
    """Size divided by ways and line."""
    sharing_mode: Literal["shared", "per_core", "unknown"] | None = None
    """Whether several cores use it together or each has its own; `unknown` where the document is silent."""
    shared_by: int | None = None
    """How many cores share it."""
    latency_cycles: Quantity | None = None
    """From a load that hits it to its value, in cycles of the core that loads."""
    write_policy: str | None = None
    """When a write reaches the next level, in the document's words, such as `write-back`."""
    bandwidth_gbps: Quantity | None = None
    """10^9 bytes a second."""


class Operators(Value):
    """Which ONNX operators a unit runs. `supported: null` means all; `unavailable` always wins."""

    supported: tuple[str, ...] | None = None
    """Names of ONNX operators that it runs; null where the spec has no list, and all are taken to run."""
    unavailable: tuple[str, ...] = ()
    """Names of ONNX operators that it does not run, even where `supported` has them."""
    fallback: str | None = None
    """Name of the compute unit that runs what this one does not."""
    fusions: tuple[tuple[str, ...], ...] | None = None
    """Chains of operators that run as one, such as (Conv, Relu); None: not known."""
    limits: FrozenMap[FrozenMap[Quantity]] = {}
    """Operator to attribute to the range that the unit runs, such as Conv: kernel_h: {min: 1, max: 31}."""
    rules: FrozenMap[FrozenMap[OperatorRule]] | None = None
    """Operator to name to typed condition, as operator tables give them."""

    def runs(self, op_type: str) -> bool:
        """Whether the unit runs nodes of this operator type."""
        return op_type not in self.unavailable and (self.supported is None or op_type in self.supported)


class OperatingPoint(Value):
    """A frequency with the voltage that it needs."""

    clock_hz: Quantity
    """Frequency of this point."""
    supply_v: Quantity | None = None
    """Voltage that the unit needs at this frequency."""


class ComputeUnit(Value):
    """One kind of processor on the chip: a CPU cluster, NPU, GPU or DSP."""

    kind: Literal["cpu", "npu", "gpu", "dsp"]
    """What sort of processor it is; predictions and legal actions depend on it."""
    core_type: str | None = None
    """Name of one core, such as Cortex-A76."""
    model: str | None = None
    """Name of the whole unit, such as Mali-G610 MP4."""
    isa: str | None = None
    """Instruction set, such as Armv8.2-A or RV64GC."""
    word_bits: int | None = None
    """Width of its general registers."""
    cores: int | None = None
    """Number of cores of this kind, all clusters together."""
    clock_hz: Quantity | None = None
    """Of one core; `max` is the highest that the document allows."""
    vector_width_bits: int | None = None
    """Width of one vector register."""
    registers: int | None = None
    """Number of general registers of one core."""
    data_types: tuple[DataType, ...] = ()
    """What it computes with in hardware."""
    macs_per_cycle: FrozenMap[Quantity] = {}
    """Multiply-accumulates a cycle and core, keyed by data type."""
    tops: Quantity | None = None
    """10^12 operations a second of the whole unit, as its document states them."""
    mac_array: tuple[int, ...] = ()
    """Rows and columns of its multiply-accumulate array."""
    sparse: bool | None = None
    """Whether it skips zero weights."""
    fused_instructions: tuple[str, ...] = ()
    """Instructions that do several steps at once, in the document's words, such as `multiply-accumulate with
    saturation`."""
    dual_issue: tuple[str, ...] = ()
    """Conditions under which two instructions start in one cycle, in the document's words."""
    operating_points: tuple[OperatingPoint, ...] = ()
    accumulator_bits: int | None = None
    """Width in which products are summed."""
    saturates: bool | None = None
    """Whether the accumulator saturates (true) or wraps (false)."""
    float16_accumulator: Literal["float16", "float32"] | None = None
    """Type in which products of float16 are summed; unset: taken for float16, the narrower one."""
    flushes_denormals: bool | None = None
    """Whether 16-bit floats below the least normal number become zero."""
    pair_sum_bits: int | None = None
    """Bits that hold the sum of two neighbouring products before it joins the accumulator, saturating; activations
    count from 0 to 255 there. 16 on x86 processors without VNNI (instruction PMADDUBSW); unset: no such narrowing."""
    channel_multiple: int | None = None
    """Channels are padded to a multiple of this."""
    data_layouts: tuple[str, ...] = ()
    """Orders of the axes that it works in, such as NHWC."""
    weight_granularity: tuple[Literal["tensor", "channel", "group"], ...] = ()
    """How finely weights can be scaled."""
    weight_group_size: int | None = None
    """Inputs of one output that share a scale where weights are scaled by group; multiples of it are possible too."""
    local_memory: str | None = None
    """Name of the memory that its kernels work in."""
    launch_overhead_us: Quantity | None = None
    """From asking it to run one kernel to the start of that kernel."""
    pipeline_stages: Quantity | None = None
    """Stages from fetch to write-back."""
    issue_width: int | None = None
    """Instructions that can start in one cycle."""
    frameworks: tuple[str, ...] = ()
    """Model formats or frameworks that its vendor's tools take, such as ONNX."""
    operators: Operators = Operators()
    l1_cache: Cache | None = None
    """Where instructions and data share it."""
    l1i_cache: Cache | None = None
    l1d_cache: Cache | None = None
    l2_cache: Cache | None = None
    l3_cache: Cache | None = None

    def peak_macs_per_second(self, data_type: str, cores: int | None = None) -> Quantity | None:
        """Multiply-accumulates a second on `cores` of its cores (None: all); None where the spec does not tell."""
        all_cores = self.cores or 1
        used = all_cores if cores is None else min(cores, all_cores)
        rate, clock = self.macs_per_cycle.get(data_type), self.clock_hz
        if rate is not None and clock is not None:
            low, typ, high = (
                rate.low * clock.low * used, rate.nominal * clock.nominal * used, rate.high * clock.high * used
            )  # fmt: skip
            return Quantity(min=low, typ=typ, max=high)
        if self.tops is not None and data_type in ("int8", "uint8"):
            share = 1e12 / 2 * used / all_cores  # one multiply-accumulate counts as two operations
            tops = self.tops
            return Quantity(min=tops.low * share, typ=tops.nominal * share, max=tops.high * share)
        return None


class FixedFunctionUnit(Value):
    """Hardware for one job, such as cropping and resizing of images."""

    function: str
    """What it does, such as `resize` or `jpeg decode`."""
    power_w: Quantity | None = None
    """What it takes while it works."""
    description: str | None = None
    """Its limits, in the document's words."""


class Memory(Value):
    """One memory that tensors can be placed in, or that holds code."""

    kind: Literal["sram", "tcm", "dram", "psram", "rom", "flash"]
    """What sort of memory it is: `tcm` belongs to one core, `psram` is outside of the chip."""
    holds: Literal["data", "instructions", "both"] | None = None
    """Whether it holds data, instructions or both."""
    size_bytes: Quantity | None = None
    """All of it, banks together. Of memory that is fitted outside, `max` is the most that can be addressed."""
    base_address: Address | None = None
    """Its first address, as the main processor sees it."""
    alignment_bytes: int | None = None
    """Each tensor in it begins at a multiple of this."""
    banks: int | None = None
    """Parts that can be used at the same time; of one size each."""
    channels: int | None = None
    """Independent channels of its interface."""
    channel_width_bits: int | None = None
    """Data lines of one channel."""
    width_bits: int | None = None
    """Of all channels together."""
    clock_hz: Quantity | None = None
    """Of its interface; data may move twice a clock."""
    data_rate_mtps: Quantity | None = None
    """10^6 transfers a second on each data line."""
    bandwidth_gbps: Quantity | None = None
    """10^9 bytes a second."""
    latency_cycles: Quantity | None = None
    """From a load that misses all caches to its value, in cycles of the unit that loads."""
    bank_latency_cycles: tuple[Quantity, ...] = ()
    """Of each bank, where they differ."""
    accessible_by: tuple[str, ...] = ()
    """Names of compute units; empty means all of them."""
    types: tuple[str, ...] = ()
    """Kinds of part that can be fitted, such as LPDDR4X."""
    reserved_bytes: int = 0
    """Not for tensors: code, stack, operating system."""


class Dma(Value):
    """What moves data without a processor."""

    controllers: int | None = None
    """Number of controllers for general use."""
    channels: int | None = None
    """Of each controller."""
    requests: int | None = None
    """Lines on which peripherals ask for a transfer."""
    address_width_bits: int | None = None
    """Bits of the addresses that it can reach; 32 means the first 4 GiB."""
    data_width_bits: int | None = None
    """Bits that move in one beat."""
    burst_length_min: int | None = None
    """The shortest burst that it makes, in `burst_unit` (a law)."""
    burst_length_optimal: int | None = None
    """The burst that the document recommends, in `burst_unit` (a goal)."""
    burst_length_max: int | None = None
    """The longest burst that it makes, in `burst_unit` (a law)."""
    burst_unit: Literal["beats", "bytes"] | None = None
    """What the three count: beats of `data_width_bits`, or bytes."""
    max_transfer_bytes: int | None = None
    """Most that one descriptor moves."""
    alignment_bytes: int | None = None
    """Transfers begin at a multiple of this."""
    setup_cycles: Quantity | None = None
    """From writing a descriptor to the first beat, in cycles of the processor that writes it."""


class IntSupport(Value):
    """Integer arithmetic of the NPU."""

    bit_widths: tuple[int, ...] = ()
    """Widths of the integers that it multiplies, such as 4, 8 and 16."""
    channel_wise_quantization: bool | None = None
    """Whether each channel of the weights may have a scale of its own."""


class SourceDocument(Value):
    """A document that values were read from."""

    title: str
    """As the document calls itself, with its revision."""
    document_digest: str
    """SHA-256 of its bytes, as `sha256:<hex>`."""
    file_name: str | None = None
    """As the file was called that was read."""


class Provenance(Value):
    """The place that one value was read from, and who accepted it."""

    source: str
    """Key of the document in `sources`."""
    page: int | str | None = None
    """1-based page of a PDF; line number of a text; sheet name of a workbook."""
    box: tuple[float, float, float, float] | None = None
    """Left, top, right, bottom on the page, in points (1/72 inch) from the top left corner."""
    text: str = ""
    """The few words that hold the value."""
    condition: str | None = None
    """The document's condition under which the value holds, such as `RK3399K, -20 to 85 degC`."""
    confidence: float | None = None
    """The reader's estimate that the value is right, 0 to 1; absent where a person typed it."""
    accepted_by: str | None = None
    """Who accepted the value."""


class Rule(Value):
    """A run-time rule: when the condition holds, the action is taken."""

    condition: str
    """Such as `input_mean < 60`."""
    action: str
    """Such as `use_smaller_quant_scale_for_low_light`."""


class HardwareSpec(Value):
    """The accepted facts about one chip.

    Field paths name a value anywhere in the product: `memories.sram.size_bytes`, `compute_units.npu.clock_hz`.
    """

    format: Literal["metainfer.hardware_spec/1"] = "metainfer.hardware_spec/1"
    """Always this; a later format has another number."""
    name: str
    """Of the chip, in lower case with `_`; the file is called `<name>_v<version>.yaml`."""
    vendor: str | None = None
    """Who makes the chip."""
    version: str
    """Of this spec, x.y.z; any change of a value makes a new one."""
    sdk_version: str | None = None
    """Version of the vendor's kit that the values hold for."""
    firmware_version: str | None = None
    """Version of the firmware that the values hold for."""
    driver_version: str | None = None
    """Version of the driver that the values hold for."""
    microcode_version: str | None = None
    """Version of the microcode that the values hold for; a silent change can cost speed."""
    last_verified_date: str | None = None
    """Day of the last check against documents or the chip, as 2026-01-31; stale after a year."""
    verification_method: str | None = None
    """How the values were checked, in a few words."""
    process_nm: float | None = None
    """Node of the process that the chip is made in."""

    compute_units: FrozenMap[ComputeUnit] = {}
    memories: FrozenMap[Memory] = {}
    l1_cache: Cache | None = None
    l2_cache: Cache | None = None
    l3_cache: Cache | None = None
    dma: Dma | None = None
    bus_penalty_cycles: FrozenMap[Quantity] = {}
    """Extra cycles of a path across a bus, keyed by its name, such as `npu_to_sram`."""
    bandwidth_gbps: Quantity | None = None
    """Of main memory, in 10^9 bytes a second."""
    sram_dram_bandwidth_ratio: Quantity | None = None
    """Bandwidth of the on-chip memory over that of main memory."""
    fixed_function_units: FrozenMap[FixedFunctionUnit] = {}
    npu_int_support: IntSupport | None = None
    has_fused_bn_relu_instruction: bool | None = None
    """Whether one instruction does batch normalization and ReLU; null where it is unknown."""
    reset_vector_address: Address | None = None
    """Where the processor begins after reset."""
    mmio_bases: FrozenMap[Address] = {}
    """Name of a block to the first address of its registers."""
    interrupts: FrozenMap[int] = {}
    """Name of a block to its interrupt, numbered as the document prints it (a GIC's SPI without the offset of 32)."""
    power_max_w: Quantity | None = None
    """Most power that the chip takes."""
    power_typ_w: Quantity | None = None
    """Typical power of the chip, as its document states or somebody measured it."""
    supply_v: Quantity | None = None
    """Supply of the core: nominal as typ, limits as min and max."""
    xtal_hz: Quantity | None = None
    """Frequency of the crystal or oscillator at the input."""
    ambient_c: Quantity | None = None
    """Range of the surrounding air in operation."""
    case_c: Quantity | None = None
    """Range of the package's surface in operation."""
    junction_c: Quantity | None = None
    """Range of the silicon in operation."""
    storage_c: Quantity | None = None
    """Range for storage without power."""
    deadline_ms: Quantity | None = None
    """Time that one inference may take in the product; a requirement of people, not of the chip."""
    sensitive_layers: tuple[str, ...] = ()
    """Names of nodes whose precision must not be lowered."""
    dynamic_rules: tuple[Rule, ...] = ()
    """What changes at run time when a condition holds."""
    recovery_rules: tuple[Rule, ...] = ()
    """What is done when something fails, such as a DMA that times out."""
    errata: tuple[str, ...] = ()
    """Known faults of the silicon, each with its workaround, in the vendor's words."""
    known_issues: FrozenMap[KnownIssue] | None = None
    """Name to what is known to fail or hurt on the chip; what fails is refused, with what to do in its place."""
    other: JsonMap = {}
    """Accepted facts that no part of the product computes with yet, keyed by the documents' field names."""

    assumed: FrozenMap[str] = {}
    """Field path to reason, for each value above that no document gives."""
    change_log: tuple[str, ...] = ()
    """A line for each version: `v2.3.1: L2 latency 12 → 13.5 cycles, per SDK changelog`."""
    sources: FrozenMap[SourceDocument] = {}
    provenance: FrozenMap[Provenance] = {}
    """Field path to the place that the value was read from."""

    @cached_property
    def written(self) -> Mapping[str, Any]:
        """As `plain`, made once: a proposal quotes many fields. To be read only."""
        return self.plain()

    @cached_property
    def values_digest(self) -> str:
        """Digest of what decisions depend on: not of provenance, reasons, sources, version, dates or the change log."""
        apart = (
            "provenance",
            "assumed",
            "sources",
            "version",
            "last_verified_date",
            "verification_method",
            "change_log",
        )
        return sha256(canonical_json({key: value for key, value in self.written.items() if key not in apart}))
