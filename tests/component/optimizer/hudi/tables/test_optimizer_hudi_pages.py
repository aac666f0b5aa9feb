"""Tests the pages of Hudi tables: what they show, to whom, under which filter, at which cost."""

import csv
import re
import zlib
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from optimizer.hudi.inspect.domain.facts import TableType
from optimizer.hudi.pages.ui.tables import HUDI_TABLES
from optimizer.hudi.tables.selectors.resident import RESIDENT
from optimizer.models import StoredInspection
from portal.access.models import User
from portal.runs.models import Run
from tests.component.conftest import People
from tests.component.optimizer.hudi.hudi_shown import NOW, healthy, hudi, ill, points, wide
from tests.component.whole.test_page_costs import just_seen
from tests.unit.optimizer.hudi.hudi_world import look, name, table

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake", "clock")]
HUDI = "/optimizer/hudi/"
TABS = ("", "timeline/", "files/", "services/", "tasks/", "settings/")
FEW, MANY = 3, 20


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let it be the hour of the looks, whose instants have their times in their names."""
    monkeypatch.setattr("django.utils.timezone.now", lambda: NOW)


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def page(user: User, address: str) -> str:
    answer: Any = client_of(user).get(address)
    assert answer.status_code == 200, answer.content[:400]
    return str(answer.content.decode())


def rows_of(user: User, address: str) -> list[dict[str, str]]:
    glue = "&" if "?" in address else "?"
    answer: Any = client_of(user).get(f"{address}{glue}format=csv")
    return list(csv.DictReader(StringIO(b"".join(answer).decode())))


def named(user: User, query: str = "") -> list[str]:
    return [row["table"] for row in rows_of(user, f"{HUDI}?{query}")]


def test_the_worst_table_comes_first_with_what_is_wrong(people: People) -> None:
    hudi("well", seen=healthy())
    points(hudi("ill", seen=ill()), [96, 60, 22])
    hudi("unseen", inspection_error="Permission denied.")
    assert named(people.admin) == ["ill", "well", "unseen"]
    assert named(people.admin, "sort=-critical")[0] == "ill"
    assert named(people.admin, "sort=stale")[0] == "ill"
    text = page(people.admin, HUDI)
    for words in (
        "1 table has critical findings",
        "3 critical",
        "2 stuck",
        "damage",
        "Merge on read",
        "Trend: from 96 on",
        "Permission denied.",
    ):
        assert words in text, words
    assert "Hudi tables with critical findings" in page(people.admin, "/")
    assert "Hudi tables with critical findings" not in page(people.stranger, "/")


def test_filters_of_tables(people: People) -> None:
    cow = healthy(table=table(table_type=TableType.COPY_ON_WRITE))
    hudi("ill", seen=ill())
    hudi("well", seen=healthy(), db="other", is_paused=True)
    hudi("cow", seen=cow)
    hudi("unseen", inspection_error="Permission denied.")
    hudi("gone", seen=healthy(), is_deleted=True, owner="paul")
    for query, wanted in (
        ("", {"ill", "well", "cow", "unseen"}),
        ("show=findings", {"ill"}),
        ("show=critical", {"ill"}),
        ("show=pending", {"ill"}),
        ("show=stale", {"ill"}),
        ("show=stuck", {"ill"}),
        ("show=paused", {"well"}),
        ("show=problem", {"unseen"}),
        ("show=gone", {"gone"}),
        ("band=POOR", {"ill"}),
        ("band=UNKNOWN", {"unseen"}),
        ("table_type=COPY_ON_WRITE", {"cow"}),
        ("db=oth", {"well"}),
        ("table=c", {"cow"}),
        ("owner=paul&show=gone", {"gone"}),
    ):
        assert set(named(people.admin, query)) == wanted, query
    assert "No table fits this filter" in page(people.admin, f"{HUDI}?db=nothing")


def test_everybody_sees_their_own_tables_only(people: People) -> None:
    mine, theirs = hudi("mine", seen=ill()), hudi("theirs", seen=ill(), owner="paul")
    assert named(people.owner) == ["mine"]
    assert named(people.stranger) == []
    assert "No Hudi table of yours is known yet" in page(people.stranger, HUDI)
    client = client_of(people.owner)
    for tab in TABS:
        assert client.get(f"{HUDI}{mine.pk}/{tab}").status_code == 200
        assert client.get(f"{HUDI}{theirs.pk}/{tab}").status_code == 404
    for number in (0, 2**63, 10**40):
        assert client.get(f"{HUDI}{number}/").status_code == 404


def test_the_first_tab_says_what_is_wrong_by_which_evidence(people: People) -> None:
    row = hudi(seen=ill())
    points(row, [96, None, 22])
    text = page(people.owner, f"{HUDI}{row.pk}/")
    for words in (
        "1 block of logs cannot be read",
        "Corrupt log blocks",
        "id:7",  # a key that stands twice
        "Lost base file",
        "Stuck instant",
        "Health over time",
        "Hours that the read-optimized view lay behind",
        "Give both the same hoodie.write.lock.provider",
    ):
        assert words in text, words
    assert "Not covered by this inspection" not in text
    row.stored_look.packed = StoredInspection.pack(ill(has_read_logs=False, has_read_keys=False))
    row.stored_look.save()
    text = page(people.owner, f"{HUDI}{row.pk}/")
    for words in ("Not covered by this inspection", "Record keys were not compared"):
        assert words in text, words
    assert "Corrupt log blocks" in text, "what is known of them stands for all that"


def test_a_table_that_nobody_can_judge_says_so(people: People) -> None:
    old = hudi("old", seen=look(table=table(version=6, layout_version=1)))
    broken = hudi("broken", seen=ill(table=table(faults=("deltacommit 1 is empty.",))))
    unseen = hudi("unseen")
    torn = hudi("torn", seen=healthy())
    StoredInspection.objects.filter(table=torn).update(packed=zlib.compress(b"{}"))
    for row, words in (
        (old, "Its version is not supported."),
        (broken, "deltacommit 1 is empty."),
        (unseen, "Not inspected yet"),
        (torn, "inspect the table again"),
    ):
        for tab in TABS:
            text = page(people.admin, f"{HUDI}{row.pk}/{tab}")
        assert words in page(people.admin, f"{HUDI}{row.pk}/"), row.table
        assert "This inspection found no problems" not in text
    assert "cannot be evaluated" in page(people.admin, HUDI)


def test_the_timeline_shows_every_instant_with_its_times(people: People) -> None:
    row = hudi(seen=ill())
    address = f"{HUDI}{row.pk}/timeline/"
    found = rows_of(people.owner, address)
    assert [one["instant"] for one in found][:2] == [name(170), name(160)]
    assert len(found) == 10
    for query, wanted in (
        ("?state=stuck", [name(150), name(140)]),
        ("?state=requested", [name(170), name(130), name(120)]),
        ("?action=clustering", [name(140)]),
        ("?where=archived", [name(1)]),
        (f"?instant={name(150)[:-3]}", [name(150)]),
        ("?state=pending&action=clean", [name(170)]),
        ("?state=nonsense", []),
    ):
        assert [one["instant"] for one in rows_of(people.owner, address + query)] == wanted, query
    text = page(people.owner, address)
    for words in (
        "Instants from request to completion",
        "1 of them from the archived timeline",
        "etl_user",
        "last heartbeat",
        '<th scope="row">' + name(170),
    ):
        assert words in text, words
    assert "No instant fits this filter" in page(people.owner, f"{address}?action=savepoint")


def test_file_groups_are_told_by_what_holds_them(people: People) -> None:
    row = hudi(seen=ill())
    address = f"{HUDI}{row.pk}/files/"
    for query, wanted in (
        ("", ["a", "d", "c", "g", "f", "b"]),
        ("?flag=damaged", ["d", "f"]),
        ("?flag=log-only", ["d", "c", "g"]),
        ("?flag=planned", ["a", "f", "b"]),
        (f"?plan={name(140)}", ["f"]),
        ("?flag=unplanned&sort=name", ["c", "d", "g"]),
        ("?flag=small", ["a", "b"]),
        ("?partition=nothing", []),
        ("?file_id=g", ["g"]),
    ):
        found = rows_of(people.owner, address + query)
        assert [one["file_id"] for one in found] == wanted, query
    text = page(people.owner, address)
    for words in (
        "Base files by size",
        '<th scope="row">8-32 MiB</th><td class="lw-num">1</td>',
        "its base file is not read any more",
        "holds rows of an instant that never completed; a block of its logs cannot be read",
    ):
        assert words in text, words


def test_a_wide_look_is_paged_and_its_pictures_stay_small(people: People) -> None:
    row = hudi(seen=wide(5_000))
    client, shown, after = client_of(people.owner), [], ""
    for _ in range(3):
        context = client.get(f"{HUDI}{row.pk}/files/", {"after": after, "sort": "name"}).context
        shown += [one.key for one in context["page"].rows]
        after = context["page"].next_cursor
    assert len(shown) == len(set(shown)) == 150
    assert shown == sorted(shown)
    back = client.get(f"{HUDI}{row.pk}/files/", {"before": shown[100], "sort": "name"}).context[
        "page"
    ]
    assert [one.key for one in back.rows] == shown[50:100]
    anew = client.get(f"{HUDI}{row.pk}/files/", {"after": "gone", "sort": "name"}).context["page"]
    assert [one.key for one in anew.rows] == shown[:50]
    text = page(people.owner, f"{HUDI}{row.pk}/timeline/")
    assert "the newest 200 of 600, pending ones first" in text
    assert len(re.findall(r'<th scope="row">', text)) == 200


def test_the_policy_tab_says_who_says_what(people: People) -> None:
    row = hudi(seen=healthy())
    text = page(people.owner, f"{HUDI}{row.pk}/settings/")
    for words in ("Shared lock", "300 MiB", "default for etl"):
        assert words in text, words


def test_pages_ask_as_much_for_many_as_for_few(people: People) -> None:
    def grow(first: int, last: int) -> None:
        for n in range(first, last):
            points(hudi(f"t{n}", seen=ill(), now=NOW - timedelta(minutes=n)), [90, 80])

    client = client_of(people.admin)
    grow(0, FEW)
    addresses = (HUDI, f"{HUDI}?show=critical", f"{HUDI}?sort=stale")
    for address in addresses:
        client.get(address)
    few = {address: statements(client, address) for address in addresses}
    grow(FEW, MANY)
    assert {address: statements(client, address) for address in addresses} == few
    narrow, broad = hudi("narrow", seen=wide(10)), hudi("broad", seen=wide(3_000))
    for tab in TABS:
        asked = [statements(client, f"{HUDI}{row.pk}/{tab}") for row in (narrow, broad)]
        # Two of them ask whether the catalog has the table's page, and one who reads its changes.
        assert asked[0] == asked[1] <= 19, tab


def test_a_view_that_is_hardly_behind_is_drawn_in_minutes(people: People) -> None:
    row = hudi(seen=healthy())
    points(row, [96, 95])
    assert "Minutes that the read-optimized view lay behind" in page(
        people.owner, f"{HUDI}{row.pk}/"
    )


def test_a_table_with_which_a_service_stays_says_so(people: People) -> None:
    row = hudi("near", seen=healthy(), is_continuous=True)
    address = f"{HUDI}{row.pk}/services/"
    assert "none runs now" in page(people.owner, address)
    run = Run.objects.create(
        lake=row.lake, kind=RESIDENT, state="RUNNING", requested_by="schedule", queued_at=NOW,
        submitted_at=NOW - timedelta(hours=2), progress_n=1,
    )  # fmt: skip
    assert "A service stays with this table" in page(people.owner, address)
    assert f"/runs/{run.pk}/" in page(people.admin, address)
    assert f"/runs/{run.pk}/" not in page(people.owner, address)
    well = hudi("well", seen=healthy())
    assert "service stays" not in page(people.admin, f"{HUDI}{well.pk}/services/")


def statements(client: Client, address: str) -> int:
    just_seen(client)
    with CaptureQueriesContext(connection) as caught:
        assert client.get(address).status_code == 200, address
    return len(caught)


def test_names_and_words_are_shown_as_text(people: People) -> None:
    evil = "<script>alert(1)</script>\"'"
    seen = ill(table=table(faults=(evil,)))
    said = {"service": "CLEAN", "step": "EXECUTE", "code": "task", "reason": evil}
    row = hudi(evil, seen=seen, decision=evil, decisions=[said], inspection_error=evil, owner=evil,
               is_paused=True, paused_by=evil, paused_reason=evil)  # fmt: skip
    for address in (HUDI, *(f"{HUDI}{row.pk}/{tab}" for tab in TABS)):
        assert "<script>alert" not in page(people.admin, address), address


def test_a_laptop_shows_what_is_done_without_scrolling() -> None:
    shown = [one.title for one in HUDI_TABLES.columns if one.shown_from != "desktop"]
    assert shown[-1] == "Current and planned work"
    assert "Trend" not in shown
    assert "Last write, last inspection" not in shown
