"""Which repeated queries are worth a materialization, and which one has not paid."""

from typing import Any

import pytest

from pipelines.materialized.domain.advising import Served, failure_of, has_paid, worth_of
from portal.catalog.domain.repeated_queries import RepeatedGrouping, RepeatedQueries


def queries(
    n: int = 100, *, n_bytes: int = 5_000, days: int = 5, all_bytes: int = 10_000, **other: Any
) -> RepeatedQueries:
    grouping = RepeatedGrouping("d", ("city",), ("sum(qty)",), (), "", n, days, n_bytes, 3.0)
    said: dict[str, Any] = {"table_bytes": 1_000, **other}
    return RepeatedQueries("shop.orders", "by_city", "SELECT", (grouping,), days, all_bytes, **said)


def test_what_is_read_again_and_again_is_worth_it() -> None:
    assert worth_of(queries()).reason == (
        "It would have answered 100 queries on 5 days, which read 50% of what queries read of "
        "shop.orders. What its first refresh reads is paid back in 6 days."
    )
    assert worth_of(queries(n_bytes=9_000, all_bytes=9_000, table_bytes=100)).reason.endswith(
        "paid back within a day."
    )


@pytest.mark.parametrize(
    ("found", "why_not"),
    [
        (queries(19), "19 queries on 5 days; at least 20 on 3 days are asked"),
        (queries(days=2), "100 queries on 2 days; at least 20 on 3 days are asked"),
        (queries(all_bytes=100_000), "read 5% of what is read of the table"),
        (queries(all_bytes=0, n_bytes=0), "read 0% of what is read of the table"),
        (queries(table_bytes=6_000), "is paid back in 34 days; at most 30 are asked"),
    ],
)
def test_what_is_not_says_why(found: RepeatedQueries, why_not: str) -> None:
    judged = worth_of(found)
    assert why_not in judged.why_not
    assert not judged.reason


def test_a_table_without_a_known_size_is_not_priced() -> None:
    assert "not inspected yet" in worth_of(queries(table_bytes=None)).reason


@pytest.mark.parametrize(
    ("served", "paid", "failure"),
    [
        (Served(0, 0, 10, 1_000), None, ""),
        (Served(19, 0, 10, 1_000), None, ""),
        (Served(20, 0, 10, 1_000), False, "Of 20 queries since its first refresh it answered 0"),
        (Served(18, 2, 10, 1_000), True, ""),
        (Served(0, 20, 501, 1_000), True, "It has 501 groups of 1,000 rows; at most 50%"),
        (Served(0, 0, 0, 0), None, ""),
    ],
)
def test_one_that_answers_too_little_or_holds_too_much_fails(
    served: Served, paid: bool | None, failure: str
) -> None:
    assert has_paid(served) is paid
    found = failure_of(served)
    assert failure in found
    assert bool(found) is bool(failure)
