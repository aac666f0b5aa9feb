"""Random aggregate queries over the star schema of `written_cubes`, for Spark and Trino alike."""

from random import Random

KEYS = (
    "p_brand", "day", "qty", "year(day)", "upper(p_brand)", "qty + 1", "coalesce(qty, -1)",
    "CASE WHEN qty > 2 THEN 'many' ELSE p_brand END",
)  # fmt: skip
AGGREGATES = (
    "count(*)", "count(1)", "sum(rev)", "count(rev)", "min(rev)", "max(rev)", "avg(rev)",
    "sum(price)", "avg(price)", "min(price)", "max(price)", "count(price)", "sum(big)", "avg(big)",
    "count(DISTINCT rev)", "count(DISTINCT p_brand)", "count(DISTINCT qty)", "sum(DISTINCT qty)",
    "avg(DISTINCT qty)", "min(p_brand)", "max(day)", "count(qty)", "min(qty + 1)",
    "sum(price) / count(*)", "sum(rev) - min(rev)", "sum(rev * qty)", "avg(rev * qty)",
)  # fmt: skip
CONDITIONS = (
    "p_brand = 'alpha'", "p_brand <> 'alpha'", "p_brand IS NULL", "p_brand IS NOT NULL",
    "p_brand LIKE 'b%'", "p_brand IN ('alpha', 'beta')", "qty > 3", "qty BETWEEN 1 AND 4",
    "qty IN (0, 5)", "NOT (qty = 2)", "day >= DATE '2024-01-01'", "day < DATE '2023-11-25'",
    "year(day) = 2024", "qty IS NULL OR p_brand = 'beta'", "1 = 0", "upper(p_brand) = 'ALPHA'",
)  # fmt: skip
JOINS = (
    "FROM {fact} f JOIN {part} p ON f.f_part = p.p_key",
    "FROM {fact} AS f LEFT JOIN {part} AS p ON p.p_key = f.f_part",
    "FROM {fact}, {part} WHERE f_part = p_key",
    "FROM {part} JOIN {fact} ON p_key = f_part",
)


class RandomQueries:
    """Makes queries; the same seed makes the same."""

    def __init__(self, seed: int, dialect: str) -> None:
        self.chance, self.dialect = Random(seed), dialect

    def query(self) -> str:
        """Return one statement with columns that all have names."""
        kind = self.chance.random()
        if kind < 0.7:
            return self.block()
        one, other = self.block(n_keys=1, n_aggregates=1), self.block(n_keys=1, n_aggregates=1)
        sums = "SELECT count(*) AS n, count(DISTINCT a0) AS k"
        if kind < 0.8:
            return " ".join([f"WITH one AS ({one})", sums, "FROM one"])
        if kind < 0.9:
            return " ".join(["SELECT x.a0 AS n", f"FROM ({one}) x WHERE x.a0 IS NOT NULL"])
        return " ".join([sums, f"FROM ({one}) x UNION ALL", sums, f"FROM ({other}) y"])

    def block(self, n_keys: int | None = None, n_aggregates: int | None = None) -> str:
        """Return one aggregating SELECT."""
        pick = self.chance
        keys = pick.sample(KEYS, pick.randrange(3) if n_keys is None else n_keys)
        aggregates = pick.sample(AGGREGATES, n_aggregates or pick.randrange(1, 4))
        needs_part = True
        if pick.random() < 0.2:
            used = [*keys, *aggregates]
            needs_part = any("p_brand" in one for one in used)
        conditions = [
            one
            for one in pick.sample(CONDITIONS, pick.choice((0, 0, 1, 1, 2)))
            if needs_part or "p_brand" not in one
        ]
        source = pick.choice(JOINS) if needs_part else "FROM {fact}"
        if conditions:
            word = " AND " if "WHERE" in source else " WHERE "
            source += word + " AND ".join(f"({one})" for one in conditions)
        if keys and pick.random() < 0.1:
            named = ", ".join(f"{one} AS k{n}" for n, one in enumerate(keys))
            return f"SELECT DISTINCT {named}, 1 AS a0 {source}"
        written = [f"{one} AS k{n}" for n, one in enumerate(keys)]
        written += [f"{self.filtered(one)} AS a{n}" for n, one in enumerate(aggregates)]
        query = f"SELECT {', '.join(written)} {source}"
        plain = [one for one in keys if one in ("p_brand", "day", "qty")]
        if keys:
            # Rollups of expressions are written differently in each engine; of columns alike.
            form = pick.random()
            if form < 0.2 and plain == keys:
                word = pick.choice(("ROLLUP", "CUBE"))
                query += f" GROUP BY {word} ({', '.join(keys)})"
            elif form < 0.3 and plain == keys:
                sets = ", ".join(f"({one})" for one in keys)
                query += f" GROUP BY GROUPING SETS ({sets}, ())"
            elif form < 0.6:
                query += f" GROUP BY {', '.join(str(n + 1) for n in range(len(keys)))}"
            else:
                query += f" GROUP BY {', '.join(keys)}"
        if pick.random() < 0.2:
            query += f" HAVING {pick.choice(('count(*) > 3', 'sum(rev) > 0', 'min(price) < 0'))}"
        if pick.random() < 0.2:
            n = len(written)
            query += " ORDER BY " + ", ".join(str(at + 1) for at in range(n))
            query += f" LIMIT {pick.randrange(1, 6)}" if pick.random() < 0.5 else ""
        return query

    def filtered(self, aggregate: str) -> str:
        """Return an aggregate, now and then with a FILTER."""
        if self.chance.random() > 0.15 or "/" in aggregate or " - " in aggregate:
            return aggregate
        return f"{aggregate} FILTER (WHERE qty {self.chance.choice(('> 2', 'IS NULL', '= 9'))})"
