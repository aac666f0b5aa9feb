"""Days of an advice as the demo plays them, by real runs: found, tried, applied and measured."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from optimizer.advice.domain.filters import Filter, FilterKind
from optimizer.advice.domain.layout_advice import MEDIUM
from optimizer.advice.domain.scan_reports import Scanned
from optimizer.advice.domain.states import AdviceState, TrialState
from optimizer.discovery.services.poll import poll_request
from optimizer.iceberg.tables.services.scans import scan_report
from optimizer.models import Advice, IcebergTable, OptimizeTask, ScanShape
from optimizer.policies.services.policies import PolicyChange, policy_set
from portal.access.services import person_create
from portal.played import instant
from portal.runs.requests.services import run_drive
from stack.demo_advice import QUESTIONS_A_DAY
from stack.demo_days import Progress
from stack.lake.shipments import POLICY
from stack.lake.shipments_write import make_shipments
from stack.stack import LAKE, Stack
from tests.support.iceberg_lake import IcebergLake

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.spark]
BY_PRODUCT = (Filter("product_id", FilterKind.EQUAL),)
N_FILES, MIB = 24, 1024**2


@pytest.fixture
def progress(embedded_stack: Stack, settings: Any, tmp_path: Path) -> Progress:
    """The portal of this process on the stack's lake, and the days that are played."""
    settings.LAKEWARDEN_LAKES = embedded_stack.lakes_file
    settings.LAKEWARDEN_VAR = tmp_path
    settings.LAKEWARDEN_DEMO_PROGRESS = str(tmp_path / "played.json")
    return Progress(tmp_path / "played.json", n_days=9)


def scanned(table: IcebergTable, *, n_files: int) -> None:
    for _ in range(QUESTIONS_A_DAY):
        found = Scanned(BY_PRODUCT, n_files, N_FILES - n_files, n_files * MIB, "spark")
        scan_report(table, found, now=instant())


@pytest.mark.timeout(900, func_only=True)
def test_an_advice_is_found_tried_applied_and_measured_day_by_day(
    progress: Progress, iceberg_lake: IcebergLake
) -> None:
    name = f"lake.{iceberg_lake.db}.shipments"
    iceberg_lake.spark.sql(f"DROP TABLE IF EXISTS {name} PURGE")
    make_shipments(iceberg_lake.spark, name, now=timezone.now())
    ada = person_create("ada", password="a long password", email="a@example.org", roles=["admin"])
    progress.begin(2, days_ago=7)
    run_drive(poll_request(LAKE, by="test", now=timezone.now()).pk)
    table = IcebergTable.objects.get(db=iceberg_lake.db, table="shipments")
    IcebergTable.objects.exclude(pk=table.pk).update(is_deleted=True)
    change = PolicyChange(LAKE, f"{table}", {**POLICY}, 0, "people look for products")
    policy_set(change, user=ada, now=instant())

    scanned(table, n_files=N_FILES)
    progress.begin(3, days_ago=6)
    scanned(table, n_files=N_FILES)
    call_command("advice_day")
    advice = Advice.objects.get()
    assert (advice.state, advice.trial_state) == (AdviceState.APPLIED, TrialState.KEEP)
    assert advice.evidence["confidence"] == MEDIUM
    trial = advice.trials.get()
    assert trial.cleaned_at is not None
    told = [advice.made_at, trial.requested_at, trial.ended_at, advice.applied_at]
    at = [one for one in (*told, advice.measured_from) if one is not None]
    assert len(at) == 5
    assert at == sorted(at)
    assert all(timedelta(days=5) < timezone.now() - one < timedelta(days=7) for one in at)
    assert OptimizeTask.objects.get(table=table).layout == advice.proposed
    assert advice.measured is None

    progress.begin(4, days_ago=5)
    scanned(table, n_files=N_FILES // 4)
    call_command("advice_day")
    advice.refresh_from_db()
    assert advice.state == AdviceState.APPLIED
    assert advice.n_after == QUESTIONS_A_DAY
    assert advice.measured == pytest.approx(1 / 4)
    days = ScanShape.objects.filter(table=table).values_list("day", flat=True)
    today = timezone.now().date()
    assert {(today - day).days for day in days} == {7, 6, 5}
