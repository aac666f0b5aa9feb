"""A snapshot is found by its id, by those who may see its table."""

import pytest

from optimizer.iceberg.tables.selectors.commits import snapshots_found
from tests.component.conftest import LAKE, NOW, People
from tests.component.optimizer.optimizer_rows import commit, iceberg

pytestmark = pytest.mark.django_db


def test_a_snapshot_is_found_by_its_whole_id(people: People) -> None:
    clicks = iceberg("clicks", owner="olga")
    commit(clicks, 8_123_456_789_012_345_678, at=NOW)
    (hit,) = snapshots_found(people.owner, LAKE, " 8123456789012345678 ", 8)
    assert hit.title == "Snapshot 8123456789012345678"
    assert "clicks" in hit.detail
    assert snapshots_found(people.stranger, LAKE, "8123456789012345678", 8) == []
    for text in ("812345678901234567", "9" * 19, "9" * 300, "clicks", "", "\u0661"):
        assert snapshots_found(people.owner, LAKE, text, 8) == [], text
