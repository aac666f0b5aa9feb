"""Decides which changes of a divergence are mailed at once, and which are folded into one mail.

The first alarm and its end go out at once. What follows within the quiet interval after a mail is
counted, and one mail says so when the interval is over. Pages do not wait for any of this.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum


class News(StrEnum):
    """What a mail would say of a front end."""

    NONE = "NONE"
    BEGAN = "BEGAN"
    ENDED = "ENDED"
    FLAPPED = "FLAPPED"


@dataclass(frozen=True, slots=True)
class Alarm:
    """What is known of a front end's divergence, and what the last mail said of it."""

    began_at: datetime | None = None
    """Since when it is known to diverge; None: it agreed when it was last known."""
    mailed_at: datetime | None = None
    is_mailed: bool = False
    """Whether the last mail said that it diverges."""
    n_held: int = 0
    """How often it began to diverge since the last mail, without a mail."""


def next_alarm(
    alarm: Alarm, *, is_diverged: bool | None, now: datetime, quiet: timedelta
) -> tuple[Alarm, News]:
    """Take in what a probe showed and say what is mailed now; None: the probe showed nothing new.

    Whoever was mailed of a first divergence is mailed of its end at once. While a front end flaps,
    one mail a quiet interval goes out, and it says how often.
    """
    is_first = alarm.is_mailed and alarm.began_at == alarm.mailed_at
    if is_diverged and alarm.began_at is None:
        alarm = replace(alarm, began_at=now, n_held=alarm.n_held + 1)
    elif is_diverged is False:
        alarm = replace(alarm, began_at=None)
    news = _news(alarm)
    is_quiet = alarm.mailed_at is not None and now < alarm.mailed_at + quiet
    if news is News.NONE or (is_quiet and not (news is News.ENDED and is_first)):
        return alarm, News.NONE
    return replace(alarm, mailed_at=now, is_mailed=alarm.began_at is not None, n_held=0), news


def _news(alarm: Alarm) -> News:
    is_diverged = alarm.began_at is not None
    if alarm.n_held == 0:
        return News.ENDED if alarm.is_mailed and not is_diverged else News.NONE
    is_plain = alarm.n_held == 1 and is_diverged and not alarm.is_mailed
    return News.BEGAN if is_plain else News.FLAPPED
