"""Ten seeded faults are found, and 90 clean days raise no alarm."""

import random
from functools import lru_cache

import pytest

from quality.checks.domain.judge import Outcome, judge
from quality.checks.domain.windows import Reading
from tests.support.order_days import (
    DRIFT_DAYS,
    FAULTS,
    check_set,
    clean_day,
    measure,
    readings,
)

N_DAYS = 90
_SEEDS = (1, 2)


@lru_cache(maxsize=4)
def clean(seed: int) -> tuple[dict[str, Reading], ...]:
    """Return what was measured of 90 clean days."""
    return tuple(readings(measure(clean_day(n, seed), n), n) for n in range(N_DAYS))


def failing(history: tuple[dict[str, Reading], ...], day: dict[str, Reading]) -> set[str]:
    """Return the rules that fail on a day."""
    return {
        rule.name
        for rule in check_set().rules
        if judge(rule, day[rule.measured.key], [one[rule.measured.key] for one in history]).outcome
        is Outcome.FAILED
    }


@pytest.mark.parametrize("seed", _SEEDS)
def test_clean_days_raise_no_alarm(seed: int) -> None:
    days = clean(seed)
    alarms = {n: found for n in range(N_DAYS) if (found := failing(days[:n], days[n]))}
    assert alarms == {}


@pytest.mark.parametrize("seed", _SEEDS)
def test_every_rule_gives_an_answer_by_the_second_month(seed: int) -> None:
    days = clean(seed)
    outcomes = [
        judge(rule, days[-1][rule.measured.key], [one[rule.measured.key] for one in days[:-1]])
        for rule in check_set().rules
    ]
    assert [one.outcome for one in outcomes] == [Outcome.PASSED] * len(outcomes)


@pytest.mark.parametrize("seed", _SEEDS)
@pytest.mark.parametrize("fault", [one for one in FAULTS if one != "drift"])
def test_a_seeded_fault_is_found(fault: str, seed: int) -> None:
    spoil, rule = FAULTS[fault]
    days = clean(seed)
    for n in (45, 66, 89):
        rows = spoil(clean_day(n, seed), random.Random(seed))
        assert rule in failing(days[:n], readings(measure(rows, n), n)), n


@pytest.mark.parametrize("seed", _SEEDS)
def test_a_drift_of_a_percent_a_day_is_found_within_a_month(seed: int) -> None:
    """Each day is usual after the one before: only a longer look back tells."""
    first = N_DAYS - DRIFT_DAYS
    history = clean(seed)[:first]
    found: set[str] = set()
    for n in range(first, N_DAYS):
        rows = clean_day(n, seed)
        drifted = [
            type(one)(one.order_id, one.at, one.customer_id, one.amount * 1.012 ** (n - first),
                      one.currency, one.city)
            for one in rows
        ]  # fmt: skip
        day = readings(measure(drifted, n), n)
        found |= failing(history, day)
        history = (*history, day)
    assert FAULTS["drift"][1] in found
