"""Tests the log of a run: filtered by level and words, downloaded whole, and in the API."""

from datetime import UTC, datetime, timedelta

import pytest

from portal.runs.models import Run, RunEvent
from tests.component.conftest import LAKE, People
from tests.component.portal.ui.test_home_pictures import client_of

pytestmark = pytest.mark.usefixtures("lake")
AT = datetime(2026, 11, 20, 9, tzinfo=UTC)


@pytest.fixture
def run(people: People) -> Run:
    made = Run.objects.create(
        lake=LAKE, kind="x.y", state="FAILED", requested_by="olga", queued_at=AT
    )
    for n, (level, text) in enumerate(
        [
            ("info", "Begun"),
            ("warning", "Slow <b>disk</b>"),
            ("error", "Disk lost"),
            ("info", "End"),
        ]
    ):
        RunEvent.objects.create(
            run=made, seq=n + 1, at=AT + timedelta(seconds=n), level=level, text=text
        )
    return made


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("", ["Begun", "Slow", "Disk lost", "End"]),
        ("?level=warning", ["Slow", "Disk lost"]),
        ("?level=error", ["Disk lost"]),
        ("?text=DISK", ["Slow", "Disk lost"]),
        ("?level=error&text=slow", []),
        ("?level=loud", []),
    ],
)
def test_the_page_shows_the_lines_of_the_filter(
    people: People, run: Run, query: str, shown: list[str]
) -> None:
    page = client_of(people.owner).get(f"/runs/{run.pk}/{query}").content.decode()
    log = page.partition("<h2>Log</h2>")[2]
    assert [text for text in ("Begun", "Slow", "Disk lost", "End") if text in log] == shown
    assert ("No line fits this filter" in log) == (not shown)
    assert "<b>disk</b>" not in log


def test_the_whole_log_is_a_file(people: People, run: Run) -> None:
    answer = client_of(people.owner).get(f"/runs/{run.pk}/log/")
    text = answer.getvalue().decode()
    assert text.splitlines()[0] == "2026-11-20T09:00:00+00:00 INFO Begun"
    assert len(text.splitlines()) == 4
    assert f'filename="run-{run.pk}.log"' in answer["Content-Disposition"]
    assert client_of(people.stranger).get(f"/runs/{run.pk}/log/").status_code == 404


def test_the_api_lists_the_same(people: People, run: Run) -> None:
    client = client_of(people.owner)
    found = client.get(f"/api/v1/runs/{run.pk}/lines/?level=warning").json()["results"]
    assert [line["text"] for line in found] == ["Disk lost", "Slow <b>disk</b>"]
    assert client.get(f"/api/v1/runs/{run.pk}/lines/?level=loud").status_code == 400
    assert client_of(people.stranger).get(f"/api/v1/runs/{run.pk}/lines/").status_code == 404
