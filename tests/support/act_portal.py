"""The portal's side of acting with the drivers in this process: fast drops and restores."""

from datetime import UTC, date, datetime
from typing import Any
from uuid import uuid4

from lifecycle.backup.domain.layout import Day
from lifecycle.backup.engine.drop import drop_items
from lifecycle.backup.engine.facts import ActItem
from lifecycle.backup.engine.protocol import ActResult, DropOrder
from lifecycle.backup.engine.restore.batches import restore_batches
from lifecycle.backup.engine.restore.order import BackupBatchRef, NewName, RestoreOrder
from lifecycle.backup.engine.undo.batches import UndoOrder, undo_batches
from lifecycle.backup.models import BackupBatch
from lifecycle.backup.selectors import restorable_batches
from lifecycle.backup.services.beating import act_beat
from lifecycle.backup.services.fencing import act_prepare, restore_prepare, undo_prepare
from lifecycle.backup.services.ingesting import act_ingest
from lifecycle.backup.services.settling import act_settle
from portal.lake.names import TableName
from portal.runs.models import Run
from portal.runs.records.spools import new_spool
from tests.support.act_lake import DAY, ActLake, TestRules


def instant() -> datetime:
    """Return the instant."""
    return datetime.now(UTC)


class ActPortal:
    """Acts as the run kinds do; `at` plays the instant of a drop, `day` where its backup lies."""

    def __init__(self, lake: ActLake) -> None:
        self.lake = lake

    def new_run(self, kind: str, **params: Any) -> Run:
        """Make a run that has been submitted."""
        run = Run(
            lake="main",
            kind=kind,
            epoch=1,
            requested_by="dora",
            params=params,
            queued_at=instant(),
        )
        spool = new_spool(run)
        spool.create()
        run.spool = str(spool.root)
        run.save(force_insert=True)
        return run

    def drop(
        self,
        name: TableName,
        *,
        run: Run | None = None,
        items: list[ActItem] | None = None,
        at: datetime | None = None,
        day: date = DAY,
    ) -> Run:
        """Drop a table's items; with the `run` of an earlier drop as its next epoch."""
        if run is None:
            run = self.new_run("drop")
        else:
            run.epoch += 1
            run.save()
        items = self.lake.items(name) if items is None else items
        asked = act_prepare(run, root=str(self.lake.root), day=day, now=instant())
        assert act_prepare(run, root=str(self.lake.root), day=day, now=instant()) == asked
        fence = self.lake.config.path(asked["fence"])
        assert fence == Day(self.lake.root, day).open(str(run.pk), run.epoch)
        order = DropOrder(
            run=str(run.pk),
            epoch=run.epoch,
            lake=self.lake.config.lake,
            plan=str(uuid4()),
            digest="digest",
            fence=fence,
            keep_days={},
        )
        tools = self.lake.tools(fence)
        if at is not None:
            tools.clock = lambda: at
        result = drop_items(order, items, rules=TestRules(self.lake.config), tools=tools)
        act_beat(run, now=instant())
        self.end(run, {"outcome": "done", "result": result.as_dict()})
        return run

    def end(self, run: Run, manifest: dict[str, Any]) -> None:
        """Settle and take in, twice."""
        for _ in range(2):
            act_settle(run, now=instant(), still_approved=lambda: True)
            act_ingest(run, manifest, now=instant())

    def restore(self, *, to: NewName | None = None, **params: Any) -> Run:
        """Restore from every backup there is, under another name if asked."""
        if to is not None:
            place = {"db": to.db, "table": to.table, "into": to.into, "location": str(to.location)}
            params["rename_to"] = place
        run = self.new_run("restore", **params)
        self.restore_epoch(run, to=to)
        return run

    def restore_epoch(
        self, run: Run, *, to: NewName | None = None, dies_after: int | None = None
    ) -> dict[str, Any]:
        """Let one epoch of a restore act, whole or on its first batches; returns its manifest."""
        params = run.params
        ids = list(BackupBatch.objects.values_list("public_id", flat=True))
        batches = restorable_batches(ids)
        claims = restore_prepare(run, batches=batches, now=instant())["claims"]
        assert restore_prepare(run, batches=batches, now=instant())["claims"] == claims
        order = RestoreOrder(
            run=str(run.pk),
            epoch=run.epoch,
            lake=self.lake.config.lake,
            batches=tuple(
                BackupBatchRef(self.lake.config.path(claim["directory"]), claim["batch"])
                for claim in claims[:dies_after]
            ),
            partitions=frozenset(params["partitions"]) if params.get("partitions") else None,
            new_name=to,
        )
        tools = self.lake.tools(self.lake.config.path(claims[0]["fence"]))
        result = restore_batches(order, tools_of=lambda _directory: tools)
        ended = {"outcome": "done", "result": result.as_dict()}
        manifest = ended if dies_after is None else {"outcome": "died", "result": {}}
        self.end(run, manifest)
        return manifest

    def undo(self, restore: Run) -> tuple[Run, ActResult]:
        """Undo a restore into every backup there is."""
        run = self.new_run("restore_undo")
        batches = list(BackupBatch.objects.order_by("id"))
        claims = undo_prepare(run, batches=batches, now=instant())["claims"]
        order = UndoOrder(
            run=str(run.pk),
            epoch=1,
            lake=self.lake.config.lake,
            restore=str(restore.pk),
            batches=tuple(
                BackupBatchRef(self.lake.config.path(claim["directory"]), claim["batch"])
                for claim in claims
            ),
        )
        tools = self.lake.tools(self.lake.config.path(claims[0]["fence"]))
        result = undo_batches(order, tools_of=lambda _directory: tools)
        self.end(run, {"outcome": "done", "result": result.as_dict()})
        return run, result
