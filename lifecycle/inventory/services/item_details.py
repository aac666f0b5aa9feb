"""Fetches the clocks of one partition for its page when only its range was stored.

A short run reads the row out of the scan's results; the web process holds no key to them.
"""

import hashlib
from datetime import datetime
from typing import Any

import pyarrow.compute as pc

from lifecycle.inventory.selectors.findings import get_item_for_user
from lifecycle.inventory.services.ingest_rows import Owners, RowMaker
from lifecycle.models import SamplePartition, TableFinding
from portal.access.lakes import get_lake
from portal.access.models import User
from portal.lake.errors import NotVisible
from portal.runs.domain import RunState
from portal.runs.kinds import registry as run_kinds
from portal.runs.models import Run
from portal.runs.requests.services import run_request
from portal.runs.results.parquet import result_tables

KIND = "lifecycle.why_look"


class ItemDetailsRunKind(run_kinds.RunKind):
    """Brings one item of the last scan to its page."""

    name = KIND
    title = "Recompute partition expiry"
    queue = "plan"

    def execute(self, run: Run) -> dict[str, Any]:
        """Copy the row."""
        return {"n": why_look(run)}


def why_inspection_request(
    lake: str, name: tuple[str, str, str], *, user: User, now: datetime
) -> Run | None:
    """Ask for an item's row; None where it is here already, the run that is under way if one is.

    Raises:
        NotVisible: no such item for this person.
    """
    db, table, partition = name
    found, item, _ = get_item_for_user(lake, db, table, partition, user=user)
    if item is not None:
        return None
    return run_request(
        KIND,
        lake=lake,
        params={"table": found.pk, "partition": partition},
        requested_by=user.username,
        reason="asked for on the page",
        unique_key=_key(found, partition),
        subject=("table", f"{db}.{table}"),
        now=now,
    )


def why_look(run: Run) -> int:
    """Copy an item's row beside the examples of its table; again, it adds nothing.

    Raises:
        NotVisible: a newer picture has come, or the row is not in the results.
    """
    partition = run.params["partition"]
    found = TableFinding.objects.select_related("generation").filter(pk=run.params["table"]).first()
    if found is None:
        raise NotVisible("why.picture", "A newer scan has come; reload the page.")
    if SamplePartition.objects.filter(table=found, partition=partition).exists():
        return 0
    config, uri = get_lake(found.lake), found.generation.results_uri
    maker = RowMaker(found.generation, Owners({}, {}))
    maker.table_keys = {(found.db, found.table): found.pk}
    wanted = (
        (pc.field("db") == found.db)
        & (pc.field("tbl") == found.table)
        & (pc.field("part_name") == partition)
    )
    for items in result_tables(config, uri, "items"):
        for row in items.filter(wanted).to_pylist():
            maker.example(row).save(force_insert=True)
            return 1
    raise NotVisible("item.missing", f"The last scan saw no partition {partition!r}.")


def _key(found: TableFinding, partition: str) -> str:
    """Return one key an item and picture, so that two clicks make one run; a failed one is past."""
    key = f"why:{found.pk}:{hashlib.sha256(partition.encode()).hexdigest()[:32]}"
    ended_badly = (RunState.FAILED, RunState.CANCELLED)
    n_bad = Run.objects.filter(unique_key__startswith=key, state__in=ended_badly).count()
    return f"{key}:{n_bad}"


def register_inspect_kind() -> None:
    """Tell the platform of the run of this file."""
    run_kinds.register(ItemDetailsRunKind())
