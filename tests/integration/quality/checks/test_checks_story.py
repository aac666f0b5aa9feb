"""A real table fails a blocking rule, stays unready until two people override it, then is ready."""

import time
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pyspark.sql import SparkSession

from portal.access.services import person_create
from portal.connectors.metastore import Metastore
from portal.lake.names import TableName
from portal.lake.readiness import FLAG, is_ready
from portal.runs.domain import RunState
from portal.runs.requests.services import run_drive
from quality.checks.services.declaring import checks_set
from quality.checks.services.overrides import override_ask, override_confirm
from quality.checks.services.requests import check_request
from quality.freshness.domain.cadence import TimeFormat
from quality.freshness.services.declaring import Declared, rule_declare
from quality.freshness.services.inspection import look_at
from quality.models import ExpectedPartition, FreshnessRule, RuleResult
from stack.stack import LAKE, Stack
from tests.support.checked_tables import hive_table

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.spark]
DOCUMENT = """
table: {table}
partition_key: dt
rules:
  - {{name: enough, metric: row_count, min: 3, severity: block}}
  - {{name: no_nulls, metric: null_count, column: id, max: 0, severity: block}}
"""


def test_a_partition_that_fails_a_blocking_rule_waits_for_two_people(
    spark: SparkSession, embedded_stack: Stack, settings: Any
) -> None:
    settings.LAKEWARDEN_LAKES = embedded_stack.lakes_file
    settings.LAKEWARDEN_VAR = embedded_stack.var
    config = embedded_stack.config(LAKE)
    # The metastore notes by its own clock when a partition changed.
    now = timezone.now()
    first, second = (f"{now.astimezone(config.zone) - timedelta(days=n):%Y-%m-%d}" for n in (2, 1))
    began = now - timedelta(days=2)
    rows = [(first, n) for n in range(3)] + [(second, n) for n in range(2)]
    frame = spark.createDataFrame(rows, "dt string, id int")
    name = TableName(
        config.lake, "checked", hive_table(spark, config, frame, db="checked", key="dt")
    )
    ada, ben = (
        person_create(
            one, password="correct horse staple", email=f"{one}@example.org", roles=("admin",)
        )
        for one in ("ada", "ben")
    )
    what = Declared("dt", TimeFormat.DAY, delay_minutes=0)
    rule_declare(LAKE, str(name), what, version=None, user=ada, now=began)
    text = DOCUMENT.format(table=name)
    row = checks_set(LAKE, text, version=None, user=ada, now=began)
    with Metastore.connect(config) as metastore:
        names = metastore.partition_names(name)
        for struct in metastore.partitions_by_names(name, names):
            struct.parameters = {**(struct.parameters or {}), FLAG: "false"}
            metastore.alter_partitions(name, [struct])
        # It notes whole seconds; what is measured in the second of a change does not count.
        time.sleep(2)
        after = timezone.now()

        def look() -> dict[str, str]:
            look_at(FreshnessRule.objects.get(), metastore, now=after + timedelta(minutes=5))
            return {one.spec: one.standing for one in ExpectedPartition.objects.all()}

        assert set(look().values()) == {"UNREADY"}, "nothing was measured yet"
        run = run_drive(check_request(row, by="ada", now=after).pk)
        assert run.state == RunState.DONE, run.error
        failed = RuleResult.objects.exclude(outcome="passed").get()
        assert (failed.window, failed.rule, failed.value) == (second, "enough", 2)
        assert look() == {f"dt={first}": "READY", f"dt={second}": "UNREADY"}

        override_ask(failed, reason="a quiet day", user=ada, now=after)
        assert look()[f"dt={second}"] == "UNREADY", "one person is not enough"
        override_confirm(failed, user=ben, now=after)
        assert look() == {f"dt={first}": "READY", f"dt={second}": "READY"}
        flags = metastore.partitions_by_names(name, names)
        assert all(is_ready(one.parameters or {}) for one in flags)
