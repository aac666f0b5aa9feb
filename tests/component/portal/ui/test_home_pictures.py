"""Tests the pictures of the home page: who gets which, what they draw, and one that fails."""

import re
from collections.abc import Iterator
from datetime import timedelta
from html import unescape

import pytest
from django.http import HttpRequest
from django.test import Client
from django.utils import timezone

from portal.access.models import User
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import ExternalFailure
from portal.runs.models import Run
from portal.ui import home_pictures
from portal.ui.charts.figures import Chart
from portal.ui.home_pictures import Picture, register_picture
from tests.component.conftest import LAKE, People

pytestmark = pytest.mark.usefixtures("lake")


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def picture(client: Client, key: str, *, is_part: bool = True) -> str:
    headers = {"HX-Request": "true"} if is_part else {}
    answer = client.get(f"/home/pictures/{key}/?lake={LAKE}", headers=headers)
    assert answer.status_code == 200, answer.content
    return answer.content.decode()


def table_of(page: str) -> dict[str, list[str]]:
    """Return the data table of a picture: the label of each row, and its cells."""
    rows = re.findall(r'<tr><th scope="row">(.*?)</th>(.*?)</tr>', page)
    cells = {label: re.findall(r"<td[^>]*>(.*?)</td>", row) for label, row in rows}
    return {
        unescape(label): [re.sub(r"<[^>]+>", "", cell).strip() for cell in row]
        for label, row in cells.items()
    }


def run(state: str, *, hours_ago: int, by: str = "olga") -> None:
    at = timezone.now() - timedelta(hours=hours_ago)
    Run.objects.create(lake=LAKE, kind="x.y", state=state, requested_by=by, queued_at=at)


@pytest.fixture
def failing() -> Iterator[None]:
    def make(_: HttpRequest) -> Chart | None:
        raise ExternalFailure(
            "metastore.silent", "The metastore did not answer.", service="x", retryable=True
        )

    register_picture(Picture("failing", "Fails", 1, make, lambda _: "/"))
    yield
    del home_pictures._pictures["failing"]


def test_home_names_the_pictures_of_a_role_and_does_not_draw_them(people: People) -> None:
    of_owner = client_of(people.owner).get("/").content.decode()
    of_admin = client_of(people.admin).get("/").content.decode()
    keys = re.findall(r'hx-get="/home/pictures/([\w-]+)/\?lake=main"', of_admin)
    assert {"due-by-week", "classes", "purges", "front-ends", "file-health"} < set(keys)
    assert "runs-by-hour" not in of_owner
    assert "data-lw-chart" not in of_admin


def test_a_picture_of_another_role_or_of_no_name_is_not_found(people: People) -> None:
    for key in ("runs-by-hour", "nothing"):
        assert client_of(people.owner).get(f"/home/pictures/{key}/").status_code == 404


def test_the_hours_count_runs_by_what_became_of_them(people: People) -> None:
    for state, hours_ago in (("DONE", 1), ("DONE", 1), ("FAILED", 1), ("RUNNING", 0), ("DONE", 30)):
        run(state, hours_ago=hours_ago)
    rows = table_of(picture(client_of(people.admin), "runs-by-hour"))
    assert len(rows) == 24
    assert list(rows.values())[-2:] == [["2", "1", "0"], ["0", "0", "1"]]


def test_without_rows_it_says_so(people: People) -> None:
    assert "nothing to draw yet" in picture(client_of(people.admin), "runs-by-hour")


def test_without_javascript_a_picture_is_a_page(people: People, lake: LakeConfig) -> None:
    run("DONE", hours_ago=1)
    page = picture(client_of(people.admin), "runs-by-hour", is_part=False)
    assert "<h1>Jobs of the last 24 hours</h1>" in page


def test_one_that_fails_leaves_the_page_and_the_others(people: People, failing: None) -> None:
    client = client_of(people.admin)
    assert client.get("/").status_code == 200
    assert client.get("/home/pictures/failing/").status_code == 502
    assert "nothing to draw yet" in picture(client, "purges")
