"""What a day read, what an advice saves a day, and what serves a scan."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.advice.domain.filters import Filter, FilterKind
from optimizer.fleet.domain.days import CAUSES, CUBES, PLANNING, ScannedDay
from optimizer.fleet.domain.help import is_served
from optimizer.fleet.domain.savings import LONGEST_DAYS, Counted, saved_a_day
from optimizer.iceberg.indexing.domain.wanted import parse_all_wanted

DAY = date(2026, 11, 27)
ID = Filter("id", FilterKind.EQUAL)
AT = Filter("at", FilterKind.RANGE)
NOTE = Filter("note", FilterKind.CONTAINS)


def test_indexes_take_from_what_was_planned_and_planning_and_cubes_do_not() -> None:
    day = ScannedDay(
        DAY, 3, 9, 1000, skipped={PLANNING: 500, "bloom": 300, "bitmap": 100, CUBES: 50}
    )
    assert day.read_bytes == 600
    assert day.skipped_bytes == 950
    assert day.skipped_percent == pytest.approx(100 * 950 / 1550)


@given(st.integers(0, 2**62), st.dictionaries(st.sampled_from(CAUSES), st.integers(0, 2**62)))
def test_a_share_is_one_whatever_was_reported(planned: int, skipped: dict[str, int]) -> None:
    day = ScannedDay(DAY, planned_bytes=planned, skipped=skipped)
    assert 0 <= day.read_bytes <= planned
    percent = day.skipped_percent
    assert percent is None or 0 <= percent <= 100
    assert (percent is None) == (day.read_bytes + day.skipped_bytes == 0)


@pytest.mark.parametrize(
    ("counted", "since", "saved"),
    [
        (Counted(10, 1000, 20, 500), DAY, 1500),
        (Counted(10, 1000, 20, 500), date(2026, 11, 23), 300),
        (Counted(10, 1000, 20, 500), date(2026, 1, 1), 1500 // LONGEST_DAYS + 1),
        (Counted(10, 1000, 20, 5000), DAY, -3000),
        (Counted(10, 1000, 20, None), DAY, 2000),
        (Counted(10, 1000, None, None), DAY, None),
        (Counted(None, None, 20, 500), DAY, None),
        (Counted(10, 1000, 20, 500), date(2026, 12, 9), 1500),
    ],
)
def test_what_is_saved_a_day(counted: Counted, since: date, saved: int | None) -> None:
    assert saved_a_day(counted, since=since, today=DAY) == saved


@pytest.mark.parametrize(
    ("filters", "layout", "indexes", "cubes", "served"),
    [
        ([ID], (), (), (), False),
        ([], ("id",), ("id",), ({"id"},), False),
        ([ID], ("ID",), (), (), True),
        ([NOTE], ("note",), (), (), False),
        ([NOTE, AT], ("at",), (), (), True),
        ([AT], (), ("at",), (), False),
        ([ID], (), ("id",), (), True),
        ([NOTE], (), ("note:ngram_bloom",), (), True),
        ([ID, AT], (), (), ({"id"},), False),
        ([ID, AT], (), (), ({"x"}, {"ID", "at", "shop"}), True),
    ],
)
def test_what_serves_a_scan(
    filters: list[Filter],
    layout: tuple[str, ...],
    indexes: tuple[str, ...],
    cubes: tuple[set[str], ...],
    served: bool,
) -> None:
    wanted = parse_all_wanted(indexes)
    assert is_served(filters, layout=layout, indexes=wanted, cubes=cubes) is served
