"""Generated logs of queries over one wide table of the Star Schema Benchmark, loaded by time.

Thirteen templates with random parameters, asked with skewed weights that turn round half way; the
same with look-ups of single orders and customers; and a log in which nothing pays: what is asked by
value is in every file whatever the order is, or takes nearly all rows, and what is grouped has as
many groups as rows, or no state that a cube could hold. Conditions are in the words of Iceberg's
`Expressions`.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from optimizer.advice.domain.filters import Filter, FilterKind

REGIONS = ("AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST")
YEARS = range(1992, 1999)
CUSTOMERS, ORDERS = 100_000, 200_000
"""Those that are looked up; a table has at least so many rows."""
FIRST, DAYS = date(2026, 11, 2), 8
"""The log's first day, and its days."""
Condition = tuple[str, str, Any]
Question = tuple[Condition, ...]
_WORDS = {
    "equal": "=",
    "notEqual": "<>",
    "lessThan": "<",
    "lessThanOrEqual": "<=",
    "greaterThan": ">",
    "greaterThanOrEqual": ">=",
}


@dataclass(frozen=True, slots=True)
class Template:
    """Queries that differ in their parameters alone; without a measure all columns are asked."""

    where: Callable[[random.Random], Question]
    measure: str = ""
    keys: str = ""


@dataclass(frozen=True, slots=True)
class Query:
    """One query of a log."""

    template: str
    where: Question
    measure: str
    keys: str
    day: date

    @property
    def filters(self) -> tuple[Filter, ...]:
        """What a scan report would say of it."""
        found = [Filter(column, _KINDS[operation]) for column, operation, _ in self.where]
        return tuple(sorted(set(found)))

    def sql(self, table: str) -> str:
        """Return its text."""
        keys = f"{self.keys}, " if self.keys else ""
        selected = f"{keys}{self.measure} AS measure" if self.measure else "*"
        where = " AND ".join(map(_written, self.where))
        return " ".join(
            [
                f"SELECT {selected} FROM {table}",
                f"WHERE {where}" if where else "",
                f"GROUP BY {self.keys}" if self.keys else "",
            ]
        )


def _written(condition: Condition) -> str:
    column, operation, value = condition
    if operation == "in":
        return f"{column} IN ({', '.join(map(repr, value))})"
    return f"{column} {_WORDS[operation]} {value!r}"


_KINDS = {
    "equal": FilterKind.EQUAL,
    "in": FilterKind.IN,
    **dict.fromkeys(("lessThan", "lessThanOrEqual"), FilterKind.RANGE),
    **dict.fromkeys(("greaterThan", "greaterThanOrEqual"), FilterKind.RANGE),
    "notEqual": FilterKind.OTHER,
}


def columns() -> list[str]:
    """Return the wide table's columns as Spark selects them from numbers `id` of `n` rows."""
    found = ["id AS lo_orderkey"]
    for prefix, salt in (("c", 10), ("s", 20)):
        region, nation = f"pmod(xxhash64(id, {salt}), 5)", f"pmod(xxhash64(id, {salt + 1}), 5)"
        regions = ", ".join(f"'{one}'" for one in REGIONS)
        found += [
            f"array({regions})[{region}] AS {prefix}_region",
            f"concat('N', {region}, {nation}) AS {prefix}_nation",
            f"concat('N', {region}, {nation}, pmod(xxhash64(id, {salt + 2}), 10)) AS {prefix}_city",
        ]
    maker, category = "pmod(xxhash64(id, 30), 5) + 1", "pmod(xxhash64(id, 31), 5) + 1"
    brand = "lpad(cast(pmod(xxhash64(id, 32), 40) AS string), 2, '0')"
    day = "date_add(DATE '1992-01-01', CAST(id * 2557 DIV {n} AS INT))"
    found += [
        f"concat('MFGR#', {maker}) AS p_mfgr",
        f"concat('MFGR#', {maker}, {category}) AS p_category",
        f"concat('MFGR#', {maker}, {category}, {brand}) AS p_brand1",
        f"{day} AS lo_orderdate",
        f"year({day}) AS d_year",
        f"year({day}) * 100 + month({day}) AS d_yearmonthnum",
        "CAST(pmod(xxhash64(id, 40), 11) AS INT) AS lo_discount",
        "CAST(pmod(xxhash64(id, 41), 50) + 1 AS INT) AS lo_quantity",
        "CAST(pmod(xxhash64(id, 42), 1000000) AS INT) AS lo_revenue",
        "CAST(pmod(xxhash64(id, 43), 600000) AS INT) AS lo_supplycost",
        "CAST(pmod(xxhash64(id, 44), 1000000) AS INT) AS lo_extendedprice",
        f"CAST(pmod(xxhash64(id, 45), {CUSTOMERS}) AS INT) AS lo_custkey",
        "if(pmod(xxhash64(id, 46), 100) = 0, 'OPEN', 'DONE') AS lo_status",
        "sha2(CAST(id AS string), 256) AS comment",
    ]
    return found


def _between(column: str, low: Any, high: Any) -> Question:
    return ((column, "greaterThanOrEqual", low), (column, "lessThanOrEqual", high))


def _region(prefix: str, at: random.Random) -> Condition:
    return (f"{prefix}_region", "equal", at.choice(REGIONS))


def _nation(prefix: str, at: random.Random) -> Condition:
    return (f"{prefix}_nation", "equal", f"N{at.randrange(5)}{at.randrange(5)}")


def _cities(prefix: str, at: random.Random) -> Condition:
    nation = f"N{at.randrange(5)}{at.randrange(5)}"
    return (f"{prefix}_city", "in", [f"{nation}{one}" for one in at.sample(range(10), 2)])


def _year(at: random.Random) -> Condition:
    return ("d_year", "equal", at.choice(YEARS))


def _years(at: random.Random) -> Question:
    first = at.choice((1992, 1993))
    return _between("d_year", first, first + 5)


def _month(at: random.Random) -> Condition:
    return ("d_yearmonthnum", "equal", at.choice(YEARS) * 100 + at.randrange(1, 13))


def _category(at: random.Random) -> str:
    return f"MFGR#{at.randrange(1, 6)}{at.randrange(1, 6)}"


def _brands(at: random.Random) -> Question:
    category, first = _category(at), at.randrange(32)
    return _between("p_brand1", f"{category}{first:02}", f"{category}{first + 7:02}")


def _makers(at: random.Random) -> Condition:
    return ("p_mfgr", "in", [f"MFGR#{one}" for one in at.sample(range(1, 6), 2)])


def _sale(at: random.Random, *, quantity: Question) -> Question:
    discount = at.randrange(9)
    return (*_between("lo_discount", discount, discount + 2), *quantity)


_DISCOUNT = "sum(lo_extendedprice * lo_discount)"
_REVENUE, _PROFIT = "sum(lo_revenue)", "sum(lo_revenue - lo_supplycost)"
_BRANDS, _CITIES = "d_year, p_brand1", "c_city, s_city, d_year"

STAR: Mapping[str, Template] = {
    "1.1": Template(
        lambda at: (_year(at), *_sale(at, quantity=(("lo_quantity", "lessThan", 25),))), _DISCOUNT
    ),
    "1.2": Template(
        lambda at: (_month(at), *_sale(at, quantity=_between("lo_quantity", 26, 35))), _DISCOUNT
    ),
    "1.3": Template(
        lambda at: (_month(at), *_sale(at, quantity=_between("lo_quantity", 36, 40))), _DISCOUNT
    ),
    "2.1": Template(
        lambda at: (("p_category", "equal", _category(at)), _region("s", at)), _REVENUE, _BRANDS
    ),
    "2.2": Template(lambda at: (*_brands(at), _region("s", at)), _REVENUE, _BRANDS),
    "2.3": Template(
        lambda at: (
            ("p_brand1", "equal", f"{_category(at)}{at.randrange(40):02}"),
            _region("s", at),
        ),
        _REVENUE,
        _BRANDS,
    ),
    "3.1": Template(
        lambda at: (_region("c", at), _region("s", at), *_years(at)),
        _REVENUE,
        "c_nation, s_nation, d_year",
    ),
    "3.2": Template(
        lambda at: (_nation("c", at), _nation("s", at), *_years(at)), _REVENUE, _CITIES
    ),
    "3.3": Template(
        lambda at: (_cities("c", at), _cities("s", at), *_years(at)), _REVENUE, _CITIES
    ),
    "3.4": Template(lambda at: (_cities("c", at), _cities("s", at), _month(at)), _REVENUE, _CITIES),
    "4.1": Template(
        lambda at: (_region("c", at), _region("s", at), _makers(at)), _PROFIT, "d_year, c_nation"
    ),
    "4.2": Template(
        lambda at: (_region("c", at), _region("s", at), _year(at), _makers(at)),
        _PROFIT,
        "d_year, s_nation, p_category",
    ),
    "4.3": Template(
        lambda at: (_nation("s", at), _year(at), ("p_category", "equal", _category(at))),
        _PROFIT,
        "d_year, s_city, p_brand1",
    ),
}
LOOK_UPS: Mapping[str, Template] = {
    **STAR,
    "order": Template(lambda at: (("lo_orderkey", "equal", at.randrange(ORDERS)),)),
    "customer": Template(lambda at: (("lo_custkey", "equal", at.randrange(CUSTOMERS)),)),
}
HOPELESS: Mapping[str, Template] = {
    "nearly all": Template(
        lambda at: _between("lo_quantity", 1, 40 + at.randrange(10)), _REVENUE, "lo_orderkey"
    ),
    "not this": Template(
        lambda at: (("lo_discount", "notEqual", at.randrange(11)),), _REVENUE, "comment"
    ),
    "most of both": Template(
        lambda at: (
            ("lo_quantity", "greaterThan", at.randrange(5)),
            ("lo_discount", "lessThanOrEqual", 8 + at.randrange(3)),
        ),
        _REVENUE,
        "lo_orderkey, lo_custkey",
    ),
    "the usual": Template(lambda _: (("lo_status", "equal", "DONE"),), _PROFIT, "lo_orderkey"),
    "all": Template(lambda _: (), "stddev(lo_revenue)", "c_city, s_city, p_brand1"),
}


def log(templates: Mapping[str, Template], n: int, seed: int) -> list[Query]:
    """Return `n` queries: few templates are asked most, and half way others are."""
    at = random.Random(seed)
    names = list(templates)
    at.shuffle(names)
    weights = [1 / (place + 1) for place in range(len(names))]
    first = at.choices(names, weights, k=n // 2)
    second = at.choices(names[::-1], weights, k=n - n // 2)
    found = []
    for place, name in enumerate((*first, *second)):
        one = templates[name]
        day = FIRST + timedelta(days=place * DAYS // n)
        found.append(Query(name, one.where(at), one.measure, one.keys, day))
    return found


def most_filtered(queries: Sequence[Query], n: int) -> list[str]:
    """Return the columns that most queries filter."""
    counts: dict[str, int] = {}
    for one in queries:
        for column in {condition[0] for condition in one.where}:
            counts[column] = counts.get(column, 0) + 1
    return sorted(counts, key=lambda name: (-counts[name], name))[:n]
