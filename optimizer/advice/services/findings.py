"""Takes in what a run found: new advice, the same again, or why there is none."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction

from optimizer.advice.domain.layout_advice import (
    NoProposal,
    Option,
    Proposal,
    Traffic,
    confidence,
    decide_layout,
)
from optimizer.advice.domain.states import AdviceState
from optimizer.iceberg.rewrite.domain.layouts import parse_layout
from optimizer.models import Advice, IcebergTable
from optimizer.policies.selectors.policies import policy_current
from portal.runs.models import Run


def findings_ingest(run: Run, manifest: dict[str, Any], *, now: datetime) -> None:
    """Judge what was sampled; the run's result then says of each table what came of it.

    The same manifest twice changes nothing the second time.
    """
    found = {one["id"]: one for one in (manifest.get("result") or {}).get("tables", ())}
    orders = {one["id"]: one for one in run.params["tables"]}
    said = []
    for table in IcebergTable.objects.filter(pk__in=found, lake=run.lake):
        order = orders.get(table.pk)
        if order is None or table.uuid != order["uuid"] or table.is_deleted:
            continue
        note = _judged(table, order, found[table.pk], run=run, now=now)
        table.advice_looked_at, table.advice_note = now, note
        table.save(update_fields=["advice_looked_at", "advice_note"])
        said.append({"table": str(table), "said": note})
    if found:
        manifest["result"] = {"tables": said}


def _judged(
    table: IcebergTable,
    order: Mapping[str, Any],
    found: Mapping[str, Any],
    *,
    run: Run,
    now: datetime,
) -> str:
    if problem := found.get("problem"):
        return str(problem)
    n_days = max(1, order["n_days"])
    traffic = Traffic(order["n_scans"], n_days, order["n_bytes"] // n_days)
    options = [Option(parse_layout(one["layout"]), one["share"]) for one in found["options"]]
    judged = decide_layout(
        found["now"],
        options,
        traffic,
        current=parse_layout(order["layout"]),
        rewrite_bytes=found["rewrite_bytes"],
        n_files=found["n_files"],
    )
    if isinstance(judged, NoProposal):
        _outdate(table, now=now)
        return judged.reason
    _advise(table, judged, traffic, {**order, **found}, run=run, now=now)
    return f"{judged.layout} is advised. {judged.reason}"


def _outdate(table: IcebergTable, *, now: datetime) -> None:
    table.advice.filter(state=AdviceState.NEW).update(
        state=AdviceState.OUTDATED, is_open=None, decided_at=now
    )


def _advise(
    table: IcebergTable,
    judged: Proposal,
    traffic: Traffic,
    figures: Mapping[str, Any],
    *,
    run: Run,
    now: datetime,
) -> None:
    own = policy_current(table.lake, str(table).lower())
    fields = {
        "layout_before": str(own.values.get("layout", "")) if own else "",
        "expected": judged.expected,
        "bytes_a_day": traffic.bytes_a_day,
        "rewrite_bytes": figures["rewrite_bytes"],
        "n_scans": traffic.n_scans,
        "n_days": traffic.n_days,
        "evidence": {
            "reason": judged.reason,
            "runner_up": judged.runner_up,
            "confidence": confidence(traffic),
            **{key: figures.get(key) for key in _KEPT},
        },
        "run": run.pk,
        "confirmed_at": now,
    }
    with transaction.atomic():
        open_one = table.advice.select_for_update().filter(is_open=True).first()
        if open_one is not None and open_one.state == AdviceState.APPLIED:
            return
        if open_one is not None and open_one.layout == str(judged.layout):
            Advice.objects.filter(pk=open_one.pk).update(**fields)
            return
        _outdate(table, now=now)
        Advice.objects.create(table=table, layout=str(judged.layout), made_at=now, **fields)


_KEPT = (
    *("partition", "n_files_now", "n_files", "n_rows", "n_files_tried", "now", "options"),
    *("left_out", "shapes", "served"),
)
