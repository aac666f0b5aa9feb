"""Standing rules cover daily routine, never the first drop, the over-cap or the recently read."""

from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.drop.domain.standing import (
    Basis,
    StandingRule,
    TableShare,
    UsedToday,
    check_rule,
    decide,
)
from portal.lake.errors import RuleViolation

FIRST = date(2026, 11, 1)
BASIS = Basis(level=1, ttl=60, owner="alice")
RULE = StandingRule(
    tbl_id=7,
    basis=BASIS,
    max_items=10,
    max_bytes=1000,
    starts_on=FIRST,
    ends_on=FIRST + timedelta(days=89),
)
SHARE = TableShare(tbl_id=7, basis=BASIS, n_items=10, n_bytes=1000, n_still_read=0)


def covered(
    rule: StandingRule | None = RULE,
    share: TableShare = SHARE,
    used: UsedToday | None = None,
    dropped_before: bool = True,
    today: date = FIRST,
) -> bool:
    decision = decide(
        rule, share, used=used or UsedToday(), dropped_before=dropped_before, today=today
    )
    assert decision.reason
    return decision.covered


def test_exactly_the_caps_are_covered_and_one_more_is_not() -> None:
    assert covered()
    assert not covered(share=replace(SHARE, n_items=11))
    assert not covered(share=replace(SHARE, n_bytes=1001))
    assert not covered(used=UsedToday(n_items=1))
    assert not covered(used=UsedToday(n_bytes=1))


def test_first_drops_still_read_items_and_other_tables_stay_explicit() -> None:
    assert not covered(rule=None)
    assert not covered(dropped_before=False)
    assert not covered(share=replace(SHARE, n_still_read=1))
    assert not covered(share=replace(SHARE, tbl_id=8))


@pytest.mark.parametrize("other", [{"level": 0}, {"ttl": 59}, {"owner": "bert"}, {"ttl": None}])
def test_another_policy_or_owner_stays_explicit(other: dict[str, Any]) -> None:
    changed = replace(BASIS, **other)
    assert not covered(share=replace(SHARE, basis=changed))
    assert not covered(rule=replace(RULE, basis=changed))


def test_a_rule_holds_on_its_first_and_last_day_only() -> None:
    assert covered(today=RULE.starts_on)
    assert covered(today=RULE.ends_on)
    assert not covered(today=RULE.starts_on - timedelta(days=1))
    assert not covered(today=RULE.ends_on + timedelta(days=1))


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 600)), max_size=8))
def test_a_day_of_shares_never_crosses_the_caps(shares: list[tuple[int, int]]) -> None:
    used = UsedToday()
    for items, size in shares:
        if covered(share=TableShare(7, BASIS, items, size, 0), used=used):
            used = UsedToday(used.n_items + items, used.n_bytes + size)
    assert used.n_items <= RULE.max_items
    assert used.n_bytes <= RULE.max_bytes


@pytest.mark.parametrize(
    ("rule", "code"),
    [
        (replace(RULE, ends_on=FIRST + timedelta(days=90)), "standing.days"),
        (replace(RULE, ends_on=FIRST - timedelta(days=1)), "standing.days"),
        (replace(RULE, max_items=0), "standing.caps"),
        (replace(RULE, basis=Basis(None, 60, "alice")), "standing.policy"),
        (replace(RULE, basis=Basis(1, None, "alice")), "standing.policy"),
        (replace(RULE, max_bytes=0), "standing.caps"),
    ],
)
def test_a_rule_that_could_not_have_been_meant_is_refused(rule: StandingRule, code: str) -> None:
    check_rule(RULE)
    with pytest.raises(RuleViolation) as caught:
        check_rule(rule)
    assert caught.value.code == code
