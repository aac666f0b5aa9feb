"""On a real metastore: rules read what it holds of partitions, set flags, and leave the rest."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from portal.access.services import person_create
from portal.lake.readiness import FLAG
from quality.freshness.domain.cadence import TimeFormat
from quality.freshness.services.declaring import Declared, rule_declare
from quality.freshness.services.inspection import look_at
from quality.models import ExpectedPartition, FreshnessRule
from stack.stack import LAKE, Stack
from tests.integration.lifecycle.backup.act_cases import make_lake
from tests.support.act_lake import ActLake

pytestmark = [pytest.mark.django_db, pytest.mark.rows("B3")]
DECLARED_AT = datetime(2026, 11, 20, 12, tzinfo=UTC)
HELD = {FLAG: "false", "numRows": "5", "numFiles": "2"}
DAYS = {
    "2026-11-20": HELD | {"numRows": "4"},
    "2026-11-21": HELD,
    "2026-11-22": {"numRows": "4"},
    "2026-11-23": HELD,
}


@pytest.fixture
def lake(embedded_stack: Stack, settings: Any) -> Iterator[ActLake]:
    settings.LAKEWARDEN_LAKES = str(embedded_stack.lakes_file)
    yield from make_lake(embedded_stack)


def test_a_rule_says_of_a_real_partition_that_it_is_ready_and_touches_no_other(
    lake: ActLake,
) -> None:
    name = lake.make_table("ruled", keys=("dt", "h"), values=[(day, "1") for day in DAYS])
    for struct in lake.metastore.partitions_by_names(name, lake.metastore.partition_names(name)):
        struct.parameters = {**struct.parameters, **DAYS[struct.values[0]]}
        lake.metastore.alter_partitions(name, [struct])
    before = lake.snapshot(name).items
    user = person_create(
        "ada", password="correct horse staple", email="ada@example.org", roles=("admin",)
    )
    what = Declared("dt", TimeFormat.DAY, sla_minutes=30, delay_minutes=60, min_rows=5, min_files=2)
    rule_declare(LAKE, str(name), what, version=None, user=user, now=DECLARED_AT)

    rule = FreshnessRule.objects.get()
    n_set = look_at(rule, lake.metastore, now=DECLARED_AT + timedelta(days=2, hours=13, minutes=1))
    assert n_set == 1
    stands = {row.spec: row for row in ExpectedPartition.objects.all()}
    assert [row.standing for row in stands.values()] == ["UNREADY", "READY", "READY"]
    assert "4 rows of at least 5" in stands["dt=2026-11-20"].reason
    assert stands["dt=2026-11-21"].ready_by == "rule"
    assert stands["dt=2026-11-22"].ready_by == "", "it has no flag, so it was ready as it came"
    assert (stands["dt=2026-11-22"].ready_at or timezone.now()) < timezone.now()

    after = lake.snapshot(name).items
    changed = {key: one for key, one in after.items() if one != before[key]}
    assert list(changed) == ["dt=2026-11-21/h=1"]
    (now,) = changed.values()
    assert now["parameters"].pop(FLAG) == "true"
    assert before["dt=2026-11-21/h=1"]["parameters"].pop(FLAG) == "false"
    assert now == before["dt=2026-11-21/h=1"], "all else of it stays, its DDL time too"
