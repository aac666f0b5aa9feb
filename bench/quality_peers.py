"""Judges the rules of the quality bench with another tool; runs in that tool's own environment.

    quality_peers.py <tool> <table> <rules.json> <rounds> <result.json>

It imports nothing of the product, as the environment has none of it.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Rules = list[dict[str, Any]]
Verdicts = dict[str, bool]
_DEEQU = "com.amazon.deequ:deequ:2.1.0-spark-3.5"


def session(**settings: str) -> Any:
    """Return a session like that of the bench."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder: Any = SparkSession.builder
    builder = builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.memory", "2g").config("spark.log.level", "ERROR")
    for key, value in settings.items():
        builder = builder.config(key.replace("__", "."), value)
    return builder.getOrCreate()


def pydeequ(table: str, rules: Rules) -> Callable[[], Verdicts]:
    """Return a function that judges all rules in one verification."""
    os.environ["SPARK_VERSION"] = "3.5"
    spark = session(
        spark__jars__packages=_DEEQU,
        spark__jars__excludes="software.amazon.glue:dqdl,org.slf4j:slf4j-api",
    )
    from pydeequ.checks import Check, CheckLevel
    from pydeequ.verification import VerificationResult, VerificationSuite

    frame = spark.read.parquet(table)

    def run() -> Verdicts:
        suite = VerificationSuite(spark).onData(frame)
        for rule in rules:
            column, low, high = rule["column"], rule["min"], rule["max"]
            check = Check(spark, CheckLevel.Error, rule["name"])

            def within(value: float, low: float = low, high: float = high) -> bool:
                return low <= value <= high

            if rule["metric"] == "null_rate":
                check = check.hasCompleteness(column, lambda x, high=high: 1 - x <= high)
            elif rule["metric"] == "min":
                check = check.hasMin(column, within)
            elif rule["metric"] == "max":
                check = check.hasMax(column, within)
            elif rule["metric"] == "mean":
                check = check.hasMean(column, within)
            else:
                valid = f"{column} IS NULL OR {column} BETWEEN {rule['low']} AND {rule['high']}"
                check = check.satisfies(valid, rule["name"], lambda x: x == 1)
            suite = suite.addCheck(check)
        result = VerificationResult.checkResultsAsDataFrame(spark, suite.run())
        return {row["check"]: row["constraint_status"] == "Success" for row in result.collect()}

    return run


def soda(table: str, rules: Rules) -> Callable[[], Verdicts]:
    """Return a function that runs one scan with all checks."""
    spark = session()
    spark.read.parquet(table).createOrReplaceTempView("quality")
    from soda.scan import Scan

    names = {
        "null_rate": "missing_percent",
        "min": "min",
        "max": "max",
        "mean": "avg",
    }
    lines = ["checks for quality:"]
    for rule in rules:
        column = rule["column"]
        if rule["metric"] == "range_rate":
            check = f"invalid_count({column}) = 0"
            limits = [f"      valid min: {rule['low']}", f"      valid max: {rule['high']}"]
        else:
            factor = 100 if rule["metric"] == "null_rate" else 1
            bounds = f"between {rule['min'] * factor} and {rule['max'] * factor}"
            check, limits = f"{names[rule['metric']]}({column}) {bounds}", []
        lines += [f"  - {check}:", f"      name: {rule['name']}", *limits]

    def run() -> Verdicts:
        scan = Scan()
        scan.set_scan_definition_name("bench")
        scan.set_data_source_name("spark_df")
        scan.add_spark_session(spark, data_source_name="spark_df")
        scan.add_sodacl_yaml_str("\n".join(lines))
        scan.execute()
        return {one["name"]: one["outcome"] == "pass" for one in scan.get_scan_results()["checks"]}

    return run


def great_expectations(table: str, rules: Rules) -> Callable[[], Verdicts]:
    """Return a function that validates one suite."""
    spark = session()
    import great_expectations as gx

    frame = spark.read.parquet(table)
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    source = context.data_sources.add_spark("spark")
    batch = source.add_dataframe_asset("quality").add_batch_definition_whole_dataframe("all")
    of = gx.expectations
    kinds = {
        "min": of.ExpectColumnMinToBeBetween,
        "max": of.ExpectColumnMaxToBeBetween,
        "mean": of.ExpectColumnMeanToBeBetween,
    }
    expectations = []
    for rule in rules:
        meta = {"rule": rule["name"]}
        if rule["metric"] == "null_rate":
            made = of.ExpectColumnValuesToNotBeNull(
                column=rule["column"], mostly=1 - rule["max"], meta=meta
            )
        elif rule["metric"] == "range_rate":
            made = of.ExpectColumnValuesToBeBetween(
                column=rule["column"], min_value=rule["low"], max_value=rule["high"], meta=meta
            )
        else:
            made = kinds[rule["metric"]](
                column=rule["column"], min_value=rule["min"], max_value=rule["max"], meta=meta
            )
        expectations.append(made)
    suite = context.suites.add(gx.ExpectationSuite(name="rules", expectations=expectations))
    validation = context.validation_definitions.add(
        gx.ValidationDefinition(name="bench", data=batch, suite=suite)
    )

    def run() -> Verdicts:
        result = validation.run(
            batch_parameters={"dataframe": frame}, result_format={"result_format": "BOOLEAN_ONLY"}
        )
        return {one.expectation_config.meta["rule"]: bool(one.success) for one in result.results}

    return run


TOOLS = {"pydeequ": pydeequ, "soda": soda, "great_expectations": great_expectations}


def main(tool: str, table: str, rules: str, rounds: str, result: str) -> None:
    """Judge the rules so many times and once more, and write seconds and verdicts."""
    run = TOOLS[tool](table, json.loads(Path(rules).read_text(encoding="utf-8")))
    seconds: list[float] = []
    verdicts: Verdicts = {}
    for _ in range(int(rounds) + 1):
        began = time.monotonic()
        verdicts = run()
        seconds.append(time.monotonic() - began)
    Path(result).write_text(
        json.dumps({"seconds": seconds, "verdicts": verdicts}), encoding="utf-8"
    )
    # Deequ's callback server keeps the process alive.
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
