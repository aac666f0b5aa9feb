"""Everything is changed and killed at random: after each round the lake has the source's rows."""

import os
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from django.utils import timezone
from pyspark.sql import SparkSession

from pipelines.cdc.applying.domain.folders import Kept, folder_of
from pipelines.cdc.applying.domain.messages import TableOrder, TableReport
from pipelines.cdc.applying.jobs import apply
from pipelines.cdc.changes.domain.kafka_place import KafkaPlace
from pipelines.cdc.control.selectors.pipelines import tables_of
from pipelines.cdc.control.services.capturing import pipeline_capture
from pipelines.cdc.control.services.columns import column_choose
from pipelines.cdc.control.services.orders import locations_find, orders_json, orders_of, plan_of
from pipelines.cdc.control.services.sources import changelog_root, config_of, open_changelog
from pipelines.cdc.schema_requests.services import REQUESTS, requests_open
from pipelines.models import Pipeline, SchemaRequest
from portal.access.actors import Actor
from portal.access.models import User
from portal.access.services import person_create
from portal.approvals.domain import DecisionInput
from portal.lake.paths import LakePath
from portal.runs.claims.leases import new_holder
from portal.spark.job import JobContext
from portal.spark.launch import Launched
from stack.ledger import Ledger
from stack.servers.kafka import Kafka
from stack.stack import LAKE, Stack
from tests.support.capture_process import CaptureProcess
from tests.support.captured import QUICK, Shop, is_caught_up
from tests.support.cdc_world import FIRST, Writer, kill_group, odd_rows, rows_in_the_lake
from tests.support.hudi_services import submitted
from tests.support.scan_spark import job_for

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.spark]

BY = Actor("ada", is_staff=True, is_admin=True, is_fresh=True)
APPLY = "pipelines.cdc.applying.jobs.apply"
DURABLE = "set global innodb_flush_log_at_trx_commit = 1"
"""Else a source that is killed forgets what its log has told already; it holds until it ends."""
CHANGES = (
    ("alter table items add column note varchar(20)", "alter table odd add column extra int"),
    ("alter table items add column seen int not null default 7 first",),
    ("alter table items modify qty bigint", "alter table pairs add index (v(9))"),
    ("alter table items modify qty varchar(20)",),
    ("alter table items rename column name to title",),
    ("alter table items drop column price", "alter table pairs modify v varchar(300)"),
)
"""Statements of every class but the refused one, in an order in which each can be run."""


@dataclass
class World:
    """One pipeline with everything that may be killed."""

    pipeline: Pipeline
    shop: Shop
    stack: Stack
    spark: SparkSession
    admin: User
    place: Path
    dice: random.Random
    kafka: Kafka | None = None
    """Where the changelog is, if not in files."""
    job: JobContext | None = None

    def kills(self, n_others: int) -> list[Callable[[], None]]:
        """Return what is killed in a round, in any order."""
        own = self.killed_kafka if self.kafka else self.killed_metastore
        others = (self.killed_capture, self.killed_apply, self.killed_source)
        chosen = [own, *self.dice.sample(others, k=n_others)]
        self.dice.shuffle(chosen)
        return chosen

    def killed_capture(self) -> None:
        process = self._capture_process()
        time.sleep(self.dice.uniform(1.5, 5))
        process.kill()

    def killed_apply(self) -> None:
        launched = self._apply_process()
        time.sleep(self.dice.uniform(8, 22))
        kill_group(launched.pgid)

    def killed_kafka(self) -> None:
        """Kill the broker in the middle of what is written and read, and the programs after it."""
        assert self.kafka is not None
        process, launched = self._capture_process(), self._apply_process()
        time.sleep(self.dice.uniform(6, 14))
        self.kafka.kill()
        time.sleep(self.dice.uniform(0, 2))
        self.kafka.start()
        self.kafka.wait_ready()
        time.sleep(self.dice.uniform(0, 4))
        process.kill()
        kill_group(launched.pgid)

    def _capture_process(self) -> CaptureProcess:
        self.pipeline.refresh_from_db()
        config = replace(config_of(self.pipeline), limits=QUICK)
        root = LakePath.parse(str(changelog_root(self.pipeline))).path
        return CaptureProcess(config, Path(root), kafka=self.pipeline.spec.kafka)

    def _apply_process(self) -> Launched:
        config = self.stack.config(LAKE)
        job = job_for(self.spark, config, {"apply": orders_json(LAKE), "stay_seconds": 600})
        log = self.place / f"apply-{time.monotonic_ns()}.log"
        return submitted(job, APPLY, config=config, log_file=log)

    def killed_source(self) -> None:
        self.shop.server.kill()
        self.shop.server.start()
        self.shop.server.wait_ready()
        self.shop.connect_again()
        self.shop.run(DURABLE)

    def killed_metastore(self) -> None:
        self.stack.metastore.kill()
        self.stack.metastore.start()
        self.stack.metastore.wait_ready()

    def settle(self) -> None:
        """Capture and apply everything, and answer every question with yes."""
        for _ in range(6):
            self._capture()
            if not self._answer():
                break
        else:
            raise AssertionError("there is always another question")
        self.apply()

    def apply(self) -> None:
        locations_find(LAKE)
        self._run(orders_json(LAKE))

    def waiting(self, name: str) -> int:
        """Return how many records of a table wait for a decision, by the last program's word."""
        assert self.job is not None
        file = self.job.spool.results.child("tables", f"{self.orders()[name].id}.json")
        return msgspec.json.decode(self.job.spool.fs.read(file), type=TableReport).n_waiting

    def rows(self, name: str) -> list[tuple[Any, ...]]:
        order = self.orders()[name]
        live = order.schemas[0].live
        return rows_in_the_lake(
            self.spark, order.location, list(live.values()), [live[order.key[0]]]
        )

    def _run(self, orders: dict[str, Any], *, at_once: int = 0) -> None:
        # Each reading of Kafka takes its time.
        at_once = at_once or (100 if self.kafka else 20)
        params = {"apply": {**orders, "most_batches_at_once": at_once}, "stay_seconds": 0}
        self.job = job_for(self.spark, self.stack.config(LAKE), params)
        apply.run(self.spark, self.job)

    def apply_shuffled(self, place: Path, *, at_once: int) -> None:
        """Apply the whole changelog into other tables, its batches in any order.

        Those of Kafka have the order of their numbers.
        """
        (pipeline,) = orders_of(LAKE).pipelines
        batches = list(Path(LakePath.parse(pipeline.changelog).path, "batches").glob("*.jsonl"))
        self.dice.shuffle(batches)
        for number, batch in enumerate(batches):
            os.utime(batch, (1_700_000_000 + number, 1_700_000_000 + number))
        tables = tuple(
            msgspec.structs.replace(one, location=f"file:{place}/{one.table}", is_synced=False)
            for one in pipeline.tables
        )
        other = msgspec.structs.replace(pipeline, folder=f"file:{place}/work", tables=tables)
        self._run({**orders_json(LAKE), "pipelines": [msgspec.to_builtins(other)]}, at_once=at_once)

    def orders(self) -> dict[str, TableOrder]:
        (pipeline,) = orders_of(LAKE).pipelines
        return {one.table: one for one in pipeline.tables}

    def check(self, name: str, *, location: str = "") -> None:
        order = self.orders()[name]
        live = order.schemas[-1].live
        assert not order.schemas[-1].is_held
        columns = [row[0] for row in self.shop.rows(f"show columns from {name}")]
        found = rows_in_the_lake(
            self.spark,
            location or order.location,
            [live[column] for column in columns],
            [live[column] for column in order.key],
        )
        wanted = self.shop.rows(f"select * from {name}")
        places = [columns.index(column) for column in order.key]
        # Not by the source: its order of texts is that of a collation.
        assert found == sorted(wanted, key=lambda row: tuple(row[one] for one in places))

    def check_kept(self, n_rounds: int) -> None:
        """Make sure that what is kept is what cannot be applied: each once, and nothing else.

        Of `odd` it is one record a round whose date is none, and one value a round of a column that
        nobody has decided on.
        """
        order = self.orders()["odd"]
        location, names = order.location, list(order.schemas[0].live.values())
        found = rows_in_the_lake(self.spark, location, names, ["id"])
        assert found == self.shop.rows("select id, day from odd where id < 2000 order by id")
        rounds = range(n_rounds)
        unfit = self.kept("odd", Kept.QUARANTINE, "id", "version", "value")
        assert [row[0] for row in unfit] == [_key(2000 + number) for number in rounds]
        aside = self.kept("odd", Kept.ASIDE, "id", "_lw_version", "column", "text")
        values = [(row[0], *row[2:]) for row in aside]
        assert values == [(_key(1000 + number), "extra", str(number)) for number in rounds]
        for name in ("items", "pairs", "doomed"):
            assert self.kept(name, Kept.QUARANTINE, "id") == []

    def kept(self, name: str, kind: Kept, *columns: str) -> list[tuple[Any, ...]]:
        """Return what is kept of a table; a crash may have kept it twice."""
        (pipeline,) = orders_of(LAKE).pipelines
        place = LakePath.parse(pipeline.folder).path
        folder = Path(place, *folder_of(self.orders()[name].name, kind))
        files = [str(one) for one in folder.rglob("*.parquet")]
        if not files:
            return []
        frame = self.spark.read.option("basePath", str(folder)).parquet(*files)
        return sorted(tuple(row) for row in frame.select(*columns).distinct().collect())

    def _capture(self) -> None:
        there, log = self.shop.position(), open_changelog(self.pipeline)
        patient = time.monotonic() + 120

        looked_at = 0.0

        def is_over() -> bool:
            """Look twice a second: it is asked after each event, and Kafka takes its time."""
            nonlocal looked_at
            assert time.monotonic() < patient, f"not captured in time: {log.end()}, {there}"
            if time.monotonic() - looked_at < 0.5:
                return False
            looked_at = time.monotonic()
            return is_caught_up(log, there)

        pipeline_capture("shop", holder=new_holder(), is_ended=is_over)
        self.pipeline.refresh_from_db()
        assert self.pipeline.problem == ""

    def _answer(self) -> bool:
        """Approve what waits and have all columns plain; returns whether anything was."""
        now, done = timezone.now(), False
        for table in tables_of(self.pipeline).exclude(table="odd"):
            for column in plan_of(table, table.schemas.all()).pending:
                column_choose(table, column, "plain", reason="fine", by=BY, now=now)
                done = True
        requests_open(LAKE, now=now)
        for request in SchemaRequest.objects.filter(state="PENDING"):
            if request.change.captured.table == "doomed":
                continue
            answer = DecisionInput(decision="APPROVE", reason="", digest=request.digest)
            REQUESTS.decide(
                request.pk, user=self.admin, answer=answer, authenticated_at=now, now=now
            )
            done = True
        return done


def _key(number: int) -> str:
    return f'{{"id":"{number}"}}'


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Kafka]:
    """A broker that is killed, and so nobody else's."""
    server = Kafka(tmp_path, ledger=Ledger(tmp_path / "stack.json"))
    server.start()
    try:
        server.wait_ready()
        yield server
    finally:
        server.stop()


@pytest.fixture
def world(
    create: Callable[..., Pipeline],
    shop: Shop,
    embedded_stack: Stack,
    spark: SparkSession,
    tmp_path: Path,
) -> Callable[..., World]:
    def made(seed: int, kafka: Kafka | None = None) -> World:
        shop.run(DURABLE)
        ben = person_create(
            "ben", password="correct horse staple", email="b@b.org", roles=["admin"]
        )
        dice = random.Random(seed)
        place = KafkaPlace(kafka.address, f"changes.{shop.db}") if kafka else None
        pipeline = create(*FIRST, kafka=place)
        return World(pipeline, shop, embedded_stack, spark, ben, tmp_path, dice, kafka)

    return made


@pytest.mark.parametrize(("seed", "n_rounds"), [(3, 2), pytest.param(4, 6, marks=pytest.mark.long)])
def test_after_each_round_the_lake_has_the_sources_rows(
    world: Callable[..., World], seed: int, n_rounds: int, tmp_path: Path
) -> None:
    one = world(seed)
    play(one, seed, n_rounds, CHANGES)

    before, waiting = one.rows("doomed"), one.waiting("doomed")
    assert waiting == 0
    one.shop.run("truncate table doomed", "insert into doomed values (1, 'again'), (2, 'again')")
    one.settle()
    assert (one.rows("doomed"), one.waiting("doomed")) == (before, 2)
    one.check("items")

    one.apply_shuffled(tmp_path, at_once=5)
    for table in ("items", "pairs"):
        one.check(table, location=f"file:{tmp_path}/{table}")


@pytest.mark.parametrize(
    ("seed", "n_rounds", "n_others", "n_changes"),
    [(5, 1, 1, 2), pytest.param(6, 4, 3, len(CHANGES), marks=pytest.mark.long)],
)
def test_a_changelog_in_kafka_loses_nothing_when_its_broker_is_killed(
    world: Callable[..., World],
    broker: Kafka,
    seed: int,
    n_rounds: int,
    n_others: int,
    n_changes: int,
    tmp_path: Path,
) -> None:
    one = world(seed, broker)
    play(one, seed, n_rounds, CHANGES[:n_changes], n_others=n_others)
    one.apply_shuffled(tmp_path, at_once=1_000)
    for table in ("items", "pairs"):
        one.check(table, location=f"file:{tmp_path}/{table}")


def play(
    one: World, seed: int, n_rounds: int, changes: Sequence[Sequence[str]], *, n_others: int = 3
) -> None:
    """Change and kill in rounds; after each, source and lake have to be the same."""
    one.settle()
    for number in range(n_rounds):
        with Writer(one.shop.server, one.shop.db, seed * 100 + number):
            for kill in one.kills(n_others):
                kill()
            for statements in changes[number::n_rounds]:
                one.shop.run(*statements)
                time.sleep(one.dice.uniform(0.2, 1))
            one.shop.run(*odd_rows(number))
        one.settle()
        for table in ("items", "pairs", "doomed"):
            one.check(table)
        one.check_kept(number + 1)
