"""The pages of findings: who sees what, before and after a scan, as a page and as CSV."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from lifecycle.backup.models import Hold
from lifecycle.core.domain.modes import DatabaseMode
from lifecycle.expiry.domain.rule import ExpiryClass
from lifecycle.inventory.ui.expiring import TABLES
from lifecycle.models import DatabaseSetting
from portal.access.models import DatabaseAdministrator, User
from portal.audit.models import AuditEvent
from portal.connectors.lake_config import LakeConfig
from portal.runs.models import Run
from portal.ui.frame.states import badge_for
from tests.component.conftest import People
from tests.component.lifecycle.scanned import PICTURE, scan, set_mode
from tests.support.scan_results import Item, Picture, Table

pytestmark = pytest.mark.django_db

LISTS = ("lifecycle:paths", "lifecycle:expiring", "lifecycle:databases", "lifecycle:holds")
ORDERS_URL = "/tables/sales/orders/partitions/"
WHY_URL = "/lifecycle/tables/sales/orders/why/?partition=dt%3D2026-08-01"


@pytest.fixture
def as_(people: People) -> Callable[[User], Client]:
    """Return a client that is signed in as somebody."""

    def sign_in(user: User) -> Client:
        client = Client()
        client.force_login(user)
        return client

    return sign_in


def names(response: Any) -> list[str]:
    return [str(row) for row in response.context["page"].rows]


def csv_lines(response: Any) -> list[str]:
    text = b"".join(response.streaming_content).decode()
    return text.strip().splitlines()


def test_every_page_works_before_any_scan(
    lake: LakeConfig, people: People, as_: Callable[[User], Client]
) -> None:
    for user in (people.owner, people.admin):
        client = as_(user)
        for name in LISTS:
            response = client.get(reverse(name))
            assert response.status_code == 200, name
        assert "has not been scanned" in client.get(reverse("lifecycle:paths")).content.decode()
        assert client.get(reverse("ui:home")).status_code == 200
        assert client.get(ORDERS_URL).status_code == 404


def test_pages_ask_for_a_login_and_only_answer_get(lake: LakeConfig, people: People) -> None:
    stranger, admin = Client(), Client()
    admin.force_login(people.admin)
    for url in (*map(reverse, LISTS), ORDERS_URL, WHY_URL, "/lifecycle/databases/sales/"):
        assert stranger.get(url).status_code == 302
        assert admin.post(url).status_code == 405
    for url in ("/lifecycle/scan/", "/lifecycle/databases/sales/mode/", "/lifecycle/holds/place/"):
        assert stranger.post(url).status_code == 302
        assert admin.get(url).status_code == 405


def test_each_person_sees_what_they_answer_for(
    lake: LakeConfig, people: People, now: datetime, as_: Callable[[User], Client]
) -> None:
    db_owner = User.objects.create_user("sara")
    DatabaseAdministrator.objects.create(lake="main", db="web", username="dora")
    scan(lake, now=now)
    tables = {"sales.orders", "sales.stray", "web.logs"}
    paths = {"sales/stray", "web"}
    seen = {
        people.owner: ({"sales.orders"}, set()),
        db_owner: ({"sales.orders", "sales.stray"}, {"sales/stray"}),
        people.dba: ({"web.logs"}, {"web"}),
        people.admin: (tables, paths),
        people.operator: (tables, paths),
        people.stranger: (set(), set()),
    }
    for user, (their_tables, their_paths) in seen.items():
        client = as_(user)
        assert set(names(client.get("/lifecycle/expiring/?show="))) == their_tables, user
        assert set(names(client.get("/lifecycle/paths/"))) == their_paths, user
        allowed = "sales.orders" in their_tables
        for url in (ORDERS_URL, WHY_URL):
            assert client.get(url).status_code == (200 if allowed else 404), (user, url)
        csv = csv_lines(client.get("/lifecycle/expiring/?show=&format=csv"))
        assert len(csv) == len(their_tables) + 1


def test_the_numbers_of_a_page_are_those_of_the_rows(
    lake: LakeConfig, people: People, now: datetime, as_: Callable[[User], Client]
) -> None:
    scan(lake, now=now)
    totals = as_(people.admin).get("/lifecycle/expiring/").context["totals"]
    assert (totals.n_clean_now, totals.bytes_clean_now) == (2, 6_000)
    assert (totals.n_soon, totals.n_still_read, totals.n_paths) == (1, 1, 2)

    own = as_(people.owner).get("/lifecycle/expiring/").context["totals"]
    assert (own.n_clean_now, own.n_paths) == (1, 0)
    # Nobody is asked about what is only observed.
    assert "needs an answer" not in as_(people.owner).get(reverse("ui:home")).content.decode()
    set_mode("sales", "NOTIFY")
    assert "needs an answer" in as_(people.owner).get(reverse("ui:home")).content.decode()


def test_filters_stand_in_the_address_and_the_csv_follows_them(
    lake: LakeConfig, people: People, now: datetime, as_: Callable[[User], Client]
) -> None:
    scan(lake, now=now)
    client = as_(people.admin)
    url = "/lifecycle/paths/?reason=TBL_NOT_SUB_DB"
    assert names(client.get(url)) == ["sales/stray"]
    head, line = csv_lines(client.get(url + "&format=csv"))
    assert head.startswith("kind,db,table,partition,owner")
    assert "OWNER_PATH_FAIL; TBL_NOT_SUB_DB" in line

    assert names(client.get("/lifecycle/expiring/?show=week")) == ["web.logs", "sales.orders"]
    assert names(client.get("/lifecycle/expiring/?show=NONCONFORMING")) == ["sales.stray"]
    assert names(client.get("/lifecycle/expiring/?db=web")) == ["web.logs"]
    assert names(client.get(ORDERS_URL + "?cls=SOON")) == ["dt=2026-09-24"]
    assert names(client.get(ORDERS_URL + "?due_to=2026-10-05")) == [
        "dt=2026-08-01",
        "dt=2026-08-03",
    ]

    bad = client.get("/lifecycle/expiring/?show=NONSENSE")
    assert bad.status_code == 200
    assert names(bad) == []
    assert client.get("/lifecycle/expiring/?after=zzz").status_code == 400


def test_why_shows_both_clocks_the_notice_and_what_stops_it(
    lake: LakeConfig, people: People, now: datetime, as_: Callable[[User], Client]
) -> None:
    set_mode("sales", "NOTIFY")
    scan(lake, now=now)
    response = as_(people.owner).get(WHY_URL)
    text = response.content.decode()
    why = response.context["why"]

    assert why.item.winner == "DDL"
    assert why.announcement.state == "QUEUED"
    assert "The notice about it has not been sent yet." in why.stops
    assert "The database is in Notify; only Enforce lets anything be dropped." in why.stops
    assert "(used)" in text
    assert "60 days" in text
    assert as_(people.owner).get(WHY_URL + "x").status_code == 404


def test_an_admin_moves_a_database_on_and_it_is_recorded(
    lake: LakeConfig, people: People, now: datetime, as_: Callable[[User], Client]
) -> None:
    scan(lake, now=now)
    url = "/lifecycle/databases/sales/mode/"
    client = as_(people.admin)

    def move(seen: str, wanted: str, reason: str = "we looked at it", who: Client = client) -> int:
        sent = {"seen": seen, "wanted": wanted, "reason": reason}
        return who.post(url, sent).status_code

    assert move("OBSERVE", "ACT") == 400
    assert move("OBSERVE", "NOTIFY", reason=" ") == 400
    assert move("OBSERVE", "WHATEVER") == 400
    assert move("OBSERVE", "NOTIFY", who=as_(people.operator)) == 403
    assert move("OBSERVE", "NOTIFY", who=as_(people.stranger)) == 404
    assert not DatabaseSetting.objects.filter(mode="NOTIFY").exists()

    assert move("OBSERVE", "NOTIFY") == 302
    assert move("OBSERVE", "NOTIFY") == 409
    assert move("NOTIFY", "ACT") == 302
    assert DatabaseSetting.objects.get(db="sales").mode == "ACT"
    events = AuditEvent.objects.filter(action="database.mode_changed").order_by("seq")
    assert [event.data["to"] for event in events] == ["NOTIFY", "ACT"]
    assert {event.data["reason"] for event in events} == {"we looked at it"}
    page = client.get("/lifecycle/databases/")
    assert [row.mode_now for row in page.context["page"].rows] == ["ACT", "OBSERVE"]
    assert client.get("/lifecycle/databases/sales/").status_code == 200


def test_scan_now_is_for_admins_and_operators_and_makes_one_run(
    lake: LakeConfig, people: People, as_: Callable[[User], Client]
) -> None:
    assert as_(people.owner).post("/lifecycle/scan/").status_code == 403
    assert as_(people.operator).post("/lifecycle/scan/").status_code == 302
    assert as_(people.admin).post("/lifecycle/scan/").status_code == 302
    assert Run.objects.get().requested_by == "otto"


def test_a_legal_hold_is_placed_on_what_is_there_and_released_by_an_admin(
    lake: LakeConfig, people: People, now: datetime, as_: Callable[[User], Client]
) -> None:
    scan(lake, now=now)
    client = as_(people.admin)
    sent = {"db": "sales", "table": "orders", "reason": "case 12"}

    assert client.post("/lifecycle/holds/place/", sent | {"table": "ordesr"}).status_code == 400
    assert as_(people.owner).post("/lifecycle/holds/place/", sent).status_code == 403
    assert client.post("/lifecycle/holds/place/", sent).status_code == 302
    hold = Hold.objects.get()
    assert "case 12" in as_(people.owner).get("/lifecycle/holds/").content.decode()
    assert "case 12" not in as_(people.stranger).get("/lifecycle/holds/").content.decode()
    why = as_(people.owner).get(WHY_URL).context["why"]
    assert any("case 12" in stop for stop in why.stops)

    url = f"/lifecycle/holds/{hold.public_id}/release/"
    assert as_(people.stranger).post(url, {"reason": "no"}).status_code == 404
    assert as_(people.owner).post(url, {"reason": "no"}).status_code == 403
    assert client.post(url, {"reason": "case closed"}).status_code == 302
    hold.refresh_from_db()
    assert hold.released_by == "ada"


def test_more_rows_need_no_more_queries(
    lake: LakeConfig,
    people: People,
    now: datetime,
    as_: Callable[[User], Client],
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    items = tuple(
        Item(ExpiryClass.CLEAN_NOW, f"dt=2026-07-{day:02d}", now - timedelta(days=100 - day))
        for day in range(1, 31)
    )
    tables = tuple(Table("sales", f"t{n}", 100 + n, "olga", items) for n in range(60))
    scan(lake, Picture(PICTURE.owners, tables), now=now)
    client = as_(people.owner)
    for url, most in (
        ("/lifecycle/expiring/", 21),  # one counts what the filter matches beyond the page
        ("/lifecycle/paths/", 18),
        ("/lifecycle/databases/", 16),
        ("/tables/sales/t1/partitions/", 40),
    ):
        client.get(url)  # a first visit is remembered among the recent things
        with django_assert_max_num_queries(most):
            assert client.get(url).status_code == 200


def test_pages_turn_by_keys_and_lose_no_row(
    lake: LakeConfig, people: People, now: datetime, as_: Callable[[User], Client]
) -> None:
    tables = tuple(Table("sales", f"t{n:03d}", 100 + n, "olga") for n in range(60))
    scan(lake, Picture(PICTURE.owners, tables), now=now)
    client, found, url = as_(people.owner), [], "/lifecycle/expiring/?show=&sort=name&size=25"
    while url:
        response = client.get(url)
        found += names(response)
        after = response.context["page"].next_cursor
        url = f"/lifecycle/expiring/?show=&sort=name&size=25&after={after}" if after else ""
    assert found == [f"sales.t{n:03d}" for n in range(60)]


def test_filters_use_the_words_of_the_badges(
    lake: LakeConfig, people: People, now: datetime, as_: Callable[[User], Client]
) -> None:
    scan(lake, now=now)
    client = as_(people.admin)
    fields = client.get("/lifecycle/expiring/").context["filter"].form.fields
    shown, modes = dict(fields["show"].choices), dict(fields["mode"].choices)
    assert shown["STILL_READ"] == "Recently read"
    assert shown["CLEAN_NOW"] == "Due"
    of_items = dict(client.get(ORDERS_URL).context["filter"].form.fields["cls"].choices)
    of_databases = client.get("/lifecycle/databases/").context["filter"].form.fields["mode"]
    for cls in ExpiryClass:
        assert shown[cls] == of_items[cls] == badge_for(cls).word
    for mode in DatabaseMode:
        assert modes[mode] == dict(of_databases.choices)[mode] == badge_for(mode).word


def test_a_phone_shows_the_columns_that_one_acts_on() -> None:
    shown = [one.title for one in TABLES.columns if not one.shown_from]
    assert shown == ["Table", "Due", "Size due now", "First due", "Kept"]
