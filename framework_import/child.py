"""The process that converts: limits itself, lets the framework read one model, answers on its standard output."""

from __future__ import annotations

import os
import resource
import sys
import tempfile
import traceback
from pathlib import Path

from framework_import import saved_model, torch_program
from framework_import.exchange import Task, pack, pack_error
from metainfer_core.confine import confine
from metainfer_core.errors import DefectError, InputError, MetaInferError


def main(task: Task) -> None:
    """Converts, and writes the answer; what the framework prints goes to standard error."""
    answer = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    tempfile.gettempdir()  # which it finds by writing; frameworks ask where it is, and put nothing there
    confine(task.memory_bytes, task.seconds)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # pipes are no files: nothing is written but the answer
    convert = torch_program.convert if task.framework == "torch" else saved_model.convert
    try:
        packed = pack(convert(task))
    except MetaInferError as error:
        packed = pack_error(error)
    except MemoryError:
        why = f"It needs more than the {task.memory_bytes >> 30} GiB that one import may take."
        packed = pack_error(InputError(f"{task.path}: this model cannot be imported.", why, "Give a smaller model."))
    except Exception as error:  # the border of this process: the parent tells it as a defect with this place
        place = traceback.extract_tb(error.__traceback__)[-1]
        what = f"{task.path}: a defect in the import: {type(error).__name__}: {error}"
        why = f"At {Path(place.filename).name}:{place.lineno} in {place.name}."
        packed = pack_error(DefectError(what, why, "Report it with the model."))
    with answer:
        answer.write(packed)


if __name__ == "__main__":
    main(Task.from_json(sys.argv[1].encode()))
