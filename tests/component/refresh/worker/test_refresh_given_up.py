"""Tables that an earlier version gave up for a login or a right are refreshed after the upgrade."""

from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.utils import timezone

from refresh.models import RefreshOutcome, RefreshTarget
from tests.component.refresh.refresh_rows import cluster
from tests.component.refresh.refresh_tables import statement, target, waiting

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]
_GIVEN_UP = "Access denied. It is not tried again by itself."


def test_what_was_given_up_for_a_login_or_a_right_is_tried_again() -> None:
    now, bi = timezone.now(), cluster()

    def given_up(table: str, code: int, **values: Any) -> RefreshTarget:
        row = target(bi, table, now=now, problem=_GIVEN_UP, **values)
        statement(row, began=now, ending=RefreshOutcome.FAILED, code=code)
        return row

    given_up("login", 1045)
    given_up("right", 5203)
    given_up("right_of_resource", 1142)
    given_up("wrong_statement", 1064)
    off = given_up("opted_out", 1045)
    off.watched.is_opted_out = True
    off.watched.save()
    mended = given_up("mended", 1045)
    statement(mended, began=now)
    waits = waiting(bi, "waits", now=now, problem=_GIVEN_UP)
    statement(waits, began=now, ending=RefreshOutcome.FAILED, code=1045)

    import_module("refresh.migrations.0012_retry_given_up").retry_given_up(apps, None)

    due = RefreshTarget.objects.filter(due_at__gte=now)
    assert set(due.values_list("table", flat=True)) == {"login", "right", "right_of_resource"}
    waits_since = waits.waits_since
    waits.refresh_from_db()
    assert waits.waits_since == waits_since, "its place in the queue stays"
