"""HardwareSpec: the accepted facts about one chip, in base units, each with the place that it came from."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pydantic

from metainfer_core.spec.operators import OperatorRule
from metainfer_core.values import FrozenMap, JsonMap, Value, canonical_json, sha256

Address = Annotated[str, pydantic.StringConstraints(pattern=r"^0x[0-9a-f]+$")]
"""An address as hex text, so that all 64 bits survive JSON."""

DataType = Literal["int4", "int8", "uint8", "int16", "int32", "float16", "bfloat16", "tf32", "float32"]


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
    line_bytes: int | None = None
    ways: int | None = None
    sets: int | None = None
    sharing_mode: Literal["shared", "per_core", "unknown"] | None = None
    shared_by: int | None = None
    """How many cores share it."""
    latency_cycles: Quantity | None = None
    write_policy: str | None = None
    bandwidth_gbps: Quantity | None = None
    """10^9 bytes a second."""


class Operators(Value):
    """Which ONNX operators a unit runs. `supported: null` means all; `unavailable` always wins."""

    supported: tuple[str, ...] | None = None
    unavailable: tuple[str, ...] = ()
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
    supply_v: Quantity | None = None


class ComputeUnit(Value):
    """One kind of processor on the chip: a CPU cluster, NPU, GPU or DSP."""

    kind: Literal["cpu", "npu", "gpu", "dsp"]
    core_type: str | None = None
    model: str | None = None
    isa: str | None = None
    word_bits: int | None = None
    cores: int | None = None
    clock_hz: Quantity | None = None
    vector_width_bits: int | None = None
    registers: int | None = None
    data_types: tuple[DataType, ...] = ()
    macs_per_cycle: FrozenMap[Quantity] = {}
    """Multiply-accumulates a cycle and core, keyed by data type."""
    tops: Quantity | None = None
    """10^12 operations a second of the whole unit, as its document states them."""
    mac_array: tuple[int, ...] = ()
    """Rows and columns of its multiply-accumulate array."""
    sparse: bool | None = None
    """Whether it skips zero weights."""
    fused_instructions: tuple[str, ...] = ()
    dual_issue: tuple[str, ...] = ()
    """Conditions under which two instructions start in one cycle, in the document's words."""
    operating_points: tuple[OperatingPoint, ...] = ()
    accumulator_bits: int | None = None
    saturates: bool | None = None
    """Whether the accumulator saturates (true) or wraps (false)."""
    pair_sum_bits: int | None = None
    """Bits that hold the sum of two neighbouring products before it joins the accumulator, saturating; activations
    count from 0 to 255 there. 16 on x86 processors without VNNI (instruction PMADDUBSW); unset: no such narrowing."""
    channel_multiple: int | None = None
    """Channels are padded to a multiple of this."""
    data_layouts: tuple[str, ...] = ()
    """Orders of the axes that it works in, such as NHWC."""
    weight_granularity: tuple[Literal["tensor", "channel"], ...] = ()
    """How finely weights can be scaled."""
    local_memory: str | None = None
    """Name of the memory that its kernels work in."""
    launch_overhead_us: Quantity | None = None
    pipeline_stages: Quantity | None = None
    issue_width: int | None = None
    frameworks: tuple[str, ...] = ()
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
    power_w: Quantity | None = None
    description: str | None = None


class Memory(Value):
    """One memory that tensors can be placed in, or that holds code."""

    kind: Literal["sram", "tcm", "dram", "psram", "rom", "flash"]
    holds: Literal["data", "instructions", "both"] | None = None
    size_bytes: Quantity | None = None
    base_address: Address | None = None
    alignment_bytes: int | None = None
    banks: int | None = None
    """Parts that can be used at the same time; of one size each."""
    channels: int | None = None
    channel_width_bits: int | None = None
    width_bits: int | None = None
    """Of all channels together."""
    clock_hz: Quantity | None = None
    data_rate_mtps: Quantity | None = None
    bandwidth_gbps: Quantity | None = None
    """10^9 bytes a second."""
    latency_cycles: Quantity | None = None
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
    channels: int | None = None
    """Of each controller."""
    requests: int | None = None
    address_width_bits: int | None = None
    data_width_bits: int | None = None
    burst_length_min: int | None = None
    burst_length_optimal: int | None = None
    burst_length_max: int | None = None
    burst_unit: Literal["beats", "bytes"] | None = None
    max_transfer_bytes: int | None = None
    alignment_bytes: int | None = None
    setup_cycles: Quantity | None = None


class IntSupport(Value):
    """Integer arithmetic of the NPU."""

    bit_widths: tuple[int, ...] = ()
    channel_wise_quantization: bool | None = None


class SourceDocument(Value):
    """A document that values were read from."""

    title: str
    document_digest: str
    """SHA-256 of its bytes, as `sha256:<hex>`."""
    file_name: str | None = None


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
    accepted_by: str | None = None


class Rule(Value):
    """A run-time rule: when the condition holds, the action is taken."""

    condition: str
    action: str


class HardwareSpec(Value):
    """The accepted facts about one chip.

    Field paths name a value anywhere in the product: `memories.sram.size_bytes`, `compute_units.npu.clock_hz`.
    """

    format: Literal["metainfer.hardware_spec/1"] = "metainfer.hardware_spec/1"
    name: str
    vendor: str | None = None
    version: str
    sdk_version: str | None = None
    firmware_version: str | None = None
    driver_version: str | None = None
    microcode_version: str | None = None
    last_verified_date: str | None = None
    verification_method: str | None = None
    process_nm: float | None = None

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
    fixed_function_units: FrozenMap[FixedFunctionUnit] = {}
    npu_int_support: IntSupport | None = None
    has_fused_bn_relu_instruction: bool | None = None
    reset_vector_address: Address | None = None
    mmio_bases: FrozenMap[Address] = {}
    interrupts: FrozenMap[int] = {}
    power_max_w: Quantity | None = None
    power_typ_w: Quantity | None = None
    supply_v: Quantity | None = None
    xtal_hz: Quantity | None = None
    ambient_c: Quantity | None = None
    case_c: Quantity | None = None
    junction_c: Quantity | None = None
    storage_c: Quantity | None = None
    deadline_ms: Quantity | None = None
    sensitive_layers: tuple[str, ...] = ()
    """Names of nodes whose precision must not be lowered."""
    dynamic_rules: tuple[Rule, ...] = ()
    recovery_rules: tuple[Rule, ...] = ()
    errata: tuple[str, ...] = ()
    other: JsonMap = {}
    """Accepted facts that no part of the product computes with yet, keyed by the documents' field names."""

    assumed: FrozenMap[str] = {}
    """Field path to reason, for each value above that no document gives."""
    change_log: tuple[str, ...] = ()
    sources: FrozenMap[SourceDocument] = {}
    provenance: FrozenMap[Provenance] = {}
    """Field path to the place that the value was read from."""

    @property
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
        return sha256(canonical_json({key: value for key, value in self.plain().items() if key not in apart}))
