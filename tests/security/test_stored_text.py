"""Tests text of people and tables: it remains text on every page and in every CSV."""

import csv
import io
import json
from typing import Any

import pytest

from lifecycle.backup.models import BackupBatch, Hold
from lifecycle.models import (
    DatabaseFinding,
    DeletionConsent,
    DeletionRequest,
    DropPlan,
    DryRunRecord,
    Enrollment,
    EnrollmentItem,
    PathException,
    PathFinding,
    PolicyRequest,
    PolicySnapshot,
    SamplePartition,
    StandingRule,
    TableFinding,
)
from optimizer.models import Advice, QueryGrouping, TopShape, TopShapeTable, Trial
from portal.audit.services import audit_record
from portal.people.models import ApiToken
from portal.runs.models import Run, RunEvent
from portal.safety.services import emergency_stop_start
from tests.component.lifecycle.plan_world import LAKE, NOW
from tests.security.grid import GRID
from tests.security.target import Target
from tests.security.test_access_grid import address

pytestmark = pytest.mark.django_db(transaction=True)

PAYLOADS = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(2)>',
    "' onmouseover='alert(3)",
    "</script><svg/onload=alert(4)>",
    "{{ 7|add:7 }}{% now 'Y' %}",
    "javascript:alert(5)",
)
LOUD = ("<script>alert(1)", "<img src=x", "' onmouseover='alert(3)", "<svg/onload")
FORMULA = "=cmd|' /C calc'!A0"


def _evidence(payload: str) -> dict[str, Any]:
    """Return what an advice stands on, where columns and partitions have such names."""
    scans = {"n_scans": 3, "n_files": 9, "n_bytes": 900}
    return {
        **{"reason": payload, "runner_up": payload, "confidence": "high", "partition": payload},
        **{"n_rows": 9, "n_files_tried": 9, "now": 1.0},
        "options": [{"layout": f"sort({payload})", "share": 0.2}],
        "shapes": [{"digest": "d", "filters": [[payload, "="]], **scans}],
        "left_out": [{"column": payload, "reason": payload}],
        "columns": [payload],
        **{"n_bytes": 9, "kept_a_day": 9, "digests": [], "estimate": {"n_files": 9}},
        "definition": {
            "name": payload,
            "joins": [{"alias": payload, "table": payload, "on": [[payload, payload]]}],
            "dimensions": [{"name": payload, "expression": payload, "type": payload}],
            "measures": [{"name": payload, "expression": payload, "functions": [payload]}],
        },
        "groupings": [
            {
                **{"dimensions": [payload], "measures": [payload], "joins": [], "tables": []},
                **{"shape": payload, "n_queries": 9, "n_bytes": 9, "seconds": 9.0, "n_days": 9},
            }
        ],
        "tried": [{"text": payload, "joins": [], "refused": payload}],
        "refused": [{"reason": payload, "n_queries": 9, "n_bytes": 9}],
        "indexes": [{"column": payload, "kind": payload, "refused": payload}],
    }


def poison(target: Target, payload: str) -> None:
    """Put the payload wherever somebody outside the portal may put text."""
    TableFinding.objects.update(owner=payload[:128], location=f"file:///{payload}")
    TopShape.objects.update(text=payload, engine=payload[:16])
    TopShapeTable.objects.update(db=payload, table=payload)
    Advice.objects.update(reason=payload, evidence=_evidence(payload))
    QueryGrouping.objects.update(
        dimensions=[payload], measures=[payload], refused=payload, shape=payload
    )
    for trial in Trial.objects.all():
        trial.reason = trial.outcome = trial.cleanup = payload
        trial.evidence["partitions"][0] |= {"partition": payload, "reason": payload}
        trial.evidence["shapes"][0] |= {"filters": [[payload, payload]]}
        trial.save()
    DatabaseFinding.objects.update(owner=payload[:128], location=f"file:///{payload}")
    SamplePartition.objects.update(partition=f"dt={payload}", location=payload, reason=payload)
    PathFinding.objects.create(
        generation=TableFinding.objects.get(db="sales", table="orders").generation,
        lake=LAKE,
        kind="TABLE",
        db="sales",
        table="orders",
        owner=payload[:128],
        location=payload,
        hint=payload,
        reasons=["OWNER_PATH_FAIL"],
        related=[payload],
    )
    error = {"code": "x.y", "message": payload, "fields": {"name": payload}}
    Run.objects.update(reason=payload, message=payload, error=error, subject_id=payload)
    run = Run.objects.get(pk=target.values["run_id"])
    RunEvent.objects.create(run=run, seq=9_000, at=NOW, level="error", text=payload)
    DropPlan.objects.update(reason=payload)
    Hold.objects.update(reason=payload)
    DeletionRequest.objects.update(reason=payload)
    StandingRule.objects.update(reason=payload)
    PolicyRequest.objects.update(reason=payload, note=payload, owner=payload[:128])
    Enrollment.objects.update(reason=payload, note=payload, selection={"db": payload})
    EnrollmentItem.objects.update(owner=payload[:128], note=payload)
    DeletionConsent.objects.update(reason=payload)
    PathException.objects.update(justification=payload, end_reason=payload)
    PolicySnapshot.objects.create(
        lake=LAKE, db="sales", table="orders", owner=payload[:128], problem=payload, seen_at=NOW
    )
    DryRunRecord.objects.create(lake=LAKE, db="sales", day=NOW.date(), examples=[payload])
    ApiToken.objects.update(name=payload[:80])
    BackupBatch.objects.update(first_partition=payload, last_partition=payload)
    audit_record(
        "x.y",
        actor="bert",
        lake=LAKE,
        object_type="table",
        object_id=payload[:300],
        data={"text": payload, payload: "key"},
        now=NOW,
    )
    emergency_stop_start(lake=LAKE, pressed_by="otto", reason=payload, now=NOW)


def readable() -> list[str]:
    return [name for name, row in GRID.items() if row.is_get and "admin" in row.reads]


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_page_lets_text_become_markup(target: Target, payload: str) -> None:
    poison(target, payload)
    client = target.client("admin")
    n_shown = 0
    for name in readable():
        answer = client.get(address(name, target), follow=True)
        if "html" not in answer.headers.get("Content-Type", ""):
            continue
        text = answer.content.decode()
        assert answer.status_code < 500, name
        assert not [loud for loud in LOUD if loud in text], name
        assert f'href="{payload}' not in text, name
        n_shown += "alert(" in text or "7|add:7" in text
    assert n_shown > 10, "the payload did not reach the pages, so nothing was tested"


def test_the_api_gives_text_as_json_and_nothing_else(target: Target) -> None:
    poison(target, PAYLOADS[0])
    client = target.client("admin")
    for name in readable():
        if "api" not in name or name in ("ui:api", "ui:api-explorer"):
            continue
        answer = client.get(address(name, target))
        assert answer.headers["Content-Type"].startswith("application/json"), name
        json.loads(answer.content)


def test_no_csv_cell_is_a_formula(target: Target) -> None:
    poison(target, FORMULA)
    client = target.client("admin")
    n_cells = 0
    for name in readable():
        path = address(name, target)
        answer = client.get(path + ("&" if "?" in path else "?") + "format=csv")
        if not answer.headers.get("Content-Type", "").startswith("text/csv"):
            continue
        body = answer.getvalue().decode()
        for row in csv.reader(io.StringIO(body)):
            for cell in row:
                assert not cell.startswith(("=", "+", "@", "\t", "\r")), (name, cell)
                n_cells += "cmd" in cell
    assert n_cells > 3, "the formula did not reach a file, so nothing was tested"
