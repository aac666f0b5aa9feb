"""The pages of plans: what each person sees, may do, and is refused."""

from pathlib import Path
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django.fixtures import Settings

from lifecycle.drop.services.store import plan_parts_write
from lifecycle.models import DatabaseFinding, DeletionRequest, DropPlan, PlanState, TableFinding
from tests.component.lifecycle.plan_world import LAKE, NOW, World, changed, make_world, partitions
from tests.support.clock import start_clock

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> World:
    start_clock(monkeypatch, NOW)
    settings.LAKEWARDEN_LAKES = tmp_path / "lakes.json"
    world = make_world(tmp_path)
    world.scan([*partitions(3), changed(partitions(1)[0], tbl="visits", tbl_id=2, cls="SOON")])
    return world


def client_of(world: World, name: str, *, fresh: bool = True) -> Client:
    """Return a browser in which a person is signed in, just now or long ago."""
    client = Client()
    client.force_login(world.person(name))
    if fresh:
        session = client.session
        session["lw_authenticated_at"] = timezone.now().timestamp()
        session.save()
    return client


def page(client: Client, url: str, status: int = 200) -> str:
    response = client.get(url)
    assert response.status_code == status, (url, response.status_code)
    content = (
        b"".join(response.streaming_content)  # type: ignore[attr-defined]  # CSV is streamed
        if response.streaming
        else response.content
    )
    return content.decode()


def url_of(plan: DropPlan, step: str = "") -> str:
    return f"/lifecycle/plans/{plan.pk}/{step}"


def test_the_plan_page_leads_with_what_is_lost(world: World) -> None:
    plan = world.plan()
    text = page(client_of(world, "bert"), url_of(plan))
    lost = text.index("Will be removed")
    assert lost < text.index("Review") < text.index("By table")
    assert "sales.orders" in text
    assert "Approve: drop 3 items" in text
    assert "0 of 2 approvals given" in text
    assert plan.digest in text
    assert "first drop" in text


def test_each_person_gets_only_the_buttons_that_the_server_allows(world: World) -> None:
    plan = world.plan()
    seen = {
        name: {
            step
            for step in ("approve", "reject", "withdraw")
            if f"/{plan.pk}/{step}/" in page(client_of(world, name), url_of(plan))
        }
        for name in ("anna", "bert", "otto", "alice", "dora")
    }
    assert seen == {
        "anna": {"withdraw"},
        "bert": {"approve", "reject"},
        **{"otto": set(), "alice": set(), "dora": set()},
    }


def test_two_admins_approve_on_the_page(world: World) -> None:
    plan = world.plan()
    for name in ("bert", "carl"):
        client = client_of(world, name)
        client.post(url_of(plan, "approve/"), {"digest": plan.digest})
    plan.refresh_from_db()
    assert plan.state == PlanState.APPROVED
    text = page(client_of(world, "anna"), url_of(plan))
    assert "Approved by" in text
    assert "Cooling off" in text


def test_a_stale_login_is_sent_to_log_in_again(world: World) -> None:
    plan = world.plan()
    client = client_of(world, "bert", fresh=False)
    response = client.post(url_of(plan, "approve/"), {"digest": plan.digest})
    assert response.status_code == 302
    assert "/login/again/" in response["Location"]
    assert plan.approval is not None
    assert plan.approval.decisions.count() == 0


def test_refusals_are_pages_with_a_code_and_a_next_step(world: World) -> None:
    plan = world.plan()
    own = client_of(world, "anna").post(url_of(plan, "approve/"), {"digest": plan.digest})
    assert (own.status_code, b"approval.own" in own.content) == (403, True)
    bert = client_of(world, "bert")
    other = bert.post(url_of(plan, "approve/"), {"digest": "0" * 64})
    assert (other.status_code, b"plan.changed" in other.content) == (409, True)
    silent = bert.post(url_of(plan, "reject/"), {"digest": plan.digest, "reason": ""})
    assert (silent.status_code, b"plan.reject_reason" in silent.content) == (400, True)
    said = {"digest": plan.digest, "reason": "still needed"}
    assert bert.post(url_of(plan, "reject/"), said).status_code == 302
    assert "still needed" in page(bert, url_of(plan))


def test_a_big_plan_needs_its_name_typed(world: World) -> None:
    plan = world.plan()
    plan.tables.update(n_bytes=2 * 1024**4)
    plan_parts_write(plan)
    client = client_of(world, "bert")
    assert "Type <code>sales.orders</code>" in page(client, url_of(plan))
    body = {"digest": plan.digest, "typed": "sales"}
    assert client.post(url_of(plan, "approve/"), body).status_code == 400
    body["typed"] = "sales.orders"
    assert client.post(url_of(plan, "approve/"), body).status_code == 302


def test_someone_elses_plan_is_not_there(world: World) -> None:
    plan = world.plan()
    eve = client_of(world, "eve")
    for step in ("", "progress/", "sales/orders/"):
        page(eve, url_of(plan, step), 404)
        page(client_of(world, "anna"), f"/lifecycle/plans/{uuid4()}/{step}", 404)
    for step in ("approve/", "reject/", "withdraw/"):
        body = {"digest": plan.digest, "reason": "x"}
        assert eve.post(url_of(plan, step), body).status_code == 404
        assert eve.get(url_of(plan, step)).status_code == 405
    assert "sales.orders" not in page(eve, "/lifecycle/plans/")
    assert Client().get(url_of(plan)).status_code == 302


def test_the_list_filters_and_exports_exactly_the_filter(world: World) -> None:
    world.plan()
    client = client_of(world, "anna")
    assert "Waiting for approval" in page(client, "/lifecycle/plans/?state=PENDING")
    assert "No plan fits this filter" in page(client, "/lifecycle/plans/?state=DONE")
    lines = page(client, "/lifecycle/plans/?state=PENDING&format=csv").splitlines()
    assert len(lines) == 2
    assert page(client, "/lifecycle/plans/?state=DONE&format=csv").count("\n") == 1
    assert "No drop plan yet" not in page(client, "/lifecycle/plans/")


def test_an_owner_sees_only_their_part_of_a_plan(world: World) -> None:
    plan = world.plan()
    plan.tables.create(
        lake=LAKE, db="hr", table="people", tbl_id=9, owner="zoe", n_items=7, digest="d"
    )
    DropPlan.objects.filter(pk=plan.pk).update(n_tables=2)
    text = page(client_of(world, "alice"), url_of(plan))
    assert "hr.people" not in text
    assert "You see your part of the plan" in text
    page(client_of(world, "alice"), url_of(plan, "hr/people/"), 404)
    assert "hr.people" in page(client_of(world, "bert"), url_of(plan))


def test_a_plan_is_made_from_a_previewed_choice(world: World) -> None:
    client = client_of(world, "otto")
    assert "sales.orders" in page(client, "/lifecycle/plans/new/")
    text = page(client, "/lifecycle/plans/new/?databases=sales")
    assert "Create the plan for 3 items" in text
    body = {"databases": ["sales"], "reason": "old"}
    response = client.post("/lifecycle/plans/new/", body)
    plan = world.drawn(DropPlan.objects.get())
    assert response["Location"] == url_of(plan)
    assert plan.left_out == {"SOON": 1}
    assert "Due soon" in page(client, url_of(plan))
    page(client_of(world, "alice"), "/lifecycle/plans/new/", 403)
    assert client_of(world, "alice").post("/lifecycle/plans/new/", body).status_code == 403


def test_progress_polls_while_the_plan_lives_and_reloads_on_change(world: World) -> None:
    plan = world.plan()
    client = client_of(world, "bert")
    assert "every 5s" in page(client, url_of(plan, "progress/?was=PENDING"))
    assert "HX-Refresh" not in client.get(url_of(plan, "progress/?was=PENDING"))
    assert client.get(url_of(plan, "progress/?was=DRAFTING"))["HX-Refresh"] == "true"
    DropPlan.objects.update(state="REJECTED")
    assert "every 5s" not in page(client, url_of(plan, "progress/?was=REJECTED"))


def test_an_owner_asks_for_clean_now_and_admins_see_it(world: World) -> None:
    body = {"db": "sales", "table": "orders", "reason": "not needed"}
    assert client_of(world, "eve").post("/lifecycle/wishes/new/", body).status_code == 404
    assert client_of(world, "anna").post("/lifecycle/wishes/new/", body).status_code == 403
    assert client_of(world, "alice").post("/lifecycle/wishes/new/", body).status_code == 302
    wish = DeletionRequest.objects.get()
    assert "not needed" in page(client_of(world, "anna"), "/lifecycle/plans/new/")
    assert "not needed" in page(client_of(world, "alice"), "/lifecycle/wishes/")
    assert "not needed" not in page(client_of(world, "eve"), "/lifecycle/wishes/")
    close = f"/lifecycle/wishes/{wish.pk}/close/"
    assert client_of(world, "eve").post(close, {"reason": "x"}).status_code == 404
    assert client_of(world, "otto").post(close, {"reason": "x"}).status_code == 403
    assert client_of(world, "anna").post(close, {"reason": ""}).status_code == 400
    assert client_of(world, "anna").post(close, {"reason": "still read"}).status_code == 302
    assert client_of(world, "alice").post(close, {"reason": "x"}).status_code == 409


def test_the_tables_page_offers_clean_now_to_its_owners_only(world: World) -> None:
    url = reverse("lifecycle:policy", args=["sales", "orders"])
    offered = {
        name: "Request deletion now" in page(client_of(world, name), url)
        for name in ("alice", "dora", "anna")
    }
    assert offered == {"alice": True, "dora": True, "anna": False}


def test_home_tells_who_has_something_to_do(world: World) -> None:
    world.plan()
    assert "Drop plans to decide" in page(client_of(world, "bert"), "/")
    maker = page(client_of(world, "anna"), "/")
    assert "My open plans" in maker
    assert "Drop plans to decide" not in maker
    assert "Drop plans to decide" not in page(client_of(world, "alice"), "/")


def test_a_name_with_markup_is_shown_as_text(world: World) -> None:
    plan = world.plan()
    DropPlan.objects.update(reason="<script>alert(1)</script>")
    text = page(client_of(world, "bert"), url_of(plan))
    assert "<script>alert(1)</script>" not in text
    assert "&lt;script&gt;" in text


def test_a_database_says_which_plans_stop_before_it_leaves_act(world: World) -> None:
    DatabaseFinding.objects.get_or_create(
        generation=TableFinding.objects.latest("pk").generation, lake=LAKE, db="sales"
    )
    stops = "that have not run yet: 1. They do not start then"
    assert stops not in page(client_of(world, "bert"), "/lifecycle/databases/sales/")
    world.plan()
    assert stops in page(client_of(world, "bert"), "/lifecycle/databases/sales/")
