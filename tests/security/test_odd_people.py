"""Tests people without a usable address or name: others are notified, nothing is injected."""

import json
import re
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core import mail
from django.core.management import CommandError, call_command
from django.utils import timezone

from lifecycle.core.services.people import People
from lifecycle.models import DatabaseSetting, NoticeCoverage, TableFinding
from lifecycle.notices.services.week_ahead import week_ahead_queue
from portal.access.models import User
from portal.audit.services import audit_verify
from portal.lake.errors import RuleViolation
from portal.notices.models import Notice, NoticeState
from portal.notices.services import Mail, notice_queue, notice_retry, notices_send
from portal.people.deprovisioning import person_close
from tests.component.lifecycle.plan_world import LAKE, NOW, TODAY, World, make_world, partitions
from tests.security.corpora import MAIL_ADDRESSES, MAIL_HEADERS, PATHS, SHELL, SQL, TEXTS
from tests.security.odd_lake import too_long

pytestmark = pytest.mark.django_db(transaction=True)
GOOD = {"no dots"}
NO_NAME = ("name.grammar: ", "Error: ")  # the second is argparse's, of what looks like an option


@pytest.fixture
def world(tmp_path: Path, settings: Any) -> World:
    settings.LAKEWARDEN_LAKES = tmp_path / "lakes.json"
    settings.LAKEWARDEN_DIRECTORY = tmp_path / "directory.json"
    return make_world(tmp_path)


def told() -> set[str]:
    rows = Notice.objects.filter(kind="lifecycle.week_ahead")
    return set(rows.values_list("recipient", flat=True))


def test_an_owner_without_an_address_or_who_left_has_others_told(
    world: World, settings: Any
) -> None:
    generation = world.scan(partitions(1), announce=False)
    TableFinding.objects.update(window_due_last_on=TODAY, next_due_on=TODAY)
    for n, (name, email) in enumerate(MAIL_ADDRESSES.items()):
        NoticeCoverage.objects.all().delete()
        Notice.objects.all().delete()
        people = {f"p{n}": {"name": name, "email": email}}
        settings.LAKEWARDEN_DIRECTORY.write_text(json.dumps({"people": people}))
        TableFinding.objects.update(owner=f"p{n}", db_owner="eve")
        known = People.of(LAKE).addresses
        assert (f"p{n}" in known) is (name in GOOD), name
        week_ahead_queue(generation, now=NOW)
        assert told() == {"eve", "dora"} | ({f"p{n}"} if name in GOOD else set()), name
    settings.LAKEWARDEN_DIRECTORY.unlink()
    TableFinding.objects.update(owner="alice", db_owner="eve")
    for gone, others in (
        ("alice", {"eve", "dora"}),
        ("eve", {"dora"}),
        ("dora", {"anna", "bert", "carl"}),
    ):
        NoticeCoverage.objects.all().delete()
        Notice.objects.all().delete()
        person_close(gone, user=world.person("anna"), reason="left", now=NOW)
        week_ahead_queue(generation, now=NOW)
        assert told() == others, gone


def test_no_address_carries_a_second_reader_or_a_header(world: World) -> None:
    for n, (name, email) in enumerate(MAIL_ADDRESSES.items()):
        mail.outbox.clear()
        notice = notice_queue(
            f"k{n}", lake=LAKE, day=TODAY, recipient="x", email=email, mail=Mail("s", "t"), now=NOW
        )
        notices_send(now=timezone.now(), today=TODAY)
        assert [one.recipients() for one in mail.outbox] == ([[email]] if name in GOOD else [])
        if name in GOOD:
            continue
        assert (notice.state, notice.email) == (NoticeState.FAILED, ""), name
        assert notice.error.endswith((".", "directory.")), notice.error
        assert len(notice.error.splitlines()) == 1
        if email.strip() == "olga@example.org":
            continue
        with pytest.raises(RuleViolation):
            notice_retry(notice.pk, user=world.person("otto"), email=email or "x", now=NOW)
    for name, text in MAIL_HEADERS.items():
        said = Mail(text, text, f"<p>{name}</p>")
        who: dict[str, Any] = {"lake": LAKE, "day": TODAY, "recipient": "y"} | {
            "email": "y@example.org"
        }
        mail.outbox.clear()
        if set(text) & set("\r\n"):
            with pytest.raises(RuleViolation):
                notice_queue(f"s {name}", **who, mail=said, now=NOW)
            said = Mail("s", text, f"<p>{name}</p>")
        notice_queue(f"t {name}", **who, mail=said, now=NOW)
        notices_send(now=timezone.now(), today=TODAY)
        (sent,) = mail.outbox
        lines = sent.message().as_bytes().split(b"\n\n", 1)[0].split(b"\n")
        assert not [line for line in lines if line.lower().startswith((b"bcc", b"cc"))], name
        assert max(map(len, lines)) <= 998, "a header's line is at most so long"


def refused(command: str, *args: str, **options: Any) -> str:
    with pytest.raises(CommandError) as caught:
        call_command(command, *args, stdout=StringIO(), **options)
    return str(caught.value)


def test_a_command_refuses_odd_names_in_words_and_stores_nothing(
    world: World, tmp_path: Path
) -> None:
    known = {"user": "anna", "reason": "because"}
    n_people = User.objects.count()
    for name, text in {**SQL, **SHELL, **PATHS, **MAIL_HEADERS}.items():
        said = refused("database_mode", text, "NOTIFY", **known)
        assert said.startswith(NO_NAME), name
        assert refused("path_template", "/user/{owner}", text, **known).startswith(NO_NAME)
        nobody = known | {"user": text}
        said = refused("database_mode", "sales", "NOTIFY", **nobody)
        assert said.startswith(("There is no user", "Error: ")), name
        file = tmp_path / "people.json"
        row = {"username": text, "password": "a long enough password", "email": "x@example.org"}
        file.write_text(json.dumps([row]))
        if not re.fullmatch(r"[\w.@+-]{1,150}", text):
            assert "cannot be made" in refused("create_people", file=file), name
        refused("daily_cycle", now=text)
        assert "governed" in refused("daily_cycle", now="2026-11-22", lake=text)
    for name, email in MAIL_ADDRESSES.items():
        if email and name not in GOOD:
            file.write_text(json.dumps([row | {"username": "zoe", "email": email}]))
            assert "email" in refused("create_people", file=file), name
    for text in (*PATHS.values(), *(one for one in TEXTS.values() if "{" in one)):
        if not text.startswith("/") and ":" not in text:
            assert refused("path_template", text, "sales", **known).partition(":")[0] in {
                *("path.relative", "path.dotdot", "path.control", "template.placeholder"),
            }
    assert User.objects.count() == n_people
    assert list(DatabaseSetting.objects.values_list("db", "mode", "template")) == [
        ("sales", "ACT", DatabaseSetting().template)
    ]
    assert too_long() == []
    assert audit_verify().problem == ""
