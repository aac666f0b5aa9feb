"""A database is moved on from a shell by the same rules as on the page."""

import pytest
from django.core.management import CommandError, call_command

from lifecycle.core.domain.modes import DatabaseMode
from lifecycle.inventory.selectors.findings import mode_of
from portal.audit.models import AuditEvent
from tests.component.conftest import People

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]


def move(mode: str, *, user: str = "ada", reason: str = "looked at") -> None:
    call_command("database_mode", mode, "sales", lake="main", user=user, reason=reason)


def test_a_jump_is_made_of_two_recorded_steps_and_twice_changes_nothing(people: People) -> None:
    assert mode_of("main", "sales") is DatabaseMode.OBSERVE
    move("ACT")
    move("ACT")
    assert mode_of("main", "sales") is DatabaseMode.ACT
    steps = AuditEvent.objects.filter(action="database.mode_changed").order_by("seq")
    assert [event.data["to"] for event in steps] == ["NOTIFY", "ACT"]
    move("OBSERVE")
    assert mode_of("main", "sales") is DatabaseMode.OBSERVE


def test_only_an_admin_with_a_reason_moves_a_database(people: People) -> None:
    for values in ({"user": "otto"}, {"user": "nobody"}, {"reason": " "}):
        with pytest.raises(CommandError):
            move("NOTIFY", **values)
    assert mode_of("main", "sales") is DatabaseMode.OBSERVE
