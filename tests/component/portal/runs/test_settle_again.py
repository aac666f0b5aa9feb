"""A run that ended with data in danger is settled again by command."""

import io
import uuid

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from portal.audit.models import AuditEvent
from portal.lake.errors import DataSafetyError
from portal.runs.domain import RunState
from portal.runs.kinds.registry import register
from portal.runs.models import Run
from tests.component.portal.runs.run_kinds import NotingKind

pytestmark = pytest.mark.django_db


@pytest.fixture
def kind() -> NotingKind:
    """A kind that is registered again for each test."""
    one = NotingKind()
    register(one)
    return one


def a_run(state: RunState) -> Run:
    return Run.objects.create(
        lake="main",
        kind=NotingKind.name,
        epoch=1,
        state=state,
        requested_by="dora",
        queued_at=timezone.now(),
        error={"code": "act.lost", "message": "Data is lost.", "fields": {}},
    )


def settle_again(run: object) -> str:
    out = io.StringIO()
    call_command("settle_run", str(run), "--by", "olga", stdout=out)
    return out.getvalue()


def test_a_final_run_is_settled_and_taken_in_and_keeps_its_state(kind: NotingKind) -> None:
    run = a_run(RunState.FAILED)
    kind.fail_in["settle"] = DataSafetyError("act.lost", "Data is lost.")
    with pytest.raises(CommandError, match="Data is lost"):
        settle_again(run.pk)
    assert kind.calls == ["settle"]
    kind.fail_in.clear()
    for _ in range(2):
        assert str(run.pk) in settle_again(run.pk)
    assert kind.calls == ["settle", *["settle", "ingest"] * 2]
    run.refresh_from_db()
    assert run.state == RunState.FAILED
    actors = AuditEvent.objects.filter(action="run.settled_again").values_list("actor", flat=True)
    assert list(actors) == ["olga", "olga"]


def test_a_run_that_has_not_ended_or_is_not_there_is_refused(kind: NotingKind) -> None:
    with pytest.raises(CommandError, match="settled by itself"):
        settle_again(a_run(RunState.SETTLING).pk)
    with pytest.raises(CommandError, match="There is no run"):
        settle_again(uuid.uuid4())
    with pytest.raises(CommandError, match="There is no run"):
        settle_again("nonsense")
    assert kind.calls == []
