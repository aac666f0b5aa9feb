"""A kind of mail is turned off by a mail's link: by a program at once, by a person on a page."""

import re
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from portal.access.models import User
from portal.approvals.comment_mails import KIND
from portal.audit.models import AuditEvent
from portal.notices.models import MutedMail, Notice
from portal.notices.muting_links import GOOD_FOR, MutingLink, muting_path, one_click_headers
from portal.notices.services import Mail, notice_queue, notices_send
from tests.component.conftest import LAKE, NOW, People
from tests.support.mailbox import Mailbox, mail_server

pytestmark = pytest.mark.usefixtures("lake")
BODY = "List-Unsubscribe=One-Click"
FORM = "application/x-www-form-urlencoded"


@pytest.fixture
def mailbox(settings: Any) -> Iterator[Mailbox]:
    """A real SMTP server."""
    with mail_server() as (box, host, port):
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = host, port
        settings.LAKEWARDEN_BASE_URL = "https://lake.example"
        yield box


def queued(kind: str = f"{KIND}.7", *, day: date | None = None, to: str = "ada") -> Notice:
    return notice_queue(
        kind,
        lake=LAKE,
        day=day or timezone.localdate(),
        recipient=to,
        email=f"{to}@example.org",
        mail=Mail("News", "Hello."),
        now=NOW,
    )


def one_click(notice: Notice) -> str:
    """Return the path of the link in a mail's headers."""
    url = one_click_headers(notice)["List-Unsubscribe"]
    return re.sub(r"^<https?://[^/]+(/.*)>$", r"\1", url)


def program() -> Client:
    """A mail program: no cookies, and the token of a form is asked of it where it must be."""
    return Client(enforce_csrf_checks=True)


def post(path: str, body: str = BODY) -> Any:
    return program().post(path, body, content_type=FORM)


def client(user: User) -> Client:
    signed_in = Client()
    signed_in.force_login(user)
    return signed_in


def muted() -> list[tuple[str, str]]:
    return list(MutedMail.objects.order_by("user__username").values_list("user__username", "kind"))


def test_a_mail_that_may_be_turned_off_says_how_in_its_headers(
    people: People, mailbox: Mailbox
) -> None:
    queued()
    queued("lifecycle.day_ahead")
    notices_send(now=NOW, today=date(2026, 11, 20))
    comment, must = sorted(mailbox.to("ada@example.org"), key=lambda m: "List-Unsubscribe" not in m)
    assert comment["List-Unsubscribe-Post"] == BODY
    assert comment["List-Unsubscribe"].strip().startswith("<https://lake.example/mails/one-click/")
    assert "List-Unsubscribe" not in must
    assert "List-Unsubscribe-Post" not in must
    # The address that really went out works.
    path = comment["List-Unsubscribe"].strip(" <>").removeprefix("https://lake.example")
    assert post("".join(path.split())).status_code == 200
    assert muted() == [("ada", KIND)]


def test_without_https_a_program_is_not_told_to_post(people: People, settings: Any) -> None:
    settings.LAKEWARDEN_BASE_URL = "http://lake.example"
    assert set(one_click_headers(queued())) == {"List-Unsubscribe"}


def test_a_program_turns_the_kind_off_once_and_it_is_recorded(people: People) -> None:
    path = one_click(queued())
    answer = post(path)
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "text/plain")
    assert answer.content.decode() == "'Comments on proposals' is turned off.\n"
    assert muted() == [("ada", KIND)]
    assert post(path).status_code == 200, "again it changes nothing"
    event = AuditEvent.objects.get(action="mail.muted")
    assert (event.actor, event.data["kind"]) == ("ada", KIND)


def test_a_link_that_is_replayed_after_the_kind_was_turned_on_again_says_so(people: People) -> None:
    path = one_click(queued())
    post(path)
    MutedMail.objects.all().delete()
    again = post(path)
    assert again.status_code == 409
    assert "turned on again since" in again.content.decode()
    assert muted() == []
    newer = one_click(queued(f"{KIND}.8"))
    assert post(newer).status_code == 200, "a newer mail has a link of its own"


def test_opening_the_programs_link_acts_on_nothing_and_leads_to_the_page(people: People) -> None:
    path = one_click(queued())
    answer = program().get(path)
    assert answer.status_code == 302
    page = answer.headers["Location"]
    assert page.startswith("/mails/off/")
    assert program().get(page).headers["Location"].startswith("/login/?next=/mails/off/")
    shown = client(people.admin).get(page).content.decode()
    assert "Turn off “Comments on proposals”" in shown
    assert muted() == []
    # HEAD, as scanners of mails send it, is refused.
    assert program().head(path).status_code == 405
    for body in ("", "List-Unsubscribe=Two-Clicks", "x=1"):
        refused = post(path, body)
        assert refused.status_code == 400
        assert "mail.one_click" in refused.content.decode()
    assert muted() == []


def test_the_person_turns_it_off_on_the_page_and_is_told_when_it_was_off(people: People) -> None:
    path = muting_path(MutingLink("ada", KIND, timezone.localdate()))
    ada = client(people.admin)
    assert "Turn off “Comments on proposals”" in ada.get(path).content.decode()
    assert muted() == []
    answer = ada.post(path)
    assert (answer.status_code, answer.headers["Location"]) == (302, "/profile/#mails")
    assert muted() == [("ada", KIND)]
    for again in (ada.get(path), ada.post(path)):
        assert "are turned off for you already" in again.content.decode()
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(people.admin)
    assert strict.post(path, BODY, content_type=FORM).status_code == 403, "no program's link"


def test_a_forwarded_link_does_nothing_for_another_person(people: People) -> None:
    path = muting_path(MutingLink("ada", KIND, timezone.localdate()))
    for answer in (client(people.second).get(path), client(people.second).post(path)):
        assert answer.status_code == 403
        assert "from a mail to ada; you are signed in as ben" in answer.content.decode()
    assert muted() == []


def test_an_expired_link_says_so(people: People) -> None:
    old = timezone.localdate() - GOOD_FOR - timedelta(days=2)
    page = client(people.admin).get(muting_path(MutingLink("ada", KIND, old)))
    for answer in (page, post(one_click(queued(day=old)))):
        assert answer.status_code == 400
        assert "was good until" in answer.content.decode()
    assert muted() == []


def test_what_must_be_sent_is_not_turned_off_by_a_link(people: People) -> None:
    path = muting_path(MutingLink("ada", "lifecycle.day_ahead", timezone.localdate()))
    answer = client(people.admin).post(path)
    assert answer.status_code == 400
    assert "cannot be turned off" in answer.content.decode()
    assert muted() == []


@pytest.mark.parametrize("broken", ["{}x", "x{}", "nonsense", "W10:abc", "%00", "é" * 50])
def test_a_forged_or_cut_link_turns_nothing_off(people: People, broken: str) -> None:
    person = muting_path(MutingLink("ada", KIND, timezone.localdate()))
    for path in (one_click(queued()), person):
        head, token = path.rstrip("/").rsplit("/", 1)
        forged = f"{head}/{broken.format(token)}/"
        assert client(people.admin).get(forged).status_code == 404
        # Without a session the person's page asks to sign in first, by the missing form token.
        assert post(forged).status_code in (403, 404)
    # One kind of link is not the other.
    token = one_click(queued()).rstrip("/").rsplit("/", 1)[1]
    assert client(people.admin).get(f"/mails/off/{token}/").status_code == 404
    assert muted() == []


def test_who_has_left_and_a_mail_that_is_gone_are_not_found(people: People) -> None:
    notice = queued()
    path = one_click(notice)
    User.objects.filter(username="ada").update(is_active=False)
    assert post(path).status_code == 404
    Notice.objects.filter(pk=notice.pk).delete()
    assert post(path).status_code == 404
    assert program().get(path).status_code == 404
