"""A first alarm and its end are mailed at once; one that flaps is mailed of once a while."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from refresh.verify.domain.divergence_alarms import Alarm, News, next_alarm

T0 = datetime(2026, 3, 1, 8, tzinfo=UTC)
HOUR = timedelta(hours=1)


def played(*steps: tuple[int, bool | None], quiet: timedelta = HOUR) -> list[tuple[int, News]]:
    """Return the minutes at which a mail went out, and what it said."""
    alarm = Alarm()
    mails: list[tuple[int, News]] = []
    for minute, is_diverged in steps:
        now = T0 + timedelta(minutes=minute)
        alarm, news = next_alarm(alarm, is_diverged=is_diverged, now=now, quiet=quiet)
        if news is not News.NONE:
            mails.append((minute, news))
    return mails


def test_the_first_alarm_and_its_end_go_out_at_once() -> None:
    assert played((0, False), (5, True), (10, True), (15, False), (20, False)) == [
        (5, News.BEGAN),
        (15, News.ENDED),
    ]


def test_flaps_within_the_interval_become_one_mail_after_it() -> None:
    flaps = [(20 + 5 * n, n % 2 == 0) for n in range(10)]  # 20 to 65, ends in agreement
    assert played((0, True), (10, False), *flaps, (70, None)) == [
        (0, News.BEGAN),
        (10, News.ENDED),
        (70, News.FLAPPED),
    ]


def test_a_single_divergence_that_lasts_is_a_late_alarm_and_one_that_ended_a_flap() -> None:
    assert played((0, True), (10, False), (20, True), (70, True))[-1] == (70, News.BEGAN)
    assert played((0, True), (10, False), (20, True), (30, False), (70, False))[-1] == (
        70,
        News.FLAPPED,
    )


def test_the_end_of_a_flapping_is_folded_too() -> None:
    steps = [(0, True), (10, False), (20, True), (30, False), (40, True), (70, True)]
    assert played(*steps, (75, False), (100, False), (130, False)) == [
        (0, News.BEGAN),
        (10, News.ENDED),
        (70, News.FLAPPED),
        (130, News.ENDED),
    ]


def test_without_an_interval_every_change_is_mailed() -> None:
    mails = played((0, True), (1, False), (2, True), (3, False), quiet=timedelta(0))
    assert [news for _, news in mails] == [News.BEGAN, News.ENDED] * 2


@given(st.lists(st.tuples(st.integers(1, 40), st.sampled_from([True, False, None])), max_size=60))
def test_mails_are_few_and_nothing_is_kept_back_for_ever(
    steps: list[tuple[int, bool | None]],
) -> None:
    now, alarm, n_mails, began = T0, Alarm(), [], 0
    for minutes, is_diverged in steps:
        now += timedelta(minutes=minutes)
        began += bool(is_diverged) and alarm.began_at is None
        alarm, news = next_alarm(alarm, is_diverged=is_diverged, now=now, quiet=HOUR)
        if news is not News.NONE:
            n_mails.append(now)
    assert all(c - a >= HOUR for a, c in zip(n_mails, n_mails[2:], strict=False))
    now += 2 * HOUR
    alarm, _ = next_alarm(alarm, is_diverged=None, now=now, quiet=HOUR)
    assert alarm.n_held == 0
    assert alarm.is_mailed == (alarm.began_at is not None)
    assert bool(n_mails) == bool(began)
