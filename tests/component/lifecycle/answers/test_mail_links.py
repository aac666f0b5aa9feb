"""A notice's links open the answer filled in; a confirmed one answers, once, as who confirms."""

import re
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from lifecycle.answers.services.links import link_path, link_read
from lifecycle.backup.models import Hold
from lifecycle.models import DeletionRequest, PolicyRequest
from lifecycle.notices.services.week_ahead import week_ahead_queue
from portal.access.models import User
from portal.connectors.lake_config import LakeConfig
from portal.notices.models import Notice
from tests.component.conftest import People
from tests.component.lifecycle.answers.owned_lake import DUE, FRESH, SOON, scan_tables, table

pytestmark = pytest.mark.django_db
LINK = re.compile(r"https?://[^/\s]+(/lifecycle/answers/mail/\S+)")


def client(user: User) -> Client:
    found = Client()
    found.force_login(user)
    return found


@pytest.fixture
def mail(people: People, lake: LakeConfig) -> Notice:
    """The notice to olga about one due table and one that is due soon."""
    User.objects.filter(username="olga").update(first_name="Olga Orlova")
    picture = scan_tables(
        lake, table(1, DUE), table(2, SOON), now=timezone.now() - timedelta(minutes=5)
    )
    week_ahead_queue(picture, now=timezone.now())
    return Notice.objects.get(kind="lifecycle.week_ahead", recipient="olga")


def links(mail: Notice) -> list[str]:
    return LINK.findall(mail.text)


def confirm(client: Client, link: str) -> Any:
    page = client.get(link)
    assert page.status_code == 200, page.content.decode()[:1500]
    said = page.context["form"].initial
    return client.post(link, said, follow=True)


def test_the_mail_greets_by_name_and_offers_what_fits_each_table(mail: Notice) -> None:
    assert mail.text.startswith("Hello Olga Orlova,")
    assert "Hello Olga Orlova," in mail.html
    assert mail.text.count("Keep 30 days: ") == 2
    assert mail.text.count("Let it go: ") == 1, "what is only due soon cannot be let go yet"
    assert [link for link in links(mail) if link not in mail.html] == []


def test_opening_a_link_changes_nothing_and_one_button_keeps(
    mail: Notice, people: People, lake: LakeConfig
) -> None:
    olga, keep = client(people.owner), links(mail)[0]
    page = olga.get(keep)
    until = timezone.localdate(timezone=lake.zone) + timedelta(days=30)
    assert f"Keep it until {until}" in page.content.decode()
    assert not PolicyRequest.objects.exists()

    after = confirm(olga, keep)
    assert after.redirect_chain[-1][0].startswith("/tables/sales/t1/lifecycle/")
    assert f"Kept 1 table until {until}" in after.content.decode()
    hold = Hold.objects.get()
    assert (hold.table, hold.placed_by) == ("t1", "olga")
    assert hold.reason.startswith("Answered from the notice of ")


def test_let_it_go_requests_the_deletion(mail: Notice, people: People) -> None:
    confirm(client(people.owner), links(mail)[1])
    assert DeletionRequest.objects.get().requested_by == "olga"


def test_without_a_session_one_signs_in_first_and_comes_back(mail: Notice) -> None:
    answer = Client().get(links(mail)[0])
    assert answer.status_code == 302
    assert answer["Location"].startswith("/login/?next=/lifecycle/answers/mail/")
    assert not PolicyRequest.objects.exists()


def test_a_link_that_is_used_again_says_what_was_answered(mail: Notice, people: People) -> None:
    olga, keep = client(people.owner), links(mail)[0]
    old = olga.get(keep).context["form"].initial
    confirm(olga, keep)
    again = olga.get(keep)
    assert again.status_code == 200
    assert "is answered already" in again.content.decode()
    assert "olga kept it until" in again.content.decode()
    assert olga.post(keep, old).status_code == 409
    assert Hold.objects.count() == 1


def test_the_second_of_two_people_sees_the_answer_of_the_first(
    mail: Notice, people: People
) -> None:
    confirm(client(people.admin), links(mail)[0])
    page = client(people.owner).get(links(mail)[1])
    assert "ada kept it until" in page.content.decode()


def test_a_forwarded_link_serves_only_who_may_answer_and_is_recorded_as_theirs(
    mail: Notice, people: People
) -> None:
    keep = links(mail)[0]
    assert client(people.stranger).get(keep).status_code == 404
    refused = client(people.operator).get(keep)
    assert refused.status_code == 403
    assert "written to Olga Orlova (olga); you are signed in as otto" in refused.content.decode()
    page = client(people.admin).get(keep).content.decode()
    assert "written to Olga Orlova (olga); you are signed in as ada" in page
    confirm(client(people.admin), keep)
    assert Hold.objects.get().placed_by == "ada"


@pytest.mark.parametrize("broken", ["{}x", "x{}", "nonsense", "W10:abc"])
def test_a_forged_link_answers_nothing(mail: Notice, people: People, broken: str) -> None:
    token = links(mail)[0].rstrip("/").rsplit("/", 1)[1]
    url = f"/lifecycle/answers/mail/{broken.format(token)}/"
    for answer in (client(people.owner).get(url), client(people.owner).post(url)):
        assert answer.status_code == 404
        assert "not written by this portal" in answer.content.decode()


def test_an_expired_link_says_so(mail: Notice, people: People) -> None:
    link = link_read(links(mail)[0].rstrip("/").rsplit("/", 1)[1])
    old = replace(link, day=link.day - timedelta(days=15))
    answer = client(people.owner).get(link_path(old))
    assert client(people.owner).get(link_path(replace(old, day=link.day))).status_code == 200
    assert answer.status_code == 400
    assert "was good until" in answer.content.decode()


def test_a_table_that_is_gone_or_not_due_any_more_says_so(
    mail: Notice, people: People, lake: LakeConfig
) -> None:
    scan_tables(lake, table(1, FRESH), now=timezone.now())
    olga = client(people.owner)
    assert "is due or due soon any more" in olga.get(links(mail)[0]).content.decode()
    gone = olga.get(links(mail)[2])
    assert gone.status_code == 404
    assert "sales.t2 is not there any more" in gone.content.decode()


def test_a_notice_that_is_written_again_has_the_same_links(mail: Notice) -> None:
    for link in links(mail):
        assert link_path(link_read(link.rstrip("/").rsplit("/", 1)[1])) == link
