"""What an address of the room of ready partitions can name: a table of alice's in sales."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from quality.models import (
    CheckSet,
    CheckTrial,
    ExpectedPartition,
    FreshnessRule,
    Incident,
    RuleResult,
    RuleSample,
)


def ready_values(now: datetime) -> Mapping[str, Any]:
    """Make a table with a time, a day that is late, and a check that failed; returns their ids."""
    rule = FreshnessRule.objects.create(
        lake="main",
        db="sales",
        table="orders",
        owner="alice",
        time_key="dt",
        time_format="yyyy-MM-dd",
        sla_minutes=60,
        set_by="alice",
        set_at=now,
        noted_until=now,
        look_at=now + timedelta(days=1),
    )
    ExpectedPartition.objects.create(
        rule=rule,
        lake="main",
        spec="dt=2026-11-01",
        start=now - timedelta(days=2),
        end=now - timedelta(days=1),
        due_at=now - timedelta(hours=23),
        reason="The metastore has no partition of it yet.",
    )
    checks = CheckSet.objects.create(
        lake="main",
        db="sales",
        table="orders",
        owner="alice",
        document={
            "table": "sales.orders",
            "rules": [{"metric": "row_count", "name": "enough", "min": 1, "severity": "block"}],
        },
        set_by="alice",
        set_at=now,
        next_at=now + timedelta(days=1),
    )
    result = RuleResult.objects.create(
        check_set=checks,
        rule="enough",
        severity="block",
        outcome="failed",
        text="row_count is 0, below the minimum of 1.",
        judged_at=now,
    )
    incident = Incident.objects.create(
        lake="main",
        db="sales",
        table="orders",
        owner="alice",
        check_set=checks,
        rule="enough",
        severity="block",
        state="OPEN",
        team="owner",
        assignee="alice",
        text=result.text,
        opened_at=now,
        failed_at=now,
        is_open=True,
    )
    RuleSample.objects.create(
        check_set=checks, metric="row_count", columns=["id"], rows=[["7"]], measured_at=now
    )
    trial = CheckTrial.objects.create(
        lake="main",
        db="sales",
        table="orders",
        owner="alice",
        document=checks.document,
        asked_by="alice",
        asked_at=now,
    )
    return {
        "ready_rule_id": rule.pk,
        "check_set_id": checks.pk,
        "check_result_id": result.pk,
        "quality_incident_id": incident.pk,
        "check_trial_id": trial.pk,
        "check_rule": "enough",
    }
