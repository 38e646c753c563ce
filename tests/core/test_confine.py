import json
import subprocess
import sys

import pytest

GIB = 1 << 30
PROGRAM = """
import json, resource, sys
from metainfer_core.confine import confine
before = json.loads(sys.argv[1])
if before:
    resource.setrlimit(resource.RLIMIT_AS, before[:2])
    resource.setrlimit(resource.RLIMIT_CPU, before[2:])
confine(4 << 30, 60)
limits = resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_CORE
print(json.dumps([resource.getrlimit(each) for each in limits]))
"""


@pytest.mark.parametrize(
    ("before", "memory", "seconds"),
    [
        (None, [4 * GIB, 4 * GIB], [60, 65]),
        ([8 * GIB, 8 * GIB, 300, 300], [4 * GIB, 4 * GIB], [60, 65]),
        ([3 * GIB, 3 * GIB, 62, 62], [3 * GIB, 3 * GIB], [60, 62]),  # as `ulimit -v` or a cluster sets them
        ([2 * GIB, 3 * GIB, 20, 30], [3 * GIB, 3 * GIB], [30, 30]),
    ],
)
def test_a_limit_is_set_and_a_lower_one_that_stands_is_left(before, memory, seconds):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(before)], check=True, capture_output=True, text=True
    )
    assert json.loads(done.stdout) == [memory, seconds, [0, 0]]
