"""A comparison finds what was damaged and nothing else, however reads and changes interleave."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.cdc.reconciling.domain.verdicts import DIFFERENCES, Pair, Verdict, judge
from pipelines.cdc.reconciling.engine.rounds import Outcome, compare

KEYS = ("a", "b", "c", "d")
STEP = 4
"""Between two versions there is room, as a log's events have many bytes."""

Write = tuple[str, int | None]
"""A key and its new content; None deletes it."""
writes = st.tuples(st.sampled_from(KEYS), st.one_of(st.none(), st.integers(0, 1)))
pauses = st.lists(st.lists(writes, max_size=3), min_size=24, max_size=24)


@dataclass
class World:
    """A source with a log, a lake that applies it at its own pace, and what happens meanwhile.

    `pauses` are the writes of each pause between two steps of the comparison; `eager` says in
    which of them the lake applies what it can.
    """

    pauses: list[list[Write]]
    eager: list[bool]
    is_exact: bool
    """Whether a read knows its own position, as on MariaDB; else an older one, as on MySQL."""
    log: list[Write] = field(default_factory=list)
    rows: dict[str, int] = field(default_factory=dict)
    lake: dict[str, tuple[int, int]] = field(default_factory=dict)
    tombstones: dict[str, int] = field(default_factory=dict)
    n_applied: int = 0
    _needed: int = 0
    _read: dict[str, tuple[int | None, int]] = field(default_factory=dict)
    _is_whole: bool = True
    _first: int = 0
    _settled: int = 0

    @property
    def version(self) -> int:
        return len(self.log) * STEP

    def write(self, key: str, content: int | None) -> None:
        if content is None and key not in self.rows:
            return
        self.log.append((key, content))
        if content is None:
            del self.rows[key]
        else:
            self.rows[key] = content

    def apply(self, until: int) -> None:
        for n in range(self.n_applied, until):
            key, content = self.log[n]
            version = (n + 1) * STEP
            if content is None:
                self.lake.pop(key, None)
                self.tombstones[key] = version
            else:
                self.lake[key] = (content, version)
        self.n_applied = max(self.n_applied, until)

    def pause(self) -> None:
        happens = self.pauses.pop() if self.pauses else []
        for one in happens:
            self.write(*one)
        if self.eager and self.eager.pop():
            self.apply(len(self.log))

    def read(self, keys: Sequence[str] | None) -> None:
        self._is_whole = keys is None
        self._read = {}
        self._first = self.version if self.is_exact else self._settled
        # Each key is a chunk of its own, at a position of its own.
        for key in keys or KEYS:
            at = self.version if self.is_exact else self._settled
            self._read[key] = (self.rows.get(key), at)
            self._settled = self.version
            self.pause()
        self._needed = len(self.log)

    def wait(self) -> None:
        self.pause()
        self.apply(max(self._needed, self.n_applied))

    def differing(self) -> Iterator[Pair]:
        self.pause()
        found = []
        for key, (content, read_at) in self._read.items():
            row = self.lake.get(key)
            # Of a key without a row no chunk says where it would have been.
            is_nowhere = content is None and self._is_whole
            at = self._first if is_nowhere else read_at
            changed = max(row[1] if row else 0, self.tombstones.get(key, 0))
            if content != (row[0] if row else None):
                found.append(Pair(key, content, row[0] if row else None, at, changed))
            self.pause()
        return iter(found)

    def end(self) -> int:
        return self.version


worlds = st.builds(
    World, pauses, st.lists(st.booleans(), min_size=24, max_size=24), is_exact=st.booleans()
)


def begun(world: World, rows: dict[str, int]) -> World:
    for key, content in rows.items():
        world.write(key, content)
    world.apply(len(world.log))
    world._settled = world.version
    return world


contents = st.dictionaries(st.sampled_from(KEYS), st.integers(0, 1))


@settings(max_examples=150, deadline=None)
@given(worlds, contents)
def test_a_lake_that_was_not_damaged_never_differs(world: World, rows: dict[str, int]) -> None:
    assert compare(begun(world, rows), most_rounds=5).n_differences == 0


@settings(max_examples=150, deadline=None)
@given(worlds, contents, st.sampled_from(["gone", "other", "more"]), st.sampled_from(KEYS))
def test_damage_to_a_row_that_nobody_writes_is_found_alone(
    world: World, rows: dict[str, int], damage: str, key: str
) -> None:
    is_there = damage != "more"
    rows = {one: content for one, content in rows.items() if one != key}
    world.pauses = [[one for one in each if one[0] != key] for each in world.pauses]
    begun(world, rows | ({key: 1} if is_there else {}))
    if damage == "gone":
        del world.lake[key]
    else:
        world.lake[key] = (7, world.lake[key][1] if is_there else STEP)
    outcome = compare(world, most_rounds=5)
    kind = {"gone": Verdict.MISSING, "other": Verdict.DIFFERENT, "more": Verdict.EXTRA}[damage]
    assert outcome.keys == [(kind, key)]
    assert outcome.n_differences == 1


@settings(max_examples=80, deadline=None)
@given(worlds, contents)
def test_once_nobody_writes_everything_is_decided(world: World, rows: dict[str, int]) -> None:
    del world.pauses[10:]
    outcome = compare(begun(world, rows), most_rounds=12)
    assert outcome.counts[Verdict.CHANGED] == 0


def test_a_value_that_went_and_came_back_is_no_difference() -> None:
    # The source had 1, then 2, then 1 again; the lake was read while it had 2.
    assert judge(Pair("a", 1, 2, read_at=10, changed_at=14), end=18) is Verdict.CHANGED


def test_a_version_that_the_source_never_gave_excuses_nothing() -> None:
    assert judge(Pair("a", 1, 2, read_at=10, changed_at=99), end=18) is Verdict.DIFFERENT


def test_a_key_that_the_lake_has_twice_differs() -> None:
    assert judge(Pair("a", 1, 1, read_at=10, changed_at=8, n_lake=2), end=18) in DIFFERENCES


def test_what_is_in_quarantine_is_told_apart() -> None:
    pair = Pair("a", None, 1, read_at=10, changed_at=8, is_unfit=True)
    assert judge(pair, end=18) is Verdict.UNFIT
    assert Outcome().n_differences == 0
