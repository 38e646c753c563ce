"""A test that drives a browser gets a second try.

Chromium, the studio and a second worker share two cores: what a test waits for can be there and gone between two of its
looks. A fault of the product fails twice. The end of the run says how many were run again (`rerun`): look into them.
"""

import pytest


def pytest_collection_modifyitems(items):
    for item in items:
        if hasattr(item.module, "browser_page"):
            item.add_marker(pytest.mark.flaky(reruns=1))
