"""One answer for many tables is the same as the single answers, one after another."""

from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import product
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from lifecycle.answers.domain import Answer, AnswerKind, Outcome, Result
from lifecycle.answers.selectors.choosing import names_in_filter
from lifecycle.answers.services.bulk import Chosen, answers_give, tables_answer
from lifecycle.answers.services.single import Asking, table_answer
from lifecycle.backup.models import Hold
from lifecycle.core.services.people import People as Known
from lifecycle.models import DeletionConsent, DeletionRequest, PolicyRequest
from portal.access.models import User
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import PortalError, RuleViolation, StaleState
from portal.runs.models import Run
from portal.runs.requests.services import run_drive
from tests.component.conftest import LAKE, NOW, People
from tests.component.lifecycle.answers.owned_lake import (
    ALSO_DUE,
    DUE,
    FRESH,
    READ,
    SOON,
    scan_tables,
    table,
)

pytestmark = pytest.mark.django_db(transaction=True)
KEEP = Answer(AnswerKind.KEEP, "the audit reads it", days=30)
LATER = NOW + timedelta(minutes=5)


def names(*numbers: int) -> list[tuple[str, str]]:
    return [("sales", f"t{n}") for n in numbers]


def give(
    user: User, answer: Answer, *numbers: int, seen_at: datetime = NOW, now: datetime = LATER
) -> Result:
    chosen = Chosen(LAKE, names(*numbers), seen_at)
    result, run = tables_answer(chosen, answer, user=user, now=now)
    assert run is None
    return result


def outcomes(result: Result) -> list[tuple[str, str, str]]:
    return [(one.table, one.outcome.value, one.code) for one in result.tables]


def written() -> list[Any]:
    """What answers leave behind, without keys."""
    return [
        sorted(PolicyRequest.objects.values_list("kind", "db", "table", "state", "days", "until",
               "owner", "level", "ttl", "requested_by", "reason", "needs_admin"), key=str),
        sorted(Hold.objects.values_list("db", "table", "partition", "until", "placed_by"), key=str),
        sorted(DeletionRequest.objects.values_list("table", "with_recently_read", "reason")),
        sorted(DeletionConsent.objects.values_list("table", "until", "given_by", "reason")),
    ]  # fmt: skip


ANSWERS = (
    KEEP,
    Answer(AnswerKind.KEEP, "longer than a year's days", days=120),
    Answer(AnswerKind.KEEP_FOREVER, "law"),
    Answer(AnswerKind.LET_GO, "old"),
    Answer(AnswerKind.HAND_OVER, "I leave", to="dora"),
)


@pytest.mark.parametrize(("answer", "who"), list(product(ANSWERS, ("owner", "admin", "operator"))))
def test_answers_for_many_are_the_single_answers(
    people: People, lake: LakeConfig, answer: Answer, who: str
) -> None:
    scan_tables(
        lake, table(1), table(2, DUE, READ), table(3, READ), table(4, SOON), table(5, FRESH),
        table(6, DUE, owner="paul"), now=NOW,
    )  # fmt: skip
    user, every = getattr(people, who), names(1, 2, 3, 4, 5, 6, 7)
    asking, said = Asking(LAKE, user, Known.of(LAKE), NOW, LATER), []
    with transaction.atomic():
        for db, name in every:
            try:
                one = table_answer(asking, db, name, answer)
                said.append((name, one.outcome.value, ""))
            except PortalError as error:
                said.append((name, Outcome.REFUSED.value, error.code))
        singles = written()
        transaction.set_rollback(True)
    assert not PolicyRequest.objects.exists()

    result = give(user, answer, 1, 2, 3, 4, 5, 6, 7)

    assert outcomes(result) == said
    assert written() == singles
    assert {row[1] for row in said} != {"REFUSED"} or who == "operator" or "LET" in answer.kind


def test_a_budget_that_is_used_up_waits_for_an_admin_and_the_words_say_so(
    people: People, lake: LakeConfig
) -> None:
    scan_tables(lake, table(1), table(2), table(3, FRESH), now=NOW)
    give(people.owner, Answer(AnswerKind.KEEP, "first", days=90), 1)
    at = LATER + timedelta(hours=1)
    result = give(people.owner, KEEP, 1, 2, 3, seen_at=at, now=at)
    assert outcomes(result) == [
        ("t1", "WAITING", ""), ("t2", "DONE", ""), ("t3", "REFUSED", "extension.not_due"),
    ]  # fmt: skip
    assert result.words.startswith("Kept 1 of 3 tables until 2026-12-20. 1 waits for a yes: ")
    assert "sales.t1: 30 days more are beyond the days of this year" in result.words
    assert "1 could not be answered: sales.t3: Nothing of this is due" in result.words


def test_sent_twice_nothing_is_kept_twice_and_the_words_are_the_same(
    people: People, lake: LakeConfig
) -> None:
    scan_tables(lake, table(1), table(2), now=NOW)
    first = give(people.owner, KEEP, 1, 2)
    again = give(people.owner, KEEP, 1, 2, now=LATER + timedelta(seconds=2))
    assert again.words == first.words == "Kept 2 tables until 2026-12-20."
    assert Hold.objects.count() == 2


def test_two_that_are_sent_at_once_keep_a_table_once(people: People, lake: LakeConfig) -> None:
    """The second read what was answered before the first wrote: the table's lock decides."""
    scan_tables(lake, table(1), now=NOW)
    asking = Asking(LAKE, people.owner, Known.of(LAKE), NOW, LATER)
    table_answer(asking, "sales", "t1", KEEP)
    with pytest.raises(StaleState):
        table_answer(asking, "sales", "t1", KEEP)
    assert Hold.objects.count() == 1


def test_what_somebody_else_answered_meanwhile_is_reported_and_not_answered(
    people: People, lake: LakeConfig
) -> None:
    scan_tables(lake, table(1), table(2), now=NOW)
    give(people.admin, KEEP, 1)
    result = give(people.owner, Answer(AnswerKind.LET_GO, "old"), 1, 2)
    assert outcomes(result) == [("t1", "REFUSED", "answers.given"), ("t2", "DONE", "")]
    assert "ada kept it until 2026-12-20 meanwhile" in result.words
    assert not DeletionRequest.objects.filter(table="t1").exists()


def test_a_table_of_which_more_is_due_since_the_page_was_loaded_is_not_answered(
    people: People, lake: LakeConfig
) -> None:
    scan_tables(lake, table(1), table(2), table(3, SOON), now=NOW)
    due_now = table(3, SOON)
    scan_tables(
        lake, table(1, DUE, ALSO_DUE), table(2), due_now, table(4), now=NOW + timedelta(days=1)
    )
    later = NOW + timedelta(days=1, hours=1)
    result = give(people.owner, KEEP, 1, 2, 3, 4, seen_at=LATER, now=later)
    assert outcomes(result) == [
        ("t1", "REFUSED", "answers.changed"), ("t2", "DONE", ""), ("t3", "DONE", ""),
        ("t4", "REFUSED", "answers.changed"),
    ]  # fmt: skip
    assert "2 items are due or due soon now, 1 were when this was loaded" in result.words
    assert give(people.owner, KEEP, 1, seen_at=later, now=later).n_done == 1


def test_a_page_older_than_the_scans_that_are_kept_answers_nothing(
    people: People, lake: LakeConfig
) -> None:
    for day in range(4):
        scan_tables(lake, table(1), now=NOW + timedelta(days=day))
    result = give(people.owner, KEEP, 1, seen_at=LATER, now=NOW + timedelta(days=4))
    assert outcomes(result) == [("t1", "REFUSED", "answers.changed")]


def code(ask: Callable[[], object]) -> str:
    with pytest.raises(RuleViolation) as error:
        ask()
    return error.value.code


def test_what_is_wrong_for_all_is_refused_before_anything_is_done(
    people: People, lake: LakeConfig
) -> None:
    scan_tables(lake, table(1), now=NOW)
    nobody = Answer(AnswerKind.HAND_OVER, "I leave", to="nobody")
    assert code(lambda: give(people.owner, nobody, 1)) == "policy.owner"
    assert code(lambda: give(people.owner, KEEP)) == "answers.nothing"
    assert code(lambda: give(people.owner, Answer(AnswerKind.KEEP, "x"), 1)) == "extension.days"
    without = Answer(AnswerKind.KEEP, " ", days=30)
    assert code(lambda: give(people.owner, without, 1)) == "policy.reason"
    assert not PolicyRequest.objects.exists()


def test_a_filter_chooses_what_waits_for_the_persons_answer(
    people: People, lake: LakeConfig
) -> None:
    scan_tables(
        lake, table(1), table(2, SOON), table(3, FRESH), table(4, DUE, owner="paul"), table(5),
        now=NOW,
    )  # fmt: skip
    give(people.owner, KEEP, 5)
    assert names_in_filter(LAKE, {"show": "week"}, user=people.owner) == names(1, 2)
    assert names_in_filter(LAKE, {"show": "week"}, user=people.admin) == names(1, 2, 4)
    assert names_in_filter(LAKE, {"show": "week"}, user=people.operator) == []
    assert names_in_filter(LAKE, {"show": "week"}, user=people.stranger) == []
    assert code(lambda: names_in_filter(LAKE, {"show": "x"}, user=people.owner)) == "answers.filter"


@pytest.mark.timeout(300)
def test_two_thousand_tables_are_answered_by_a_run_and_the_changed_one_is_reported(
    people: People, lake: LakeConfig
) -> None:
    n = 2_000
    scan_tables(lake, *(table(number) for number in range(n)), now=NOW)
    grown = table(7, DUE, ALSO_DUE)
    every = [grown if number == 7 else table(number) for number in range(n)]
    scan_tables(lake, *every, now=NOW + timedelta(days=1))
    chosen = Chosen(LAKE, names(*range(n)), LATER)
    at = NOW + timedelta(days=1, hours=1)

    result, run = tables_answer(chosen, KEEP, user=people.owner, now=at)
    again, same = tables_answer(chosen, KEEP, user=people.owner, now=at)

    assert run is not None
    assert (same, result.tables, again.tables) == (run, (), ())
    done = run_drive(run.pk)
    assert (done.state, done.done, done.total) == ("DONE", n, n)
    assert done.result is not None
    assert done.result["answered"] == n - 1
    assert "sales.t7: 2 items are due or due soon now" in done.result["result"]
    assert Hold.objects.count() == n - 1
    assert Run.objects.filter(kind="lifecycle.answers").count() == 1


def test_each_table_costs_few_queries(people: People, lake: LakeConfig) -> None:
    scan_tables(lake, *(table(number) for number in range(60)), now=NOW)

    def cost(answer: Answer, *numbers: int) -> int:
        with CaptureQueriesContext(connection) as caught:
            answers_give(Chosen(LAKE, names(*numbers), NOW), answer, user=people.owner, now=LATER)
        return len(caught)

    for start, answer in enumerate(ANSWERS[:1] + ANSWERS[2:]):
        first = 15 * start
        one = cost(answer, first)
        more = cost(answer, *range(first + 1, first + 11))
        assert more - one <= 9 * 36, (answer.kind, one, more)
