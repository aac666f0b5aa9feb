"""The page of mails: what failed and why, who sees which, and the same over the API and as CSV."""

from datetime import date, datetime

import pytest
from django.test import Client
from django.urls import reverse

from portal.access.models import User
from portal.connectors.lake_config import LakeConfig
from portal.notices.models import Notice, NoticeState
from portal.notices.services import Mail, notice_queue
from tests.component.conftest import LAKE, People

pytestmark = pytest.mark.usefixtures("lake")
ERROR = "The mail server refused the address: 550 No such user"


def queued(kind: str, to: str, *, now: datetime, day: int = 20) -> Notice:
    return notice_queue(
        kind,
        lake=LAKE,
        day=date(2026, 11, day),
        recipient=to,
        email=f"{to}@example.org",
        mail=Mail(f"News for {to}", "Hello <b>you</b>."),
        now=now,
    )


@pytest.fixture
def mails(now: datetime, people: People) -> list[Notice]:
    rows = [
        queued("lifecycle.week_ahead", "olga", now=now),
        queued("lifecycle.day_ahead", "olga", now=now, day=21),
        queued("lifecycle.week_ahead", "dora", now=now),
    ]
    Notice.objects.filter(pk=rows[2].pk).update(state=NoticeState.FAILED, error=ERROR, attempts=1)
    Notice.objects.filter(pk=rows[0].pk).update(state=NoticeState.SENT, n_repeats=1, attempts=2)
    return rows


def shown(user: User, query: str = "") -> set[tuple[str, str]]:
    """Return kind and person of each row, the same on the page, in the CSV and over the API."""
    client = Client()
    client.force_login(user)
    rows = client.get(reverse("ui:api-mails") + query).json()["results"]
    page = client.get(reverse("ui:mails") + query)
    csv = client.get(reverse("ui:mails") + (f"{query}&" if query else "?") + "format=csv")
    text = b"".join(csv.streaming_content).decode()  # type: ignore[attr-defined]  # a stream
    assert len(page.context["page"].rows) == len(rows) == len(text.splitlines()) - 1
    return {(row["kind"].removeprefix("lifecycle."), row["recipient"]) for row in rows}


@pytest.mark.usefixtures("mails")
def test_everyone_sees_only_what_they_may(people: People) -> None:
    everything = {("week_ahead", "olga"), ("day_ahead", "olga"), ("week_ahead", "dora")}
    assert shown(people.admin) == shown(people.operator) == everything
    assert shown(people.owner) == {("week_ahead", "olga"), ("day_ahead", "olga")}
    assert shown(people.stranger) == set()


@pytest.mark.usefixtures("mails")
def test_filters_stand_in_the_address_and_do_not_widen(people: People) -> None:
    assert shown(people.admin, "?kind=lifecycle.day") == {("day_ahead", "olga")}
    assert shown(people.admin, "?state=FAILED") == {("week_ahead", "dora")}
    assert shown(people.admin, "?since=2026-11-21") == {("day_ahead", "olga")}
    assert shown(people.admin, "?until=2026-11-20&recipient=olga") == {("week_ahead", "olga")}
    assert shown(people.owner, "?recipient=dora") == set()


@pytest.mark.usefixtures("mails")
def test_the_page_says_what_failed_why_and_what_may_have_come_twice(people: People) -> None:
    client = Client()
    client.force_login(people.admin)
    text = client.get(reverse("ui:mails")).content.decode()
    assert "1 mail could not be sent" in text
    assert "550 No such user" in text
    assert "1 sending followed an answer of the mail server that was lost" in text
    client.force_login(people.owner)
    assert "could not be sent" not in client.get(reverse("ui:mails")).content.decode()


def test_one_mail_is_shown_as_it_was_written(people: People, mails: list[Notice]) -> None:
    client = Client()
    client.force_login(people.owner)
    page = client.get(reverse("ui:mail", args=[mails[0].pk]))
    assert "Hello &lt;b&gt;you&lt;/b&gt;." in page.content.decode()
    assert client.get(reverse("ui:api-mail", args=[mails[0].pk])).json()["n_repeats"] == 1
    assert client.get(reverse("ui:mail", args=[mails[2].pk])).status_code == 404
    assert client.get(reverse("ui:api-mail", args=[mails[2].pk])).status_code == 404


def test_a_mail_that_failed_is_tried_again_by_a_button(people: People, mails: list[Notice]) -> None:
    client, failed = Client(), mails[2]
    client.force_login(people.operator)
    page = client.get(reverse("ui:mail", args=[failed.pk])).content.decode()
    assert "Send this mail again" in page
    assert (
        "Send this mail again"
        not in client.get(reverse("ui:mail", args=[mails[1].pk])).content.decode()
    )
    assert client.post(reverse("ui:mail-retry", args=[failed.pk])).status_code == 302
    failed.refresh_from_db()
    assert (failed.state, failed.email) == (NoticeState.QUEUED, "dora@example.org")
    retry, json = reverse("ui:api-mail-retry", args=[failed.pk]), "application/json"
    again = client.post(retry, {}, content_type=json)
    assert again.status_code == 409
    Notice.objects.filter(pk=failed.pk).update(state=NoticeState.FAILED)
    body = {"email": "dora@new.example.org"}
    api = client.post(retry, body, content_type=json)
    assert (api.status_code, api.json()["state"]) == (200, "QUEUED")
    client.force_login(people.owner)
    assert client.post(reverse("ui:mail-retry", args=[failed.pk])).status_code == 403


def test_kinds_are_said_in_words(people: People, lake: LakeConfig, now: datetime) -> None:
    found = queued("optimizer.hudi_alarm.1732005000000000", "olga", now=now)
    client = Client()
    client.force_login(people.owner)
    page = client.get(reverse("ui:mails")).content.decode()
    assert "Alarm: Hudi table" in page
    assert found.kind not in page
    row = client.get(reverse("ui:api-mails")).json()["results"][0]
    assert (row["kind"], row["kind_words"]) == (found.kind, "Alarm: Hudi table")
    assert found.kind in client.get(reverse("ui:mail", args=[found.pk])).content.decode()


@pytest.mark.usefixtures("mails")
def test_kinds_are_chosen_by_their_words_and_old_addresses_still_filter(people: People) -> None:
    client = Client()
    client.force_login(people.admin)
    page = client.get(reverse("ui:mails") + "?kind=lifecycle.day_ahead").content.decode()
    assert '<option value="lifecycle.day_ahead" selected>Data expires tomorrow</option>' in page
    assert '<option value="optimizer.hudi_alarm">Alarm: Hudi table</option>' in page
    older = client.get(reverse("ui:mails") + "?kind=lifecycle.day").content.decode()
    assert '<option value="lifecycle.day" selected>Day</option>' in older


def test_an_empty_page_says_when_mails_begin(people: People, lake: LakeConfig) -> None:
    client = Client()
    client.force_login(people.admin)
    assert "No mails yet" in client.get(reverse("ui:mails")).content.decode()
