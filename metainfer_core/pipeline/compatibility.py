"""The compatibility matrix of a chip: what works, fails or hurts on each compute unit, and what that rests on.

It is a view and holds nothing of its own: documents and people speak through the spec, and each package that was built
for the chip adds what it proves.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import onnx

from metainfer_core.actions.rewiring import UNIT
from metainfer_core.codegen.package import Package
from metainfer_core.errors import InputError
from metainfer_core.policy.apply import effective, is_off
from metainfer_core.policy.plain import parse_policy
from metainfer_core.spec.hardware_spec import ComputeUnit, HardwareSpec
from metainfer_core.values import Value

Verdict = Literal["works", "stated", "limited", "hurts", "fails"]
Built = Mapping[tuple[str, str], Sequence[str]]
"""(operator or kind of action, unit) to the names of the packages that prove it."""


@dataclass(frozen=True)
class Proof:
    """What one package proves by having been written."""

    spec_digest: str
    """Of the values that it was built for."""
    proven: tuple[tuple[str, str], ...]
    """(operator or kind of action, unit)"""


class Compatibility(Value):
    """What is known of one operator, chain or kind of action on one unit."""

    subject: str
    """An ONNX operator, a chain of them, or a kind of action."""
    unit: str
    verdict: Verdict
    """`works`: built, and equal to its promise; `stated`: the spec lists it; `limited`: within the spec's rules."""
    evidence: str
    instead: str = ""
    """What to do in its place."""


def compatibility(spec: HardwareSpec, built: Built | None = None) -> tuple[Compatibility, ...]:
    """Every operator, chain and kind of action that something is known of, unit by unit."""
    rows: list[Compatibility] = []
    for name, unit in spec.compute_units.items():
        rows += _of_operators(name, unit, built or {})
    operators = {(row.subject, row.unit) for row in rows}
    for (subject, name), packages in sorted((built or {}).items()):
        if (subject, name) not in operators:
            rows.append(_proven(subject, name, packages))
    return (*rows, *_of_issues(spec))


def proof_of(package: Package, name: str) -> Proof:
    """What one package proves; InputError if it lacks its model or policy."""
    try:
        model = onnx.ModelProto.FromString(package.files["adapted.onnx"])
        policy = parse_policy(package.files["policy.json"], name)
    except KeyError as error:
        raise InputError(f"{name}: the package holds no {error}.", fix="Compile again.") from error
    found = {
        (node.op_type, told.value) for node in model.graph.node for told in node.metadata_props if told.key == UNIT
    }
    for line in policy.actions:
        action = effective(line)
        if not is_off(line) and isinstance(unit := action.params.get("target_hw"), str):
            found.add((action.kind, unit))
    return Proof(package.manifest.parents.get("spec", ""), tuple(sorted(found)))


def built_for(spec: HardwareSpec, proofs: Iterable[tuple[str, Proof]]) -> dict[tuple[str, str], list[str]]:
    """What packages prove of a chip: which operators and kinds of action run on which unit.

    Args:
        spec: The chip; packages for other chips, or for another version of its values, prove nothing of it.
        proofs: Name of each package and what it proves.
    """
    found: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for name, proof in proofs:
        for proven in proof.proven if proof.spec_digest == spec.values_digest else ():
            found[proven].append(name)
    return dict(found)


def _of_operators(name: str, unit: ComputeUnit, built: Built) -> Iterator[Compatibility]:
    operators, place = unit.operators, f"compute_units.{name}.operators"
    rules = {**operators.limits, **(operators.rules or {})}
    for subject in sorted({*(operators.supported or ()), *operators.unavailable, *rules}):
        number = len(operators.limits.get(subject, {})) + len((operators.rules or {}).get(subject, {}))
        if subject in operators.unavailable:
            yield Compatibility(subject=subject, unit=name, verdict="fails", evidence=f"{place}.unavailable lists it.")
        elif (subject, name) in built:
            yield _proven(subject, name, built[subject, name], f" {number} limits in {place}." if number else "")
        elif number:
            told = f"{number} limits in {place}."
            yield Compatibility(subject=subject, unit=name, verdict="limited", evidence=told)
        else:
            yield Compatibility(subject=subject, unit=name, verdict="stated", evidence=f"{place}.supported lists it.")


def _proven(subject: str, unit: str, packages: Sequence[str], limits: str = "") -> Compatibility:
    told = f"Built, and equal to what was approved, in {', '.join(packages)}.{limits}"
    return Compatibility(subject=subject, unit=unit, verdict="works", evidence=told)


def _of_issues(spec: HardwareSpec) -> Iterator[Compatibility]:
    for name, issue in (spec.known_issues or {}).items():
        chain = " → ".join(issue.operators)
        for unit in (issue.unit,) if issue.unit else spec.compute_units:
            yield Compatibility(
                subject=f"{issue.action}: {chain}" if issue.action else chain,
                unit=unit,
                verdict=issue.verdict,
                evidence=f"{issue.evidence} (known_issues.{name})",
                instead=issue.advice,
            )
