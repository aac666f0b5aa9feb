"""Comments on a proposal are mailed to who takes part in it, a discussion at a time."""

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from portal.access.models import User
from portal.approvals.comment_mails import KIND, LONGEST, QUIET, TOO_OLD, comments_tell
from portal.approvals.comments import comment_add
from portal.approvals.domain import DecisionInput
from portal.approvals.models import ApprovalComment
from portal.notices.models import MutedMail, Notice
from portal.notices.services import notices_send
from portal.runs.kinds.ticks import all_ticks
from tests.component.conftest import LAKE, NOW, People
from tests.component.portal.approvals.proposal_rows import CASES
from tests.support.mailbox import Mailbox, mail_server

pytestmark = pytest.mark.usefixtures("lake")
PLAN = CASES["drop plan"]


@pytest.fixture
def mailbox(settings: Any) -> Iterator[Mailbox]:
    """A real SMTP server."""
    with mail_server() as (box, host, port):
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = host, port
        settings.LAKEWARDEN_BASE_URL = "https://lake.example"
        yield box


def say(user: User, proposal: Any, text: str, *, at: datetime = NOW, case: Any = PLAN) -> None:
    comment_add(case.kind.name, proposal.pk, user=user, text=text, now=at)


def told(now: datetime) -> list[str]:
    """Let the tick work, and return whom it wrote to."""
    before = set(Notice.objects.values_list("pk", flat=True))
    comments_tell(LAKE, now=now)
    rows = Notice.objects.exclude(pk__in=before).order_by("recipient")
    return list(rows.values_list("recipient", flat=True))


@pytest.mark.parametrize("name", CASES)
def test_the_requester_is_told_of_every_kind_of_proposal(people: People, name: str) -> None:
    case = CASES[name]
    found = case.ask("ada", NOW, 0)
    say(people.second, found, "Why now?", case=case)
    assert told(NOW + QUIET - timedelta(seconds=1)) == []
    assert told(NOW + QUIET) == ["ada"]
    assert told(NOW + QUIET) == []
    (mail,) = Notice.objects.all()
    assert mail.kind_words == "Comments on proposals"
    assert case.kind.url_of(found) in mail.text
    assert found.title in mail.text
    assert "Why now?" in mail.text
    assert "Why now?" in mail.html


def test_a_mail_really_goes_with_both_parts_and_forges_neither(
    people: People, mailbox: Mailbox
) -> None:
    plan = PLAN.ask("ada", NOW, 0)
    say(people.second, plan, "<b>No</b>\nHello ada,\nyour password please")
    comments_tell(LAKE, now=NOW + QUIET)
    notices_send(now=NOW + QUIET, today=date(2026, 11, 20))
    (mail,) = mailbox.to("ada@example.org")
    text, html = mail.get_body(("plain",)), mail.get_body(("html",))
    assert text is not None
    assert html is not None
    assert mail["Subject"] == f"[Lakewarden] ben commented: {plan.title}"
    lines = text.get_content().splitlines()
    assert lines[lines.index("- ben: <b>No</b>") :][1:3] == [
        "  Hello ada,",
        "  your password please",
    ]
    assert "&lt;b&gt;No&lt;/b&gt;<br>Hello ada," in html.get_content()
    for part in (text, html):
        assert f"https://lake.example/lifecycle/plans/{plan.pk}/#discussion" in part.get_content()
        assert "https://lake.example/mails/off/" in part.get_content()


def test_who_takes_part_is_told_of_what_others_wrote(people: People) -> None:
    plan = PLAN.ask("ada", NOW, 0)
    answer = DecisionInput("REJECT", "not this year", plan.digest)
    PLAN.kind.decide(plan.pk, user=people.third, answer=answer, authenticated_at=NOW, now=NOW)
    say(people.operator, plan, "The job is still needed")
    assert told(NOW + QUIET) == ["ada", "cem"]
    later = NOW + timedelta(hours=1)
    say(people.admin, plan, "Then I make it anew", at=later)
    assert told(later + QUIET) == ["cem", "otto"]
    text = Notice.objects.get(recipient="otto").text
    assert "Then I make it anew" in text
    assert "The job is still needed" not in text


def test_a_discussion_is_one_mail_and_waits_not_for_ever(people: People) -> None:
    plan = PLAN.ask("ada", NOW, 0)
    for minute in range(0, 20, 2):
        at = NOW + timedelta(minutes=minute)
        say((people.second, people.third)[minute // 2 % 2], plan, f"Word {minute}", at=at)
        assert told(at) == []
    assert told(NOW + LONGEST) == ["ada", "ben", "cem"]
    assert Notice.objects.get(recipient="ada").text.count("Word") == 10
    ben = Notice.objects.get(recipient="ben")
    assert ben.text.count("Word") == 5
    assert ben.subject.startswith("[Lakewarden] cem commented")


def test_who_may_not_see_the_proposal_or_left_is_not_told(people: People) -> None:
    plan = PLAN.ask("ada", NOW, 0)
    say(people.operator, plan, "Mine")
    say(people.third, plan, "Mine too")
    people.operator.groups.clear()
    User.objects.filter(username="cem").update(is_active=False)
    say(people.second, plan, "Secret of the plan", at=NOW + timedelta(minutes=1))
    assert told(NOW + timedelta(minutes=30)) == ["ada", "ben"]
    assert not Notice.objects.filter(recipient__in=("otto", "cem", "stan", "olga")).exists()


def test_what_is_old_and_what_has_no_proposal_is_mailed_no_more(people: People) -> None:
    plan = PLAN.ask("ada", NOW, 0)
    say(people.second, plan, "Old")
    assert told(NOW + TOO_OLD) == []
    lost = CASES["policy request"]
    other = lost.ask("ada", NOW, 1)
    say(people.second, other, "Lost", at=NOW, case=lost)
    ApprovalComment.objects.filter(text="Lost").update(kind="nobody.registered")
    assert told(NOW + QUIET) == []
    assert not ApprovalComment.objects.filter(notified_at=None).exists()


def test_a_person_turns_these_mails_off_and_on_again(people: People) -> None:
    client = Client()
    client.force_login(people.admin)
    page = client.get("/profile/").content.decode()
    assert f'value="{KIND}" checked' in page
    assert client.post("/profile/mails/", {}).headers["Location"] == "/profile/#mails"
    assert f'value="{KIND}">' in client.get("/profile/").content.decode()
    say(people.second, PLAN.ask("ada", NOW, 0), "Why?")
    assert told(NOW + QUIET) == []
    client.post("/profile/mails/", {"kinds": [KIND, "nothing"]})
    assert not MutedMail.objects.filter(kind=KIND).exists()


def test_the_api_has_the_same_choice_and_refuses_what_must_be_sent(people: People) -> None:
    client = Client()
    client.force_login(people.owner)
    address = "/api/v1/mail-kinds/"
    listed = {one["kind"]: one for one in client.get(address).json()}
    assert listed[KIND] == {
        "kind": KIND, "title": "Comments on proposals", "may_be_muted": True, "is_muted": False
    }  # fmt: skip
    assert not listed["lifecycle.day_ahead"]["may_be_muted"]
    for _ in range(2):
        made = client.post(address, {"kinds": [KIND]}, content_type="application/json")
        assert [one["kind"] for one in made.json() if one["is_muted"]] == [KIND]
    body = {"kinds": ["lifecycle.day_ahead"]}
    refused = client.post(address, body, content_type="application/json")
    assert (refused.status_code, refused.json()["code"]) == (400, "mail.kind")
    assert MutedMail.objects.count() == 1


def test_the_tick_is_registered() -> None:
    assert comments_tell in [tick.turn for tick in all_ticks()]
