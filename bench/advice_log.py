"""A generated log of the Star Schema Benchmark's queries over one wide table loaded by time.

Thirteen templates with random parameters, asked with skewed weights that turn round half way; and
a log in which no order of rows pays: what is asked by value is spread over all files whatever the
order is, or takes nearly all rows. A question is a filter in the words of Iceberg's `Expressions`.
"""

import random
from collections.abc import Callable, Sequence
from typing import Any

from optimizer.advice.domain.filters import Filter, FilterKind

REGIONS = ("AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST")
YEARS = range(1992, 1999)
Condition = tuple[str, str, Any]
Question = tuple[Condition, ...]
Template = Callable[[random.Random], Question]

_KINDS = {
    "equal": FilterKind.EQUAL,
    "in": FilterKind.IN,
    "startsWith": FilterKind.PREFIX,
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
        "CAST(pmod(xxhash64(id, 43), 2) AS INT) AS is_gift",
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


TEMPLATES: dict[str, Template] = {
    "1.1": lambda at: (_year(at), *_sale(at, quantity=(("lo_quantity", "lessThan", 25),))),
    "1.2": lambda at: (_month(at), *_sale(at, quantity=_between("lo_quantity", 26, 35))),
    "1.3": lambda at: (_month(at), *_sale(at, quantity=_between("lo_quantity", 36, 40))),
    "2.1": lambda at: (("p_category", "equal", _category(at)), _region("s", at)),
    "2.2": lambda at: (*_brands(at), _region("s", at)),
    "2.3": lambda at: (
        ("p_brand1", "equal", f"{_category(at)}{at.randrange(40):02}"),
        _region("s", at),
    ),
    "3.1": lambda at: (_region("c", at), _region("s", at), *_years(at)),
    "3.2": lambda at: (_nation("c", at), _nation("s", at), *_years(at)),
    "3.3": lambda at: (_cities("c", at), _cities("s", at), *_years(at)),
    "3.4": lambda at: (_cities("c", at), _cities("s", at), _month(at)),
    "4.1": lambda at: (_region("c", at), _region("s", at), _makers(at)),
    "4.2": lambda at: (_region("c", at), _region("s", at), _year(at), _makers(at)),
    "4.3": lambda at: (
        _nation("s", at),
        _year(at),
        ("p_category", "equal", _category(at)),
    ),
}
HOPELESS: dict[str, Template] = {
    "nearly all": lambda at: _between("lo_quantity", 1, 40 + at.randrange(10)),
    "not this": lambda at: (("lo_discount", "notEqual", at.randrange(11)),),
    "most of both": lambda at: (
        ("lo_quantity", "greaterThan", at.randrange(5)),
        ("lo_discount", "lessThanOrEqual", 8 + at.randrange(3)),
    ),
    "all": lambda at: (),
}


def log(templates: dict[str, Template], n: int, seed: int) -> list[Question]:
    """Return `n` queries: few templates are asked most, and half way others are."""
    at = random.Random(seed)
    names = list(templates)
    at.shuffle(names)
    weights = [1 / (place + 1) for place in range(len(names))]
    first = at.choices(names, weights, k=n // 2)
    second = at.choices(names[::-1], weights, k=n - n // 2)
    return [templates[name](at) for name in (*first, *second)]


def filters_of(question: Question) -> tuple[Filter, ...]:
    """Return what a scan report would say of a question."""
    found = [Filter(column, _KINDS[operation]) for column, operation, _ in question]
    return tuple(sorted(set(found)))


def most_filtered(questions: Sequence[Question], n: int) -> list[str]:
    """Return the columns that most questions filter."""
    counts: dict[str, int] = {}
    for one in questions:
        for column in {condition[0] for condition in one}:
            counts[column] = counts.get(column, 0) + 1
    return sorted(counts, key=lambda name: (-counts[name], name))[:n]
