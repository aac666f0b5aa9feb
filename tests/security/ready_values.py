"""What an address of the room of ready partitions can name: a table of alice's in sales."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from quality.models import ExpectedPartition, FreshnessRule


def ready_values(now: datetime) -> Mapping[str, Any]:
    """Make a table with a time and one day that is late; returns its id."""
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
    return {"ready_rule_id": rule.pk}
