"""Rows against rules: asked for in bounds, kept where a rule fails, shown to who owns the data."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from django.test import Client
from django.urls import reverse

from portal.audit.models import AuditEvent
from portal.lake.errors import NotVisible
from portal.runs.models import Run
from portal.runs.records.spools import open_spool
from quality.checks.domain.messages import Sample, Samples, read_request
from quality.checks.services import samples as service
from quality.checks.services.requests import check_request, request_of
from quality.checks.services.samples import MOST_METRICS, sample_read, samples_take, samples_trim
from quality.models import CheckSet, RuleResult, RuleSample
from tests.component.conftest import People
from tests.component.quality.checks.checked import DOCUMENT, WINDOW, declare, measure
from tests.component.quality.flag_lake import FlagLake

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 21, 2, 0, tzinfo=UTC)
KEY = "null_count(id)"
OFF = DOCUMENT.replace("rules:", "samples: off\nrules:")


def found(row: CheckSet, run: Run, at: datetime, n_null: int = 2) -> int:
    """Take in a measurement with rows against it, as the program writes them."""
    measure(row, run, at, 9, n_null)
    spool = open_spool(Run.objects.get(pk=run.pk))
    place = spool.results.child("samples")
    spool.fs.make_directories(place, mode=0o700)
    against = Sample(WINDOW, KEY, ("id", "note"), ((None, "secret of ada"),))
    other = Sample(WINDOW, "row_count", ("id",), (("1",),))
    spool.fs.replace(
        place.child(f"{row.pk}.json"), msgspec.json.encode(Samples(row.pk, (against, other)))
    )
    return samples_take(Run.objects.get(pk=run.pk))


@pytest.fixture
def sampled(hive: FlagLake, people: People) -> CheckSet:
    row = declare(people.owner, NOW)
    assert found(row, check_request(row, by="olga", now=NOW), NOW) == 1
    return CheckSet.objects.get()


def failing() -> RuleResult:
    return RuleResult.objects.get(rule="no_nulls")


def test_rows_are_asked_for_of_row_rules_alone_and_of_few(hive: FlagLake, people: People) -> None:
    hive.names["notes"] = [f"dt={WINDOW}"]
    row = declare(people.owner, NOW)
    run = check_request(row, by="olga", now=NOW)
    (task,) = read_request(request_of(run)).tasks
    assert (task.sample, task.most_samples) == ((KEY,), 20)
    many = "\n".join(
        f"  - {{name: r{n}, metric: null_rate, column: c{n}, max: 0, severity: note}}"
        for n in range(30)
    )
    row = declare(people.owner, NOW, f"{DOCUMENT}{many}", version=0)
    keys = service.sampled_metrics(row)
    assert (len(keys), keys[0]) == (MOST_METRICS, KEY), "those that matter most come first"
    off = declare(people.owner, NOW, OFF, version=1)
    assert off.document["samples"] == "off"
    assert service.sampled_metrics(off) == ()


def test_only_rows_of_rules_that_failed_are_kept_and_the_last(sampled: CheckSet) -> None:
    kept = RuleSample.objects.get()
    assert (kept.metric, kept.rows) == (KEY, [[None, "secret of ada"]])
    run = check_request(sampled, windows=[WINDOW], by="olga", now=NOW)
    assert found(sampled, run, NOW - timedelta(hours=1)) == 0, "an older one comes too late"
    assert RuleSample.objects.count() == 1
    assert found(sampled, run, NOW + timedelta(hours=1), n_null=0) == 0
    assert not RuleSample.objects.exists(), "the rule passed"


def test_rows_of_a_run_that_was_killed_before_its_result_are_left(sampled: CheckSet) -> None:
    run = Run.objects.get()
    spool = open_spool(run)
    measured = spool.results.child("measured", f"{sampled.pk}.json")
    spool.fs.remove_file(measured)
    assert samples_take(run) == 0
    assert RuleSample.objects.count() == 1


def test_owners_and_admins_see_rows_and_nobody_else(sampled: CheckSet, people: People) -> None:
    result = failing()
    address = reverse("readiness:check-samples", args=[result.pk])
    api = reverse("readiness-api:check-samples", args=[result.pk])
    page = reverse("readiness:check-result", args=[result.pk])
    may = {people.owner: True, people.admin: True, people.operator: False, people.stranger: False}
    for user, sees in may.items():
        client = Client()
        client.force_login(user)
        text = client.get(page).content.decode()
        assert (address in text) is sees, user.username
        assert "secret of ada" not in text
        for url in (address, api):
            answer = client.get(url)
            assert answer.status_code == (200 if sees else 404), (user.username, url)
            assert ("secret of ada" in answer.content.decode()) is sees
    read = AuditEvent.objects.filter(action="checks.samples_read").values_list("actor", flat=True)
    assert sorted(read) == ["ada", "ada", "olga", "olga"]
    assert "secret" not in str(list(AuditEvent.objects.values_list("data", flat=True)))


def test_rows_of_another_measurement_are_not_shown(sampled: CheckSet, people: People) -> None:
    RuleResult.objects.update(judged_at=NOW + timedelta(hours=1))
    with pytest.raises(NotVisible):
        sample_read(failing(), user=people.admin, now=NOW)


def test_rows_go_when_samples_are_turned_off(sampled: CheckSet, people: People) -> None:
    declare(people.owner, NOW, OFF, version=0)
    assert not RuleSample.objects.exists()
    run = check_request(sampled, windows=[WINDOW], by="olga", now=NOW)
    assert found(CheckSet.objects.get(), run, NOW + timedelta(hours=1)) == 0


def test_rows_go_after_some_days_and_where_the_lake_keeps_none(
    sampled: CheckSet, people: People, settings: Any
) -> None:
    assert samples_trim("main", now=NOW + timedelta(days=14)) == 0
    place = Path(settings.LAKEWARDEN_LAKES)
    whole = place.read_text()
    none = json.loads(whole)
    none["main"]["check_samples"] = False
    place.write_text(json.dumps(none))
    assert service.sampled_metrics(sampled) == ()
    with pytest.raises(NotVisible):
        sample_read(failing(), user=people.admin, now=NOW)
    assert samples_trim("main", now=NOW) == 1
    place.write_text(whole)
    settings.LAKEWARDEN_CHECK_SAMPLE_DAYS = 0
    assert service.sampled_metrics(sampled) == ()
    settings.LAKEWARDEN_CHECK_SAMPLE_DAYS = 2
    found(sampled, check_request(sampled, windows=[WINDOW], by="x", now=NOW), NOW)
    assert samples_trim("main", now=NOW + timedelta(days=2)) == 0
    assert samples_trim("main", now=NOW + timedelta(days=2, seconds=1)) == 1


def test_rows_go_when_the_table_has_another_owner(
    sampled: CheckSet, hive: FlagLake, people: People
) -> None:
    hive.names["notes"] = [f"dt={WINDOW}"]
    run = check_request(sampled, windows=[WINDOW], by="olga", now=NOW)
    request_of(run)
    assert RuleSample.objects.exists()
    hive.owner = people.stranger.username
    request_of(run)
    assert not RuleSample.objects.exists()


def test_a_former_owner_sees_no_rows(sampled: CheckSet, people: People) -> None:
    CheckSet.objects.update(owner="somebody")
    with pytest.raises(NotVisible):
        sample_read(failing(), user=people.owner, now=NOW)
