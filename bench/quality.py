"""Benchmarks the measuring of rules against one plain scan, and against other tools' checks.

50 rules on ten columns of a Parquet table. The plain scan reads the same columns and writes nothing
(`noop`), in the same process and in turn. PyDeequ, Soda Core and Great Expectations judge the same
rules on the same table, each in a virtual environment that this bench makes, with as many cores.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
import venv
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from bench.quality_rules import N_COLUMNS, RULES, check_set, make_table
from portal.spark.java_names import remember_java_names
from quality.checks.domain.judge import Outcome, judge
from quality.checks.domain.plan import metrics_of, plan_metrics
from quality.checks.domain.states import State, value_of
from quality.checks.domain.windows import Reading
from quality.checks.jobs.budget import Budget
from quality.checks.jobs.passes import one_pass

GOAL = 2.0
PEERS = {
    "pydeequ": ("pydeequ==1.7.0", "setuptools<81"),
    "soda": ("soda-core-spark-df==3.5.6", "setuptools<81"),
    "great_expectations": ("great_expectations==1.24.1", "setuptools<81"),
}
_PYSPARK = "pyspark==3.5.9"
Verdicts = dict[str, bool]


def main() -> int:
    """Run the bench; 1 where the goal is missed or verdicts differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=list(PEERS))
    parser.add_argument("--work", type=Path, default=Path("var", "bench", "quality").absolute())
    options = parser.parse_args()
    table = options.work / f"table-{options.rows}"
    spark = _session()
    if not (table / "_SUCCESS").exists():
        make_table(spark, options.rows, table)
    ratio, verdicts = _against_scan(spark, spark.read.parquet(str(table)), options.rounds)
    spark.stop()
    answers = {one: _peer(one, table, options) for one in options.peers}
    is_equal = _tell(verdicts, answers)
    return 0 if ratio <= GOAL and is_equal else 1


def _session() -> SparkSession:
    """Return a session as the program has it, but for the cluster."""
    remember_java_names()
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder: Any = SparkSession.builder
    spark: SparkSession = (
        builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "2g")
        .config("spark.sql.codegen.maxFields", "2000")
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )
    return spark


def _against_scan(spark: SparkSession, frame: DataFrame, rounds: int) -> tuple[float, Verdicts]:
    """Run scan and rules in turn; returns the ratio of medians, and what the rules say."""
    columns = [f"c{n}" for n in range(N_COLUMNS)]
    scan_seconds, rule_seconds = [], []
    verdicts: Verdicts = {}
    for n in range(rounds + 1):
        scan, _ = _timed(
            lambda: frame.select(columns).write.format("noop").mode("overwrite").save()
        )
        rules, verdicts = _timed(lambda: measure(spark, frame))
        print(
            f"round {n}: scan {scan:.2f} s, rules {rules:.2f} s" + (" (warm-up)" if not n else "")
        )
        if n:
            scan_seconds.append(scan)
            rule_seconds.append(rules)
    ratio = statistics.median(rule_seconds) / statistics.median(scan_seconds)
    print(f"{len(RULES)} rules: {ratio:.2f} times the plain scan (goal {GOAL})")
    return ratio, verdicts


def measure(spark: SparkSession, frame: DataFrame) -> Verdicts:
    """Measure and judge all rules as the program does; returns which of them pass."""
    checks = check_set()
    plan = plan_metrics(metrics_of(checks.rules))
    answers, _ = one_pass(frame, "", plan.one_pass, Budget(spark, 3600))
    now = datetime.now(UTC)
    found: Verdicts = {}
    for rule in checks.rules:
        state = answers[rule.measured.key][""]
        if not isinstance(state, State):
            raise TypeError(f"{rule.name}: {state.detail}")
        value = value_of(rule.measured, state)
        verdict = judge(rule, Reading("", value.value, now, value.reason))
        found[rule.name] = verdict.outcome is Outcome.PASSED
    return found


def _timed(what: Callable[[], Any]) -> tuple[float, Any]:
    began = time.monotonic()
    answer = what()
    return time.monotonic() - began, answer


def _peer(name: str, table: Path, options: argparse.Namespace) -> Mapping[str, Any]:
    """Run another tool in an environment of its own."""
    home = options.work / name
    python = home / "bin" / "python"
    if not (home / "ready").exists():
        venv.create(home, with_pip=True, clear=True)
        packages = [_PYSPARK, *PEERS[name]]
        subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)
        (home / "ready").touch()
    script = Path(__file__).with_name("quality_peers.py")
    rules = options.work / "rules.json"
    rules.write_text(json.dumps(RULES), encoding="utf-8")
    result = options.work / f"{name}.json"
    result.unlink(missing_ok=True)
    command = [python, script, name, table, rules, str(options.rounds), result]
    with (options.work / f"{name}.log").open("w") as log:
        subprocess.run(
            list(map(str, command)), check=False, stdout=log, stderr=subprocess.STDOUT, timeout=3600
        )
    if not result.exists():
        print(f"{name}: failed, see {options.work / f'{name}.log'}")
        return {}
    answer: Mapping[str, Any] = json.loads(result.read_text(encoding="utf-8"))
    return answer


def _tell(verdicts: Verdicts, answers: Mapping[str, Mapping[str, Any]]) -> bool:
    failing = sorted(name for name, passes in verdicts.items() if not passes)
    print(f"failing rules: {', '.join(failing)}")
    is_equal = True
    for name, answer in answers.items():
        if not answer:
            is_equal = False
            continue
        seconds = answer["seconds"]
        median = statistics.median(seconds[1:] or seconds)
        same = answer["verdicts"] == verdicts
        is_equal = is_equal and same
        said = "same verdicts" if same else f"OTHER VERDICTS: {_differing(verdicts, answer)}"
        print(f"{name}: {median:.2f} s (first {seconds[0]:.2f} s), {said}")
    return is_equal


def _differing(verdicts: Verdicts, answer: Mapping[str, Any]) -> list[str]:
    return [name for name, passes in verdicts.items() if answer["verdicts"].get(name) != passes]


if __name__ == "__main__":
    sys.exit(main())
