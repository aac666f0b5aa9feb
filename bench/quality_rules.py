"""The table and the 50 rules of the quality bench, in a form that every tool can be given."""

from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from quality.checks.domain.documents import read_parsed
from quality.checks.domain.rules import CheckSet

N_COLUMNS = 10
_METRICS = ("null_rate", "min", "max", "mean", "range_rate")
_FAILING = {("mean", 3), ("null_rate", 7)}


def _rules() -> list[dict[str, Any]]:
    """Return five rules for each column; two of all do not hold."""
    found = []
    for n in range(N_COLUMNS):
        for metric in _METRICS:
            low, high = {
                "null_rate": (0.0, 0.02),
                "min": (-1.0, 1.0),
                "max": (900.0, 1000.0),
                "mean": (400.0, 600.0),
                "range_rate": (1.0, 1.0),
            }[metric]
            if (metric, n) in _FAILING:
                high = low + (high - low) / 100
            rule = {"name": f"{metric}_c{n}", "metric": metric, "column": f"c{n}"}
            limits = {"low": 0, "high": 1000} if metric == "range_rate" else {}
            found.append({**rule, **limits, "min": low, "max": high})
    return found


RULES = _rules()


def check_set() -> CheckSet:
    """Return the rules as a check set."""
    return read_parsed({"table": "bench.quality", "rules": RULES})


def make_table(spark: SparkSession, n_rows: int, place: Path) -> None:
    """Write whole numbers, decimals and floating point between 0 and 1,000, one in 100 NULL."""
    rows = spark.range(n_rows)
    for n in range(N_COLUMNS):
        value = F.rand(seed=n) * 1000
        if n % 3 == 0:
            value = value.cast("bigint")
        elif n % 3 == 1:
            value = value.cast("decimal(12,2)")
        rows = rows.withColumn(f"c{n}", F.when(F.rand(seed=100 + n) >= 0.01, value))
    rows.drop("id").write.mode("overwrite").parquet(str(place))
