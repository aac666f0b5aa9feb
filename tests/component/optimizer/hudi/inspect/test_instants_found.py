"""An instant is found by its id, by those who may see its table, while the timeline has it."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.test import Client

from optimizer.hudi.inspect.selectors.instants import instants_found
from optimizer.models import HudiInstant
from portal.connectors.lake_config import LakeConfig
from tests.component.conftest import LAKE, People
from tests.component.optimizer.hudi.hudi_looked import LookedHudi
from tests.component.optimizer.hudi.hudi_rows import hudi
from tests.unit.optimizer.hudi.hudi_world import NOW, asked, begun, done, look, name

pytestmark = pytest.mark.django_db
LATER = NOW + timedelta(minutes=1)


def test_an_instant_is_found_by_its_whole_id(lake: LakeConfig, people: People) -> None:
    clicks = hudi("clicks", now=NOW - timedelta(hours=1))
    LookedHudi(lake, clicks).found(clicks, look(done(0), begun(10), asked(20))).taken_in(LATER)
    (hit,) = instants_found(people.owner, LAKE, f" {name(10)} ", 8)
    assert hit.title == f"Instant {name(10)}"
    assert hit.detail == "shop.clicks, deltacommit, Inflight"
    assert hit.url.startswith("/tables/shop/clicks/files/timeline/?")
    assert f"instant={name(10)}" in hit.url
    for text in (f"{name(10)}.deltacommit.inflight", f"{name(10)}_{name(11)}.deltacommit"):
        assert instants_found(people.owner, LAKE, text, 8) == [hit], text
    assert instants_found(people.stranger, LAKE, name(10), 8) == []
    assert instants_found(people.owner, "other", name(10), 8) == []
    arabic = name(10).replace("2", "\u0662")
    for text in (name(10)[:-1], name(11), f"x{name(10)}", "clicks", "", arabic, "9" * 300):
        assert instants_found(people.owner, LAKE, text, 8) == [], text


def test_instants_follow_the_timeline_and_an_unchanged_one_is_not_written_again(
    lake: LakeConfig,
) -> None:
    clicks = hudi("clicks", now=NOW - timedelta(hours=1))
    LookedHudi(lake, clicks).found(clicks, look(done(0), begun(10), asked(20))).taken_in(LATER)
    kept = {one.instant: one.pk for one in HudiInstant.objects.all()}
    assert kept.keys() == {name(0), name(10), name(20)}
    later = replace(look(done(10), asked(20), asked(30)), inspected_at=LATER)
    LookedHudi(lake, clicks).found(clicks, later).taken_in(LATER + timedelta(minutes=1))
    rows = {one.instant: one for one in HudiInstant.objects.all()}
    assert {one.instant: one.state for one in rows.values()} == {
        name(10): "completed",
        name(20): "requested",
        name(30): "requested",
    }
    assert rows[name(20)].pk == kept[name(20)]


def test_two_tables_with_the_same_instant_are_both_found(lake: LakeConfig, people: People) -> None:
    at = NOW - timedelta(hours=1)
    rows = [hudi(one, now=at) for one in ("carts", "clicks")]
    looked = LookedHudi(lake, *rows)
    for row in rows:
        looked.found(row, look(done(0)))
    looked.taken_in(LATER)
    found = instants_found(people.admin, LAKE, name(0), 8)
    assert [one.detail.split(",")[0] for one in found] == ["shop.carts", "shop.clicks"]
    assert len(instants_found(people.admin, LAKE, name(0), 1)) == 1


def test_the_search_finds_instants_and_its_address_shows_only_that_one(
    lake: LakeConfig, people: People, client: Client
) -> None:
    clicks = hudi("clicks", now=NOW - timedelta(hours=1))
    LookedHudi(lake, clicks).found(clicks, look(done(0), begun(10))).taken_in(LATER)
    client.force_login(people.owner)
    groups = client.get(f"/api/v1/search/?q={name(10)}").json()["groups"]
    (group,) = [one for one in groups if one["key"] == "hudi_instants"]
    assert group["title"] == "Instants"
    page = client.get(group["hits"][0]["url"], follow=True).content.decode()
    assert name(10) in page
    assert name(0) not in page
