"""The page of a run names who caused it, links what it is about, and says each line once."""

import csv
from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from lifecycle.models import TableFinding
from optimizer.core.domain.tasks import TaskState
from portal.connectors.lake_config import LakeConfig
from portal.runs.models import Run
from portal.runs.records.logs import Line, line_of_job
from portal.spark.job import JobContext
from portal.ui.run_steps import read_causes
from tests.component.conftest import People
from tests.component.lifecycle.scanned import scan
from tests.component.optimizer.optimizer_rows import iceberg, task

pytestmark = pytest.mark.django_db


def text_of(people: People, run: Run) -> str:
    client = Client()
    client.force_login(people.admin)
    return client.get(f"/runs/{run.pk}/").content.decode()


def a_run(now: datetime, **fields: Any) -> Run:
    values = {"lake": "main", "kind": "optimizer.optimize", "state": "DONE", "queued_at": now}
    return Run.objects.create(**{**values, "requested_by": "schedule", **fields})


def test_a_run_of_the_schedule_names_the_people_who_requested_its_tasks(
    lake: LakeConfig, people: People, now: datetime
) -> None:
    run = a_run(now)
    task(
        iceberg(now=now),
        now=now,
        requested_by="otto",
        run=run.pk,
        state=TaskState.DONE,
        is_open=False,
    )
    assert "schedule, for otto" in text_of(people, run)
    client = Client()
    client.force_login(people.admin)
    assert "schedule, for otto" in client.get("/runs/").content.decode()
    lines = b"".join(client.get("/runs/?format=csv")).decode().splitlines()
    (line,) = csv.DictReader(lines)
    assert (line["requested_by"], line["causes"]) == ("schedule", "otto")
    for address in ("/api/v1/runs/", f"/api/v1/runs/{run.pk}/"):
        told = client.get(address).json()
        one = told["results"][0] if "results" in told else told
        assert (one["requested_by"], one["causes"]) == ("schedule", ["otto"])


def test_the_list_asks_once_for_the_people_of_all_its_runs(
    lake: LakeConfig,
    people: People,
    now: datetime,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    runs = [a_run(now) for _ in range(3)]
    table = iceberg(now=now)
    for run, name in zip(runs, ("otto", "anna", "otto"), strict=True):
        for _ in range(2):
            task(table, now=now, requested_by=name, run=run.pk, state=TaskState.DONE, is_open=None)
    with django_assert_num_queries(1):
        read_causes(runs)
    assert [vars(run)["causes"] for run in runs] == [["otto"], ["anna"], ["otto"]]


def test_what_a_run_is_about_is_a_link(lake: LakeConfig, people: People, now: datetime) -> None:
    plan = "341b96dc-0000-4000-8000-000000000000"
    about_plan = a_run(now, subject_type="drop_plan", subject_id=plan)
    about_table = a_run(now, subject_type="table", subject_id="sales.orders")
    assert f'<a href="/lifecycle/plans/{plan}/?lake=main">Drop plan 341b96dc</a>' in text_of(
        people, about_plan
    )
    assert 'href="/tables/sales/orders/lifecycle/?lake=main">sales.orders</a>' in text_of(
        people, about_table
    )
    for subject_type, name in (("drop_plan", "no uuid"), ("table", "sales."), ("database", "")):
        strange = a_run(now, subject_type=subject_type, subject_id=name)
        text = text_of(people, strange)
        assert f"<code>{name}</code>" in text if name else "<code></code>" not in text


def test_the_names_of_results_are_words(lake: LakeConfig, people: People, now: datetime) -> None:
    run = a_run(now, result={"n_batches": 3, "longest_seconds": 2})
    text = text_of(people, run)
    assert "<dt>Batches</dt><dd>3</dd>" in text
    assert "<dt>Longest seconds</dt>" in text


def test_a_line_of_a_job_keeps_its_own_time() -> None:
    at = datetime(2026, 11, 24, 14, 0, 1, tzinfo=UTC)
    assert line_of_job("2026-11-24T14:00:01+00:00 read 3 tables") == Line(
        "info", "read 3 tables", at
    )
    assert line_of_job("no time here") == Line("info", "no time here")


def test_progress_is_not_repeated_by_the_manifests_log(capsys: pytest.CaptureFixture[str]) -> None:
    class Spool:
        def write_progress(self, step: Any) -> None: ...

    job = JobContext("r", 1, None, {}, datetime.now(UTC), Spool(), None)  # type: ignore[arg-type]  # neither is used here
    job.progress("read", 1, 3, "sales")
    job.log("one directory could not be read")
    assert [line.split(" ", 1)[1] for line in job.log_lines] == ["one directory could not be read"]
    assert "read 1/3 sales" in capsys.readouterr().out


def test_a_class_that_was_not_measured_has_no_size_of_0(
    lake: LakeConfig, people: People, now: datetime
) -> None:
    picture = scan(lake, now=now)
    client = Client()
    client.force_login(people.admin)
    row = TableFinding.objects.get(generation=picture, db="sales", table="orders")
    row.class_bytes.pop("NOT_NOW")
    row.save()
    text = client.get("/tables/sales/orders/lifecycle/").content.decode()
    assert "not measured" in text
    assert "0 B" not in text
