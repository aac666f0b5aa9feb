"""Admins and operators are mailed of a divergence once, once of its end, and of flaps in one."""

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from portal.access.models import User
from portal.notices.models import Notice, NoticeState
from refresh.freshness.domain.freshness import Freshness
from refresh.models import TargetFrontEnd, TargetProbe
from refresh.verify.services.divergence_mails import (
    AGREES,
    DIVERGED,
    FLAPS,
    divergences_tell,
    held_divergences_tell,
)
from tests.component.conftest import People
from tests.component.refresh.refresh_scene import Scene
from tests.component.refresh.verify.test_refresh_sweep import DAY, refresh_one, set_, states, swept

__all__ = ["set_"]  # a fixture
pytestmark = pytest.mark.django_db(transaction=True)
STAFF = ["ada", "ben", "cem", "otto"]


def told(kind: str) -> list[str]:
    rows = Notice.objects.filter(kind__startswith=f"{kind}.").order_by("queued_at", "recipient")
    return list(rows.values_list("recipient", flat=True))


def diverge(scene: Scene, *, size: int) -> None:
    """Let one front end see what the metastore said nothing of, and have it found."""
    scene.hive.put("sales", DAY, size=size)
    refresh_one(scene, 2, DAY)
    assert swept(scene).diverged == 1


def test_n13_keepers_are_told_once_a_divergence_and_once_when_it_is_over(
    set_: Scene, people: People
) -> None:
    assert told(DIVERGED) == []
    diverge(set_, size=260_000)
    assert told(DIVERGED) == STAFF
    mail = Notice.objects.filter(recipient="otto").get()
    assert mail.subject == (
        "[Lakewarden] Alarm: 3 front ends of bi may answer hive.shop.sales wrongly"
    )
    assert "different numbers of rows" in mail.text
    assert "different numbers of rows" in mail.html
    assert mail.kind_words == "Alarm: front end may answer wrongly"
    assert f"/cache/?lake=main&target={set_.target.pk}" in mail.text
    assert mail.state == NoticeState.QUEUED
    set_.work()
    # Refreshed, but no probe has agreed: found again, it is still the same divergence.
    assert states() == [Freshness.FRESH] * 3
    diverge(set_, size=300_000)
    TargetProbe.objects.update(repaired_at=timezone.now() - timedelta(hours=2))
    assert swept(set_).diverged == 1
    assert (told(DIVERGED), told(AGREES)) == (STAFF, [])
    set_.work()
    for _ in range(2):
        assert swept(set_).diverged == 0
        assert told(AGREES) == STAFF
    over = Notice.objects.filter(kind__startswith=AGREES, recipient="otto").get()
    assert (
        over.subject == "[Lakewarden] Resolved: 3 front ends of bi agree on hive.shop.sales again"
    )
    assert not TargetFrontEnd.objects.exclude(divergence_began_at=None).exists()
    TargetFrontEnd.objects.update(divergence_mailed_at=timezone.now() - timedelta(hours=1))
    diverge(set_, size=400_000)
    assert told(DIVERGED) == [*STAFF, *STAFF], "another divergence on the same day"


def flap(scene: Scene, *, is_diverged: bool, now: datetime) -> int:
    """Write what a probe does, and let it be told; returns how many mails were written."""
    state = Freshness.DIVERGED if is_diverged else Freshness.FRESH
    at = now if is_diverged else None
    reason = "12 rows instead of 10" if is_diverged else ""
    rows = TargetFrontEnd.objects.filter(target=scene.target)
    rows.update(freshness=state, diverged_at=at, divergence_reason=reason, probed_at=now)
    return divergences_tell(scene.target, now=now)


def test_a_front_end_that_flaps_is_written_of_once_an_interval_with_how_often(
    set_: Scene, people: People, settings: Any
) -> None:
    settings.LAKEWARDEN_DIVERGENCE_QUIET_MINUTES = 30
    one = TargetFrontEnd.objects.earliest("fe__name")
    TargetFrontEnd.objects.exclude(pk=one.pk).delete()
    start = timezone.now()
    written = []
    for n in range(8):
        written.append(flap(set_, is_diverged=n % 2 == 0, now=start + timedelta(minutes=n)))
        page = TargetFrontEnd.objects.get()
        assert page.freshness == (Freshness.DIVERGED if n % 2 == 0 else Freshness.FRESH)
    assert written == [len(STAFF), len(STAFF), 0, 0, 0, 0, 0, 0]
    assert held_divergences_tell(set_.row, now=start + timedelta(minutes=30)) == 0, "not due"
    # No probe comes any more: what was held back is still told.
    later = start + timedelta(minutes=31)
    assert held_divergences_tell(set_.row, now=later) == len(STAFF)
    assert held_divergences_tell(set_.row, now=later) == 0, "told"
    mail = Notice.objects.filter(kind__startswith=f"{FLAPS}.", recipient="otto").get()
    assert mail.subject == (
        "[Lakewarden] Alarm: 1 front end of bi diverges again and again on hive.shop.sales; "
        "agrees now"
    )
    assert "diverged 3 times since the mail of" in mail.text
    assert "agrees now" in mail.text
    assert mail.kind_words == "Alarm: front end diverges again and again"
    assert flap(set_, is_diverged=True, now=start + timedelta(minutes=40)) == 0
    assert flap(set_, is_diverged=True, now=start + timedelta(minutes=62)) == len(STAFF)
    assert told(DIVERGED) == [*STAFF, *STAFF], "it lasts: an alarm, late by the interval"


def test_who_left_or_has_no_address_is_not_written_to_and_a_name_stays_on_its_line(
    set_: Scene, people: People, tmp_path: Path, settings: Any
) -> None:
    settings.LAKEWARDEN_DIRECTORY = tmp_path / "directory.json"
    person = {"name": "Ada", "email": "ada.lives@example.org"}
    directory = {"people": {"ada": person}, "database_administrators": {}}
    settings.LAKEWARDEN_DIRECTORY.write_text(json.dumps(directory), encoding="utf-8")
    User.objects.filter(username="ben").update(is_active=False)
    User.objects.filter(username="cem").update(email="")
    TargetFrontEnd.objects.update(
        freshness=Freshness.DIVERGED, diverged_at=timezone.now(), divergence_reason="it\r\nBcc: all"
    )
    assert divergences_tell(set_.target, now=timezone.now()) == 2
    assert divergences_tell(set_.target, now=timezone.now()) == 0, "told already"
    mails = dict(Notice.objects.values_list("recipient", "email"))
    assert mails == {"ada": "ada.lives@example.org", "otto": "otto@example.org"}
    text = Notice.objects.get(recipient="otto").text
    assert ": it Bcc: all\n" in text
