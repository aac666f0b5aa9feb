"""Below `hx-boost` only links of the page itself stand: one that leaves it would swap in nothing.

htmx takes `#list` or `#list-area` out of the answer, so a link to another page, or to a file,
would leave the address changed and the list gone.
"""

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import parse_qs, urljoin, urlsplit

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from lifecycle.models import Enrollment, EnrollmentItem, PathFinding, ScanSnapshot
from portal.access.models import User
from portal.connectors.lake_config import LakeConfig
from tests.component.conftest import LAKE, NOW, People
from tests.component.lifecycle.fix_world import drawn_fix, stray_findings
from tests.component.lifecycle.plan_world import make_world, partitions
from tests.component.lifecycle.scanned import scan, set_mode

pytestmark = pytest.mark.django_db(transaction=True)
VOID = frozenset({"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source"})


class _Links(HTMLParser):
    """The links of a page, each with whether htmx would boost it."""

    def __init__(self) -> None:
        super().__init__()
        self.boosts: list[bool] = [False]
        self.boosted: list[str] = []
        self.plain: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = dict(attrs)
        boost = said["hx-boost"] == "true" if "hx-boost" in said else self.boosts[-1]
        if tag == "a" and said.get("href"):
            (self.boosted if boost else self.plain).append(str(said["href"]))
        if tag not in VOID:
            self.boosts.append(boost)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            self.boosts.pop()


def links_of(client: Client, url: str) -> _Links:
    answer = client.get(url)
    assert answer.status_code == 200, url
    found = _Links()
    found.feed(answer.content.decode())
    assert found.boosts == [False], "the parser lost count of the elements"
    return found


def leaving(url: str, links: list[str]) -> list[str]:
    """Return the links that do not come back to the page as a page."""
    to = [(link, urlsplit(urljoin(url, link))) for link in links]
    here = urlsplit(url).path
    return [link for link, at in to if at.path != here or "format" in parse_qs(at.query)]


def check(client: Client, url: str, row_link: str) -> None:
    links = links_of(client, url)
    assert links.boosted, "sorting is boosted"
    assert leaving(url, links.boosted) == []
    assert any(row_link in link for link in links.plain), "the rows have links"
    assert any("format=csv" in link for link in links.plain)


def test_a_drop_plan_has_no_boosted_link_out(tmp_path: Path, settings: Settings) -> None:
    settings.LAKEWARDEN_LAKES = tmp_path / "lakes.json"
    world = make_world(tmp_path)
    world.scan(partitions(3))
    plan, client = world.plan(), Client()
    client.force_login(world.person("bert"))
    check(client, f"/lifecycle/plans/{plan.pk}/", f"/lifecycle/plans/{plan.pk}/")


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def generation(lake: LakeConfig, people: People) -> ScanSnapshot:
    """A picture in which one database may be written to."""
    found = scan(lake, now=NOW)
    set_mode("sales", "ACT")
    return found


def test_an_enrolment_has_no_boosted_link_out(generation: ScanSnapshot, people: People) -> None:
    found = Enrollment.objects.create(
        lake=LAKE,
        level=1,
        ttl=60,
        n_tables=1,
        state="DONE",
        digest="0" * 64,
        generation=generation,
        requested_by="olga",
        reason="old logs",
        created_at=NOW,
        ended_at=NOW,
    )
    EnrollmentItem.objects.create(enrollment=found, db="sales", table="orders", tbl_id=1)
    check(signed_in(people.admin), f"/lifecycle/enrolments/{found.pk}/", "sales/orders")


def test_a_fix_plan_has_no_boosted_link_out(generation: ScanSnapshot, people: People) -> None:
    PathFinding.objects.all().delete()
    stray_findings(generation, owner="olga", db_owner="dora")
    fix = drawn_fix(list(PathFinding.objects.all()), user=people.admin, now=NOW)
    check(signed_in(people.admin), f"/lifecycle/path-fixes/{fix.pk}/", "/lifecycle/")
