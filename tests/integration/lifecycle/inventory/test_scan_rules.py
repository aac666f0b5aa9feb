"""The scan's Spark columns and JVM functions against the pure rules that they repeat."""

import os
import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from lifecycle.expiry.domain.rule import DAY_MS, Directory, ExpiryFacts, Terms, judge
from lifecycle.inventory.jobs.expiry_columns import with_judgement
from lifecycle.inventory.jobs.files import FileFunctions
from lifecycle.inventory.jobs.shared_locations import _above, _self_and_above
from lifecycle.inventory.jobs.spread import spark_hash
from portal.connectors.lake_config import LakeConfig, MetastoreDb
from portal.lake.errors import RuleViolation
from portal.lake.ids import LakeId

FACTS = """n int, level int, ttl int, problem string, unsupported string,
nonconforming array<string>, fs_error string, ready boolean, hold string, directory string,
ddl_time long,
create_time long, mtime_ms long, atime_ms long, n_files long"""
JUDGED = ("cls", "rule", "detail", "updated_ms", "winner", "due_ms", "due_on")


def config_for(default_fs: str, aliases: dict[str, str] | None = None) -> LakeConfig:
    database = MetastoreDb("derby", "", "", "", "", "", 0, "")
    return LakeConfig(
        lake=LakeId("main"),
        thrift_host="",
        thrift_port=0,
        metastore_db=database,
        default_fs=default_fs,
        spool="file:///spool",
        time_zone="UTC",
        spark_master="local",
        deployment_id="test",
        path_aliases=aliases or {},
    )


def random_facts(rng: random.Random, terms: Terms) -> ExpiryFacts:
    """Make facts whose clocks lie about the borders of the rule as often as not."""
    ttl = rng.choice([None, 1, 7, 30, 365, 36_500])
    border = terms.now_ms - (ttl or 0) * DAY_MS
    near = [border, border - 1, border + 1, border + terms.soon_days * DAY_MS]
    near += [near[-1] - 1, near[-1] + 1, border - 90 * DAY_MS, terms.now_ms, 1, 0]

    def instant() -> int | None:
        at = rng.choice([None, *near])
        return None if at is None else max(0, at + rng.choice([-1001, -1, 0, 0, 0, 1, 999]))

    def seconds() -> int | None:
        at = instant()
        return None if at is None else at // 1000

    # Microseconds taken for milliseconds, as any owner can set them.
    mtime = instant() if rng.random() > 0.02 else 1_700_000_000_000_000
    still = terms.now_ms - terms.still_read_days * DAY_MS
    reads = [None, still, still - 1, still + 1, terms.now_ms, mtime, (mtime or 0) + 1]
    return ExpiryFacts(
        level=rng.choice([None, 0, 1, 1, 1, 1]),
        ttl=ttl,
        policy_problem=rng.choice(["", "", "", "", "TTL is 'x'."]),
        unsupported=rng.choice(["", "", "", "", "A view."]),
        nonconforming=rng.choice([(), (), (), ("HAS_OTHER_DB", "TBL_NOT_SUB_DB")]),
        fs_error=rng.choice(["", "", "Permission denied"]),
        ready=rng.random() > 0.1,
        hold=rng.choice(["", "", "", "", "legal hold"]),
        directory=rng.choice([*Directory, Directory.WALKED, Directory.WALKED]),
        ddl_time=seconds(),
        create_time=seconds(),
        mtime_ms=mtime,
        atime_ms=rng.choice(reads),
        n_files=rng.choice([None, 0, 1, 5]),
    )


def as_row(number: int, facts: ExpiryFacts) -> tuple[Any, ...]:
    return (
        *(number, facts.level, facts.ttl, facts.policy_problem, facts.unsupported),
        *(list(facts.nonconforming), facts.fs_error or None, facts.ready, facts.hold),
        facts.directory.value,
        *(facts.ddl_time, facts.create_time, facts.mtime_ms, facts.atime_ms, facts.n_files),
    )


@pytest.mark.parametrize(
    ("zone", "now"),
    [
        ("UTC", datetime(2026, 11, 22, 3, 30, tzinfo=UTC)),
        ("Europe/Berlin", datetime(2026, 3, 29, 0, 59, 59, 999_000, tzinfo=UTC)),
        ("Pacific/Auckland", datetime(2026, 4, 4, 13, 0, tzinfo=UTC)),
    ],
)
def test_the_columns_judge_as_the_reference_does(
    spark: SparkSession, zone: str, now: datetime
) -> None:
    seed = random.SystemRandom().randrange(1 << 30)
    rng = random.Random(seed)
    terms = Terms(now=now, zone=ZoneInfo(zone))
    facts = [random_facts(rng, terms) for _ in range(4_000)]
    rows = spark.createDataFrame([as_row(n, fact) for n, fact in enumerate(facts)], FACTS)
    found = with_judgement(rows, terms).select("n", *JUDGED).orderBy("n").collect()
    seen = set()
    for fact, row in zip(facts, found, strict=True):
        wanted = judge(fact, terms)
        seen.add(wanted.cls)
        got = (
            *(row["cls"], row["rule"], row["detail"], row["updated_ms"]),
            *(row["winner"], row["due_ms"], row["due_on"]),
        )
        winner = wanted.winner.value if wanted.winner else None
        assert got == (
            *(wanted.cls.value, wanted.rule.value, wanted.detail, wanted.updated_ms),
            *(winner, wanted.due_ms, wanted.due_on),
        ), f"seed {seed}: {fact}"
    assert len(seen) == 12


LOCATIONS = [
    *("/a/b", "/a//b/", "//host/a", "a/b", "", "/", "file:/a", "file:///a/", "FILE:///A"),
    *("hdfs://NN:8020/a", "hdfs://nn/a b/%41=ü", "hdfs:/a", "hdfs://nn", "hdfs:///x", "hdfs:a"),
    *("s3a://bucket/x/../y", "/a/./b", "/a/..b/...", "/a/\x07b", "/a\nb", "hdfs://alias/x"),
    *("viewfs://c/x", "/a:b/c", "c:/x", "1a:/x", "file://host/a", "hdfs://alias", "/\x7f"),
]


@pytest.mark.parametrize("default_fs", ["file:///", "hdfs://nn:8020", "hdfs://alias"])
def test_the_jvm_spells_paths_as_lake_path_does(spark: SparkSession, default_fs: str) -> None:
    config = config_for(default_fs, {"alias": "nn:8020", "nn": "nn:8020"})
    rng = random.Random(7)
    pieces = ["/", "//", ".", "..", "a", "ü b", "%2F", "hdfs:", "file:", "://", "nn", "ALIAS", ":"]
    odd = ["".join(rng.choices(pieces, k=rng.randint(1, 8))) for _ in range(3_000)]
    texts = [*LOCATIONS, *odd]
    functions = FileFunctions(spark, config)
    frame = spark.createDataFrame([(n, text) for n, text in enumerate(texts)], "n int, t string")
    rows = frame.select("n", functions.canonical(F.col("t")).alias("c")).orderBy("n").collect()
    for text, row in zip(texts, rows, strict=True):
        try:
            wanted: str | None = str(config.path(text))
        except RuleViolation:
            wanted = None
        assert row["c"] == wanted, repr(text)


def test_the_planned_hash_is_sparks(spark: SparkSession) -> None:
    rows = spark.range(500).select(F.hash(F.col("id").cast("int")).alias("h")).collect()
    assert [row["h"] for row in rows] == [spark_hash(n) for n in range(500)]


def test_every_directory_above_is_named_alike(spark: SparkSession) -> None:
    places = ["file:///a/b/c", "hdfs://nn:1/a", "hdfs://nn:1/a b/c=%41", "relative/x", ""]
    rows = spark.createDataFrame([(place,) for place in places], "p string")
    found = [row["up"] for row in rows.select(_self_and_above("p").alias("up")).collect()]
    assert found[:3] == [_above(place) for place in places[:3]]
    assert found[3:] == [None, None]


def test_looking_at_files(spark: SparkSession, tmp_path: Path) -> None:
    """A parent's listing gives own times; a walk gives the newest below, files and bytes."""
    table = tmp_path / "tä %20=b"
    (table / "dt=1" / "sub" / "deep").mkdir(parents=True)
    (table / "dt=1" / "sub" / "deep" / "f").write_bytes(b"12345")
    (table / "dt=2").mkdir()
    (table / "dt=link").symlink_to(table / "dt=1")
    os.utime(table / "dt=1" / "sub" / "deep" / "f", (1_700_000_500, 1_700_000_400))
    for n, path in enumerate(["dt=1/sub/deep", "dt=1/sub", "dt=1", "dt=2"]):
        os.utime(table / path, (1_600_000_000 + n, 1_600_000_000 + n))
    functions = FileFunctions(spark, config_for("file:///"))
    names = ["dt=1", "dt=2", "dt=3", "dt=link"]
    rows = spark.createDataFrame([(f"file://{table}/{name}",) for name in names], "p string")
    look = functions.look(F.col("p"), F.lit(1_600_000_003_000)).alias("seen")
    one, two, three, link = (row["seen"] for row in rows.select(look).collect())
    assert one["mtime_ms"] == 1_700_000_400_000
    assert one["atime_ms"] == 1_700_000_500_000
    assert (one["n_files"], one["n_bytes"]) == (1, 5)
    assert (link["mtime_ms"], link["walked"]) == (1_700_000_400_000, True)
    assert (two["mtime_ms"], two["n_files"], two["atime_ms"]) == (1_600_000_003_000, 0, None)
    assert (three["mtime_ms"], three["missing"], three["walked"]) == (None, True, False)
    spared = functions.look(F.col("p"), F.lit(1_600_000_002_999)).alias("seen")
    one, two, *_ = (row["seen"] for row in rows.select(spared).collect())
    assert (one["walked"], two["walked"]) == (True, False)
    assert (two["mtime_ms"], two["n_files"], two["missing"]) == (1_600_000_003_000, None, False)


def test_a_dead_host_is_an_error_of_its_rows_only(spark: SparkSession) -> None:
    functions = FileFunctions(spark, config_for("file:///"))
    place = "hdfs://127.0.0.1:1/a/dt=1"
    rows = spark.createDataFrame([(place,)], "p string")
    (row,) = rows.select(functions.look(F.col("p"), F.lit(1).cast("long")).alias("seen")).collect()
    assert "ConnectException" in row["seen"]["error"]
    assert not row["seen"]["missing"]
    assert row["seen"]["mtime_ms"] is None
