"""Random stored aggregates of two small tables, and queries that they may answer."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from random import Random
from typing import Any

from pyspark.sql import SparkSession

from portal.lake.aggregates import StoredAggregate, StoredDimension, StoredJoin, StoredMeasure

FACT_COLUMNS = {
    "f_key": "int", "f_shop": "int", "day": "date", "state": "string", "qty": "int",
    "price": "decimal(9,2)", "buyer": "int",
}  # fmt: skip
SHOP_COLUMNS = {"id": "int", "city": "string", "size": "int"}
SHOPS = [(0, "Ulm", 5), (1, "Bonn", 10), (2, None, 30), (3, "Aachen", 20), (3, "Bonn", 21)]
DIMENSIONS = {
    "state": ("fact.state", "string"), "day": ("fact.day", "date"), "qty": ("fact.qty", "int"),
    "city": ("s.city", "string"), "yr": ("year(fact.day)", "int"),
    "up": ("upper(fact.state)", "string"),
}  # fmt: skip
MEASURES = {
    "m_qty": ("fact.qty", "int"), "m_price": ("fact.price", "decimal(9,2)"),
    "m_buyer": ("fact.buyer", "int"),
}  # fmt: skip
FUNCTIONS = ("sum", "count", "min", "max")
STORED_FILTERS = (
    "fact.qty >= 1", "fact.qty < 6", "fact.qty BETWEEN 0 AND 5", "fact.state = 'paid'",
    "fact.state IN ('paid', 'open')", "fact.day >= DATE '2024-01-01'", "fact.state IS NOT NULL",
    "fact.price > 2.5", "s.city <> 'Ulm'", "s.size <= 20", "fact.qty <> 3",
)  # fmt: skip
FILTERS = (
    "f.qty >= 1", "f.qty >= 2", "f.qty = 3", "f.qty < 6", "f.qty <= 5", "f.qty IN (2, 4)",
    "f.qty BETWEEN 1 AND 4", "f.state = 'paid'", "f.state IN ('paid', 'open')",
    "f.state IN ('open', 'paid')", "f.state > 'n'", "f.day >= DATE '2024-01-01'",
    "f.day > DATE '2024-02-01'", "f.state IS NOT NULL", "f.price > 2.5", "f.price > 3.25",
    "s.city <> 'Ulm'", "s.city = 'Bonn'", "s.size <= 20", "s.size < 11", "f.qty <> 3",
    "f.state LIKE 'p%'", "f.qty IS NULL OR f.state = 'paid'",
)  # fmt: skip
AGGREGATES = (
    "count(*)", "sum(f.qty)", "count(f.qty)", "min(f.qty)", "max(f.qty)", "avg(f.qty)",
    "sum(f.price)", "avg(f.price)", "min(f.price)", "max(f.price)", "count(f.price)",
    "count(DISTINCT f.buyer)", "sum(f.price) / count(*)", "count(DISTINCT f.state)",
)  # fmt: skip
KEYS = {
    "state": "f.state", "day": "f.day", "qty": "f.qty", "city": "s.city", "yr": "year(f.day)",
    "up": "upper(f.state)",
}  # fmt: skip


def fact_rows() -> list[tuple[Any, ...]]:
    """Return rows of the first table, the same ones each time."""
    dice = Random(7)
    states, days = ("paid", "open", "sent", "päid", None), (None, *range(0, 140, 9))
    rows = []
    for n in range(400):
        day, quarters = dice.choice(days), dice.choice((None, *range(-3, 30)))
        rows.append(
            (
                n,
                dice.choice((None, *range(5))),
                None if day is None else date(2023, 12, 1) + timedelta(days=day),
                dice.choice(states),
                dice.choice((None, *range(-1, 8))),
                None if quarters is None else Decimal(quarters) / 4,
                dice.choice((None, *range(9))),
            )
        )
    return rows


def rows_of(spark: SparkSession, queries: Sequence[str]) -> list[Counter[tuple[str, str]]]:
    """Return the rows of queries with their types, which one job reads."""
    parts = [
        " ".join([f"SELECT {n} AS n, to_json(struct(*)) AS r, typeof(struct(*)) AS t FROM ({one})"])
        for n, one in enumerate(queries)
    ]
    found: list[Counter[tuple[str, str]]] = [Counter() for _ in queries]
    for row in spark.sql(" UNION ALL ".join(parts)).collect():
        found[row.n][row.r, row.t] += 1
    return found


@dataclass
class RandomAggregates:
    """Makes aggregates and queries; the same seed makes the same."""

    seed: int
    fact: str
    shop: str
    chance: Random = field(init=False)

    def __post_init__(self) -> None:
        self.chance = Random(self.seed)

    def aggregate(self, name: str) -> StoredAggregate:
        """Return an aggregate with one to four dimensions, all measures, and some conditions."""
        pick = self.chance
        chosen = pick.sample(sorted(DIMENSIONS), pick.randrange(1, 5))
        measures = tuple(
            StoredMeasure(
                one,
                *MEASURES[one],
                {f: f"{one}__{f}" for f in FUNCTIONS} | {"distinct_count": f"{one}__distinct"},
            )
            for one in MEASURES
        )
        return StoredAggregate(
            name=name.partition(".")[2],
            table=name,
            format="iceberg",
            source=self.fact,
            joins=(StoredJoin("s", self.shop, (("fact.f_shop", "id"),)),),
            dimensions=tuple(StoredDimension(d, *DIMENSIONS[d], f"d_{d}") for d in chosen),
            measures=measures,
            rows_column="n_rows",
            filters=tuple(pick.sample(STORED_FILTERS, pick.choice((0, 0, 1, 1, 2)))),
            source_rows=1_000,
        )

    def built(self, one: StoredAggregate) -> str:
        """Return the query that computes an aggregate in full."""
        columns = [f"{d.expression} AS {d.column}" for d in one.dimensions] + ["count(*) AS n_rows"]
        for m in one.measures:
            columns += [f"{f}({m.expression}) AS {m.states[f]}" for f in FUNCTIONS]
            columns.append(f"count(DISTINCT {m.expression}) AS {m.states['distinct_count']}")
        where = f"WHERE {' AND '.join(f'({c})' for c in one.filters)}" if one.filters else ""
        keys = ", ".join(d.expression for d in one.dimensions)
        source = f"{self.fact} AS fact JOIN {self.shop} AS s ON fact.f_shop = s.id"
        return " ".join(["SELECT", ", ".join(columns), "FROM", source, where, "GROUP BY", keys])

    def query(self, one: StoredAggregate) -> str:
        """Return a query that is near to an aggregate: often one that it answers."""
        pick = self.chance
        known = [d.name for d in one.dimensions]
        pool = known if pick.random() < 0.85 else sorted(KEYS)
        every = pick.random() < 0.3
        keys = known if every else pick.sample(pool, pick.randrange(min(3, len(pool)) + 1))
        conditions = [c.replace("fact.", "f.") for c in one.filters if pick.random() < 0.9]
        conditions += pick.sample(FILTERS, pick.choice((0, 0, 0, 1)))
        conditions += [self._over(name) for name in known if pick.random() < 0.2]
        pick.shuffle(conditions)
        columns = [f"{KEYS[name]} AS k{n}" for n, name in enumerate(keys)]
        columns += [f"{a} AS a{n}" for n, a in enumerate(pick.sample(AGGREGATES, 2))]
        parts = ["SELECT", ", ".join(columns)]
        # Every shop of a row may be missing, or there twice.
        word = "LEFT JOIN" if pick.random() < 0.1 else "JOIN"
        parts.append(f"FROM {self.fact} AS f {word} {self.shop} AS s ON f.f_shop = s.id")
        if conditions:
            parts.append(f"WHERE {' AND '.join(f'({c})' for c in conditions)}")
        if keys:
            parts.append(f"GROUP BY {', '.join(KEYS[name] for name in keys)}")
            if pick.random() < 0.2:
                parts.append("HAVING count(*) > 2")
        return " ".join(parts)

    def _over(self, name: str) -> str:
        form = {"day": "{} < DATE '2024-03-01'", "qty": "{} > 2", "yr": "{} = 2024"}
        return form.get(name, "{} LIKE '%a%'").format(KEYS[name])
