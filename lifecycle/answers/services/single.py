"""Gives one answer for one table, by the same services as the buttons of the table's page."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction

from lifecycle.answers.domain import Answer, AnswerKind, Outcome, TableAnswer
from lifecycle.core.services.people import People
from lifecycle.drop.services.deletion_requests import deletion_request
from lifecycle.inventory.selectors.dropped import take_off_dropped
from lifecycle.inventory.selectors.findings import get_table_for_user
from lifecycle.inventory.selectors.policy import table_policy
from lifecycle.models import PolicyRequest, TableFinding
from lifecycle.policies.domain.policy import Values
from lifecycle.policies.domain.states import RequestState
from lifecycle.policies.services.deletion_consents import (
    MOST_DAYS,
    ConsentParams,
    deletion_consent_give,
    sayers,
)
from lifecycle.policies.services.extensions import ExtensionParams, extension_request
from lifecycle.policies.services.request_params import (
    HandoverParams,
    SetParams,
    hand_over_request,
    policy_set_request,
)
from portal.access.lakes import get_lake
from portal.access.models import User
from portal.lake.clock import day_of
from portal.lake.errors import RuleViolation


@dataclass(frozen=True, slots=True)
class Asking:
    """Who answers, when, what was shown when, and the people of the lake, read once."""

    lake: str
    user: User
    people: People
    seen_at: datetime
    now: datetime


def table_answer(asking: Asking, db: str, table: str, answer: Answer) -> TableAnswer:
    """Give an answer for one table in one transaction.

    Raises:
        PortalError: what the service of the single answer raises.
    """
    with transaction.atomic():
        if answer.kind is AnswerKind.LET_GO:
            return _let_go(asking, db, table, answer)
        if answer.kind is AnswerKind.KEEP:
            made = extension_request(
                asking.lake,
                ExtensionParams(
                    db, table, "", answer.days, None, answer.reason, seen_at=asking.seen_at
                ),
                user=asking.user,
                now=asking.now,
            )
        else:
            made = _changed(asking, db, table, answer)
    return of_request(made)


def of_request(made: PolicyRequest) -> TableAnswer:
    """Say what came of a request."""
    waits = made.state == RequestState.PENDING
    message = ""
    if waits:
        message = f"{made.owner} has to accept it" if made.owner else "an admin has to agree"
        if made.days:
            message = f"{made.days} days more are beyond the days of this year; {message}"
    return TableAnswer(
        made.db,
        made.table,
        Outcome.WAITING if waits else Outcome.DONE,
        message=message,
        until=made.until,
        request=str(made.pk),
    )


def _changed(asking: Asking, db: str, table: str, answer: Answer) -> PolicyRequest:
    """Ask for another owner, or for LEVEL 0, beside what stands on the table now."""
    found = get_table_for_user(asking.lake, db, table, user=asking.user)
    standing = table_policy(found)
    if answer.kind is AnswerKind.HAND_OVER:
        gift = HandoverParams(db, table, standing.owner, answer.to, answer.reason)
        return hand_over_request(
            asking.lake, gift, user=asking.user, now=asking.now, people=asking.people
        )
    wanted = Values(0, standing.values.ttl)
    wish = SetParams(db, table, standing.values, wanted, answer.reason)
    return policy_set_request(asking.lake, wish, user=asking.user, now=asking.now)


def _let_go(asking: Asking, db: str, table: str, answer: Answer) -> TableAnswer:
    """Request the deletion of what is due, and consent to that of what is due but recently read."""
    found = get_table_for_user(asking.lake, db, table, user=asking.user)
    take_off_dropped([found])
    if not (found.n_clean_now or found.n_still_read):
        raise RuleViolation(
            "answers.not_due",
            "Nothing of it is due yet; once it is due, it may be planned unless somebody keeps it.",
        )
    if found.n_clean_now:
        deletion_request(
            lake=asking.lake,
            name=(db, table, ""),
            with_recently_read=False,
            reason=answer.reason,
            user=asking.user,
            now=asking.now,
        )
    if not found.n_still_read:
        return TableAnswer(db, table, Outcome.DONE)
    if found.n_clean_now and asking.user.username not in sayers(found, asking.people):
        return TableAnswer(db, table, Outcome.DONE, message=_kept_part(found, asking.people))
    until = day_of(asking.now, get_lake(asking.lake).zone) + timedelta(days=MOST_DAYS)
    deletion_consent_give(
        asking.lake,
        ConsentParams(db, table, "", until, answer.reason),
        user=asking.user,
        people=asking.people,
        now=asking.now,
    )
    return TableAnswer(db, table, Outcome.DONE, until=until)


def _kept_part(found: TableFinding, people: People) -> str:
    who = " or ".join(sayers(found, people)) or "nobody who can be asked"
    return f"the {found.n_still_read:,} that were read lately stay until {who} consents"
