"""Advice of a day is played where time may be, and does nothing where nothing is due."""

from typing import Any

import pytest
from django.core.management import CommandError, call_command

from portal.runs.models import Run

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]


def test_it_is_refused_in_production(settings: Any) -> None:
    settings.LAKEWARDEN_ALLOW_PLAYED_TIME = False
    with pytest.raises(CommandError, match=r"day\.played"):
        call_command("advice_day")


def test_where_nothing_is_due_nothing_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("advice_day")
    assert capsys.readouterr().out == ""
    assert not Run.objects.exists()
