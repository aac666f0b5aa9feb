"""Who may define a materialization, when it is refreshed, and what a refresh leaves."""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from pipelines.commits.domain.positions import Position
from pipelines.materialized.domain.costs import Past
from pipelines.materialized.domain.messages import RESULTS, Refreshed, read_request
from pipelines.materialized.run_kinds import MaterializeKind
from pipelines.materialized.selectors.materializations import get_materialization_for_user
from pipelines.materialized.selectors.uses import Uses, days_of, uses_of
from pipelines.materialized.services.definitions import (
    Wanted,
    materialization_create,
    materialization_delete,
    materialization_edit,
    materialization_pause,
)
from pipelines.materialized.services.events import FOLLOWER
from pipelines.materialized.services.requests import (
    KIND,
    refresh_request,
    refreshes_due,
    request_of,
)
from pipelines.materialized.services.results import refreshes_failed, refreshes_take
from pipelines.models import Layer, Materialization, MaterializationRefresh
from portal.access.gauges import all_gauges
from portal.access.models import DatabaseAdministrator, User
from portal.audit.models import AuditEvent
from portal.catalog.services.change_readers import change_readers_of
from portal.catalog.services.stored_aggregates import aggregate_answered
from portal.catalog.services.table_commits import commits_noticed
from portal.events.messages import LakeEvent
from portal.events.registry import Missed
from portal.lake.errors import NotAllowed, PortalError, RuleViolation, StaleState
from portal.lake.ids import LakeId
from portal.lake.names import TableName
from portal.runs.models import Run
from portal.runs.records.spools import new_spool, open_spool
from portal.ui.selectors import audit_for_user, events_of_table
from tests.component.conftest import People
from tests.support.materialized_lake import SQL, MaterializedLake

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 21, 2, 0, tzinfo=UTC)
DISTINCT = "count(DISTINCT id) AS k"
OTHER = SQL.replace("count(*)", "max(id)")


def create(user: User, name: str = "marts.days", sql: str = SQL, **other: Any) -> Materialization:
    return materialization_create("main", name, Wanted(sql, **other), user=user, now=NOW)


def edit(row: Materialization, user: User, sql: str = OTHER, version: int = 0) -> None:
    materialization_edit(row, Wanted(sql, 5), version=version, user=user, now=NOW)


def took(row: Materialization, run: Run, **said: Any) -> Materialization:
    """Take in the result of a run as the program writes it."""
    if not run.spool:
        spool = new_spool(run)
        spool.create()
        run.spool = str(spool.root)
        run.save(update_fields=["spool"])
    spool = open_spool(run)
    place = spool.results.child(RESULTS)
    spool.fs.make_directories(place, mode=0o700)
    found = Refreshed(row.pk, **{"state": "done", "way": "full", **said})
    spool.fs.replace(place.child(f"{row.pk}.json"), msgspec.json.encode(found))
    refreshes_take(run, now=NOW + timedelta(minutes=1))
    row.refresh_from_db()
    return row


def test_people_define_over_what_they_see_in_databases_of_theirs(
    hive: MaterializedLake, people: People
) -> None:
    row = create(people.owner)
    assert (str(row), row.location) == ("marts.days", "file:/lake/marts.db/days")
    assert create(people.owner).pk == row.pk, "the same again changes nothing"
    actions = list(AuditEvent.objects.values_list("action", flat=True))
    assert actions == ["materialized.created"]


@pytest.mark.parametrize(
    ("who", "name", "sql", "code"),
    [
        ("stranger", "marts.days", SQL, "materialized.source"),
        ("owner", "marts.days", SQL.replace("orders", "secret"), "materialized.source"),
        ("operator", "marts.days", SQL, "materialized.rows"),
        ("owner", "marts.days", SQL.replace("orders", "nope"), "materialized.source"),
        ("owner", "marts.days", SQL.replace("orders", "files"), "materialized.source"),
        ("owner", "shop.days", SQL, "materialized.database"),
        ("owner", "nope.days", SQL, "materialized.database"),
        ("owner", "marts.taken", SQL, "materialized.taken"),
        ("owner", "marts.layered", SQL, "materialized.taken"),
        ("owner", "days", SQL, "name.table"),
        ("owner", "marts.days", f"{SQL} HAVING count(*) > 1", "materialized.definition"),
    ],
)
def test_what_may_not_be_defined_says_why(
    hive: MaterializedLake, people: People, who: str, name: str, sql: str, code: str
) -> None:
    hive.made["taken"] = "file:/somewhere"
    Layer.objects.create(
        **{"lake": "main", "db": "marts", "table": "layered", "definition": {}, "set_by": "ada"},
        **{"location": "file:/layered", "set_at": NOW, "next_at": NOW},
    )
    with pytest.raises(PortalError) as refused:
        create(getattr(people, who), name, sql)
    assert refused.value.code == code
    assert not Materialization.objects.exists()


def test_a_definition_is_changed_by_version_and_read_by_the_rights_of_who_changed_it(
    hive: MaterializedLake, people: People
) -> None:
    row = create(people.owner)
    with pytest.raises(RuleViolation, match="already"):
        create(people.admin)
    edit(row, people.admin)
    with pytest.raises(StaleState):
        edit(row, people.owner)
    row.refresh_from_db()
    assert (row.owner, row.version, row.sql) == ("ada", 1, OTHER)
    for _ in range(2):
        materialization_pause(row, paused=True, user=people.admin, now=NOW)
    with pytest.raises(RuleViolation, match=r"Type marts\.days"):
        materialization_delete(row, typed="x", version=1, user=people.admin, now=NOW)
    materialization_delete(row, typed="marts.days", version=1, user=people.admin, now=NOW)
    actions = list(AuditEvent.objects.order_by("seq").values_list("action", flat=True))
    assert actions == [
        "materialized.created",
        "materialized.edited",
        "materialized.paused",
        "materialized.deleted",
    ]


def test_who_may_not_see_a_database_is_not_told_what_is_materialized_in_it(
    hive: MaterializedLake, people: People
) -> None:
    hive.owners["shop"] = "olga"
    create(people.owner, "shop.days")
    hive.owners["shop"] = "sam"
    for name in ("shop.days", "shop.free"):
        with pytest.raises(PortalError) as refused:
            create(people.owner, name, OTHER)
        assert refused.value.code == "materialized.database"


def test_a_definition_is_not_told_by_the_audit_log(hive: MaterializedLake, people: People) -> None:
    create(people.owner)
    DatabaseAdministrator.objects.create(lake="main", db="marts", username="stan")
    actions = audit_for_user(people.stranger, "main").values_list("action", flat=True)
    assert "materialized.created" not in actions
    assert not events_of_table("main", "marts", "days").exists()
    assert audit_for_user(people.owner, "main").filter(action="materialized.created").exists()


def test_what_is_due_is_refreshed_in_one_run(hive: MaterializedLake, people: People) -> None:
    first, second = create(people.owner), create(people.owner, "marts.others")
    assert refreshes_due("main", now=NOW) == 2
    assert refreshes_due("main", now=NOW + timedelta(hours=1)) == 0, "one has not ended"
    run = Run.objects.get(kind=KIND)
    orders = read_request(request_of(run)).orders
    assert [(one.table, one.is_full) for one in orders] == [("days", False), ("others", False)]
    assert orders[0].owner == str(first.identity)

    asked = refresh_request(first, is_full=True, by="olga", now=NOW + timedelta(minutes=1))
    assert refresh_request(first, is_full=False, by="olga", now=NOW).pk == asked.pk
    assert "refreshes first" in MaterializeKind().waits(asked, now=NOW)
    assert MaterializeKind().waits(run, now=NOW) == ""
    Run.objects.update(finished_at=NOW)
    assert MaterializeKind().waits(asked, now=NOW) == ""
    materialization_pause(second, paused=True, user=people.owner, now=NOW)
    assert refreshes_due("main", now=NOW + timedelta(minutes=14)) == 0
    assert refreshes_due("main", now=NOW + timedelta(minutes=15)) == 1


def test_commits_of_its_facts_refresh_it_but_not_more_often_than_its_pause(
    hive: MaterializedLake, people: People
) -> None:
    row = create(people.owner, on_commit=True, pause_minutes=5, every_minutes=60)
    other = create(people.owner, "marts.others")
    assert refreshes_due("main", now=NOW) == 2

    def hear(minutes: int, lake: str = "main", table: str = "orders") -> timedelta:
        now = NOW + timedelta(minutes=minutes)
        FOLLOWER.on_events([LakeEvent(lake, 1, now, "ALTER_TABLE", "shop", table)] * 3, now)
        row.refresh_from_db()
        return row.next_at - NOW

    hour = timedelta(minutes=60)
    assert hear(1, table="order") == hear(1, lake="other") == hour
    assert [hear(1), hear(2)] == [timedelta(minutes=5)] * 2, "it waits for the end of its pause"
    other.refresh_from_db()
    assert other.next_at - NOW == timedelta(minutes=15), "nobody asked for it by commits"
    assert refreshes_due("main", now=NOW + timedelta(minutes=6)) == 0, "the run has not ended"
    Run.objects.update(finished_at=NOW)
    assert refreshes_due("main", now=NOW + timedelta(minutes=6)) == 1
    assert refreshes_due("main", now=NOW + timedelta(minutes=7)) == 0
    assert hear(20) == timedelta(minutes=20), "its pause is long over"
    FOLLOWER.missed(Missed("main", "shop", "", "a hole"), NOW)
    Materialization.objects.update(next_at=NOW + hour, earliest_at=None)
    commits_noticed("main", [("shop", "orders")], now=NOW)
    row.refresh_from_db()
    assert row.next_at == NOW, "a scheduler said so, or a look at the table"
    for missed in ("nope", "sho", "shop"):
        Materialization.objects.update(next_at=NOW + hour, is_paused=False)
        FOLLOWER.missed(Missed("main", missed, "", "a hole"), NOW)
        row.refresh_from_db()
        assert (row.next_at == NOW) is (missed == "shop")


def test_a_pause_has_its_limits(hive: MaterializedLake, people: People) -> None:
    for wrong in (0, 60 * 24 * 31 + 1):
        with pytest.raises(RuleViolation, match="at most every 1 to"):
            create(people.owner, on_commit=True, pause_minutes=wrong)


def test_operators_copy_no_rows_that_they_may_not_see(
    hive: MaterializedLake, people: People
) -> None:
    row = create(people.owner)
    with pytest.raises(
        NotAllowed, match=r"rows of shop\.orders, which otto .* its owner olga"
    ) as no:
        edit(row, people.operator)
    assert (no.value.code, no.value.fields["table"]) == ("materialized.rows", "shop.orders")
    DatabaseAdministrator.objects.create(lake="main", db="shop", username="otto")
    edit(row, User.objects.get(username="otto"))
    DatabaseAdministrator.objects.all().delete()
    run = refresh_request(row, is_full=False, by="otto", now=NOW)
    assert read_request(request_of(run)).orders == (), "it is looked at before each refresh"
    row.refresh_from_db()
    assert row.problem_code == "materialized.rows"


def test_rights_that_ended_keep_it_from_being_refreshed(
    hive: MaterializedLake, people: People
) -> None:
    row = create(people.owner)
    run = refresh_request(row, is_full=False, by="olga", now=NOW)

    def problem() -> str:
        assert read_request(request_of(run)).orders == ()
        row.refresh_from_db()
        return row.problem_code

    hive.owner_of["orders"] = "sam"
    assert problem() == "materialized.source"
    hive.owner_of["orders"], hive.owners["marts"] = "olga", "sam"
    assert problem() == "materialized.database"
    hive.owners["marts"], hive.made["days"] = "olga", "file:/somewhere/else"
    assert problem() == "materialized.taken"
    hive.made["days"] = row.location
    assert len(read_request(request_of(run)).orders) == 1, "its own table is no other's"
    Materialization.objects.update(sql=f"SELECT dt, {DISTINCT} FROM shop.orders GROUP BY dt")
    hive.made["days_distinct"] = "file:/somewhere/else"
    assert problem() == "materialized.taken"
    with pytest.raises(RuleViolation, match=r"marts\.days_distinct"):
        edit(row, people.owner, SQL.replace("count(*) AS n", DISTINCT))
    hive.made["days_distinct"] = f"{row.location}__distinct"
    assert len(read_request(request_of(run)).orders) == 1
    User.objects.filter(username="olga").update(is_active=False)
    assert problem() == "materialized.owner"


def test_a_refresh_is_taken_in_once(hive: MaterializedLake, people: People) -> None:
    row = create(people.owner)
    run = refresh_request(row, is_full=False, by="olga", now=NOW)
    positions = {"shop.orders": Position("t", "7")}
    for _ in range(2):
        took(row, run, reason="New.", n_groups=3, seconds=1.5, positions=positions)
    assert (row.badge, row.way, row.n_groups, row.problem) == ("MATERIALIZED_FRESH", "full", 3, "")
    assert row.fresh_at == NOW, "what came after it was asked for may be missing"
    assert row.positions == {"shop.orders": {"table": "t", "commit": "7"}}
    assert MaterializationRefresh.objects.count() == 1

    Run.objects.update(finished_at=NOW)
    later = refresh_request(row, is_full=False, by="olga", now=NOW + timedelta(minutes=9))
    took(row, later, state="failed", code="commits.foreign_write", reason="Written.", way="")
    assert (row.badge, row.fresh_at, row.n_groups) == ("MATERIALIZED_PROBLEM", NOW, 3)
    assert row.problem == "Written."


@pytest.mark.parametrize(
    ("place", "commit", "since"),
    [
        # A writer in Berlin wrote it at one, one in UTC at two: nobody knows which it was.
        ("file:/lake/orders", "20261121020000000", NOW - timedelta(hours=1)),
        ("file:/lake/orders", "20261123020000000", NOW),
        ("9f0c-uuid", "8237482374823748237", NOW),
    ],
)
def test_the_facts_keep_what_a_refresh_needs_but_no_longer_than_readers_are_waited_for(
    hive: MaterializedLake,
    people: People,
    monkeypatch: pytest.MonkeyPatch,
    place: str,
    commit: str,
    since: datetime,
) -> None:
    row = create(people.owner)
    orders = TableName(LakeId("main"), "shop", "orders")
    assert change_readers_of(orders) == [], "it has read nothing yet"
    run = refresh_request(row, is_full=False, by="olga", now=NOW)
    took(row, run, positions={"shop.orders": Position(place, commit)})
    hold = timedelta(hours=72)
    for after, is_capped in ((hold, False), (hold + timedelta(minutes=1), True)):
        monkeypatch.setattr("django.utils.timezone.now", lambda after=after: NOW + after)
        (reader,) = change_readers_of(orders)
        assert (reader.name, reader.since) == (f"materialization {row.pk}", since)
        assert reader.is_capped is is_capped
        (gauge,) = [one for one in all_gauges() if one.name == "materialization_hold_capped"]
        assert list(gauge.samples()) == [({"lake": "main"}, float(is_capped))]
    materialization_pause(row, paused=True, user=people.owner, now=NOW)
    assert change_readers_of(orders) == [], "nobody waits for what is paused"


def test_answers_and_costs_are_summed_by_day(hive: MaterializedLake, people: People) -> None:
    row = create(people.owner)
    run = refresh_request(row, is_full=False, by="olga", now=NOW)
    for _ in range(2):
        took(row, run, all_bytes=1_000, changed_bytes=70, seconds=1.5)
    Run.objects.update(finished_at=NOW)
    again = refresh_request(row, is_full=False, by="olga", now=NOW)
    took(row, again, way="incremental", all_bytes=2_000, changed_bytes=70, seconds=2.5)
    aggregate_answered("main", "marts.days", now=NOW + timedelta(days=1))
    aggregate_answered("main", "marts.days", now=NOW + timedelta(days=1, hours=1))
    aggregate_answered("main", "marts.nope", now=NOW)
    aggregate_answered("other", "marts.days", now=NOW)
    later, first = days_of(row)
    assert (first.n_refreshes, first.seconds, first.bytes_read) == (2, 4.0, 1_070)
    assert (later.n_answers, later.bytes_spared, later.n_refreshes) == (2, 4_000, 0)
    assert uses_of(row) == Uses(2, 4_000, NOW + timedelta(days=1, hours=1), 0, 2, 4.0, 1_070)
    seen = get_materialization_for_user(row.pk, people.owner)
    assert vars(seen)["n_answers"] == 2
    aggregate_answered("main", "marts.days", now=NOW + timedelta(days=36))
    assert [one.n_answers for one in days_of(row)] == [1, 2], "older days go"


def test_a_run_that_fails_says_so_at_what_it_did_not_reach(
    hive: MaterializedLake, people: People
) -> None:
    first, second = create(people.owner), create(people.owner, "marts.others")
    refreshes_due("main", now=NOW)
    run = Run.objects.get(kind=KIND)
    took(first, run)
    assert refreshes_failed(run, "It broke.", now=NOW) == 1
    second.refresh_from_db()
    first.refresh_from_db()
    assert (first.problem, second.problem) == ("", "It broke.")


def test_a_refresh_is_told_what_earlier_ones_took(hive: MaterializedLake, people: People) -> None:
    row = create(people.owner)
    run = refresh_request(row, is_full=False, by="olga", now=NOW)
    assert read_request(request_of(run)).orders[0].past == ()
    for n, said in enumerate(
        (
            {"way": "full", "seconds": 9.0, "all_bytes": 70},
            {"way": "incremental", "seconds": 4.0, "all_bytes": 71, "changed_bytes": 5},
            {"way": "nothing", "seconds": 1.0},
            {"way": "full", "seconds": 13.0, "n_changed_groups": 8},  # tried changes first
            {"way": "", "seconds": 2.0, "state": "failed"},
        )
    ):
        Run.objects.update(finished_at=NOW)
        run = refresh_request(row, is_full=False, by="olga", now=NOW + timedelta(minutes=n))
        took(row, run, **said)
    run = refresh_request(row, is_full=False, by="olga", now=NOW + timedelta(hours=1))
    (order,) = read_request(request_of(run)).orders
    assert set(order.past) == {
        Past(is_full=True, seconds=9.0, all_bytes=70),
        Past(is_full=False, seconds=4.0, changed_bytes=5, all_bytes=71),
    }
