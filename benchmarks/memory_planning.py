"""Peak over lower bound and over capacity for google/minimalloc problems: python benchmarks/memory_planning.py DIR."""

import csv
import sys
import time
from pathlib import Path

from metainfer_core.memory.check_plan import check_plan
from metainfer_core.memory.plan import plan
from metainfer_core.memory.problem import Buffer, MemoryProblem


def main(folder: Path) -> None:
    print(f"{'problem':28} {'buffers':>7} {'peak/bound':>10} {'peak/capacity':>13} {'seconds':>7}  planner")
    for path in sorted(folder.rglob("*.csv")):
        with path.open() as lines:
            buffers = tuple(
                Buffer(name=row["id"], size_bytes=int(row["size"]), start=int(row["lower"]), end=int(row["upper"]))
                for row in csv.DictReader(lines)
            )
        problem = MemoryProblem(memory="sram", capacity_bytes=None, buffers=buffers)
        began = time.perf_counter()
        found = plan(problem)
        seconds = time.perf_counter() - began
        assert not check_plan(problem, found)
        capacity = path.name.split(".")[1]
        share = f"{found.peak_bytes / int(capacity):13.3f}" if capacity.isdigit() else f"{'-':>13}"
        ratio = found.peak_bytes / found.lower_bound_bytes
        print(f"{path.stem:28} {len(buffers):7} {ratio:10.3f} {share} {seconds:7.2f}  {found.planner}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
