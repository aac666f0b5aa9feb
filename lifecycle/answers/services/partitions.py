"""Gives one answer for ticked partitions of a table: each by itself, by the single services."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.db import transaction

from lifecycle.answers.domain import Answer, AnswerKind, Outcome, Result, TableAnswer
from lifecycle.answers.services.single import of_request
from lifecycle.drop.services.deletion_requests import deletion_request
from lifecycle.policies.services.extensions import ExtensionParams, extension_request
from portal.access.models import User
from portal.lake.errors import PortalError, RuleViolation
from portal.lake.reasons import check_reason

MOST_PARTITIONS = 200


@dataclass(frozen=True, slots=True)
class ChosenPartitions:
    """Partitions of one table, and when the person was shown them."""

    lake: str
    db: str
    table: str
    partitions: Sequence[str]
    seen_at: datetime


def partitions_answer(
    chosen: ChosenPartitions, answer: Answer, *, user: User, now: datetime
) -> Result:
    """Keep each chosen partition some days more, or request its deletion.

    A second call changes nothing more: what was extended or requested since is refused by name.

    Raises:
        RuleViolation: nothing chosen, too much, no reason, odd days, or an answer of whole tables.
    """
    if not chosen.partitions:
        raise RuleViolation("answers.nothing", "Choose at least one partition: tick it.")
    if len(chosen.partitions) > MOST_PARTITIONS:
        raise RuleViolation(
            "answers.too_many", f"At most {MOST_PARTITIONS} partitions are answered at once."
        )
    check_reason(answer.reason, "policy.reason", "Enter a reason; it is kept in the history.")
    if answer.kind is AnswerKind.KEEP and answer.days < 1:
        raise RuleViolation("extension.days", "Enter for how many days.", field="days")
    if answer.kind not in (AnswerKind.KEEP, AnswerKind.LET_GO):
        raise RuleViolation("answers.kind", "That is an answer for whole tables.")
    found = [
        _answered(chosen, one, answer, user=user, now=now)
        for one in dict.fromkeys(chosen.partitions)
    ]
    return Result(answer, found, "partition")


def _answered(
    chosen: ChosenPartitions, partition: str, answer: Answer, *, user: User, now: datetime
) -> TableAnswer:
    name = (chosen.db, chosen.table)
    try:
        with transaction.atomic():
            if answer.kind is AnswerKind.LET_GO:
                deletion_request(
                    lake=chosen.lake,
                    name=(*name, partition),
                    with_recently_read=False,
                    reason=answer.reason,
                    user=user,
                    now=now,
                )
                return TableAnswer(*name, Outcome.DONE, partition=partition)
            wish = ExtensionParams(
                *name, partition, answer.days, None, answer.reason, seen_at=chosen.seen_at
            )
            made = extension_request(chosen.lake, wish, user=user, now=now)
            return replace(of_request(made), partition=partition)
    except PortalError as error:
        return TableAnswer(
            *name, Outcome.REFUSED, message=error.message, code=error.code, partition=partition
        )
