"""The Star Schema Benchmark: its five tables made by Spark itself, and its thirteen queries.

Our own generator after O'Neil, O'Neil and Chen, "Star Schema Benchmark" (2009): the same columns
that the queries use, the same counts and hierarchies, values spread by a hash. Line orders of one
year lie together, as a lake's files do.
"""

from pyspark.sql import SparkSession

ROWS = 6_000_000
_DAYS = 2557
_REGIONS = "array('AFRICA', 'AMERICA', 'ASIA', 'EUROPE', 'MIDDLE EAST')"
_NATIONS = (
    "array(array('ALGERIA','ETHIOPIA','KENYA','MOROCCO','MOZAMBIQUE'),"
    "array('ARGENTINA','BRAZIL','CANADA','PERU','UNITED STATES'),"
    "array('CHINA','INDIA','INDONESIA','JAPAN','VIETNAM'),"
    "array('FRANCE','GERMANY','ROMANIA','RUSSIA','UNITED KINGDOM'),"
    "array('EGYPT','IRAN','IRAQ','JORDAN','SAUDI ARABIA'))"
)


def _hash(column: str, salt: int, of: int | str) -> str:
    return f"pmod(xxhash64({column}, {salt}), {of})"


def _place(prefix: str) -> list[str]:
    region, nation = _hash("id", 1, 5), _hash("id", 2, 5)
    named = f"{_NATIONS}[{region}][{nation}]"
    return [
        f"CAST(id + 1 AS INT) AS {prefix}_key",
        f"concat(rpad(substr({named}, 1, 9), 9, ' '), {_hash('id', 3, 10)}) AS {prefix}_city",
        f"{named} AS {prefix}_nation",
        f"{_REGIONS}[{region}] AS {prefix}_region",
    ]


def fill(spark: SparkSession, catalog: str, *, scale: float, files: int) -> None:
    """Make the five tables in `catalog.ssb`."""
    counts = {
        "customer": max(int(30_000 * scale), 100),
        "supplier": max(int(2_000 * scale), 50),
        "part": max(int(200_000 * scale), 1000),
    }
    for name, prefix in (("customer", "c"), ("supplier", "s")):
        _write(spark, f"{catalog}.ssb.{name}", counts[name], _place(prefix))
    category = f"concat('MFGR#', {_hash('id', 1, 5)} + 1, {_hash('id', 2, 5)} + 1)"
    _write(
        spark,
        f"{catalog}.ssb.part",
        counts["part"],
        [
            "CAST(id + 1 AS INT) AS p_key",
            f"concat('MFGR#', {_hash('id', 1, 5)} + 1) AS p_mfgr",
            f"{category} AS p_category",
            f"concat({category}, {_hash('id', 3, 40)} + 1) AS p_brand1",
        ],
    )
    day = "date_add(DATE '1992-01-01', CAST(id AS INT))"
    _write(
        spark,
        f"{catalog}.ssb.date",
        _DAYS,
        [
            f"CAST(date_format({day}, 'yyyyMMdd') AS INT) AS d_key",
            f"year({day}) AS d_year",
            f"year({day}) * 100 + month({day}) AS d_yearmonthnum",
            f"date_format({day}, 'MMMyyyy') AS d_yearmonth",
            f"(dayofyear({day}) - 1) DIV 7 + 1 AS d_weeknuminyear",
        ],
    )
    rows = int(ROWS * scale)
    ordered = f"date_add(DATE '1992-01-01', CAST(id * {_DAYS} DIV {rows} AS INT))"
    quantity, discount = f"({_hash('id', 5, 50)} + 1)", _hash("id", 6, 11)
    price = f"({quantity} * (90000 + {_hash('id', 7, 20000)}) DIV 100)"
    _write(
        spark,
        f"{catalog}.ssb.lineorder",
        rows,
        [
            "id DIV 4 AS lo_orderkey",
            "CAST(id % 4 + 1 AS INT) AS lo_linenumber",
            f"CAST({_hash('id DIV 4', 8, counts['customer'])} + 1 AS INT) AS lo_custkey",
            f"CAST({_hash('id', 9, counts['part'])} + 1 AS INT) AS lo_partkey",
            f"CAST({_hash('id', 10, counts['supplier'])} + 1 AS INT) AS lo_suppkey",
            f"CAST(date_format({ordered}, 'yyyyMMdd') AS INT) AS lo_orderdate",
            f"array('1-URGENT','2-HIGH','3-MEDIUM')[{_hash('id', 11, 3)}] AS lo_orderpriority",
            f"CAST({quantity} AS INT) AS lo_quantity",
            f"CAST({price} AS INT) AS lo_extendedprice",
            f"CAST({discount} AS INT) AS lo_discount",
            f"CAST({price} * (100 - {discount}) DIV 100 AS INT) AS lo_revenue",
            f"CAST({price} * 6 DIV 10 AS INT) AS lo_supplycost",
            f"CAST({_hash('id', 12, 9)} AS INT) AS lo_tax",
            f"array('AIR','RAIL','SHIP','TRUCK','MAIL')[{_hash('id', 13, 5)}] AS lo_shipmode",
        ],
        files,
    )


def _write(spark: SparkSession, table: str, rows: int, columns: list[str], files: int = 1) -> None:
    frame = spark.range(0, rows, 1, files).selectExpr(*columns)
    frame.writeTo(table).using("iceberg").tableProperty("write.distribution-mode", "none").create()


_Q1 = "SELECT sum(lo_extendedprice * lo_discount) AS revenue FROM {lineorder}, {date} "
_Q1 += "WHERE lo_orderdate = d_key AND "
_Q2 = "SELECT sum(lo_revenue), d_year, p_brand1 FROM {lineorder}, {date}, {part}, {supplier} "
_Q2 += "WHERE lo_orderdate = d_key AND lo_partkey = p_key AND lo_suppkey = s_key AND "
_FROM3 = "FROM {customer}, {lineorder}, {supplier}, {date} "
_FROM3 += "WHERE lo_custkey = c_key AND lo_suppkey = s_key AND lo_orderdate = d_key AND "
_FROM4 = "sum(lo_revenue - lo_supplycost) AS profit "
_FROM4 += "FROM {date}, {customer}, {supplier}, {part}, {lineorder} "
_FROM4 += "WHERE lo_custkey = c_key AND lo_suppkey = s_key AND lo_partkey = p_key "
_FROM4 += "AND lo_orderdate = d_key AND "
_KI = "('UNITED KI1', 'UNITED KI5')"


def _q3(places: str, where: str) -> str:
    by = f"GROUP BY {places}, d_year ORDER BY d_year, revenue DESC"
    return f"SELECT {places}, d_year, sum(lo_revenue) AS revenue {_FROM3}{where} {by}"


def _q4(keys: str, where: str) -> str:
    return f"SELECT {keys}, {_FROM4}{where} GROUP BY {keys} ORDER BY {keys}"


QUERIES = {
    "1.1": _Q1 + "d_year = 1993 AND lo_discount BETWEEN 1 AND 3 AND lo_quantity < 25",
    "1.2": _Q1 + "d_yearmonthnum = 199401 AND lo_discount BETWEEN 4 AND 6 "
    "AND lo_quantity BETWEEN 26 AND 35",
    "1.3": _Q1 + "d_weeknuminyear = 6 AND d_year = 1994 AND lo_discount BETWEEN 5 AND 7 "
    "AND lo_quantity BETWEEN 26 AND 35",
    **{
        f"2.{i}": f"{_Q2}{where} GROUP BY d_year, p_brand1 ORDER BY d_year, p_brand1"
        for i, where in (
            (1, "p_category = 'MFGR#12' AND s_region = 'AMERICA'"),
            (2, "p_brand1 BETWEEN 'MFGR#2221' AND 'MFGR#2228' AND s_region = 'ASIA'"),
            (3, "p_brand1 = 'MFGR#2221' AND s_region = 'EUROPE'"),
        )
    },
    "3.1": _q3(
        "c_nation, s_nation",
        "c_region = 'ASIA' AND s_region = 'ASIA' AND d_year >= 1992 AND d_year <= 1997",
    ),
    "3.2": _q3(
        "c_city, s_city",
        "c_nation = 'UNITED STATES' AND s_nation = 'UNITED STATES' "
        "AND d_year >= 1992 AND d_year <= 1997",
    ),
    "3.3": _q3(
        "c_city, s_city",
        f"c_city IN {_KI} AND s_city IN {_KI} AND d_year >= 1992 AND d_year <= 1997",
    ),
    "3.4": _q3(
        "c_city, s_city", f"c_city IN {_KI} AND s_city IN {_KI} AND d_yearmonth = 'Dec1997'"
    ),
    "4.1": _q4(
        "d_year, c_nation",
        "c_region = 'AMERICA' AND s_region = 'AMERICA' "
        "AND (p_mfgr = 'MFGR#1' OR p_mfgr = 'MFGR#2')",
    ),
    "4.2": _q4(
        "d_year, s_nation, p_category",
        "c_region = 'AMERICA' AND s_region = 'AMERICA' AND (d_year = 1997 OR d_year = 1998) "
        "AND (p_mfgr = 'MFGR#1' OR p_mfgr = 'MFGR#2')",
    ),
    "4.3": _q4(
        "d_year, s_city, p_brand1",
        "c_region = 'AMERICA' AND s_nation = 'UNITED STATES' "
        "AND (d_year = 1997 OR d_year = 1998) AND p_category = 'MFGR#14'",
    ),
}
"""The thirteen, as published but for the names of keys; `{lineorder}` and so on are the tables."""


def query(name: str, catalog: str) -> str:
    """Return one query over the tables of a catalog."""
    tables = ("lineorder", "date", "customer", "supplier", "part")
    return QUERIES[name].format(**{one: f"{catalog}.ssb.{one}" for one in tables})
