"""The age rule, against a plain re-reading of L4 and at its edges."""

from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.expiry.domain.rule import (
    ABSURD,
    DAY_MS,
    LATEST_MS,
    RULES,
    Directory,
    ExpiryClass,
    ExpiryFacts,
    Rule,
    Terms,
    Winner,
    judge,
    update_time,
)
from lifecycle.expiry.domain.words import Judged, explain

NOW = datetime(2026, 11, 22, 9, 30, tzinfo=UTC)
NOW_MS = int(NOW.timestamp() * 1000)
TERMS = Terms(NOW, ZoneInfo("Asia/Shanghai"))
OLD = NOW_MS - 100 * DAY_MS


def facts(**changes: Any) -> ExpiryFacts:
    """A partition that is due, unread and free to go, but for what a test changes."""
    plain: dict[str, Any] = {
        "level": 1,
        "ttl": 60,
        "ddl_time": OLD // 1000,
        "create_time": OLD // 1000,
        "mtime_ms": OLD,
        "atime_ms": OLD,
        "n_files": 3,
    }
    return ExpiryFacts(**plain | changes)


def said(given_facts: ExpiryFacts) -> str:
    """Judge, and say it in words."""
    got = judge(given_facts, TERMS)
    f = given_facts
    return explain(
        Judged(
            rule=got.rule,
            detail=got.detail,
            zone=TERMS.zone,
            policy_source="the table's own parameters",
            ttl=f.ttl,
            ddl_time=f.ddl_time,
            create_time=f.create_time,
            mtime_ms=f.mtime_ms,
            atime_ms=f.atime_ms,
            winner=got.winner,
            due_on=got.due_on,
        )
    )


seconds = st.one_of(st.none(), st.just(0), st.integers(1, 2_000_000_000))
milliseconds = st.one_of(st.none(), st.integers(0, 2_000_000_000_000))


@given(seconds, seconds, milliseconds)
def test_the_update_time_is_the_later_clock_and_one_millisecond(
    ddl: int | None, create: int | None, mtime: int | None
) -> None:
    got, winner = update_time(ddl_time=ddl, create_time=create, mtime_ms=mtime)
    metastore = (ddl or create or 0) * 1000
    clocks = [clock for clock in [metastore or None, mtime] if clock is not None]
    assert got == (max(clocks) + 1 if clocks else None)
    if winner is Winner.MTIME:
        assert mtime is not None
        assert mtime > metastore or not metastore
    elif winner is not None:
        assert winner is (Winner.DDL if ddl else Winner.CREATE)


@pytest.mark.parametrize(
    ("offset_ms", "expected"),
    [
        (-60 * DAY_MS - 1, ExpiryClass.CLEAN_NOW),
        (-60 * DAY_MS, ExpiryClass.SOON),
        (-53 * DAY_MS - 1, ExpiryClass.SOON),
        (-53 * DAY_MS, ExpiryClass.NOT_NOW),
        (0, ExpiryClass.NOT_NOW),
        (DAY_MS, ExpiryClass.NOT_NOW),
    ],
)
def test_the_borders_are_exact_to_the_millisecond(offset_ms: int, expected: ExpiryClass) -> None:
    mtime = NOW_MS + offset_ms
    got = judge(facts(mtime_ms=mtime, atime_ms=mtime, ddl_time=None, create_time=1), TERMS)
    assert got.cls is expected
    assert got.updated_ms == mtime + 1
    assert got.due_ms == mtime + 1 + 60 * DAY_MS


@pytest.mark.parametrize(
    ("changes", "expected", "says"),
    [
        ({"unsupported": "Iceberg tables keep their own metadata."}, "UNSUPPORTED", "Iceberg"),
        ({"policy_problem": "Both TTL and ttl are set; remove one."}, "NOT_ENROLLED", "Both"),
        ({"level": None}, "NOT_ENROLLED", "no LEVEL and TTL of its own"),
        ({"ttl": None}, "NOT_ENROLLED", "no LEVEL and TTL of its own"),
        ({"level": 0}, "KEEP_FOREVER", "kept for ever"),
        ({"level": 0, "ttl": None}, "KEEP_FOREVER", "kept for ever"),
        ({"nonconforming": ("HAS_OTHER_TBL", "OWNER_PATH_FAIL")}, "NONCONFORMING", "HAS_OTHER_TBL"),
        ({"directory": Directory.MISSING, "mtime_ms": None}, "MISSING_DIRECTORY", "does not exist"),
        ({"ready": False}, "UNREADY", "commit=false"),
        ({"hold": "restored on 2026-11-20 by dora."}, "HELD", "dora"),
        ({"ddl_time": None, "create_time": None, "mtime_ms": None}, "UNKNOWN", "Neither"),
        ({"directory": Directory.NOT_LOOKED, "mtime_ms": None}, "UNKNOWN", "not checked"),
        (
            {"directory": Directory.NOT_LOOKED, "fs_error": "AccessControlException: no"},
            "UNKNOWN",
            "The file system did not let the scan look: AccessControlException: no. It may be",
        ),
        ({"atime_ms": None}, "UNKNOWN", "Access time is off"),
        ({"atime_ms": None, "n_files": 0}, "CLEAN_NOW", "Last read unknown"),
        ({"atime_ms": NOW_MS - 30 * DAY_MS}, "STILL_READ", "it was last read 2026-10-23 17:30"),
        ({"atime_ms": NOW_MS - 30 * DAY_MS - 1}, "CLEAN_NOW", "Last read"),
        ({"mtime_ms": NOW_MS - DAY_MS, "atime_ms": NOW_MS}, "NOT_NOW", "counts (files)"),
        ({"ddl_time": NOW_MS // 1000}, "NOT_NOW", "counts (metadata)"),
        ({"ddl_time": 0, "create_time": NOW_MS // 1000}, "NOT_NOW", "Created (no DDL time)"),
    ],
)
def test_each_class_says_why(changes: dict[str, object], expected: str, says: str) -> None:
    got = judge(facts(**changes), TERMS)
    assert got.cls == expected
    assert says in said(facts(**changes))


def test_the_reason_names_both_clocks_and_where_the_ttl_comes_from() -> None:
    assert said(facts(mtime_ms=OLD + 5000)) == (
        "Metadata changed 2026-08-14 17:30, files changed 2026-08-14 17:30; "
        "the later counts (files). TTL 60 days from the table's own parameters: due 2026-10-13. "
        "Last read 2026-08-14 17:30."
    )


def test_a_fresh_metastore_clock_settles_it_without_looking_at_files() -> None:
    spared = facts(ddl_time=NOW_MS // 1000, mtime_ms=None, directory=Directory.NOT_LOOKED)
    assert judge(spared, TERMS).cls is ExpiryClass.NOT_NOW


def test_a_short_ttl_is_not_still_read_because_it_was_written() -> None:
    written = NOW_MS - 5 * DAY_MS
    short = facts(ttl=3, ddl_time=written // 1000, mtime_ms=written, atime_ms=written)
    assert judge(short, TERMS).cls is ExpiryClass.CLEAN_NOW
    read = facts(ttl=3, ddl_time=written // 1000, mtime_ms=written, atime_ms=written + 1)
    assert judge(read, TERMS).cls is ExpiryClass.STILL_READ


@given(st.integers(0, 400), st.integers(1, 90), st.integers(-60, 60))
def test_an_announced_day_never_moves_earlier(age_days: int, ttl: int, shift: int) -> None:
    mtime = NOW_MS - age_days * DAY_MS
    plain = judge(facts(ttl=ttl, ddl_time=None, create_time=1, mtime_ms=mtime), TERMS)
    assert plain.due_on is not None
    announced = plain.due_on + timedelta(days=shift)
    got = judge(
        facts(ttl=ttl, ddl_time=None, create_time=1, mtime_ms=mtime, announced_on=announced), TERMS
    )
    assert got.due_on == max(plain.due_on, announced)
    if announced > NOW.astimezone(TERMS.zone).date():
        assert got.cls not in {ExpiryClass.CLEAN_NOW, ExpiryClass.STILL_READ}


def test_the_due_day_is_the_lakes_own() -> None:
    mtime = int(datetime(2026, 1, 1, 20, tzinfo=UTC).timestamp() * 1000)
    shanghai = judge(facts(ttl=1, mtime_ms=mtime, ddl_time=None, create_time=1), TERMS)
    utc = judge(
        facts(ttl=1, mtime_ms=mtime, ddl_time=None, create_time=1), Terms(NOW, ZoneInfo("UTC"))
    )
    assert (shanghai.due_ms, shanghai.due_on) == (utc.due_ms, date(2026, 1, 3))
    assert utc.due_on == date(2026, 1, 2)


any_facts = st.builds(
    ExpiryFacts,
    level=st.sampled_from([None, 0, 1]),
    ttl=st.one_of(st.none(), st.integers(1, 36_500)),
    policy_problem=st.sampled_from(["", "bad"]),
    unsupported=st.sampled_from(["", "bad"]),
    nonconforming=st.sampled_from([(), ("HAS_OTHER_DB",)]),
    ready=st.booleans(),
    hold=st.sampled_from(["", "held"]),
    directory=st.sampled_from(Directory),
    ddl_time=seconds,
    create_time=seconds,
    mtime_ms=milliseconds,
    atime_ms=milliseconds,
    n_files=st.one_of(st.none(), st.integers(0, 3)),
)
SAFE_TO_GO = {ExpiryClass.CLEAN_NOW, ExpiryClass.STILL_READ}


@given(any_facts)
def test_nothing_goes_that_any_rule_protects(given_facts: ExpiryFacts) -> None:
    got = judge(given_facts, TERMS)
    assert said(given_facts)
    if got.cls not in SAFE_TO_GO:
        return
    f = given_facts
    assert f.level == 1
    assert f.ttl is not None
    assert f.ready
    assert not any([f.policy_problem, f.unsupported, f.nonconforming, f.hold])
    assert f.directory is Directory.WALKED
    assert f.mtime_ms is not None
    newest = max(f.mtime_ms, (f.ddl_time or f.create_time or 0) * 1000)
    assert newest + f.ttl * DAY_MS < NOW_MS
    assert f.atime_ms is not None or f.n_files == 0


def test_every_class_has_a_rule_and_the_last_rule_always_holds() -> None:
    assert {cls for _, cls, _ in RULES} == set(ExpiryClass)
    assert [*(rule for rule, _, _ in RULES), Rule.CHANGED] == list(Rule)
    assert RULES[-1][:2] == (Rule.CLEAN_NOW, ExpiryClass.CLEAN_NOW)


@pytest.mark.parametrize("absurd", [LATEST_MS + 1, 1_700_000_000_000_000, 1 << 62, -1])
@pytest.mark.parametrize("column", ["mtime_ms", "atime_ms"])
def test_a_time_that_cannot_be_true_makes_an_item_unknown_and_stops_nothing(
    absurd: int, column: str
) -> None:
    got = judge(facts(**{column: absurd}), TERMS)
    assert (got.cls, got.detail) == (ExpiryClass.UNKNOWN, ABSURD)
