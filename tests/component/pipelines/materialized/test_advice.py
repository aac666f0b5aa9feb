"""Advice on materializations: made of a log, decided by people, measured, and taken back."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta

import pytest

from pipelines.materialized.domain.advising import AdviceState
from pipelines.materialized.selectors.advice import advice_visible, get_advice_for_user
from pipelines.materialized.selectors.uses import uses_of
from pipelines.materialized.services.advice_decisions import (
    advice_define,
    advice_dismiss,
    advice_pause,
)
from pipelines.materialized.services.advice_finding import advice_find
from pipelines.materialized.services.advice_watch import advice_watch
from pipelines.materialized.services.definitions import Wanted, materialization_create
from pipelines.models import Materialization, MaterializationAdvice, MaterializationDay
from portal.audit.models import AuditEvent
from portal.catalog.domain.repeated_queries import RepeatedGrouping, RepeatedQueries
from portal.catalog.services import stored_aggregates
from portal.catalog.services.stored_aggregates import (
    aggregate_answered,
    register_query_log,
    tables_read,
)
from portal.lake.errors import NotAllowed, NotVisible, RuleViolation, StaleState
from tests.component.conftest import People
from tests.support.materialized_lake import SQL, MaterializedLake

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 21, 2, 0, tzinfo=UTC)
DAY = timedelta(days=1)


@dataclass
class FakeLog:
    """A log that says what a test wants."""

    told: list[RepeatedQueries] = field(default_factory=list)
    asked: dict[str, int] = field(default_factory=dict)
    kept: Mapping[str, Sequence[str]] = field(default_factory=dict)
    is_heard: bool = True
    is_its_turn: bool = True

    def repeated(
        self, lake: str, kept: Mapping[str, Sequence[str]], *, now: datetime
    ) -> list[tuple[str, list[RepeatedQueries]]]:
        self.kept = kept
        return [("shop.orders", self.told)] if lake == "main" and self.is_its_turn else []

    def n_asked(self, lake: str, table: str, *, since: date, digests: Collection[str]) -> int:
        return self.asked.get(table, 0)

    def hears(self, lake: str, *, since: date) -> bool:
        return self.is_heard


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> FakeLog:
    monkeypatch.setattr(stored_aggregates, "_logs", {})
    made = FakeLog()
    register_query_log("test", made)
    return made


def repeated(sql: str = SQL, n: int = 100, name: str = "orders_by_dt") -> RepeatedQueries:
    grouping = RepeatedGrouping("d1", ("dt",), ("count(*)",), ("shop.orders",), "", n, 5, 900, 2.0)
    return RepeatedQueries("shop.orders", name, sql, (grouping,), 5, 1_000, 300)


def advised(log: FakeLog, *told: RepeatedQueries, now: datetime = NOW) -> MaterializationAdvice:
    log.told = list(told or (repeated(),))
    advice_find("main", now=now)
    return MaterializationAdvice.objects.latest("pk")


def followed(log: FakeLog, people: People) -> Materialization:
    """Follow an advice, and refresh what came of it."""
    row = advised(log)
    made = advice_define(row, "marts.days", Wanted(row.sql), user=people.admin, now=NOW)
    Materialization.objects.update(fresh_at=NOW, n_groups=5, n_rows=1_000)
    advice_watch("main", now=NOW)
    return made


def test_repeated_queries_are_advised_once_and_confirmed(log: FakeLog) -> None:
    row = advised(log)
    assert (row.state, row.name, row.facts) == ("NEW", "shop.orders_by_dt", "shop.orders")
    assert "100 queries on 5 days" in row.reason
    again = advised(log, repeated(n=130), now=NOW + DAY)
    assert (again.pk, again.n_queries, again.confirmed_at) == (row.pk, 130, NOW + DAY)
    assert again.made_at == NOW


def test_what_too_few_ask_or_cannot_be_defined_is_not_advised(log: FakeLog) -> None:
    log.told = [repeated(n=3), repeated(sql=f"{SQL} HAVING count(*) > 1")]
    assert advice_find("main", now=NOW) == 0
    assert not MaterializationAdvice.objects.exists()


def test_what_nobody_asks_any_more_is_outdated(log: FakeLog) -> None:
    row = advised(log)
    log.told = []
    advice_find("main", now=NOW + DAY)
    row.refresh_from_db()
    assert (row.state, row.is_open) == ("OUTDATED", None)
    assert advised(log, now=NOW + 2 * DAY).pk != row.pk, "it may be advised anew"


def test_what_had_no_turn_is_outdated_after_days(log: FakeLog) -> None:
    row = advised(log)
    log.is_its_turn = False
    for days, state in ((1, "NEW"), (3, "OUTDATED")):
        advice_find("main", now=NOW + days * DAY)
        row.refresh_from_db()
        assert row.state == state


def test_the_log_is_told_what_is_kept(hive: MaterializedLake, log: FakeLog, people: People) -> None:
    materialization_create("main", "marts.days", Wanted(SQL), user=people.owner, now=NOW)
    advice_find("main", now=NOW)
    assert log.kept == {"shop.orders": [SQL]}


def test_advice_is_for_staff(log: FakeLog, people: People) -> None:
    row = advised(log)
    for user, n_seen in ((people.admin, 1), (people.operator, 1), (people.owner, 0)):
        assert advice_visible("main", user).count() == n_seen
    with pytest.raises(NotVisible):
        get_advice_for_user(row.pk, people.owner)


def test_a_person_follows_it_with_rights_to_the_rows(
    hive: MaterializedLake, log: FakeLog, people: People
) -> None:
    row = advised(log)
    with pytest.raises(NotAllowed):
        advice_define(row, "marts.days", Wanted(row.sql), user=people.operator, now=NOW)
    made = advice_define(row, "marts.days", Wanted(row.sql), user=people.admin, now=NOW)
    row.refresh_from_db()
    assert (row.state, row.materialization, row.decided_by) == ("APPLIED", made, "ada")
    with pytest.raises(StaleState):
        advice_define(row, "marts.other", Wanted(row.sql), user=people.admin, now=NOW)
    with pytest.raises(StaleState):
        advice_dismiss(row, user=people.admin, why="No.", now=NOW)
    assert Materialization.objects.count() == 1
    assert "materialized.advice_applied" in AuditEvent.objects.values_list("action", flat=True)


def test_what_was_dismissed_comes_again_after_weeks_alone(log: FakeLog, people: People) -> None:
    row = advised(log)
    with pytest.raises(RuleViolation, match="reason"):
        advice_dismiss(row, user=people.admin, why=" ", now=NOW)
    advice_dismiss(row, user=people.admin, why="The dashboard goes.", now=NOW)
    assert advised(log, now=NOW + 27 * DAY).pk == row.pk
    row.refresh_from_db()
    assert (row.state, row.why) == ("DISMISSED", "The dashboard goes.")
    assert advised(log, now=NOW + 29 * DAY).pk != row.pk


def test_one_that_answers_has_paid(hive: MaterializedLake, log: FakeLog, people: People) -> None:
    made = followed(log, people)
    aggregate_answered("main", str(made), now=NOW)
    for _ in range(3):
        aggregate_answered("main", str(made), now=NOW + DAY)
    log.asked["shop.orders"] = 17
    assert advice_watch("main", now=NOW + DAY) == 0
    row = MaterializationAdvice.objects.get()
    # The answer of the first day is not counted, as questions of that day are not.
    assert (row.n_asked, row.n_answered, row.is_open) == (17, 3, None)
    assert row.state == AdviceState.APPLIED
    assert row.answered_share == 15


def test_one_that_answers_nothing_is_paused_and_says_why(
    hive: MaterializedLake, log: FakeLog, people: People
) -> None:
    made = followed(log, people)
    log.asked["shop.orders"] = 19
    assert advice_watch("main", now=NOW + DAY) == 0, "it is too early to tell"
    log.asked["shop.orders"] = 40
    assert advice_watch("main", now=NOW + DAY) == 1
    made.refresh_from_db()
    row = MaterializationAdvice.objects.get()
    assert made.is_paused
    assert row.state == AdviceState.ROLLED_BACK
    assert "Of 40 queries since its first refresh it answered 0" in row.why
    assert "materialized.paused" in AuditEvent.objects.values_list("action", flat=True)
    assert advised(log, now=NOW + 2 * DAY).pk == row.pk, "it is not advised again for weeks"
    assert advice_watch("main", now=NOW + 2 * DAY) == 0


def test_one_with_about_as_many_groups_as_rows_is_paused(
    hive: MaterializedLake, log: FakeLog, people: People
) -> None:
    followed(log, people)
    Materialization.objects.update(n_groups=900)
    assert advice_watch("main", now=NOW + DAY) == 1
    assert "900 groups of 1,000 rows" in MaterializationAdvice.objects.get().why


def test_one_that_somebody_paused_is_not_watched(
    hive: MaterializedLake, log: FakeLog, people: People
) -> None:
    followed(log, people)
    Materialization.objects.update(is_paused=True)
    log.asked["shop.orders"] = 40
    assert advice_watch("main", now=NOW + DAY) == 0
    row = MaterializationAdvice.objects.get()
    assert (row.state, row.is_open) == ("APPLIED", None)


def unread(people: People) -> Materialization:
    row = materialization_create("main", "marts.days", Wanted(SQL), user=people.owner, now=NOW)
    Materialization.objects.update(fresh_at=NOW)
    return row


def test_what_nobody_reads_is_advised_to_be_paused(
    hive: MaterializedLake, log: FakeLog, people: People
) -> None:
    made = unread(people)
    later = NOW + 29 * DAY
    assert advice_find("main", now=NOW + 27 * DAY) == 0
    assert advice_find("main", now=later) == 1
    row = MaterializationAdvice.objects.get()
    assert (str(row), row.gives_up, row.materialization) == ("pause marts.days", True, made)
    with pytest.raises(RuleViolation, match="pause"):
        advice_define(row, "marts.x", Wanted(SQL), user=people.admin, now=later)
    advice_pause(row, user=people.admin, why="Nobody reads it.", now=later)
    made.refresh_from_db()
    row.refresh_from_db()
    assert made.is_paused
    assert (row.state, row.is_open) == ("APPLIED", None)
    assert advice_find("main", now=later + DAY) == 0


def test_what_is_read_by_its_name_or_in_silence_is_left_alone(
    hive: MaterializedLake, log: FakeLog, people: People
) -> None:
    made = unread(people)
    later = NOW + 29 * DAY
    log.is_heard = False
    assert advice_find("main", now=later) == 0
    log.is_heard = True
    tables_read("main", ["marts.other", "shop.days"], now=later)
    assert advice_find("main", now=later) == 1
    tables_read("main", [str(made), "marts.other"], now=later)
    assert advice_find("main", now=later) == 0
    assert uses_of(made).n_reads == 1
    MaterializationDay.objects.all().delete()
    aggregate_answered("main", str(made), now=later)
    assert advice_find("main", now=later) == 0


def test_an_advice_to_define_pauses_nothing(log: FakeLog, people: People) -> None:
    with pytest.raises(RuleViolation, match="define"):
        advice_pause(advised(log), user=people.admin, why="Go.", now=NOW)
