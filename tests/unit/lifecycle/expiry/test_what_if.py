"""A what-if by sums says what judging item by item says, for any LEVEL and TTL."""

from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from lifecycle.expiry.domain.rule import (
    DAY_MS,
    Directory,
    ExpiryClass,
    ExpiryFacts,
    Terms,
    judge,
    update_time,
)
from lifecycle.expiry.domain.what_if import (
    Ages,
    Amount,
    Bucket,
    Outcome,
    due_by_week,
    metadata_rows,
    total,
    what_if,
)
from lifecycle.expiry.services.ages import count_ages
from lifecycle.expiry.services.buckets import Known, with_buckets
from lifecycle.policies.domain.policy import Values

NOW = datetime(2026, 11, 22, 9, 30, tzinfo=UTC)
NOW_MS = int(NOW.timestamp() * 1000)
TERMS = Terms(NOW, ZoneInfo("Europe/Berlin"))
BROKEN, SOUND = 1, 2
TTLS = st.integers(1, 120)


@dataclass(frozen=True)
class Case:
    """One item as the scan knew it, and what lies beside it."""

    tbl_id: int
    facts: ExpiryFacts
    size: int

    @property
    def cls(self) -> ExpiryClass:
        return judge(self.facts, TERMS).cls

    def row(self, number: int) -> dict[str, object]:
        facts = self.facts
        updated, _ = update_time(
            ddl_time=facts.ddl_time, create_time=facts.create_time, mtime_ms=facts.mtime_ms
        )
        return {
            "db": "d",
            "tbl": f"t{self.tbl_id}",
            "tbl_id": self.tbl_id,
            "part_name": f"p={number}",
            "ttl": facts.ttl,
            "cls": self.cls.value,
            "updated_ms": updated,
            "mtime_ms": facts.mtime_ms,
            "atime_ms": facts.atime_ms,
            "n_files": facts.n_files,
            "n_bytes": None if facts.n_files is None else self.size,
            "ready": facts.ready,
        }


# Days apart from now, with the milliseconds around each border.
clocks = st.builds(
    lambda days, ms: NOW_MS - days * DAY_MS + ms,
    st.integers(-3, 130),
    st.sampled_from([-1_000, -1, 0, 1, 1_000]),
)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    own = draw(
        st.one_of(
            st.tuples(st.just(1), TTLS),
            st.tuples(st.just(0), st.one_of(st.none(), TTLS)),
            st.just((None, None)),
        )
    )
    tbl_id = draw(st.sampled_from([BROKEN, SOUND, SOUND]))
    is_in = own[0] == 1
    looked = draw(st.booleans()) and is_in
    missing = is_in and not looked and draw(st.integers(0, 9)) == 0
    mtime = draw(clocks) if looked else draw(st.one_of(st.none(), clocks))
    broken = ("OWNER_PATH_FAIL",) if tbl_id == BROKEN else ()
    outside = () if draw(st.integers(0, 9)) else ("PART_PATH_NOT_IN_TBL",)
    directory = Directory.WALKED if looked else Directory.NOT_LOOKED
    seconds = st.one_of(st.none(), st.integers(-3, 130).map(lambda d: NOW_MS // 1000 - d * 86_400))
    facts = ExpiryFacts(
        level=own[0],
        ttl=own[1],
        unsupported="a view" if not draw(st.integers(0, 19)) else "",
        nonconforming=broken + outside,
        ready=bool(draw(st.integers(0, 9))),
        hold="" if draw(st.integers(0, 9)) else "held",
        directory=Directory.MISSING if missing else directory,
        ddl_time=draw(seconds),
        create_time=draw(seconds),
        mtime_ms=None if missing else mtime,
        atime_ms=draw(st.one_of(st.none(), clocks)) if looked else None,
        n_files=draw(st.integers(0, 3)) if looked else None,
    )
    return Case(tbl_id, facts, draw(st.integers(0, 10**12)))


def known_of(items: list[Case]) -> Known:
    names = [("d", f"t{case.tbl_id}", f"p={number}") for number, case in enumerate(items)]
    outside = "PART_PATH_NOT_IN_TBL"
    return Known(
        as_of=NOW,
        nonconforming=frozenset({BROKEN}),
        outside=frozenset(
            n for n, c in zip(names, items, strict=True) if outside in c.facts.nonconforming
        ),
        held=frozenset(n for n, c in zip(names, items, strict=True) if c.facts.hold),
    )


TEXTS = ("db", "tbl", "part_name", "cls")
LONGS = ("tbl_id", "updated_ms", "mtime_ms", "atime_ms", "n_files", "n_bytes")
FIELDS: "list[pa.Field[Any]]" = [
    *(pa.field(name, pa.string()) for name in TEXTS),
    *(pa.field(name, pa.int64()) for name in LONGS),
    pa.field("ttl", pa.int32()),
    pa.field("ready", pa.bool_()),
]
SCHEMA = pa.schema(FIELDS)


def counted(items: list[Case], *, n_files: int = 2) -> dict[int, Ages]:
    """Count as the ingest does, the items spread over some files."""
    rows = [case.row(number) for number, case in enumerate(items)]
    files = [pa.Table.from_pylist(rows[place::n_files], schema=SCHEMA) for place in range(n_files)]
    return dict(count_ages(files, known_of(items)))


def recount(items: list[Case], values: Values) -> dict[ExpiryClass, Amount]:
    """Judge every item alone, as the rule itself does."""
    found: dict[ExpiryClass, Amount] = defaultdict(Amount)
    for case in items:
        cls = judge(replace(case.facts, level=values.level, ttl=values.ttl), TERMS).cls
        is_measured = case.facts.n_files is not None
        found[cls] += Amount(
            1,
            case.size if is_measured else 0,
            case.facts.n_files or 0,
            0 if is_measured else 1,
        )
    return dict(found)


wanted = st.one_of(
    st.builds(Values, st.just(1), TTLS), st.just(Values(0, 5)), st.just(Values(None, None))
)


@settings(max_examples=75)
@given(st.lists(cases(), min_size=1, max_size=40), wanted)
def test_sums_say_what_judging_each_item_says(items: list[Case], values: Values) -> None:
    outcome = total(what_if(ages, values) for ages in counted(items).values())
    assert dict(outcome.classes) == recount(items, values)


@settings(max_examples=25)
@given(st.lists(cases(), min_size=1, max_size=40))
def test_counts_are_stored_and_read_back_and_lose_nothing(items: list[Case]) -> None:
    counts = counted(items)
    assert {key: Ages.from_json(ages.to_json()) for key, ages in counts.items()} == counts
    assert sum(amount.n for ages in counts.values() for amount in ages.counts.values()) == len(
        items
    )


@settings(max_examples=25)
@given(st.lists(cases(), min_size=1, max_size=40), TTLS, TTLS)
def test_a_longer_ttl_never_makes_more_due(items: list[Case], one: int, other: int) -> None:
    counts = counted(items)
    short, long = sorted((one, other))

    def due(ttl: int) -> int:
        found = total(what_if(ages, Values(1, ttl)) for ages in counts.values())
        return found.now.n + found.still_read.n

    assert due(long) <= due(short)


@settings(max_examples=25)
@given(st.lists(cases(), min_size=1, max_size=40), wanted)
def test_every_item_stands_in_exactly_one_of_the_shown_sums(
    items: list[Case], values: Values
) -> None:
    outcome = total(what_if(ages, values) for ages in counted(items).values())
    shown = (outcome.now, outcome.still_read, outcome.soon, outcome.later, outcome.unsure)
    assert sum(amount.n for amount in shown) + outcome.stays.n == len(items) == outcome.all.n


def test_what_changed_during_the_scan_is_never_due() -> None:
    old = Case(SOUND, ExpiryFacts(1, 10, ddl_time=1, mtime_ms=1, atime_ms=1, n_files=1), 7)
    row = old.row(0) | {"cls": "NOT_NOW"}
    table = with_buckets(pa.Table.from_pylist([row], schema=SCHEMA), Known(NOW))
    assert table["bucket"].to_pylist() == [Bucket.CHANGED.value]
    ages = Ages({(Bucket.CHANGED, 0): Amount(1, 7, 1)})
    assert what_if(ages, Values(1, 1)).classes == {ExpiryClass.NOT_NOW: Amount(1, 7, 1)}


def test_holds_on_a_table_and_on_a_database_hold_what_is_outside_lifecycle() -> None:
    plain = Case(SOUND, ExpiryFacts(None, None, ddl_time=1), 7)
    for name in (("d", "t2", ""), ("d", "", ""), ("d", "t2", "p=0")):
        known = Known(NOW, held=frozenset({name}))
        table = with_buckets(pa.Table.from_pylist([plain.row(0)], schema=SCHEMA), known)
        assert table["bucket"].to_pylist() == ["HELD"], name
    known = Known(NOW, held=frozenset({("d", "t22", ""), ("e", "", ""), ("d", "t2", "p=00")}))
    table = with_buckets(pa.Table.from_pylist([plain.row(0)], schema=SCHEMA), known)
    assert table["bucket"].to_pylist() == ["NOT_LOOKED"]


def test_the_coming_weeks_add_up_to_what_is_not_due_yet() -> None:
    ages = Ages({(Bucket.UNREAD, age): Amount(1, 10, 1) for age in range(60)})
    weeks = due_by_week(ages, Values(1, 60), as_of=NOW, n_weeks=10)
    assert [amount.n for _, amount in weeks] == [7] * 8 + [4, 0]
    assert weeks[1][0] == NOW + timedelta(days=7)
    assert all(not amount.n for _, amount in due_by_week(ages, Values(0), as_of=NOW, n_weeks=10))


def test_metadata_rows_are_counted_by_what_the_schema_needs() -> None:
    assert metadata_rows(10, n_keys=2) == 60
    assert metadata_rows(1, n_keys=0) == 8
    assert Outcome().all == Amount()
