"""Rules are tried on past windows: as if they had been there then, and never by later ones."""

from datetime import UTC, date, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from quality.checks.domain.judge import judge
from quality.checks.domain.metrics import MetricKind
from quality.checks.domain.rules import Compare, CompareWith, Learnt, Rule
from quality.checks.domain.trials import MOST_WINDOWS, try_rules, unmeasured
from quality.checks.domain.windows import Reading

NOW = datetime(2026, 11, 21, 2, 0, tzinfo=UTC)
FIXED = Rule(MetricKind.ROW_COUNT, name="enough", min=100)
DROP = Rule(
    MetricKind.ROW_COUNT, name="drop", compare=Compare(with_=CompareWith.PREVIOUS, min="-20%")
)
LEARNT = Rule(MetricKind.ROW_COUNT, name="usual", learnt=Learnt(least=5))


def readings(values: list[float | None]) -> list[Reading]:
    """Return a value for each of the days before today, the oldest first."""
    first = date(2026, 11, 21) - timedelta(days=len(values))
    return [
        Reading(str(first + timedelta(days=n)), value, NOW - timedelta(days=len(values) - n))
        for n, value in enumerate(values)
    ]


def test_a_draft_says_which_windows_it_would_have_fired_on() -> None:
    history = readings([100, 99, 150, 110, 111])
    fixed, drop = try_rules([FIXED, DROP], {"row_count": history}, now=NOW)
    assert [(one.label, one.verdict.value, one.verdict.low) for one in fixed.fired] == [
        ("2026-11-17", 99, 100)
    ]
    assert [one.label for one in drop.fired] == ["2026-11-19"]
    assert drop.n_unknown == 1, "the first has nothing before it"
    assert len(drop.windows) == 5


def test_only_the_last_days_count_and_at_most_so_many_windows() -> None:
    history = readings([1.0] * 400)
    (tried,) = try_rules([FIXED], {"row_count": history}, now=NOW)
    assert (tried.windows[0].label, len(tried.fired)) == ("2026-08-24", 89)
    (tried,) = try_rules([FIXED], {"row_count": history}, now=NOW, days=500)
    assert len(tried.windows) == MOST_WINDOWS
    many = [Rule(MetricKind.ROW_COUNT, name=f"r{n}", learnt=Learnt()) for n in range(300)]
    assert {len(one.windows) for one in try_rules(many, {"row_count": history}, now=NOW)} == {7}


def test_windows_that_are_no_time_and_whole_tables_are_tried_too() -> None:
    odd = [Reading("eu", 1, NOW), Reading("us", 200, NOW - timedelta(days=1))]
    (tried,) = try_rules([FIXED], {"row_count": odd}, now=NOW)
    assert [one.label for one in tried.windows] == ["us", "eu"]
    whole = [Reading("", n, NOW - timedelta(days=n)) for n in (1, 2)]
    (tried,) = try_rules([FIXED], {"row_count": whole}, now=NOW)
    assert [one.label for one in tried.fired] == ["2026-11-19", "2026-11-20"]


def test_a_metric_that_was_never_measured_is_named_once() -> None:
    other = Rule(MetricKind.NULL_RATE, name="nulls", column="id", max=0)
    again = Rule(MetricKind.NULL_RATE, name="again", column="id", max=0.5)
    known = {"row_count": readings([1])}
    assert unmeasured([FIXED, other, again], known) == ("null_rate(id)",)
    assert try_rules([other], known, now=NOW)[0].windows == ()


VALUES = st.lists(st.none() | st.floats(0, 1e6), min_size=1, max_size=30)


@given(VALUES, VALUES, st.sampled_from([FIXED, DROP, LEARNT]))
def test_a_window_is_judged_as_on_its_own_day(
    before: list[float | None], after: list[float | None], rule: Rule
) -> None:
    whole = readings([*before, *after])
    (tried,) = try_rules([rule], {"row_count": whole}, now=NOW)
    at = whole[len(before) - 1]
    known_then = whole[: len(before)]
    found = next(one for one in tried.windows if one.label == at.window)
    assert found.verdict == judge(rule, at, known_then)
