"""Gives one answer for many tables: each by itself, so that one never stops or undoes another.

Up to `IN_REQUEST` tables are answered in the request. More are answered by a run, which is safe to
repeat: what the same person answered since the page was loaded counts as done.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import DatabaseError

from lifecycle.answers.domain import (
    MOST_TABLES,
    Answer,
    AnswerKind,
    Given,
    Outcome,
    Result,
    TableAnswer,
)
from lifecycle.answers.selectors.shown import Name, answers_since, changed_since
from lifecycle.answers.services.single import Asking, table_answer
from lifecycle.core.services.people import People
from portal.access.models import User
from portal.lake.errors import PortalError, RuleViolation
from portal.lake.reasons import check_reason
from portal.runs.models import Run
from portal.runs.requests.services import run_request

KIND = "lifecycle.answers"
IN_REQUEST = 200


@dataclass(frozen=True, slots=True)
class Chosen:
    """The tables that are answered, and when the person was shown them."""

    lake: str
    names: Sequence[Name]
    seen_at: datetime


def tables_answer(
    chosen: Chosen, answer: Answer, *, user: User, now: datetime
) -> tuple[Result, Run | None]:
    """Answer for the chosen tables; more than `IN_REQUEST` of them by a run, whose result follows.

    Sent twice from one page it changes nothing more and gives the same result (or the same run).

    Raises:
        RuleViolation: nothing chosen, too much, no reason, odd days, or nobody called `to`.
    """
    check_answer(chosen, answer, people=People.of(chosen.lake))
    if len(chosen.names) > IN_REQUEST:
        return Result(answer), _request(chosen, answer, user=user, now=now)
    return answers_give(chosen, answer, user=user, now=now), None


def check_answer(chosen: Chosen, answer: Answer, *, people: People) -> None:
    """Refuse what is wrong for every table alike, before anything is done."""
    if not chosen.names:
        raise RuleViolation("answers.nothing", "Choose at least one table: tick it in the list.")
    if len(chosen.names) > MOST_TABLES:
        raise RuleViolation(
            "answers.too_many",
            f"{len(chosen.names):,} tables are chosen; at most {MOST_TABLES:,} are answered at "
            "once. Narrow the filter.",
        )
    check_reason(answer.reason, "policy.reason", "Enter a reason; it is kept in the history.")
    if answer.kind is AnswerKind.KEEP and answer.days < 1:
        raise RuleViolation("extension.days", "Enter for how many days.", field="days")
    if answer.kind is AnswerKind.HAND_OVER and answer.to not in people.addresses:
        raise RuleViolation(
            "policy.owner",
            f"Nobody called {answer.to!r} with a mail address is known here; check the spelling."
            if answer.to
            else "Enter the user name of the new owner.",
            field="to",
        )


def answers_give(
    chosen: Chosen,
    answer: Answer,
    *,
    user: User,
    now: datetime,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Result:
    """Answer for each table in a transaction of its own; called again it gives the same result."""
    asking = Asking(chosen.lake, user, People.of(chosen.lake), chosen.seen_at, now)
    changed = changed_since(chosen.lake, chosen.names, seen_at=chosen.seen_at)
    given = answers_since(chosen.lake, since=chosen.seen_at)
    found = []
    for n_done, name in enumerate(dict.fromkeys(chosen.names)):
        progress(n_done, len(chosen.names))
        found.append(_answered(asking, name, answer, given.get(name, ()), changed.get(name, "")))
    return Result(answer, found)


def _answered(
    asking: Asking, name: Name, answer: Answer, given: Sequence[Given], changed: str
) -> TableAnswer:
    """Answer for one table, or say what was answered since, what changed, or why it cannot be."""
    own = [one for one in given if one.is_of(answer, username=asking.user.username)]
    if own:
        message = own[0].words if own[0].outcome is Outcome.WAITING else ""
        return TableAnswer(
            *name, own[0].outcome, message=message, until=own[0].until, request=own[0].request
        )
    try:
        if changed:
            return _refused(name, "answers.changed", changed)
        if given:
            return _refused(name, "answers.given", f"{given[0].words} meanwhile")
        return table_answer(asking, *name, answer)
    except PortalError as error:
        return _refused(name, error.code, error.message)
    except DatabaseError as error:
        return _refused(name, "answers.database", f"The database refused it: {error}")


def _refused(name: Name, code: str, message: str) -> TableAnswer:
    return TableAnswer(*name, Outcome.REFUSED, message=message, code=code)


def _request(chosen: Chosen, answer: Answer, *, user: User, now: datetime) -> Run:
    params = {
        "answer": answer.as_json(),
        "tables": [list(name) for name in chosen.names],
        "seen_at": chosen.seen_at.isoformat(),
    }
    said = json.dumps([chosen.lake, user.username, params], sort_keys=True)
    return run_request(
        KIND,
        lake=chosen.lake,
        params=params,
        requested_by=user.username,
        reason=answer.reason,
        unique_key=f"answers:{hashlib.sha256(said.encode()).hexdigest()}",
        now=now,
    )
