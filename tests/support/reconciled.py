"""A captured database whose changes are applied to Hudi tables and compared, in this process."""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
from pyspark.sql import DataFrame, SparkSession

from pipelines.cdc.applying.domain.folders import Kept, folder_of
from pipelines.cdc.applying.domain.hudi_settings import VERSION, write_settings
from pipelines.cdc.applying.domain.messages import Orders, PipelineOrder, TableOrder
from pipelines.cdc.applying.jobs import apply
from pipelines.cdc.capture.domain.config import Limits
from pipelines.cdc.capture.domain.repairs import Repair
from pipelines.cdc.capture.services.capture import capture_run
from pipelines.cdc.changes.connectors.kafka_log import KafkaLog
from pipelines.cdc.changes.domain.changelog import Changelog
from pipelines.cdc.changes.domain.kafka_place import KafkaPlace
from pipelines.cdc.changes.domain.schemas import TableSchema
from pipelines.cdc.control.domain.plans import DecidedSchema, Decision, table_plan
from pipelines.cdc.reconciling.domain.messages import Proof, Request, Server, Task
from pipelines.cdc.reconciling.jobs import reconcile
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import StaleState
from portal.spark.job import JobContext
from stack.process import LOOPBACK
from stack.servers.source_db import CAPTURE_USER
from tests.support.captured import Shop, schemas
from tests.support.scan_spark import job_for


@dataclass
class Reconciled:
    """One pipeline of a test: capture, apply and comparison by its own code."""

    spark: SparkSession
    config: LakeConfig
    shop: Shop
    place: Path
    kafka: KafkaPlace | None = None
    """Where the changelog is, if not in files."""
    _orders: dict[str, TableOrder] = field(default_factory=dict)

    @cached_property
    def log(self) -> Changelog:
        """The changelog."""
        if self.kafka is None:
            return self.shop.log()
        return KafkaLog(self.kafka, password=self.kafka.password(os.environ))

    def capture(self, *repairs: Repair) -> Changelog:
        """Capture what is there."""
        config = self.shop.config(repairs=repairs)
        wanted = {one.id for one in repairs}

        def until() -> bool:
            told = self.shop.reports[-1].repaired if self.shop.reports else ()
            return wanted <= {one.id for one in told}

        self.shop.capture_into(self.log, config, until=until)
        return self.log

    def order(self, table: str) -> TableOrder:
        """Return the order of a table as the portal would make it."""
        newest = schemas(self.log, table)
        plan = table_plan([DecidedSchema(newest[0], Decision.NONE)])
        number = 10 + len(self._orders)
        return self._orders.setdefault(
            table,
            TableOrder(
                id=number,
                db=self.shop.db,
                table=table,
                target_db="lake",
                target_table=table,
                location=f"file:{self.place}/lake/{table}",
                columns=plan.columns,
                key=newest[0].key,
                schemas=plan.schemas,
                is_synced=False,
            ),
        )

    def orders(self, *tables: str) -> dict[str, Any]:
        """Return the orders of the apply."""
        order = PipelineOrder(
            id=1,
            changelog=f"file:{self.shop.root}/log",
            folder=f"file:{self.place}/apply",
            kafka=self.kafka,
            tables=tuple(map(self.order, tables)),
        )
        return dict(
            json.loads(msgspec.json.encode(Orders(pipelines=(order,), most_batches_at_once=200)))
        )

    def apply(self, *tables: str) -> None:
        """Apply what is captured."""
        params = {"apply": self.orders(*tables), "stay_seconds": 0}
        apply.run(self.spark, job_for(self.spark, self.config, params))

    @contextmanager
    def running(self, *tables: str) -> Iterator[None]:
        """Capture and apply beside the test, until it leaves."""
        is_over: list[bool] = []
        params = {"apply": self.orders(*tables), "stay_seconds": 600}
        job = job_for(self.spark, self.config, params)
        log = self.log
        # Of smaller batches there would be more than the apply takes.
        config = self.shop.config(limits=Limits(seconds=1, heartbeat_seconds=1))

        def capture() -> None:
            capture_run(config, log, lambda _: None, lambda: bool(is_over))

        def stay() -> None:
            with suppress(StaleState):
                apply.run(self.spark, job)

        with ThreadPoolExecutor(2) as pool:
            both = [pool.submit(capture), pool.submit(stay)]
            try:
                yield
            finally:
                is_over.append(True)
                job.spool.write_control({"cancel": True})
            for one in both:
                one.result(120)

    def prove(self, table: str, *, most_rounds: int = 5) -> Proof:
        """Compare a table."""
        request = Request(
            server=Server(
                *(self.shop.db, LOOPBACK, self.shop.server.port, CAPTURE_USER),
                *(self.shop.server_id + 500, (f"{self.shop.db}.*",), "", 0),
            ),
            changelog=f"file:{self.shop.root}/log",
            folder=f"file:{self.place}/apply",
            first_batch=1,
            tasks=(Task(self.order(table), self.schema(table)),),
            rows_per_second=1_000_000,
            wait_seconds=300,
            most_rounds=most_rounds,
            kafka=self.kafka,
        )
        plain: Mapping[str, Any] = json.loads(msgspec.json.encode(request))
        job = job_for(self.spark, self.config, {reconcile.REQUEST: plain})
        reconcile.run(self.spark, job)
        return self._said(job, table)

    def schema(self, table: str) -> TableSchema:
        """Return the newest schema that was captured."""
        return schemas(self.log, table)[-1]

    def repair(self, proof: Proof, table: str, number: int = 1) -> Repair:
        """Return the order to repair what a proof found."""
        return Repair(number, self.shop.db, table, tuple(key for _, key in proof.keys))

    def rows(self, table: str) -> DataFrame:
        """Read the lake's table."""
        return self.spark.read.format("hudi").load(self.order(table).location)

    def unfit_types(self, table: str) -> set[str]:
        """Return the lake's types of the columns whose values are in quarantine."""
        order = self.order(table)
        folder = "/".join(folder_of(order.name, Kept.QUARANTINE))
        rows = self.spark.read.parquet(f"file:{self.place}/apply/{folder}")
        names = {one["column"] for row in rows.collect() for one in row["unfit"]}
        return {one.type for one in order.columns if one.name in names}

    def damage(
        self, table: str, change: Callable[[DataFrame], DataFrame], operation: str = "upsert"
    ) -> None:
        """Write to the lake's table behind the back of the apply, as another writer would."""
        order = self.order(table)
        columns = [*(one.name for one in order.columns), VERSION]
        rows = change(self.rows(table).select(*columns))
        rows = self.spark.createDataFrame(rows.collect(), rows.schema)
        settings = write_settings(order, parallelism=1)
        settings |= {"hoodie.datasource.write.operation": operation}
        rows.write.format("hudi").options(**settings).mode("append").save(order.location)

    def _said(self, job: JobContext, table: str) -> Proof:
        path = job.spool.results.child("proofs", f"{self.order(table).id}.json")
        return msgspec.json.decode(job.spool.fs.read(path), type=Proof)
