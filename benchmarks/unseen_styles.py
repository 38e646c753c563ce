"""`python benchmarks/unseen_styles.py`: how much is read of sheets in house styles written apart from the rules.

Prints recall and precision by group of fields, for the styles that rules were mended with and for those set aside. With
`--write DIR` the sheets and their facts are written instead, as `python -m hwdoc_ingest.calibrate` takes them.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter, defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "ingest"))

from unseen_sheets import HELD_OUT, pdf, sheets

from hwdoc_ingest.evaluate import SURE
from hwdoc_ingest.fields import candidate_json
from hwdoc_ingest.intake.pdf_reading import read_pdf_bytes
from hwdoc_ingest.judging.scoring import judge
from hwdoc_ingest.reading import no_progress


def write(folder: Path) -> None:
    """Writes every sheet as PDF and its facts, laid out as for `python -m hwdoc_ingest.evaluate`."""
    for part in ("docs", "truth"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    for sheet in sheets():
        (folder / "docs" / f"{sheet.name}.pdf").write_bytes(pdf(sheet))
        truth = {"doc": f"{sheet.name}.pdf", "kind": "pdf", "facts": sheet.facts}
        (folder / "truth" / f"{sheet.name}.json").write_text(json.dumps(truth, ensure_ascii=False), "utf-8")


def main() -> None:
    """Reads every sheet and prints the table."""
    groups: dict[str, defaultdict[str, Counter[str]]] = {
        "mended with": defaultdict(Counter),
        "set aside": defaultdict(Counter),
    }
    for sheet in sheets():
        counts = groups["set aside" if sheet.name.startswith(HELD_OUT) else "mended with"]
        reading = read_pdf_bytes(pdf(sheet), "doc", sheet.name, no_progress)
        candidates = [candidate_json(each) for each in reading.candidates]
        judgement = judge(candidates, sheet.facts)
        for at, fact in enumerate(sheet.facts):
            for name in (fact["field"].split(".")[0], "all"):
                counts[name].update(facts=1, found=int(at in judgement.found))
        for at, _ in judgement.wrong:
            for name in (candidates[at]["field"].split(".")[0], "all"):
                counts[name].update(wrong=1, sure=int(candidates[at]["confidence"] >= SURE))
    print("| styles | fields | facts | found | wrong | recall | precision | wrong above the threshold |")
    print("|---|---|---:|---:|---:|---:|---:|---:|")
    for kind, fields in groups.items():
        for name, row in sorted(fields.items(), key=lambda item: (item[0] == "all", item[0])):
            found, wrong = row["found"], row["wrong"]
            print(
                f"| {kind} | {name} | {row['facts']} | {found} | {wrong} | {found / max(1, row['facts']):.2f} "
                f"| {found / max(1, found + wrong):.2f} | {row['sure']} |"
            )


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--write", type=Path, metavar="DIR", help="write the sheets and their facts")
    chosen = options.parse_args()
    if chosen.write:
        write(chosen.write)
    else:
        main()
