"""Tests how a month is laid out: every day once, shaded by its share of the busiest."""

from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from lifecycle.notices.domain.months import N_LEVELS, last_day_of, lay_out

MONTHS = st.dates(date(1990, 1, 1), date(2200, 1, 1)).map(lambda day: day.replace(day=1))
COUNTS = st.dictionaries(st.integers(0, 40), st.integers(0, 10_000), max_size=20)


@given(MONTHS, COUNTS, COUNTS, st.integers(-5, 40))
def test_each_day_of_the_month_stands_once_with_its_counts(
    first: date, due: dict[int, int], purged: dict[int, int], today: int
) -> None:
    of_due = {first + timedelta(days=n): (count, 10 * count) for n, count in due.items()}
    of_purged = {first + timedelta(days=n): count for n, count in purged.items()}
    month = lay_out(first, of_due, of_purged, today=first + timedelta(days=today))
    cells = [cell for week in month.weeks for cell in week if cell]
    assert [cell.day for cell in cells] == [
        first + timedelta(days=n) for n in range(last_day_of(first).day)
    ]
    assert all(len(week) == 7 for week in month.weeks)
    for week in month.weeks:
        assert all(cell is None or cell.day.weekday() == n for n, cell in enumerate(week))
    most = max(cell.n_due + cell.n_purged for cell in cells)
    for cell in cells:
        assert (cell.n_due, cell.n_bytes) == of_due.get(cell.day, (0, 0))
        assert cell.n_purged == of_purged.get(cell.day, 0)
        assert (cell.level == 0) == (cell.n_due + cell.n_purged == 0)
        assert 0 <= cell.level <= N_LEVELS
        if most and cell.n_due + cell.n_purged == most:
            assert cell.level == N_LEVELS


@given(MONTHS)
def test_the_neighbours_of_a_month_begin_on_the_first(first: date) -> None:
    month = lay_out(first, {}, {}, today=first)
    assert last_day_of(month.previous) == first - timedelta(days=1)
    assert month.following == last_day_of(first) + timedelta(days=1)
