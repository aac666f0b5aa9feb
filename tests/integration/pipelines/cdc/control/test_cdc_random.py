"""Everything is changed and killed at random: after each round the lake has the source's rows."""

import os
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from django.utils import timezone
from pyspark.sql import SparkSession

from pipelines.cdc.applying.domain.messages import TableOrder, TableReport
from pipelines.cdc.applying.jobs import apply
from pipelines.cdc.changes.connectors.directory_log import DirectoryLog
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
from stack.stack import LAKE, Stack
from tests.support.capture_process import CaptureProcess
from tests.support.captured import QUICK, Shop, is_caught_up
from tests.support.cdc_world import FIRST, Writer, kill_group, rows_in_the_lake
from tests.support.hudi_services import submitted
from tests.support.scan_spark import job_for

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.spark]

BY = Actor("ada", is_staff=True, is_admin=True, is_fresh=True)
APPLY = "pipelines.cdc.applying.jobs.apply"
DURABLE = "set global innodb_flush_log_at_trx_commit = 1"
"""Else a source that is killed forgets what its log has told already; it holds until it ends."""
CHANGES = (
    ("alter table items add column note varchar(20)",),
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
    job: JobContext | None = None

    def killed_capture(self) -> None:
        self.pipeline.refresh_from_db()
        config = replace(config_of(self.pipeline), limits=QUICK)
        root = LakePath.parse(str(changelog_root(self.pipeline))).path
        process = CaptureProcess(config, Path(root))
        time.sleep(self.dice.uniform(1.5, 5))
        process.kill()

    def killed_apply(self) -> None:
        config = self.stack.config(LAKE)
        job = job_for(self.spark, config, {"apply": orders_json(LAKE), "stay_seconds": 600})
        log = self.place / f"apply-{time.monotonic_ns()}.log"
        launched = submitted(job, APPLY, config=config, log_file=log)
        time.sleep(self.dice.uniform(8, 22))
        kill_group(launched.pgid)

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

    def _run(self, orders: dict[str, Any], *, at_once: int = 20) -> None:
        params = {"apply": {**orders, "most_batches_at_once": at_once}, "stay_seconds": 0}
        self.job = job_for(self.spark, self.stack.config(LAKE), params)
        apply.run(self.spark, self.job)

    def apply_shuffled(self, place: Path) -> None:
        """Apply the whole changelog into other tables, its batches in any order."""
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
        self._run({**orders_json(LAKE), "pipelines": [msgspec.to_builtins(other)]}, at_once=5)

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

    def _capture(self) -> None:
        there, log = self.shop.position(), open_changelog(self.pipeline)
        assert isinstance(log, DirectoryLog)
        patient = time.monotonic() + 120

        def is_over() -> bool:
            assert time.monotonic() < patient, "not captured in time"
            return is_caught_up(log, there)

        pipeline_capture("shop", holder=new_holder(), is_ended=is_over)
        self.pipeline.refresh_from_db()
        assert self.pipeline.problem == ""

    def _answer(self) -> bool:
        """Approve what waits and have all columns plain; returns whether anything was."""
        now, done = timezone.now(), False
        for table in tables_of(self.pipeline):
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


@pytest.fixture
def world(
    create: Callable[..., Pipeline],
    shop: Shop,
    embedded_stack: Stack,
    spark: SparkSession,
    tmp_path: Path,
) -> Callable[[int], World]:
    def made(seed: int) -> World:
        shop.run(DURABLE)
        ben = person_create(
            "ben", password="correct horse staple", email="b@b.org", roles=["admin"]
        )
        dice = random.Random(seed)
        return World(create(*FIRST), shop, embedded_stack, spark, ben, tmp_path, dice)

    return made


@pytest.mark.parametrize(("seed", "n_rounds"), [(3, 2), pytest.param(4, 6, marks=pytest.mark.long)])
def test_after_each_round_the_lake_has_the_sources_rows(
    world: Callable[[int], World], seed: int, n_rounds: int, tmp_path: Path
) -> None:
    one = world(seed)
    one.settle()
    kills = (one.killed_capture, one.killed_apply, one.killed_source, one.killed_metastore)
    for number in range(n_rounds):
        with Writer(one.shop.server, one.shop.db, seed * 100 + number):
            for kill in one.dice.sample(kills, k=len(kills)):
                kill()
            for statements in CHANGES[number::n_rounds]:
                one.shop.run(*statements)
                time.sleep(one.dice.uniform(0.2, 1))
        one.settle()
        for table in ("items", "pairs", "doomed"):
            one.check(table)

    before, waiting = one.rows("doomed"), one.waiting("doomed")
    assert waiting == 0
    one.shop.run("truncate table doomed", "insert into doomed values (1, 'again'), (2, 'again')")
    one.settle()
    assert (one.rows("doomed"), one.waiting("doomed")) == (before, 2)
    one.check("items")

    one.apply_shuffled(tmp_path)
    for table in ("items", "pairs"):
        one.check(table, location=f"file:{tmp_path}/{table}")
