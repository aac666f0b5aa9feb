"""The pages and the API of policies: what-if, asking, answering, history, and why it expires."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from lifecycle.backup.models import Hold
from lifecycle.models import (
    DatabaseSetting,
    DryRunTable,
    Enrollment,
    PartitionRange,
    PolicyRequest,
    PolicySnapshot,
    SamplePartition,
    TableAges,
    TableFinding,
)
from portal.access.models import User
from portal.audit.services import AuditEntry, audit_record, audit_record_many
from portal.connectors.lake_config import LakeConfig
from portal.runs.models import Run
from portal.runs.requests.services import run_drive
from tests.component.conftest import LAKE, NOW, People
from tests.component.lifecycle.scanned import scan, set_mode

pytestmark = pytest.mark.django_db(transaction=True)
PAGE = "/tables/sales/orders/lifecycle/"
WHY = "/lifecycle/tables/sales/orders/why/?partition=dt%3D2026-08-01"
API = "/api/v1/lifecycle"
As = Callable[[User], Client]


@pytest.fixture(autouse=True)
def picture(lake: LakeConfig, people: People) -> None:
    """A scanned lake, judged at the wall clock's day so that pages say `in n days`."""
    scan(lake, now=NOW)
    set_mode("sales", "NOTIFY")


@pytest.fixture
def as_() -> As:
    """Return a client that is freshly signed in as somebody."""

    def sign_in(user: User) -> Client:
        client = Client()
        client.force_login(user)
        session = client.session
        session["lw_authenticated_at"] = timezone.now().timestamp()
        session.save()
        return client

    return sign_in


def amounts(response: Any) -> dict[str, tuple[int, int]]:
    rows = response.context["lines"]
    return {row["line"].name: (row["line"].before.n, row["line"].after.n) for row in rows}


def ask(client: Client, **said: str) -> Any:
    body = {"db": "sales", "table": "orders", "reason": "because", **said}
    return client.post(f"/lifecycle/policy-requests/new/?lake={LAKE}", body)


def post(client: Client, path: str, **body: Any) -> tuple[int, Any]:
    response = client.post(API + path, json.dumps(body), content_type="application/json")
    return response.status_code, response.json() if response.content else None


def test_a_what_if_is_answered_from_the_counts_of_the_scan(people: People, as_: As) -> None:
    page = as_(people.owner).get(PAGE)
    assert amounts(page) == {
        "now": (1, 1), "still_read": (1, 1), "soon": (1, 1), "later": (1, 1)
    }  # fmt: skip
    assert not page.context["may_save"]

    longer = as_(people.owner).get(PAGE + "?level=1&ttl=200")
    assert amounts(longer) == {
        "now": (1, 0), "still_read": (1, 0), "soon": (1, 0), "later": (1, 4)
    }  # fmt: skip
    assert (longer.context["may_save"], longer.context["asks_admin"]) == (True, True)
    assert longer.context["what"].n_metadata_rows == 0

    shorter = as_(people.admin).get(PAGE + "?level=1&ttl=1")
    assert (amounts(shorter)["now"], amounts(shorter)["still_read"]) == ((1, 2), (1, 2))
    # Two partitions with one key: 5 rows each at least.
    assert shorter.context["what"].n_metadata_rows == 10
    assert shorter.context["asks_admin"] is False
    for bad in ("?level=1&ttl=0", "?level=1&ttl=-1", "?level=1&ttl=60+days", "?level=2&ttl=5",
                "?level=1", f"?level=1&ttl={10**12}"):  # fmt: skip
        page = as_(people.admin).get(PAGE + bad)
        assert page.status_code == 200
        assert page.context["form"].errors
        assert not page.context["may_save"]


def test_what_may_not_be_saved_says_why(people: People, as_: As) -> None:
    set_mode("sales", "OBSERVE")
    page = as_(people.admin).get(PAGE + "?level=1&ttl=90")
    assert "Monitor only" in page.context["blocked_reason"]
    set_mode("sales", "NOTIFY")
    TableFinding.objects.filter(table="orders").update(level=None, ttl=None, enrolled=False)
    page = as_(people.admin).get(PAGE + "?level=1&ttl=90")
    assert page.context["needs_enrollment"]
    assert "/lifecycle/enrolments/new/" in page.content.decode()
    # Its items were counted as they are, so the what-if is answered all the same.
    assert amounts(page)["stays"] == (4, 0)


def test_a_request_goes_its_way_over_the_pages(people: People, as_: As) -> None:
    values = {"kind": "SET", "seen_level": "1", "seen_ttl": "60", "level": "0", "ttl": "60"}
    asked = ask(as_(people.owner), **values)
    assert asked.status_code == 302
    (row,) = as_(people.owner).get("/lifecycle/policy-requests/").context["page"].rows
    assert asked["Location"] == f"/lifecycle/policy-requests/{row.pk}/"
    assert "kept for ever" in as_(people.admin).get(asked["Location"]).content.decode()
    home = as_(people.admin).get("/").content.decode()
    assert "Policy requests to answer" in home
    own = as_(people.owner).get(asked["Location"])
    assert own.context["may"].names == ["withdraw"]
    assert as_(people.stranger).get(asked["Location"]).status_code == 404
    decide = asked["Location"] + "decide/"
    said = {"decision": "APPROVE", "digest": PolicyRequest.objects.latest("created_at").digest}
    assert as_(people.owner).post(decide, said).status_code == 403
    assert as_(people.admin).post(decide, {"decision": "APPROVE"}).status_code == 409
    shown = as_(people.admin).get(asked["Location"]).content.decode()
    assert f'name="digest" value="{said["digest"]}"' in shown
    assert as_(people.admin).post(decide, said).status_code == 302
    assert PolicyRequest.objects.get().state == "RUNNING"
    page = as_(people.owner).get(PAGE)
    assert [one.state for one in page.context["requests"]] == ["RUNNING"]
    lines = as_(people.owner).get("/lifecycle/policy-requests/?format=csv").getvalue().decode()
    assert "SET,sales,orders" in lines


@pytest.mark.parametrize(
    "said",
    [
        {"kind": "NOTHING"},
        {"kind": "SET", "level": "7"},
        {"kind": "SET", "level": "1", "ttl": "60 days"},
        {"kind": "EXTEND", "days": "30"},
        {"kind": "HAND_OVER"},
        {"kind": "SET", "level": "0", "reason": ""},
    ],
)
def test_a_form_that_says_nothing_is_answered_with_what_is_missing(
    people: People, as_: As, said: dict[str, str]
) -> None:
    assert ask(as_(people.admin), **said).status_code == 400
    assert not PolicyRequest.objects.exists()


def test_the_page_of_why_offers_the_answers_of_a_notice(
    people: People, as_: As, lake: LakeConfig
) -> None:
    text = as_(people.owner).get(WHY).content.decode()
    for words in ("Keep 30 days more", "Keep for ever", "Hand over", "Request deletion now"):
        assert words in text, words
    answers = as_(people.owner).get(WHY).context
    assert "Policy and what-if" in text
    assert as_(people.operator).get(WHY).content.decode().count("Keep 30 days more") == 0
    until = (timezone.localdate(timezone=lake.zone) + timedelta(days=30)).isoformat()
    kept = ask(as_(people.owner), kind="EXTEND", partition="dt=2026-08-01", days="30", until=until)
    assert kept.status_code == 302, kept.content
    hold = Hold.objects.get()
    assert (hold.kind, hold.partition) == ("EXTENSION", "dt=2026-08-01")
    after = as_(people.owner).get(WHY)
    assert any("olga holds it until" in stop for stop in after.context["why"].stops)
    assert answers["found"].table == "orders"
    not_due = as_(people.owner).get(WHY.replace("08-01", "11-01")).content.decode()
    assert "Keep 30 days more" not in not_due
    assert "Keep for ever" in not_due


def test_why_says_who_set_the_ttl_and_what_changed_since_the_scan(people: People, as_: As) -> None:
    audit_record(
        "policy.changed",
        actor="ada",
        lake=LAKE,
        object_type="table",
        object_id="sales.orders",
        data={
            "from": {"level": 1, "ttl": 30},
            "to": {"level": 1, "ttl": 60},
            "through": "portal",
            "reason": "the law asks for it",
        },
        now=NOW,
    )
    # The guard tells of the same change under the portal's own user: an echo.
    audit_record(
        "policy.changed",
        actor="lakewarden",
        lake=LAKE,
        object_type="table",
        object_id="sales.orders",
        data={"before": {"LEVEL": "1", "TTL": "30"}, "after": {"LEVEL": "1", "TTL": "60"}},
        now=NOW,
    )
    page = as_(people.owner).get(WHY)
    assert page.context["set_by"].actor == "ada"
    assert "the law asks for it" in page.content.decode()
    history = as_(people.owner).get(PAGE).context["history"]
    assert [(one.actor, one.before, one.after, one.by_portal) for one in history] == [
        ("ada", "TTL 30 days (LEVEL 1)", "TTL 60 days (LEVEL 1)", True)
    ]
    PolicySnapshot.objects.create(
        lake=LAKE, db="sales", table="orders", level=1, ttl=400, owner="olga",
        seen_at=NOW + timedelta(hours=1),
    )  # fmt: skip
    assert "The next scan judges again" in as_(people.owner).get(WHY).content.decode()
    standing = as_(people.owner).get(PAGE).context["standing"]
    assert (standing.values.ttl, standing.is_newer_than_scan) == (400, True)


def test_a_change_outside_the_portal_stands_in_the_history(people: People, as_: As) -> None:
    audit_record(
        "policy.changed",
        actor="bob",
        lake=LAKE,
        object_type="table",
        object_id="sales.orders",
        data={"before": {"ttl": "30", "level": "1"}, "after": {}, "outcome": "UNSEEN"},
        now=NOW,
    )
    (change,) = as_(people.owner).get(PAGE).context["history"]
    assert (change.actor, change.after, change.by_portal) == ("bob", "not in lifecycle", False)
    assert "outside the portal" in as_(people.owner).get(PAGE).content.decode()


def test_what_new_tables_get_is_read_by_a_short_run(people: People, as_: As) -> None:
    url = "/lifecycle/databases/sales/policy/"
    assert "has not been read yet" in as_(people.admin).get(url).content.decode()
    assert as_(people.admin).post(url + "look/").status_code == 302
    assert as_(people.admin).post(url + "look/").status_code == 302
    assert Run.objects.filter(kind="lifecycle.policy_look").count() == 1
    PolicySnapshot.objects.create(lake=LAKE, db="sales", level=1, ttl=30, seen_at=NOW)
    page = as_(people.admin).get(url + "?level=1&ttl=90")
    assert page.context["may_save"]
    assert "TTL 30 days" in page.content.decode()
    assert "TTL 30 days" in as_(people.admin).get("/lifecycle/databases/sales/").content.decode()
    asked = ask(
        as_(people.admin), kind="SET", table="", seen_level="1", seen_ttl="30", level="1", ttl="90"
    )
    assert asked.status_code == 302
    assert PolicyRequest.objects.get().state == "RUNNING"


def test_clocks_that_are_not_among_the_examples_are_brought_by_a_run(
    people: People, as_: As
) -> None:
    SamplePartition.objects.filter(partition="dt=2026-08-01").delete()
    page = as_(people.owner).get(WHY)
    assert "Load details" in page.content.decode()
    assert page.context["within"] == PartitionRange.objects.get(first="dt=2026-08-01")
    look = "/lifecycle/tables/sales/orders/why/look/?partition=dt%3D2026-08-01"
    for _ in range(2):
        assert as_(people.owner).post(look).status_code == 302
    run = Run.objects.get(kind="lifecycle.why_look")
    assert run_drive(run.pk).state == "DONE"
    assert as_(people.owner).get(WHY).context["why"].item.winner == "DDL"
    assert as_(people.owner).post(look).status_code == 302
    assert Run.objects.filter(kind="lifecycle.why_look").count() == 1
    assert as_(people.stranger).post(look).status_code == 404


def test_the_api_gives_and_takes_what_the_pages_do(people: People, as_: As) -> None:
    owner, admin = as_(people.owner), as_(people.admin)
    shown = owner.get(f"{API}/tables/sales/orders/policy/?level=1&ttl=1").json()
    assert shown["values"] == {"level": 1, "ttl": 60}
    assert shown["what_if"]["before"]["now"]["n"] == 1
    assert shown["what_if"]["after"]["now"] == {
        "n": 2, "n_bytes": 2000, "n_files": 2, "n_unmeasured": 0
    }  # fmt: skip
    assert shown["offer"]["needs_admin"] is False
    of_part = f"{API}/tables/sales/orders/policy/?partition=dt%3D"
    assert owner.get(of_part + "2026-08-01").json()["offer"]["until"] == shown["offer"]["until"]
    assert owner.get(of_part + "2026-11-01").json()["offer"] is None
    assert owner.get(of_part + "nothing").status_code == 404
    assert owner.get(f"{API}/tables/sales/orders/policy/?level=1&ttl=x").status_code == 400
    assert owner.get(f"{API}/tables/sales/orders/policy/?level=1&ttl=0").status_code == 400
    assert as_(people.stranger).get(f"{API}/tables/sales/orders/policy/").status_code == 404

    wish = {"kind": "HAND_OVER", "db": "sales", "table": "orders", "reason": "I leave"}
    assert post(owner, "/policy-requests/", **wish)[0] == 400
    status, made = post(owner, "/policy-requests/", **wish, owner="stan", seen_owner="olga")
    assert (status, made["state"], made["transitions"]) == (201, "PENDING", ["withdraw"])
    url = f"/policy-requests/{made['id']}/"
    stan = as_(people.stranger)
    assert stan.get(API + url).json()["transitions"] == ["approve", "reject"]
    seen = {"digest": made["digest"]}
    decide = url + "decide/"
    assert post(stan, decide, decision="MAYBE", **seen)[0] == 400
    assert post(stan, decide, decision="REJECT", reason="no")[0] == 400
    assert post(stan, decide, decision="APPROVE", digest="0" * 64)[0] == 409
    assert post(stan, decide, decision="REJECT", reason="no", **seen)[1]["state"] == "REJECTED"
    assert post(stan, decide, decision="APPROVE", **seen)[0] == 409
    until = shown["offer"]["until"]
    extend = {"kind": "EXTEND", "db": "sales", "table": "orders", "reason": "audit", "days": 30}
    assert post(owner, "/policy-requests/", **extend, until="2026-01-01")[0] == 409
    assert post(owner, "/policy-requests/", **extend, until=until)[1]["state"] == "DONE"
    values = {"seen_level": 1, "seen_ttl": 60, "level": 1, "ttl": 10**12}
    set_ = {"kind": "SET", "db": "sales", "table": "orders", "reason": "r", **values}
    assert post(admin, "/policy-requests/", **set_)[0] == 400
    status, made = post(admin, "/policy-requests/", **(set_ | {"ttl": 90}))
    assert (status, made["state"]) == (201, "RUNNING")
    assert made["what_if"]["after"]["later"]["n"] > 0
    assert len(admin.get(f"{API}/policy-requests/?state=DONE").json()["results"]) == 1
    status, run = post(admin, "/databases/sales/policy/look/")
    assert (status, run["kind"]) == (202, "lifecycle.policy_look")
    assert admin.get(f"{API}/databases/sales/policy/").json()["known_at"] is None
    assert post(owner, "/tables/sales/orders/why/look/?partition=dt%3D2026-08-01")[0] == 204


def n_queries(client: Client, url: str) -> int:
    with CaptureQueriesContext(connection) as caught:
        assert client.get(url).status_code == 200
    return len(caught)


def test_pages_ask_no_more_for_more_rows(people: People, as_: As) -> None:
    client = as_(people.admin)
    urls = (
        PAGE + "?level=1&ttl=5", WHY, "/lifecycle/policy-requests/", "/lifecycle/enrolments/",
        "/lifecycle/enrolments/new/?level=1&ttl=60", "/lifecycle/databases/sales/shadow/",
    )  # fmt: skip
    grow(1)
    client.get(PAGE)  # the first visit writes the session
    few = {url: n_queries(client, url) for url in urls}
    grow(150)
    client.get(PAGE)  # the menu counts again what waits
    assert {url: n_queries(client, url) for url in urls} == few
    tab = few.pop(urls[0])
    assert tab <= 41, "a table's header and all that its lifecycle says"
    assert max(few.values()) <= 26


def grow(n_rows: int) -> None:
    """Add requests, enrollments, recorded changes, tables outside lifecycle and shadowed ones."""
    generation = TableFinding.objects.get(table="orders").generation
    n_before = PolicyRequest.objects.count()
    PolicyRequest.objects.bulk_create(
        PolicyRequest(
            lake=LAKE, kind="SET", db="sales", table="orders", state="DONE", level=1, ttl=60,
            reason="r", digest="d", requested_by="olga", created_at=NOW,
        )
        for _ in range(n_rows)
    )  # fmt: skip
    Enrollment.objects.bulk_create(
        Enrollment(
            lake=LAKE, level=1, ttl=60, digest="d", generation=generation, requested_by="ada",
            reason="r", created_at=NOW, state="DONE",
        )
        for _ in range(n_rows)
    )  # fmt: skip
    for number in range(n_before, n_before + n_rows):
        TableFinding.objects.create(
            generation=generation, lake=LAKE, db="sales", table=f"t{number}", tbl_id=1000 + number,
            owner="olga", mode="NOTIFY", table_type="EXTERNAL_TABLE",
        )  # fmt: skip
        DryRunTable.objects.create(lake=LAKE, db="sales", table=f"t{number}", day=NOW.date())
    change = AuditEntry("policy.changed", "x", LAKE, "table", "sales.orders", {"after": {}})
    audit_record_many([change] * n_rows, now=NOW)


def test_counts_go_with_their_picture(lake: LakeConfig, people: People) -> None:
    first = set(TableAges.objects.values_list("pk", flat=True))
    assert len(first) == 3
    DatabaseSetting.objects.all().delete()
    for days in (1, 2):
        scan(lake, now=NOW + timedelta(days=days))
    assert not first & set(TableAges.objects.values_list("pk", flat=True))
    assert TableAges.objects.count() == 6
