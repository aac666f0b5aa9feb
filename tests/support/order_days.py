"""Days of a made-up table of orders, their metrics, and faults that a day can have.

Rows are made by seeded chance with a season over the week and over the day; metrics are counted in
Python, by their definition and not by the program that measures tables.
"""

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from statistics import fmean

from quality.checks.domain.documents import read_document
from quality.checks.domain.rules import CheckSet
from quality.checks.domain.windows import Reading

FIRST = datetime(2026, 3, 2, tzinfo=UTC)
_OF_WEEK = (1.0, 1.02, 1.05, 1.08, 1.3, 0.8, 0.7)
_OF_DAY = (1, 1, 1, 1, 1, 2, 3, 4, 5, 6, 6, 6, 7, 6, 6, 5, 5, 6, 7, 8, 7, 5, 3, 2)
_PER_HOUR = 20
CUSTOMERS = 5_000

DOCUMENT = """
table: sales.orders
partition_key: dt
rules:
  - {metric: row_count, learnt: {season: week}}
  - {metric: freshness, column: at, max: 7200}
  - {metric: null_rate, column: customer_id, learnt: {floor: 0.01}}
  - {metric: mean, column: amount, learnt: {season: week}}
  - name: amount_of_a_month
    metric: mean
    column: amount
    compare: {with: last_days, periods: 28, min: -15%, max: 15%}
  - {metric: approx_distinct_count, column: hour, min: 24}
  - {metric: duplicate_rows, column: order_id, max: 0}
  - {metric: in_set_rate, column: currency, values: [EUR, USD], min: 1}
  - {metric: mean, column: amount, where: "currency = 'EUR'", name: euros, learnt: {season: week}}
  - {metric: max_length, column: city, learnt: {floor: 2}}
  - {metric: min_length, column: city, min: 4}
  - metric: referential_rate
    column: customer_id
    other_table: sales.customers
    other_column: id
    min: 0.999
"""


@dataclass(frozen=True, slots=True)
class Order:
    """One row."""

    order_id: int
    at: datetime
    customer_id: int | None
    amount: float
    currency: str
    city: str


Day = list[Order]
CITIES = ("Bern", "Lyon", "Vienna", "Zurich", "Hamburg", "Winterthur")


def check_set() -> CheckSet:
    """Return the rules that somebody would write for the table."""
    return read_document(DOCUMENT)


def clean_day(n: int, seed: int) -> Day:
    """Return the rows of the n-th day: about 2,000, more on Fridays, with 0.3 % NULLs."""
    dice = random.Random(f"{seed} {n}")
    start = FIRST + timedelta(days=n)
    level = _OF_WEEK[n % 7] * dice.gauss(1, 0.02)
    rows: Day = []
    for hour, weight in enumerate(_OF_DAY):
        for _ in range(max(1, round(_PER_HOUR * weight * level * dice.gauss(1, 0.03)))):
            rows.append(
                Order(
                    n * 100_000 + len(rows),
                    start + timedelta(hours=hour, seconds=dice.uniform(0, 3600)),
                    None if dice.random() < 0.003 else dice.randrange(CUSTOMERS),
                    dice.lognormvariate(3.5, 0.5) * (1.1 if n % 7 >= 5 else 1),
                    "EUR" if dice.random() < 0.8 else "USD",
                    dice.choice(CITIES),
                )
            )
    return rows


def measure(rows: Day, n: int) -> dict[str, float | None]:
    """Return the metrics of a day by their rules' keys, in the order of the check set."""
    end = FIRST + timedelta(days=n + 1)
    known = [one.customer_id for one in rows if one.customer_id is not None]
    amounts = [one.amount for one in rows]
    euros = [one.amount for one in rows if one.currency == "EUR"]
    mean = fmean(amounts) if amounts else None
    values: Sequence[float | None] = (
        len(rows),
        (end - max(one.at for one in rows)).total_seconds() if rows else None,
        1 - len(known) / len(rows) if rows else None,
        mean,
        mean,
        len({one.at.hour for one in rows}),
        sum(n - 1 for n in Counter(one.order_id for one in rows).values()),
        sum(one.currency in {"EUR", "USD"} for one in rows) / len(rows) if rows else None,
        fmean(euros) if euros else None,
        max((len(one.city) for one in rows), default=None),
        min((len(one.city) for one in rows), default=None),
        sum(one < CUSTOMERS for one in known) / len(known) if known else None,
    )
    keys = [one.measured.key for one in check_set().rules]
    return dict(zip(keys, values, strict=True))


def readings(values: Mapping[str, float | None], n: int) -> dict[str, Reading]:
    """Return the metrics of a day as they are kept."""
    day = FIRST + timedelta(days=n)
    return {
        key: Reading(
            f"{day:%Y-%m-%d}",
            one,
            day + timedelta(days=1),
            "" if one is not None else "empty_window",
        )
        for key, one in values.items()
    }


Fault = Callable[[Day, random.Random], Day]


def _each(change: Callable[[Order], Order], share: float) -> Fault:
    return lambda rows, dice: [change(one) if dice.random() < share else one for one in rows]


def _drift(days_since: int) -> Fault:
    return lambda rows, _: [replace(one, amount=one.amount * 1.012**days_since) for one in rows]


DRIFT_DAYS = 28
FAULTS: dict[str, tuple[Fault, str]] = {
    "doubled load": (
        lambda rows, _: [*rows, *(replace(one, order_id=-one.order_id) for one in rows)],
        "row_count",
    ),
    "lost hour": (
        lambda rows, _: [one for one in rows if one.at.hour != 3],
        "approx_distinct_count_hour",
    ),
    "null burst": (
        _each(lambda one: replace(one, customer_id=None), 0.04),
        "null_rate_customer_id",
    ),
    "drift": (_drift(DRIFT_DAYS), "amount_of_a_month"),
    "late data": (lambda rows, _: [one for one in rows if one.at.hour < 21], "freshness_at"),
    "wrong currency": (_each(lambda one: replace(one, amount=one.amount * 150), 0.02), "euros"),
    "unknown currency": (
        _each(lambda one: replace(one, currency="XXX"), 0.01),
        "in_set_rate_currency",
    ),
    "batch loaded twice": (lambda rows, _: [*rows, *rows[:20]], "duplicate_rows_order_id"),
    "texts cut off": (
        lambda rows, _: [replace(one, city=one.city[:6]) for one in rows],
        "max_length_city",
    ),
    "orphaned keys": (
        _each(lambda one: replace(one, customer_id=(one.customer_id or 0) + CUSTOMERS), 0.01),
        "referential_rate_customer_id",
    ),
}
"""A fault, and the rule that has to find it."""
