"""Takes in what a run found: new advice, the same again, or why there is none."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from optimizer.advice.domain.index_advice import (
    IndexOption,
    IndexProposal,
    decide_indexes,
    filtered_scans,
)
from optimizer.advice.domain.layout_advice import (
    NoProposal,
    Option,
    Proposal,
    Traffic,
    confidence,
    decide_layout,
)
from optimizer.advice.domain.stars.cube_advice import CubeProposal
from optimizer.advice.domain.subjects import Subject, text_of
from optimizer.advice.services.cube_findings import judged_cubes
from optimizer.advice.services.proposals import advice_outdate, advice_propose
from optimizer.iceberg.indexing.domain.wanted import parse_all_wanted
from optimizer.iceberg.rewrite.domain.layouts import parse_layout
from optimizer.models import IcebergTable
from portal.runs.models import Run

_KEPT = (
    *("partition", "n_files_now", "n_files", "n_rows", "n_files_tried", "now", "options"),
    *("left_out", "shapes", "served"),
)


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
        note = _Findings(table, order, found[table.pk], run, now).judged()
        table.advice_looked_at, table.advice_note = now, note
        table.save(update_fields=["advice_looked_at", "advice_note"])
        said.append({"table": str(table), "said": note})
    if found:
        manifest["result"] = {"tables": said}


@dataclass(frozen=True, slots=True)
class _Findings:
    """What was asked of one table, and what a run found."""

    table: IcebergTable
    order: Mapping[str, Any]
    found: Mapping[str, Any]
    run: Run
    now: datetime

    def judged(self) -> str:
        """Judge the layout, then the indexes and the cubes; return all in words."""
        if problem := self.found.get("problem"):
            return str(problem)
        layout = self._layout()
        if self._is_being_laid_out():
            # Rows in another order may make an index useless, so it is judged on them.
            self._outdate(Subject.INDEXES)
            indexes = ""
        else:
            indexes = self._indexes()
        return " ".join(one for one in (layout, indexes, self._cubes()) if one)

    def _layout(self) -> str:
        judged = decide_layout(
            self.found["now"],
            [Option(parse_layout(one["layout"]), one["share"]) for one in self.found["options"]],
            self._traffic,
            current=parse_layout(self.order["layout"]),
            rewrite_bytes=self.found["rewrite_bytes"],
            n_files=self.found["n_files"],
        )
        if isinstance(judged, NoProposal):
            self._outdate(Subject.LAYOUT)
            return judged.reason
        # Rows in an order that serves are better than none.
        advice_outdate(self.table, Subject.LAYOUT, gives_up=True, now=self.now)
        kept = {key: self.found.get(key, self.order.get(key)) for key in _KEPT}
        self._advise(
            Subject.LAYOUT,
            str(judged.layout),
            judged,
            evidence=kept,
            rewrite_bytes=self.found["rewrite_bytes"],
        )
        return f"{judged.layout} is advised. {judged.reason}"

    def _indexes(self) -> str:
        indexes = parse_all_wanted(self.order["indexes"])
        judged = decide_indexes(
            [IndexOption(**one) for one in self.found["indexes"]],
            filtered_scans(self.order["shapes"]),
            self._traffic,
            indexes=indexes,
        )
        if isinstance(judged, NoProposal):
            self._outdate(Subject.INDEXES)
            return judged.reason
        evidence = {
            "columns": judged.columns,
            "storage_bytes": judged.storage_bytes,
            "build_seconds": judged.build_seconds,
            "indexes": self.found["indexes"],
            "shapes": self.order["shapes"],
            "served": self.order["served"],
        }
        proposed = text_of([*map(str, indexes), *judged.columns])
        self._advise(Subject.INDEXES, proposed, judged, evidence=evidence, rewrite_bytes=0)
        what = "A file index is" if len(judged.columns) == 1 else "File indexes are"
        return f"{what} advised for {text_of(judged.columns)}. {judged.reason}"

    def _cubes(self) -> str:
        found = judged_cubes(self.table, self.order, self.found, now=self.now)
        if found is None or isinstance(found.judged, NoProposal):
            self._outdate(Subject.CUBE)
            return found.judged.reason if found is not None else ""
        self._advise(
            Subject.CUBE,
            found.proposed,
            found.judged,
            evidence=found.evidence or {},
            rewrite_bytes=0,
            traffic=found.traffic,
        )
        return f"The cube {found.proposed.partition(':')[0]} is advised. {found.judged.reason}"

    @property
    def _traffic(self) -> Traffic:
        n_days = max(1, self.order["n_days"])
        return Traffic(self.order["n_scans"], n_days, self.order["n_bytes"] // n_days)

    def _is_being_laid_out(self) -> bool:
        """Whether a layout is advised, or applied and no rewrite has ended since."""
        layouts = self.table.advice.filter(is_open=True, subject=Subject.LAYOUT, gives_up=False)
        return layouts.filter(measured_from=None).exists()

    def _outdate(self, subject: Subject) -> None:
        advice_outdate(self.table, subject, now=self.now)

    def _advise(
        self,
        subject: Subject,
        proposed: str,
        judged: Proposal | IndexProposal | CubeProposal,
        *,
        evidence: Mapping[str, Any],
        rewrite_bytes: int,
        traffic: Traffic | None = None,
    ) -> None:
        traffic = traffic or self._traffic
        fields = {
            "expected": judged.expected,
            "bytes_a_day": traffic.bytes_a_day,
            "rewrite_bytes": rewrite_bytes,
            "n_scans": traffic.n_scans,
            "n_days": traffic.n_days,
            "evidence": {
                "reason": judged.reason,
                "runner_up": judged.runner_up,
                "confidence": confidence(traffic),
                **evidence,
            },
            "run": self.run.pk,
        }
        advice_propose(self.table, subject, proposed, fields, now=self.now)
