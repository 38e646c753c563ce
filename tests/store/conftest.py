import pytest

from review_store.record.log import EventLog


@pytest.fixture
def log(tmp_path):
    opened = EventLog(tmp_path / "workspace")
    yield opened
    opened.close()
