"""Tests that whoever rewrites or cuts the audit chain, with a right chain after it, is found."""

import io
import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.utils import timezone

from portal.audit.anchors import (
    Anchor,
    anchor_accept,
    anchor_take,
    anchored_at,
    anchors_verify,
    newest_anchor,
)
from portal.audit.models import GENESIS, AuditEvent, AuditHead, LastAnchor
from portal.audit.services import audit_record, audit_verify, event_hash
from portal.lake.errors import ExternalFailure, RuleViolation
from portal.notices.models import Notice
from tasks import anchoring
from tests.component.conftest import LAKE, NOW, People

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]
HOUR = timedelta(hours=1)


def note(n: int) -> None:
    for number in range(n):
        audit_record(
            "plan.approved",
            actor="ada",
            lake=LAKE,
            object_type="plan",
            object_id="p",
            data={"n": number},
            now=NOW,
        )


def rewrite(*, change: int | None = None, cut_after: int | None = None) -> None:
    """Do what somebody does who writes the database: change or cut, then hash all of it again."""
    rows = list(AuditEvent.objects.order_by("seq"))
    kept = [row for row in rows if cut_after is None or row.seq <= cut_after]
    before = GENESIS
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM audit_auditevent")
        for row in kept:
            row.actor = "eve" if row.seq == change else row.actor
            row.previous_hash, row.pk = before, None
            before = row.hash = event_hash(row)
        AuditEvent.objects.bulk_create(kept)
        cursor.execute("UPDATE audit_audithead SET seq=%s, hash=%s", (len(kept), before))
    assert audit_verify().problem == "", "the chain alone does not show it"


def verified(*arguments: str) -> str:
    out = io.StringIO()
    call_command("verify_audit", *arguments, stdout=out)
    return out.getvalue()


def test_a_chain_that_was_hashed_anew_does_not_fit_its_anchor() -> None:
    note(5)
    taken = anchor_take(now=NOW)
    assert taken is not None
    assert anchors_verify() == ""
    note(3)
    assert "8 events, whole" in verified()
    rewrite(change=2)
    with pytest.raises(CommandError, match="event 5 is not the one that was anchored"):
        verified()


def test_a_tail_that_was_cut_off_is_missed() -> None:
    note(5)
    anchor_take(now=NOW)
    rewrite(cut_after=3)
    with pytest.raises(CommandError, match=r"event 5, anchored at .*, is missing"):
        verified()
    note(4)
    with pytest.raises(CommandError, match="event 5 is not the one"):
        verified()


def test_a_broken_chain_is_anchored_only_by_a_person_with_a_reason(now: datetime) -> None:
    note(5)
    anchor_take(now=now)
    rewrite(cut_after=3)
    with pytest.raises(RuleViolation, match=r"audit record is broken: event 5"):
        anchor_take(now=now + HOUR)
    assert newest_anchor() == anchor_of(0)
    with pytest.raises(RuleViolation, match="Enter a reason"):
        anchor_accept(" ", now=now)
    call_command("anchor_audit", "--accept", "restored from Monday", stdout=io.StringIO())
    assert anchors_verify() == ""
    assert anchor_of(1).accepted == "restored from Monday"
    note(1)
    assert anchor_take(now=now + 2 * HOUR) is not None


def anchor_of(number: int) -> Anchor:
    """Return a line of the file."""
    lines = Path(django_settings.LAKEWARDEN_AUDIT_ANCHORS).read_text(encoding="utf-8").splitlines()
    return Anchor(**json.loads(lines[number]))


def test_what_was_changed_since_the_last_anchor_stops_the_next(now: datetime) -> None:
    note(2)
    anchor_take(now=now)
    note(3)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE audit_auditevent SET actor='eve' WHERE seq=4")
    with pytest.raises(RuleViolation, match="event 4 was changed"):
        anchor_take(now=now + HOUR)


def test_nothing_new_is_not_anchored_again_within_a_day(now: datetime) -> None:
    note(1)
    assert anchor_take(now=now) is not None
    assert anchor_take(now=now + HOUR) is None
    assert anchor_take(now=now + 24 * HOUR) is not None
    note(1)
    assert anchor_take(now=now + 25 * HOUR) is not None


@pytest.mark.parametrize("line", [0, 1, 2])
@pytest.mark.parametrize("how", ["hash", "at", "accepted", "drop"])
def test_anchors_that_were_changed_or_taken_out_are_found(
    settings: Any, now: datetime, line: int, how: str
) -> None:
    for hours in range(4):
        note(1)
        anchor_take(now=now + hours * HOUR)
    file = settings.LAKEWARDEN_AUDIT_ANCHORS
    lines = file.read_text(encoding="utf-8").splitlines()
    found = json.loads(lines.pop(line))
    if how != "drop":
        changed = {"hash": "f" * 64, "at": "2026-01-01T00:00:00+00:00", "accepted": "so what"}
        lines.insert(line, json.dumps(found | {how: changed[how]}))
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert f"line {line + 1} of the anchors was changed" in anchors_verify()


def test_the_key_is_needed_to_write_anchors_that_fit(settings: Any, now: datetime) -> None:
    note(3)
    anchor_take(now=now)
    rewrite(change=1)
    settings.LAKEWARDEN_AUDIT_ANCHORS.unlink()
    key = settings.LAKEWARDEN_AUDIT_KEY_FILE.read_bytes()
    settings.LAKEWARDEN_AUDIT_KEY_FILE.write_bytes(b"another key, of somebody else: 32 bytes")
    anchor_take(now=now)
    settings.LAKEWARDEN_AUDIT_KEY_FILE.write_bytes(key)
    assert "line 1 of the anchors was changed" in anchors_verify()


def test_a_mailed_head_shows_it_even_without_the_file(settings: Any, now: datetime) -> None:
    note(3)
    taken = anchor_take(now=now)
    assert taken is not None
    head = f"{taken.seq}:{taken.hash}"
    rewrite(change=1)
    settings.LAKEWARDEN_AUDIT_ANCHORS.unlink()
    assert "whole" in verified()
    with pytest.raises(CommandError, match="event 3 is not the one whose hash was mailed"):
        verified("--head", head)
    rewrite(cut_after=1)
    with pytest.raises(CommandError, match="event 3, a head that was mailed, is missing"):
        verified("--head", head)
    with pytest.raises(CommandError, match="is no head"):
        verified("--head", "x")


def test_files_are_private_and_a_lost_one_is_said(settings: Any, now: datetime) -> None:
    note(1)
    anchor_take(now=now)
    for file in (settings.LAKEWARDEN_AUDIT_ANCHORS, settings.LAKEWARDEN_AUDIT_KEY_FILE):
        assert file.stat().st_mode & 0o777 == 0o600
    settings.LAKEWARDEN_AUDIT_ANCHORS = Path("/proc/none/anchors")
    with pytest.raises(ExternalFailure):
        anchor_take(now=now)
    assert newest_anchor() is None
    with pytest.raises(CommandError, match="cannot be read"):
        verified()


def test_web_tells_the_age_although_files_are_of_another_account(settings: Any) -> None:
    gauge = "\nlakewarden_audit_anchor_age_seconds "
    assert gauge not in Client().get("/metrics").content.decode()
    note(1)
    anchor_take(now=timezone.now() - 3 * HOUR)
    # As the units have it: web's folder is another one, and it may not read that of workers.
    settings.LAKEWARDEN_AUDIT_ANCHORS = Path("/proc/none/anchors")
    settings.LAKEWARDEN_AUDIT_KEY_FILE = Path("/proc/none/key")
    said = Client().get("/metrics").content.decode().partition(gauge)[2].partition("\n")[0]
    assert float(said) == pytest.approx(3 * 3600, abs=120)


def test_a_time_of_the_last_anchor_that_was_put_into_the_database_counts_as_none(
    now: datetime,
) -> None:
    assert anchored_at() is None
    note(1)
    anchor_take(now=now)
    assert anchored_at() == now.replace(microsecond=0)
    row = LastAnchor.objects.get()
    for forged in (f"x{row.signed}", now.isoformat(), ""):
        LastAnchor.objects.update(signed=forged)
        assert anchored_at() is None


def test_the_time_is_kept_although_the_database_was_away_when_it_was_taken(now: datetime) -> None:
    note(1)
    anchor_take(now=now)
    LastAnchor.objects.all().delete()
    assert anchor_take(now=now + HOUR) is None
    assert anchored_at() == now.replace(microsecond=0)
    anchor_accept("restored from Monday", now=now + 2 * HOUR)
    assert anchored_at() == (now + 2 * HOUR).replace(microsecond=0)


def test_admins_get_the_head_once_a_day_and_a_break_at_once(people: People, now: datetime) -> None:
    note(2)
    for hours in range(3):
        anchoring.anchor(now + hours * HOUR)
    heads = Notice.objects.filter(kind="audit.head")
    assert sorted(heads.values_list("recipient", flat=True)) == ["ada", "ben", "cem"]
    head = AuditHead.objects.get()
    assert f"{head.seq}:{head.hash}" in heads.get(recipient="ada").text
    rewrite(change=1)
    anchoring.anchor(now + 4 * HOUR)
    anchoring.anchor(now + 5 * HOUR)
    broken = Notice.objects.filter(kind="audit.broken")
    assert broken.count() == 3
    assert "event 2 is not the one that was anchored" in broken.get(recipient="ben").text
