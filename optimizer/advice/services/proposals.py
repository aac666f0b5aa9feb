"""Keeps what is advised on a table: of a subject one advice at most, whichever way it goes."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction

from optimizer.advice.domain.states import AdviceState
from optimizer.advice.domain.subjects import Subject, text_of
from optimizer.models import Advice, IcebergTable
from optimizer.policies.selectors.policies import policy_current


def advice_propose(
    table: IcebergTable,
    subject: Subject,
    proposed: str,
    fields: Mapping[str, Any],
    *,
    gives_up: bool = False,
    now: datetime,
) -> None:
    """Make an advice, or confirm the one that says the same; another that is new is outdated.

    One that is applied, or that goes the other way, is left alone.
    """
    own = policy_current(table.lake, str(table).lower())
    said = {**fields, "before": text_of(own.values.get(subject)) if own else ""}
    of_subject = table.advice.filter(subject=subject)
    with transaction.atomic():
        open_one = of_subject.select_for_update().filter(is_open=True).first()
        if open_one is not None:
            if open_one.state == AdviceState.APPLIED or open_one.gives_up != gives_up:
                return
            if open_one.proposed == proposed:
                Advice.objects.filter(pk=open_one.pk).update(**said, confirmed_at=now)
                return
        advice_outdate(table, subject, gives_up=gives_up, now=now)
        table.advice.create(
            subject=subject,
            proposed=proposed,
            gives_up=gives_up,
            made_at=now,
            confirmed_at=now,
            **said,
        )


def advice_outdate(
    table: IcebergTable, subject: Subject, *, gives_up: bool = False, now: datetime
) -> None:
    """Outdate new advice that nothing speaks for any more; twice is harmless.

    What gives something up stands on other evidence, and is judged where that is read.
    """
    table.advice.filter(state=AdviceState.NEW, subject=subject, gives_up=gives_up).update(
        state=AdviceState.OUTDATED, is_open=None, decided_at=now
    )
