"""Notice days before a drop, retention days of a backup, and the values that may be set.

What a change means is said in words beside it: notices that were sent count by the days that stand
when a plan is created, while a backup keeps the days that it was made with.
"""

from dataclasses import dataclass

from lifecycle.notices.domain.notice import NOTICE_DAYS
from portal.lake.errors import RuleViolation

LEAST_NOTICE, MOST_NOTICE = NOTICE_DAYS, 90
LEAST_BACKUP, MOST_BACKUP = 15, 3650


@dataclass(frozen=True, slots=True)
class Days:
    """The days of one database."""

    notice: int = LEAST_NOTICE
    backup: int = LEAST_BACKUP

    def __str__(self) -> str:
        return f"told {self.notice} days ahead, backups kept {self.backup} days"


def check_days(days: Days) -> None:
    """Refuse days that break what owners are promised.

    Raises:
        RuleViolation: `days.notice` or `days.backup`, with the bounds.
    """
    if not LEAST_NOTICE <= days.notice <= MOST_NOTICE:
        raise RuleViolation(
            "days.notice",
            (
                f"Owners are notified {LEAST_NOTICE} to {MOST_NOTICE} days ahead; give a number of "
                "those."
            ),
        )
    if not LEAST_BACKUP <= days.backup <= MOST_BACKUP:
        raise RuleViolation(
            "days.backup",
            f"A backup is kept {LEAST_BACKUP} to {MOST_BACKUP} days; give a number of those.",
        )
