"""Notes at a check set why it could not be measured."""

from datetime import datetime

from django.db import transaction

from quality.checks.services.followers import tell_unmeasured
from quality.models import CheckSet


@transaction.atomic
def unmeasured_note(
    set_id: int, problem: str, *, at: datetime, since: datetime | None = None
) -> int:
    """Note a problem unless the set was measured after `since`; returns how many sets have it.

    Said twice it changes nothing.
    """
    row = CheckSet.objects.select_for_update().filter(pk=set_id).first()
    if row is None or (since and row.measured_at and row.measured_at >= since):
        return 0
    row.problem, row.measured_at = problem, at
    row.save(update_fields=["problem", "measured_at"])
    tell_unmeasured(row, problem, now=at)
    return 1
