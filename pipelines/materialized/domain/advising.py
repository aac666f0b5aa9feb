"""Decides which repeated queries are worth a materialization, and which one has not paid.

A materialization reads its table once to be computed, and changed rows from then on; queries that
it answers read it no more. How many groups it has is known after its first refresh alone.
"""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from portal.catalog.domain.repeated_queries import RepeatedQueries
from portal.lake.counts import count_words

WINDOW_DAYS = 28
"""Of the log that advice stands on."""
LEAST_QUERIES, LEAST_DAYS = 20, 3
LEAST_SHARE = 0.1
"""Of the bytes that queries read of the table; of the queries that it has to answer afterwards."""
MOST_DAYS = 30
"""In which what its first refresh reads is to be paid back."""
MOST_GROUP_SHARE = 0.5
"""Groups, of the rows that they are made of; with more it is about as large as its table."""
UNUSED_FOR = timedelta(days=28)
AFTER_NO = timedelta(days=28)
"""How long what a person dismissed is not advised again."""


class AdviceState(StrEnum):
    """Where an advice stands."""

    NEW = "NEW"
    APPLIED = "APPLIED"
    ROLLED_BACK = "ROLLED_BACK"
    DISMISSED = "DISMISSED"
    OUTDATED = "OUTDATED"


@dataclass(frozen=True, slots=True)
class Worth:
    """What speaks for a materialization, or in `why_not` what speaks against it."""

    reason: str = ""
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class Served:
    """What became of a materialization since its first refresh after it was advised."""

    n_asked: int
    """Queries of the kind that it was made for, which it did not answer."""
    n_answered: int
    n_groups: int
    n_rows: int


def worth_of(queries: RepeatedQueries) -> Worth:
    """Judge an aggregate by the queries that it would have answered in `WINDOW_DAYS`."""
    if queries.n_queries < LEAST_QUERIES or queries.n_days < LEAST_DAYS:
        return Worth(
            why_not=f"{count_words(queries.n_queries, 'query', many='queries')} on "
            f"{count_words(queries.n_days, 'day')}; at least {LEAST_QUERIES} on {LEAST_DAYS} days "
            "are asked"
        )
    share = queries.n_bytes / queries.all_bytes if queries.all_bytes else 0.0
    if share < LEAST_SHARE:
        return Worth(
            why_not=f"its queries read {share:.0%} of what is read of the table; at least "
            f"{LEAST_SHARE:.0%} is asked"
        )
    said = (
        f"It would have answered {count_words(queries.n_queries, 'query', many='queries')} on "
        f"{count_words(queries.n_days, 'day')}, which read {share:.0%} of what queries read of "
        f"{queries.table}."
    )
    if queries.table_bytes is None:
        return Worth(f"{said} The table was not inspected yet, so its first refresh is not priced.")
    days = WINDOW_DAYS * queries.table_bytes / queries.n_bytes
    if days > MOST_DAYS:
        return Worth(
            why_not=f"to read the table once for it is paid back in {days:.0f} days; at most "
            f"{MOST_DAYS} are asked"
        )
    paid = "within a day" if days < 1 else f"in {count_words(round(days), 'day')}"
    return Worth(f"{said} What its first refresh reads is paid back {paid}.")


def failure_of(served: Served) -> str:
    """Return why a materialization is not worth its refreshes; empty: it is, or it is too early."""
    if served.n_rows and served.n_groups > MOST_GROUP_SHARE * served.n_rows:
        return (
            f"It has {served.n_groups:,} groups of {served.n_rows:,} rows; at most "
            f"{MOST_GROUP_SHARE:.0%} is asked."
        )
    n_queries = served.n_asked + served.n_answered
    if has_paid(served) is False:
        return (
            f"Of {n_queries:,} queries since its first refresh it answered "
            f"{served.n_answered:,}; at least {LEAST_SHARE:.0%} is asked."
        )
    return ""


def has_paid(served: Served) -> bool | None:
    """Whether it answers enough of the queries that it was made for; None: too few came yet."""
    n_queries = served.n_asked + served.n_answered
    if n_queries < LEAST_QUERIES:
        return None
    return served.n_answered >= LEAST_SHARE * n_queries
