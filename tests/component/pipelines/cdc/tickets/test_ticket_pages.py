"""Pages and API of tickets: for admins and operators, with the same words."""

from datetime import datetime
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from optimizer.models import TopShape, TopShapeTable
from pipelines.models import Pipeline, SchemaTicket
from portal.access.models import User
from portal.connectors.lake_config import LakeConfig
from tests.component.conftest import LAKE, People
from tests.component.pipelines.cdc.tickets.ticket_rows import shop_with_rows

pytestmark = pytest.mark.django_db

RISKY = {
    "table": "shop.orders",
    "statement": "ALTER TABLE orders MODIFY qty varchar(9), ADD phone text",
    "reason": "the shop grows",
}


@pytest.fixture
def shop(lake: LakeConfig, now: datetime) -> Pipeline:
    return shop_with_rows(timezone.now())


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    session = client.session
    session["lw_authenticated_at"] = timezone.now().timestamp()
    session.save()
    return client


def post(client: Client, **body: str) -> Any:
    return client.post(reverse("pipelines:ticket-open", args=["shop"]), {**RISKY, **body})


def test_a_statement_is_shown_then_opened_and_decided(people: People, shop: Pipeline) -> None:
    client = client_of(people.operator)
    page = post(client, do="check").content.decode()
    for shown in ("becomes text", "New column phone", "Open this ticket"):
        assert shown in page
    assert not SchemaTicket.objects.exists()
    assert post(client, do="open").status_code == 400  # without a choice for phone
    answer = post(client, do="open", choice_0="redact")
    ticket = SchemaTicket.objects.get()
    assert answer["Location"] == reverse("pipelines:schema-ticket", args=[ticket.pk])
    assert ticket.choices == {"phone": "redact"}
    page = client.get(answer["Location"]).content.decode()
    for shown in (
        "Do not run the statement yet",
        "MODIFY qty varchar(9)",
        "redact",
        "None is known",
    ):
        assert shown in page
    SchemaTicket.objects.update(dry_run=None)
    answer = client_of(people.admin).post(
        reverse("pipelines:schema-ticket-decide", args=[ticket.pk]),
        {"decision": "APPROVE", "digest": ticket.digest},
    )
    assert answer.status_code == 302
    assert SchemaTicket.objects.get().state == "APPROVED"


def test_a_bad_statement_is_told_in_the_form(people: People, shop: Pipeline) -> None:
    page = post(client_of(people.operator), do="check", statement="UPDATE orders SET qty = 1")
    assert page.status_code == 400
    assert "changes rows" in page.content.decode()


def test_readers_that_are_known_are_named(people: People, shop: Pipeline) -> None:
    now = timezone.now()
    shape = TopShape.objects.create(
        lake=LAKE, digest="a" * 32, engine="trino", text="SELECT qty FROM orders", is_parsed=True,
        names_all_tables=True, n_queries=12, n_failed=0, seconds=3, seconds_lately=3,
        seconds_before=0, n_bytes=1, last_at=now, analysed_at=now,
    )  # fmt: skip
    TopShapeTable.objects.create(shape=shape, db="ods", table="orders")
    client = client_of(people.operator)
    post(client, do="open", choice_0="plain")
    ticket = SchemaTicket.objects.get()
    page = client.get(reverse("pipelines:schema-ticket", args=[ticket.pk])).content.decode()
    assert "SELECT qty FROM orders" in page
    assert "12 in four weeks by trino" in page


def test_the_list_has_the_tickets_of_the_pipeline_also_as_csv(
    people: People, shop: Pipeline
) -> None:
    client = client_of(people.operator)
    url = reverse("pipelines:tickets", args=["shop"])
    assert "No change was announced yet" in client.get(url).content.decode()
    post(client, do="open", choice_0="plain")
    assert SchemaTicket.objects.get().short_id in client.get(url).content.decode()
    answer: Any = client.get(url, {"format": "csv"})
    csv = b"".join(answer.streaming_content)
    assert b"MODIFY qty" in csv
    assert url in client.get(reverse("pipelines:pipeline", args=["shop"])).content.decode()


class TestApi:
    """A migration tool opens a ticket, and asks until it is released."""

    BODY: dict[str, Any] = {
        **{"db": "shop", "table": "orders", "reason": "the shop grows"},
        "statement": "ALTER TABLE orders ADD phone text",
    }

    def test_open_read_and_withdraw(self, people: People, shop: Pipeline) -> None:
        client = client_of(people.operator)
        url = reverse("pipelines-api:tickets", args=["shop"])
        bad = client.post(url, self.BODY, content_type="application/json")
        assert (bad.status_code, bad.json()["code"]) == (400, "ticket.choice")
        body = {**self.BODY, "choices": {"phone": "plain"}}
        made = client.post(url, body, content_type="application/json")
        assert (made.status_code, made.json()["state"]) == (201, "APPROVED")
        again = client.post(url, body, content_type="application/json")
        assert again.json()["id"] == made.json()["id"]
        one = reverse("pipelines-api:schema-ticket", args=[made.json()["id"]])
        found = client.get(one).json()
        assert (found["source_table"], found["changes"][0]["cls"]) == ("shop.orders", "auto")
        assert [row["id"] for row in client.get(url).json()["results"]] == [found["id"]]
        gone = client.post(f"{one}withdraw/", {"reason": "no"}, content_type="application/json")
        assert gone.json()["state"] == "WITHDRAWN"

    def test_others_find_nothing(self, people: People, shop: Pipeline) -> None:
        url = reverse("pipelines-api:tickets", args=["shop"])
        for user in (people.owner, people.stranger):
            client = client_of(user)
            assert client.get(url).status_code == 404
            assert client.post(url, self.BODY, content_type="application/json").status_code == 404
        assert not SchemaTicket.objects.exists()
