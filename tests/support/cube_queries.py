"""A small star schema with a cube, as rewriting knows it, and queries of every shape over it.

The golden texts are written again by `python -m tests.support.cube_queries`.
"""

from dataclasses import replace
from pathlib import Path

from optimizer.matching.domain.views import View, ViewDimension, ViewJoin, ViewMeasure
from optimizer.rewriting.domain.answers import Answer, rewrite
from optimizer.rewriting.domain.facts import CubeFacts, TableFacts
from optimizer.rewriting.domain.session import Session

GOLDEN = Path(__file__).parents[1] / "golden" / "cubes" / "sql"

VIEW = View(
    "sales",
    "ssb.lineorder",
    joins=(
        ViewJoin("part", "ssb.part", (("fact.lo_partkey", "p_partkey"),)),
        ViewJoin("cust", "ssb.customer", (("fact.lo_custkey", "c_custkey"),)),
        ViewJoin("nation", "ssb.nation", (("cust.c_nationkey", "n_nationkey"),)),
    ),
    dimensions=(
        ViewDimension("brand", "part.p_brand1", "string"),
        ViewDimension("nation", "nation.n_name", "string"),
        ViewDimension("year", "year(fact.lo_date)", "int"),
        ViewDimension("month", "trunc(fact.lo_date, 'MM')", "date"),
        ViewDimension("hour", "date_trunc('hour', fact.lo_at)", "timestamp"),
        ViewDimension("discount", "fact.lo_discount", "int"),
        ViewDimension("weight", "fact.lo_weight", "double"),
    ),
    measures=(
        ViewMeasure("rev", "fact.lo_revenue", "int", frozenset({"sum", "count", "min", "max"})),
        ViewMeasure("price", "fact.lo_price", "decimal(10,2)", frozenset({"sum", "count"})),
        ViewMeasure("tax", "fact.lo_tax", "double", frozenset({"min", "max", "count"})),
        ViewMeasure("big", "fact.lo_big", "bigint", frozenset({"sum"})),
        ViewMeasure("gain", "fact.lo_revenue * fact.lo_discount", "int", frozenset({"sum"})),
        ViewMeasure("part", "fact.lo_partkey", "int", frozenset({"distinct", "sketch"})),
    ),
)
CUBE = CubeFacts(
    VIEW,
    "ssb.lineorder__cube_sales",
    snapshot_id=77,
    star=("brand", "nation", "year"),
    n_rows=100,
    covered_rows=1_000,
    dimensions={"part": (21,), "cust": (22, 23), "nation": (24,)},
    max_abs={"rev": 10_000},
)
PARTLY = replace(
    CUBE,
    units=((0, 4), (6, 6)),
    n_uncovered=2,
    uncovered=("file:/lake/a.parquet", "file:/lake/it's.parquet"),
    uncovered_rows=50,
    uncovered_bytes=5_000,
)
LINEORDER = TableFacts(
    "ssb.lineorder",
    "u",
    12,
    columns={
        "lo_partkey": "int",
        "lo_custkey": "int",
        "lo_date": "date",
        "lo_at": "timestamp",
        "lo_discount": "int",
        "lo_weight": "double",
        "lo_revenue": "int",
        "lo_price": "decimal(10,2)",
        "lo_tax": "double",
        "lo_big": "bigint",
        "note": "string",
    },
    bounds={"lo_revenue": (0, 10_000_000), "lo_discount": (0, 10)},
    n_files=40,
    n_bytes=100_000,
    n_rows=1_050,
)
OTHERS = (
    TableFacts(
        "ssb.part", "p", 21, columns={"p_partkey": "int", "p_brand1": "string", "p_size": "int"}
    ),
    TableFacts("ssb.customer", "c", 23, columns={"c_custkey": "int", "c_nationkey": "int"}),
    TableFacts("ssb.nation", "n", 24, columns={"n_nationkey": "int", "n_name": "string"}),
)

STAR = (
    "FROM ssb.lineorder l JOIN ssb.part p ON l.lo_partkey = p.p_partkey "
    "JOIN ssb.customer c ON l.lo_custkey = c.c_custkey "
    "JOIN ssb.nation n ON c.c_nationkey = n.n_nationkey"
)
QUERIES = {
    "total": "SELECT count(*) AS n, sum(lo_revenue) AS r FROM ssb.lineorder",
    "comma_join": (
        "SELECT sum(lo_revenue) AS revenue, p_brand1 FROM ssb.lineorder, ssb.part "
        "WHERE lo_partkey = p_partkey AND p_brand1 BETWEEN 'MFGR#2221' AND 'MFGR#2228' "
        "GROUP BY p_brand1 ORDER BY p_brand1 LIMIT 10"
    ),
    "chain": (
        f"SELECT n.n_name, year(l.lo_date) AS y, avg(l.lo_revenue) AS a, avg(l.lo_price) AS p, "
        f"min(l.lo_revenue) AS lo {STAR} WHERE year(l.lo_date) IN (1997, 1998) "
        "GROUP BY n.n_name, year(l.lo_date) HAVING count(*) > 3 ORDER BY sum(l.lo_revenue) DESC"
    ),
    "left_join": (
        "SELECT p_brand1 AS b, count(DISTINCT n_name) AS k, count(DISTINCT lo_partkey) AS parts "
        "FROM ssb.lineorder LEFT JOIN ssb.part ON p_partkey = lo_partkey "
        "LEFT JOIN ssb.customer ON lo_custkey = c_custkey "
        "LEFT JOIN ssb.nation ON n_nationkey = c_nationkey GROUP BY 1"
    ),
    "filter": (
        "SELECT count(*) FILTER (WHERE lo_discount > 5) AS high, "
        "sum(lo_revenue) FILTER (WHERE lo_discount > 5) AS r, count(lo_discount) AS d "
        "FROM ssb.lineorder"
    ),
    "rollup": (
        "SELECT p_brand1 AS b, lo_discount AS d, count(*) AS n FROM ssb.lineorder "
        "JOIN ssb.part ON lo_partkey = p_partkey GROUP BY ROLLUP (p_brand1, lo_discount)"
    ),
    "two_blocks": (
        "WITH b AS (SELECT lo_discount AS d, sum(lo_revenue) AS r FROM ssb.lineorder GROUP BY 1) "
        "SELECT b.d, b.r, t.n FROM b CROSS JOIN (SELECT count(*) AS n FROM ssb.lineorder) t "
        "UNION ALL SELECT lo_discount, 0, 0 FROM ssb.lineorder WHERE note = 'x'"
    ),
    "distinct": "SELECT DISTINCT lo_discount FROM ssb.lineorder WHERE lo_discount < 3",
    "arithmetic": (
        "SELECT sum(lo_revenue * lo_discount) AS revenue FROM ssb.lineorder "
        "WHERE lo_discount BETWEEN 1 AND 3"
    ),
    "month": (
        "SELECT date_trunc('month', lo_date) AS m, max(lo_revenue) AS r FROM ssb.lineorder "
        "GROUP BY date_trunc('month', lo_date)"
    ),
}


def tables(cube: CubeFacts = CUBE) -> dict[str, TableFacts]:
    """Return what is known, with one cube."""
    return {one.name: one for one in (replace(LINEORDER, cubes=(cube,)), *OTHERS)}


def answered(sql: str, dialect: str = "trino", cube: CubeFacts = CUBE, zone: str = "") -> Answer:
    """Rewrite with one cube."""
    return rewrite(sql, Session(dialect, time_zone=zone), tables(cube))


def golden() -> dict[str, str]:
    """Return every golden text by the name of its file."""
    found = {}
    for name, sql in QUERIES.items():
        for dialect in ("trino", "spark"):
            for coverage, cube in (("whole", CUBE), ("partly", PARTLY)):
                answer = answered(sql, dialect, cube)
                if answer.is_rewritten:
                    found[f"{name}.{coverage}.{dialect}.sql"] = answer.sql + "\n"
    for name in ("total", "distinct"):
        for dialect in ("starrocks", "doris"):
            found[f"{name}.whole.{dialect}.sql"] = answered(QUERIES[name], dialect).sql + "\n"
    return found


if __name__ == "__main__":
    for old in GOLDEN.glob("*.sql"):
        old.unlink()
    for name, text in golden().items():
        (GOLDEN / name).write_text(text, encoding="utf-8")
