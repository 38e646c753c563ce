"""The child process of intake: limits itself, reads one document, answers in JSON lines on a pipe."""

from __future__ import annotations

import base64
import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any

from hwdoc_ingest.intake.document_pages import document_pages
from hwdoc_ingest.intake.intake import Limits, Task
from hwdoc_ingest.intake.read_document import read_document
from hwdoc_ingest.reading import Reading
from metainfer_core.confine import confine
from metainfer_core.errors import MetaInferError


def main(descriptor: int, path: str, task: Task, limits: Limits) -> None:
    """Does the task on the document at `path` and writes progress and one answer to the pipe `descriptor`."""
    limit_process(limits)
    with os.fdopen(descriptor, "w", encoding="utf-8") as pipe:

        def say(message: dict[str, Any]) -> None:
            pipe.write(json.dumps(message) + "\n")
            pipe.flush()

        def progress(step: str, done: int, total: int) -> None:
            say({"progress": [step, done, total]})

        def found(part: Reading) -> None:
            say({"found": part.plain()})

        try:
            if task.key is not None:
                so_far = found if task.so_far else None
                say({"answer": read_document(Path(path), task.key, progress, so_far).plain()})
            elif task.crops is not None:
                from hwdoc_ingest.intake.page_crops import crops  # the only task that draws

                pictures = crops(Path(path), task.crops, progress)
                said = [None if each is None else base64.b64encode(each).decode() for each in pictures]
                say({"answer": {"crops": said}})
            else:
                say({"answer": document_pages(Path(path), task.pages, progress).plain()})
        except MetaInferError as error:
            say({"error": _told(type(error).__name__, error.what, error.why, error.fix)})
        except MemoryError:
            why = f"It needs more than the {limits.memory_bytes >> 20:,} MiB that one document may take."
            fix = "Give the pages that matter as a document of their own."
            say({"error": _told("InputError", f"{path}: this document cannot be read.", why, fix)})
        except RecursionError:
            fix = "Get the document again from its vendor."
            say({"error": _told("InputError", f"{path}: this document is nested too deeply.", "", fix)})
        except Exception as error:  # the border of the child: the parent tells it as a defect with this place
            place = traceback.extract_tb(error.__traceback__)[-1]
            what = f"{path}: a defect in its reader: {type(error).__name__}: {error}"
            why = f"At {Path(place.filename).name}:{place.lineno} in {place.name}."
            say({"error": _told("DefectError", what, why, "Report it with the document.")})


def _told(kind: str, what: str, why: str, fix: str) -> dict[str, str]:
    return {"kind": kind, "what": what, "why": why, "fix": fix}


def limit_process(limits: Limits) -> None:
    """Limits this process for good, as the reading of one document is."""
    confine(limits.memory_bytes, limits.cpu_seconds)


if __name__ == "__main__":
    main(
        int(sys.argv[1]),
        sys.argv[2],
        Task.from_json(sys.argv[3].encode()),
        Limits.from_json(sys.argv[4].encode()),
    )
