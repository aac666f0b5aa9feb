"""Tables and queries of the layout comparison: the three cases c1, c2 and c3.

Each table is made by Spark from a seed, spread over its files at random. A question is a filter in
the words of Iceberg's `Expressions`: (column, operation, value), all of them at once.
"""

import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

Value = str | int
Question = tuple[tuple[str, str, Value], ...]
# Cut to nine characters, as the star schema's cities are named.
NATIONS = (
    *("ALGERIA", "ARGENTINA", "BRAZIL", "CANADA", "EGYPT", "ETHIOPIA", "FRANCE", "GERMANY"),
    *("INDIA", "INDONESIA", "IRAN", "IRAQ", "JAPAN", "JORDAN", "KENYA", "MOROCCO", "MOZAMBIQU"),
    *("PERU", "CHINA", "ROMANIA", "SAUDI ARA", "VIETNAM", "RUSSIA", "UNITED KI", "UNITED ST"),
)
CITIES = [f"{nation:<9}{digit}" for nation in NATIONS for digit in range(10)]
BRANDS = [f"MFGR#{m}{c}{b:02}" for m in range(1, 6) for c in range(1, 6) for b in range(1, 41)]
_WIDEST = 1_000_000


@dataclass(frozen=True)
class Case:
    """A table, the columns that it is laid out by, and what is asked of it."""

    columns: tuple[str, ...]
    n_rows: int
    n_files: int
    make: Callable[[SparkSession, int, int, Path], DataFrame]
    ask: Callable[[random.Random, int], Mapping[str, Sequence[Question]]]
    goals: Mapping[int, Mapping[str, float]]
    """Files that a question may open with our Hilbert order, for so many files in all."""


def ssb(spark: SparkSession, n_rows: int, seed: int, work: Path) -> DataFrame:
    """Return rows of a star schema: two cities and a brand, all uniform."""
    del work
    rows = spark.range(n_rows, numPartitions=4).select(
        "id",
        *(
            _one_of(values, seed * 10 + number).alias(name)
            for number, (name, values) in enumerate(
                {"s_city": CITIES, "c_city": CITIES, "p_brand": BRANDS}.items()
            )
        ),
    )
    return rows.withColumn("revenue", (F.rand(seed * 10 + 5) * 1_000_000).cast("int"))


def lineitem(spark: SparkSession, n_rows: int, seed: int, work: Path) -> DataFrame:
    """Return TPC-H's lineitem, made by tpchgen-cli for a scale of n rows / 6 million."""
    del seed
    scale = n_rows / 6_000_000
    folder = work / f"tpch-{scale:g}"
    if not (folder / "lineitem.parquet").exists():
        beside = Path(sys.executable).parent / "tpchgen-cli"
        program = shutil.which("tpchgen-cli") or (str(beside) if beside.exists() else None)
        if program is None:
            raise SystemExit(
                "The table c2 needs tpchgen-cli, which is not here: pip install tpchgen-cli"
            )
        argv = [program, "parquet", "-s", f"{scale:g}", "--tables=lineitem"]
        subprocess.run([*argv, f"--output-dir={folder}"], check=True)
    return spark.read.parquet(str(folder / "lineitem.parquet"))


def two_numbers(spark: SparkSession, n_rows: int, seed: int, work: Path) -> DataFrame:
    """Return two uniform numbers below a million."""
    del work
    return spark.range(n_rows, numPartitions=4).select(
        "id", *((F.rand(seed * 10 + n) * _WIDEST).cast("int").alias(f"c{n}") for n in (1, 2))
    )


def ask_ssb(chance: random.Random, n: int) -> Mapping[str, Sequence[Question]]:
    """Ask for one value of one, two and three columns."""
    values = {"s_city": CITIES, "c_city": CITIES, "p_brand": BRANDS}

    def some(*columns: str) -> Sequence[Question]:
        return [tuple((c, "equal", chance.choice(values[c])) for c in columns) for _ in range(n)]

    return {
        **{column: some(column) for column in values},
        "s&c": some("s_city", "c_city"),
        "s&c&p": some(*values),
    }


def ask_lineitem(chance: random.Random, n: int) -> Mapping[str, Sequence[Question]]:
    """Ask for 30 days of shipping, for one part, and for both (1 % of the parts)."""
    first = date(1992, 1, 2)
    asked: dict[str, list[Question]] = {"30 days": [], "part": [], "both": []}
    for _ in range(n):
        start = first + timedelta(days=chance.randrange(2490))
        end = start + timedelta(days=30)
        days: Question = (
            ("l_shipdate", "greaterThanOrEqual", start.isoformat()),
            ("l_shipdate", "lessThan", end.isoformat()),
        )
        part = chance.randrange(1, 198_001)
        asked["30 days"].append(days)
        asked["part"].append((("l_partkey", "equal", part),))
        parts: Question = (
            ("l_partkey", "greaterThanOrEqual", part),
            ("l_partkey", "lessThan", part + 2000),
        )
        asked["both"].append(days + parts)
    return asked


def ask_two_numbers(chance: random.Random, n: int) -> Mapping[str, Sequence[Question]]:
    """Ask for the lower and the upper quarter, and for boxes of 5 % by 5 %."""
    half = _WIDEST // 2
    boxes: list[Question] = []
    for _ in range(n):
        one, two = (chance.randrange(_WIDEST * 95 // 100) for _ in range(2))
        boxes.append(
            tuple(
                (column, operation, start + offset)
                for column, start in (("c1", one), ("c2", two))
                for operation, offset in (("greaterThanOrEqual", 0), ("lessThan", _WIDEST // 20))
            )
        )
    return {
        "lower": [(("c1", "lessThan", half), ("c2", "lessThan", half))],
        "upper": [(("c1", "greaterThan", half), ("c2", "greaterThan", half))],
        "boxes": boxes,
    }


def _one_of(values: Sequence[str], seed: int) -> Column:
    array = F.array(*map(F.lit, values))
    return F.element_at(array, (F.rand(seed) * len(values)).cast("int") + 1)


_GOALS_C1 = {
    1000: {"s_city": 127, "c_city": 127, "p_brand": 127, "s&c": 15, "s&c&p": 2},
    100: {"s_city": 27, "c_city": 27, "p_brand": 28},
}
_GOALS_C2 = {100: {"30 days": 12.9, "part": 13.3, "both": 1.7}}
# Of 171 files 75 %, 67 % and 98 % are not opened.
_GOALS_C3 = {171: {"lower": 43, "upper": 56.4, "boxes": 3.4}}

CASES = {
    "c1": Case(("s_city", "c_city", "p_brand"), 6_000_000, 1000, ssb, ask_ssb, _GOALS_C1),
    "c2": Case(("l_shipdate", "l_partkey"), 6_000_000, 100, lineitem, ask_lineitem, _GOALS_C2),
    "c3": Case(("c1", "c2"), 5_000_000, 171, two_numbers, ask_two_numbers, _GOALS_C3),
}
