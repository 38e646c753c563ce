"""Commands of `meta-infer spec`: look at specs, compare them, make them from drafts and profiles."""

from __future__ import annotations

import datetime
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from metainfer_core.cli import console, matrix_command, streams
from metainfer_core.errors import InputError, MetaInferError
from metainfer_core.files import alone, check_outputs, read_bytes, refuse_existing
from metainfer_core.spec import library
from metainfer_core.spec.drafting.accept import Acceptance, accept
from metainfer_core.spec.drafting.decisions import Decisions
from metainfer_core.spec.drafting.draft import SpecDraft
from metainfer_core.spec.drafting.draft_file import read_draft
from metainfer_core.spec.drafting.flat_profile import import_profile, is_flat_profile
from metainfer_core.spec.drafting.host import host_spec
from metainfer_core.spec.files.schema import json_schema
from metainfer_core.spec.files.strict_yaml import BYTES_LIMIT, read_yaml
from metainfer_core.spec.files.yaml_file import read_spec, save_spec
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.spec.revising.diff import Change, diff, leaves
from metainfer_core.spec.revising.drift import TOLERANCE, drift, read_measured
from metainfer_core.spec.revising.edit import keep_comments

DRAFTERS = "metainfer.drafters"
"""Entry-point group of what drafts a spec from documents: `(chip, documents, progress) -> SpecDraft`."""
LIVE_TREE = Path("/proc/device-tree")

if TYPE_CHECKING:
    from metainfer_core.policy.spec_use import Affected

SpecName = Annotated[
    str, typer.Argument(metavar="SPEC", help="Path of a spec file, or its name: rk3588, rk3588@1.0.0.")
]


def commands(app: typer.Typer) -> None:
    """Adds the commands to `app`."""
    spec = typer.Typer(
        help="Hardware specs: show, compare, accept drafts, import profiles.",
        no_args_is_help=True,
        rich_markup_mode=None,
    )
    spec.command("list", epilog="Example: meta-infer spec list")(list_specs)
    spec.command("show", epilog="Example: meta-infer spec show rk3588 --field compute_units.npu")(show)
    spec.command("diff", epilog="Example: meta-infer spec diff rk3588@1.0.0 rk3588@1.1.0 --policies .")(compare)
    spec.command(
        "accept",
        epilog="Example: meta-infer spec accept draft.yaml --output rk3588_v1.0.0.yaml --above 0.8 --choose 12",
    )(accept_draft)
    spec.command("import", epilog="Example: meta-infer spec import profile.yaml --output npu_v1.0.0.yaml")(import_flat)
    spec.command("host", epilog="Example: meta-infer spec host --output my_board_v1.0.0.yaml")(draft_host)
    spec.command("from-dts", epilog="Example: meta-infer spec from-dts board.dts --output my_board_v1.0.0.yaml")(
        from_device_tree
    )
    spec.command("drift", epilog="Example: meta-infer spec drift rk3588 measured.yaml")(check_drift)
    spec.command("matrix", epilog=matrix_command.EXAMPLE)(matrix_command.matrix)
    spec.command("schema", epilog="Example: meta-infer spec schema > hardware_spec.schema.json")(schema)
    app.add_typer(spec, name="spec")


def list_specs(
    folder: Annotated[Path | None, typer.Option("--folder", help="Folder of spec files.")] = None,
    json: console.Json = False,
) -> None:
    """Lists the specs of a folder, by name and version."""
    place = folder or library.default_folder()
    if folder is not None and not folder.is_dir():
        raise InputError(f"{folder}: there is no such folder.", fix="Give the folder of spec files.")
    found = library.entries(place)
    listed = [{"name": entry.name, "version": entry.version, "path": str(entry.path)} for entry in found]
    lines = [f"{entry.name:24} {entry.version:10} {entry.path}" for entry in found]
    console.emit(json, {"specs": listed}, "\n".join(lines) or f"{place}: there is no spec file here.")


def show(
    spec: SpecName,
    field: Annotated[str, typer.Option("--field", metavar="PATH", help="Only values under this path.")] = "",
    json: console.Json = False,
) -> None:
    """Shows every value with its unit and where it comes from: document and page, or the reason it is assumed."""
    found = library.load(spec)
    values = {path: text for path, text in leaves(found).items() if not field or f"{path}.".startswith(f"{field}.")}
    if not values:
        raise InputError(
            f"{spec} has nothing under {field!r}.",
            f"It has: {', '.join(dict.fromkeys(path.split('.')[0] for path in leaves(found)))}.",
            "Give one of these, or a path below it.",
        )
    rows = [{"path": path, "value": text, **_origin(found, path)} for path, text in values.items()]
    width = max(len(row["path"]) for row in rows)
    lines = [f"{row['path']:{width}}  {row['value']}{_origin_text(row)}" for row in rows]
    data = {"name": found.name, "version": found.version, "values_digest": found.values_digest, "values": rows}
    console.emit(json, data, "\n".join([f"{found.name} {found.version}   {found.values_digest}", *lines]))


def _origin(spec: HardwareSpec, path: str) -> dict[str, Any]:
    for known, place in spec.provenance.items():
        if path == known or path.startswith(known + "."):
            return {"provenance": place.plain()}
    for known, reason in spec.assumed.items():
        if path == known or path.startswith(known + "."):
            return {"assumed": reason}
    return {}


def _origin_text(row: dict[str, Any]) -> str:
    if "assumed" in row:
        return f"   [assumed: {row['assumed']}]"
    place = row.get("provenance")
    if not place:
        return ""
    page = f" p. {place['page']}" if "page" in place else ""
    return f"   [{place['source']}{page}]"


def compare(
    before: SpecName,
    after: SpecName,
    policies: Annotated[
        Path | None,
        typer.Option("--policies", metavar="DIR", help="Folder of policies: say which of them rest on what changed."),
    ] = None,
    json: console.Json = False,
) -> None:
    """Compares two specs value by value, and says what the changes affect; exit status 1 where they differ."""
    old, new = library.load(before), library.load(after)
    changes = diff(old, new)
    data: dict[str, Any] = {"changes": [change.plain() | {"sentence": change.sentence} for change in changes]}
    lines = [_change_line(change) for change in changes] or ["No value differs."]
    if policies is not None:
        reached, made_for = _reached(policies, changes, old, new)
        data |= {"affected": [each.plain() for each in reached], "policies": made_for}
        lines += [f"{len(made_for)} policies were made for one of the two: {', '.join(made_for) or 'none'}."]
        lines += [f"  {each.policy} rests on {each.path}: {', '.join(each.actions)}" for each in reached]
        if made_for and old.values_digest != new.values_digest:
            lines.append(f"Approvals given for {old.name} {old.version} do not hold for {new.version}.")
    console.emit(json, data, "\n".join(lines))
    console.verdict(bool(changes))


def _reached(
    folder: Path, changes: tuple[Change, ...], old: HardwareSpec, new: HardwareSpec
) -> tuple[tuple[Affected, ...], list[str]]:
    """What the changes reach in the policies of a folder, and the policies made for one of the two specs."""
    # Loaded only now: policies bring the graph and its libraries, which no other command here needs.
    from metainfer_core.policy.plain import read_policy
    from metainfer_core.policy.spec_use import affected, is_for

    if not folder.is_dir():
        raise InputError(f"{folder}: there is no such folder.", fix="Give the folder of policies.")
    reached: list[Affected] = []
    made_for = []
    for path in sorted(path for path in folder.rglob("*.policy") if path.is_file()):
        try:
            policy = read_policy(path)
        except MetaInferError as error:
            streams.tell(str(error))
            continue
        if is_for(policy, old, new):
            name = path.relative_to(folder).as_posix()
            made_for.append(name)
            reached += affected(name, policy, changes)
    return tuple(reached), made_for


def _change_line(change: Change) -> str:
    return {"added": "+ ", "removed": "- ", "changed": "~ "}[change.kind] + change.sentence


def accept_draft(
    draft: Annotated[Path, typer.Argument(metavar="DRAFT.yaml", help="What `meta-infer ingest` wrote.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="SPEC.yaml", help="Where the spec goes.")],
    everything: Annotated[bool, typer.Option("--all", help="Accept all that nothing contradicts.")] = False,
    fields: Annotated[
        list[str] | None, typer.Option("--field", metavar="F", help="Accept this field; may be repeated.")
    ] = None,
    above: Annotated[
        float | None, typer.Option("--above", min=0, max=1, metavar="C", help="Accept from this confidence on.")
    ] = None,
    choose: Annotated[
        list[int] | None,
        typer.Option("--choose", metavar="INDEX", help="Accept this candidate, whatever contradicts it."),
    ] = None,
    reject: Annotated[
        list[int] | None, typer.Option("--reject", metavar="INDEX", help="Leave this candidate out.")
    ] = None,
    unknown: Annotated[
        list[str] | None, typer.Option("--unknown", metavar="F", help="Leave this field or path unknown.")
    ] = None,
    edits: Annotated[
        list[str] | None, typer.Option("--set", metavar="PATH=VALUE", help="Give a value yourself; kept as assumed.")
    ] = None,
    bindings: Annotated[
        list[str] | None,
        typer.Option(
            "--bind",
            metavar="WORDS=NAME",
            help='What the document\'s words mean, or what a candidate is about: "big cluster=cortex_a72", 12=npu.',
        ),
    ] = None,
    onto: Annotated[
        Path | None, typer.Option("--onto", metavar="SPEC.yaml", help="Add to this spec; its comments are kept.")
    ] = None,
    by: Annotated[str | None, typer.Option("--by", metavar="NAME", help="Who accepts.")] = None,
    version: Annotated[
        str | None, typer.Option("--version", metavar="X.Y.Z", help="Version of the spec; else as its file is named.")
    ] = None,
    reason: Annotated[
        str | None, typer.Option("--reason", metavar="TEXT", help="Why, for the change log: per SDK changelog.")
    ] = None,
    json: console.Json = False,
) -> None:
    """Makes a spec from the candidates that you accept; those that contradict each other wait for your choice."""
    named = library.named_by_path(output)
    decisions = Decisions(
        everything=everything,
        fields=tuple(fields or ()),
        above=above,
        choose=tuple(choose or ()),
        reject=tuple(reject or ()),
        unknown=tuple(unknown or ()),
        edits={path: read_yaml(value.encode(), f"--set {path}").data for path, value in _pairs(edits, "--set").items()},
        bindings=_pairs(bindings, "--bind"),
        accepted_by=by,
        name=named[0] if named else None,
        version=version or (named[1] if named else None),
        reason=reason,
    )
    if not (everything or fields or above is not None or choose or edits):
        raise InputError(
            "Nothing was accepted.",
            "Acceptance is a decision: none is taken for you.",
            "Give --all, --field F, --above C, --choose INDEX or --set PATH=VALUE.",
        )
    check_outputs([output], "hardware spec", [draft])
    read = read_draft(draft)
    with alone(output):
        before = read_spec(onto) if onto else None
        result = accept(read, decisions, before)
        if onto is None:
            save_spec(result.spec, output)
        else:
            keep_comments(onto, result.spec, output)
    data = result.plain() | {"spec": str(output), "values_digest": result.spec.values_digest}
    console.emit(json, data, _accepted_text(read, result, output))


def _pairs(given: list[str] | None, option: str) -> dict[str, str]:
    found = {}
    for pair in given or ():
        left, equals, right = pair.partition("=")
        if not equals or not left.strip() or not right.strip():
            raise InputError(f"{option} {pair!r} is not LEFT=RIGHT.", fix=f'Write {option} "left=right".')
        found[left.strip()] = right.strip()
    return found


def _accepted_text(draft: SpecDraft, result: Acceptance, output: Path) -> str:
    lines = [f"{len(result.accepted)} of {len(draft.candidates)} candidates accepted: {output}"]
    if result.without_place:
        lines.append(f"{len(result.without_place)} of them fit no field of a spec and stand under `other`.")
    if result.conflicts:
        lines.append("These contradict each other and were left out; choose one of each with --choose INDEX:")
    for conflict in result.conflicts:
        lines.append(f"  {conflict.path}")
        shown = conflict.values if len(conflict.values) == len(conflict.indexes) else conflict.values[1:]
        if len(conflict.values) != len(conflict.indexes):
            lines.append(f"          {conflict.values[0]}")
        lines += [f"    {index:>4}  {value}" for index, value in zip(conflict.indexes, shown, strict=True)]
    return "\n".join(lines)


def import_flat(
    profile: Annotated[Path, typer.Argument(metavar="PROFILE", help="A flat profile: `accelerator:` ...")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="SPEC.yaml", help="Where the spec goes.")],
    bandwidth_unit: Annotated[
        str | None, typer.Option("--bandwidth-unit", metavar="MB/s|Mbit/s", help="What bandwidth_mbps counts.")
    ] = None,
    json: console.Json = False,
) -> None:
    """Imports a flat hardware profile; every gap that had to be filled is recorded as an assumption."""
    if bandwidth_unit not in (None, "MB/s", "Mbit/s"):
        raise InputError(f"--bandwidth-unit is {bandwidth_unit!r}.", fix="Write MB/s (bytes) or Mbit/s (bits).")
    check_outputs([output], "hardware spec", [profile])
    refuse_existing(output, what="imported spec")
    unit: Any = bandwidth_unit
    document = read_yaml(read_bytes(profile, "hardware profile", BYTES_LIMIT), str(profile))
    if not is_flat_profile(document.data):
        raise InputError(f"{profile}: this is not a flat profile.", fix="Begin with `accelerator:`.")
    spec = import_profile(document, unit)
    save_spec(spec, output)
    lines = [f"{output}: imported, with {len(spec.assumed)} assumptions:"]
    lines += [f"  {path}: {reason}" for path, reason in spec.assumed.items()]
    console.emit(json, {"spec": str(output), "assumed": dict(spec.assumed)}, "\n".join(lines))


def check_drift(
    spec: SpecName,
    measured: Annotated[Path, typer.Argument(metavar="MEASURED.yaml", help="Field paths and their measured values.")],
    tolerance: Annotated[
        float, typer.Option("--tolerance", min=0, max=10, help="Share that a value may lie outside its range.")
    ] = TOLERANCE,
    json: console.Json = False,
) -> None:
    """Holds measured values against the recorded ones; exit status 1 where one has drifted."""
    found = drift(library.load(spec), read_measured(measured), tolerance)
    data = {"values": [value.plain() | {"sentence": value.sentence} for value in found]}
    console.emit(json, data, "\n".join(value.sentence for value in found) or "Nothing was measured.")
    console.verdict(any(value.drifted for value in found))


def schema(json: console.Json = False) -> None:
    """Prints the JSON Schema of spec files, for editors."""
    streams.answer(console.json_text(json_schema(), indent=None if json else 2))


def draft_host(
    output: Annotated[Path, typer.Option("--output", "-o", metavar="SPEC.yaml", help="Where the spec goes.")],
    json: console.Json = False,
) -> None:
    """Drafts the spec of this machine: processors, caches, NUMA nodes, memory; what Linux does not tell is assumed."""
    check_outputs([output], "hardware spec")
    refuse_existing(output, what="spec of this machine")
    named = library.named_by_path(output)
    told = host_spec().plain() | {"last_verified_date": datetime.date.today().isoformat()}
    spec = HardwareSpec.from_plain(told | ({"name": named[0], "version": named[1]} if named else {}), str(output))
    save_spec(spec, output)
    _drafted(spec, output, json)


def from_device_tree(
    output: Annotated[Path, typer.Option("--output", "-o", metavar="SPEC.yaml", help="Where the spec goes.")],
    tree: Annotated[
        Path, typer.Argument(metavar="TREE", help=".dts, .dtsi or .dtb file, or a folder; else the live tree.")
    ] = LIVE_TREE,
    json: console.Json = False,
) -> None:
    """Drafts a spec from a device tree, a file or that of the running system; contradictions wait for your choice."""
    if tree == LIVE_TREE and not tree.exists():
        raise InputError(
            "This machine shows no device tree.",
            f"{tree} is not there, as on most PCs and servers.",
            "Give a .dts, .dtsi or .dtb file, or use `meta-infer spec host`.",
        )
    drafters = list(entry_points(group=DRAFTERS))
    if not drafters:
        raise InputError(
            "Nothing that is installed reads device trees.",
            "The core alone reads no documents.",
            "Install meta-infer with its extra 'ingest'.",
        )
    check_outputs([output], "hardware spec", [tree])
    refuse_existing(output, what="spec of the device tree")
    named = library.named_by_path(output)
    with console.progress("from-dts") as progress:
        draft: SpecDraft = drafters[0].load()(named[0] if named else "", [tree], progress)
    if not draft.candidates:
        raise InputError(
            f"{tree}: nothing in this device tree says what a spec holds.",
            " ".join(draft.notes) or "It has no processor, no memory and no clock.",
            "Give the tree of the whole board: the .dts file with the .dtsi files that it includes, or the .dtb file.",
        )
    decisions = Decisions(
        everything=True,
        name=named[0] if named else None,
        version=named[1] if named else None,
        reason="drafted from a device tree",
    )
    result = accept(draft, decisions)
    save_spec(result.spec, output)
    _drafted(result.spec, output, json, result, draft)


def _drafted(
    spec: HardwareSpec, output: Path, json: bool, result: Acceptance | None = None, draft: SpecDraft | None = None
) -> None:
    data: dict[str, Any] = {"spec": str(output), "values": len(leaves(spec)), "assumed": dict(spec.assumed)}
    text = f"{output}: {len(leaves(spec))} values, {len(spec.assumed)} of them assumed"
    if result is not None and draft is not None:
        data |= result.plain() | {"spec": str(output), "notes": list(draft.notes)}
        text += "\n" + _accepted_text(draft, result, output)
        text += "".join(f"\nnote: {note}" for note in draft.notes)
    console.emit(json, data, text)
