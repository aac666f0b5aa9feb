"""Comparisons of a captured table for tests: as a run of the program leaves them."""

from datetime import datetime
from typing import Any

import msgspec

from pipelines.cdc.changes.domain.schemas import Column, TableSchema
from pipelines.cdc.control.services.reports import schemas_take
from pipelines.cdc.reconciling.domain.messages import Proof
from pipelines.cdc.reconciling.services.results import comparisons_take
from pipelines.cdc.reconciling.services.schedules import KIND
from pipelines.models import CapturedTable, Pipeline, TableComparison
from portal.runs.domain import RunState
from portal.runs.models import Run
from portal.runs.records.spools import new_spool

DIFFERENT: dict[str, Any] = {
    "state": "different",
    "position": "0:bin.000001:900",
    "n_rows": 120,
    "n_missing": 1,
    "keys": (("missing", {"id": "7"}),),
}
WITH_EXTRA: dict[str, Any] = {
    **DIFFERENT,
    "n_extra": 1,
    "keys": (("missing", {"id": "7"}), ("extra", {"id": "8"})),
}


def captured_table(shop: Pipeline, now: datetime) -> CapturedTable:
    """Make a table that is loaded and has a place in the lake."""
    columns = (Column("id", "int"), Column("qty", "int"))
    schemas_take(shop, [TableSchema("shop", "orders", 1, 100, columns, ("id",))], now=now)
    CapturedTable.objects.update(location="file:/ods/orders", loaded_at=now)
    return CapturedTable.objects.get()


def compare(table: CapturedTable, now: datetime, **said: Any) -> TableComparison:
    """Take in what a run said of a table."""
    run = Run.objects.create(
        lake=table.lake,
        kind=KIND,
        state=RunState.DONE,
        requested_by="otto",
        queued_at=now,
        finished_at=now,
        params={"pipeline": table.pipeline_id},
    )
    spool = new_spool(run)
    spool.create()
    run.spool = str(spool.root)
    run.save(update_fields=["spool"])
    place = spool.results.child("proofs")
    spool.fs.make_directories(place, mode=0o700)
    proof = Proof(table.pk, **{"state": "equal", "n_rows": 100, **said})
    spool.fs.replace(place.child(f"{table.pk}.json"), msgspec.json.encode(proof))
    comparisons_take(run, now=now)
    comparisons_take(run, now=now)  # taken in twice it is there once
    return TableComparison.objects.get(run=str(run.pk))
