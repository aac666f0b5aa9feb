"""Decides whether a path rule may be waived for a database or table, and until when at most.

What an exception then does to the judgement is `conformity.judge`.
"""

from datetime import date, timedelta

from lifecycle.rules.domain.conformity import Reason
from portal.lake.errors import RuleViolation

MOST_DAYS = 365
OF_DATABASES = frozenset({Reason.HAS_OTHER_DB, Reason.OWNER_PATH_FAIL, Reason.HAS_OTHER_DB_TBL})


def check_exception(reason: str, *, is_table: bool, until: date, today: date) -> Reason:
    """Return the rule that is to be waived, or say why it cannot be.

    Raises:
        RuleViolation: `waiver.rule` no such rule, or one that is not judged of such an object;
            `waiver.until` a last day in the past or more than a year ahead.
    """
    try:
        rule = Reason(reason)
    except ValueError:
        raise RuleViolation(
            "waiver.rule",
            f"{reason!r} is no path rule; choose one of {', '.join(Reason)}.",
            rule=reason,
        ) from None
    if not is_table and rule not in OF_DATABASES:
        raise RuleViolation(
            "waiver.rule",
            f"{rule} is waived for a single table, not for a whole database: name the table.",
            rule=rule,
        )
    last = today + timedelta(days=MOST_DAYS)
    if not today <= until <= last:
        raise RuleViolation(
            "waiver.until",
            f"An exception ends on a day from {today} to {last}; it can be asked for again before "
            "its end.",
            until=until.isoformat(),
        )
    return rule
