"""`manage.py check_rules`: what it takes is what the page takes, and what is wrong is said."""

from datetime import UTC, datetime
from uuid import UUID

import pytest
from django.core.management import CommandError, call_command
from pytest_django.fixtures import Settings

from portal.runs.domain import RunState
from portal.runs.models import Run
from quality.checks.domain.messages import Measured, WindowValues
from quality.checks.services.results import results_take
from quality.management.commands import check_rules
from quality.models import CheckSet, RuleResult
from tests.component.conftest import People
from tests.component.quality.checks.checked import DOCUMENT, WINDOW, values, wrote
from tests.component.quality.flag_lake import FlagLake

pytestmark = pytest.mark.django_db
OLDER = "2026-11-20"


def test_rules_are_set_once_and_changed_by_another_document(hive: FlagLake, people: People) -> None:
    for _ in range(2):
        call_command("check_rules", DOCUMENT, "--user", "olga")
    row = CheckSet.objects.get()
    assert (str(row), row.owner, row.set_by, row.version) == ("shop.notes", "olga", "olga", 0)
    call_command("check_rules", DOCUMENT.replace("min: 5", "min: 6"), "--user", "olga")
    assert CheckSet.objects.get().version == 1
    assert not Run.objects.exists()


def test_past_windows_are_measured_to_the_end(
    hive: FlagLake, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The drive of a run, and the program that measures, have tests with Spark."""
    hive.names["notes"] = [f"dt={WINDOW}", f"dt={OLDER}", "dt=2026-11-19"]
    ended = RunState.DONE

    def drive(number: UUID) -> Run:
        run = Run.objects.get(pk=number)
        assert run.params["windows"] == [WINDOW, OLDER]
        windows = tuple(WindowValues(one, 4, values(4, 0)) for one in (WINDOW, OLDER))
        at = datetime(2026, 11, 22, tzinfo=UTC)
        wrote(run, Measured(CheckSet.objects.get().pk, "done", at, windows))
        results_take(run)
        run.state = ended
        run.save()
        return run

    monkeypatch.setattr(check_rules, "run_drive", drive)
    asked = ("check_rules", DOCUMENT, "--user", "olga", "--measure", "2")
    call_command(*asked)
    assert RuleResult.objects.filter(rule="enough", outcome="failed").count() == 2
    row = CheckSet.objects.get()
    assert row.next_at > row.set_at, "the schedule does not measure it again at once"
    ended = RunState.FAILED
    with pytest.raises(CommandError, match="ended as FAILED"):
        call_command(*asked)


def test_what_is_wrong_is_said(hive: FlagLake, people: People, settings: Settings) -> None:
    for user, document, said in (
        ("nobody", DOCUMENT, "no user nobody"),
        ("olga", "rules: [", "checks.document"),
        ("stan", DOCUMENT, "readiness.table"),
    ):
        with pytest.raises(CommandError, match=said):
            call_command("check_rules", document, "--user", user)
    settings.LAKEWARDEN_ALLOW_PLAYED_TIME = False
    with pytest.raises(CommandError, match="for demos"):
        call_command("check_rules", DOCUMENT, "--user", "olga", "--measure", "2")
    assert not CheckSet.objects.exists()
