"""Whatever happens in between, in the end every front end answers as the metastore.

Random writes and drops; notifications that come late, twice and out of order; statements that fail
on whoever takes them or on any other; front ends that freeze, die and begin again.
"""

import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refresh.changes.domain.changes import Cause, PartitionChange
from refresh.clusters.domain.frontends import FeState, FrontEnd
from refresh.core.domain.answers import Outcome, outcomes
from refresh.core.domain.versions import Dialect
from refresh.freshness.domain.coverage import CompletedRefresh
from refresh.freshness.domain.freshness import Danger, Freshness, standing
from refresh.freshness.domain.pending_refresh import (
    Attempt,
    TableChanges,
    as_in_metastore,
    next_attempt,
    pending_for,
    settled,
)
from refresh.freshness.domain.visibility import FeRecord
from refresh.worker.domain.steps import InMetastore, Step, StepKind, StepLimits, steps_for
from tests.unit.refresh.refresh_model import MissingPartitionError, ModelFe, ModelMetastore
from tests.unit.refresh.refresh_names import IN_CATALOG, front_end, noted

START = datetime(2026, 11, 22, 12, tzinfo=UTC)
NAMES = [f"dt={n}" for n in range(6)]
N_FES = 3
CAUSES = frozenset({Cause.EVENT})
LIMITS = StepLimits(most_by_name=3, per_statement=2)
# For how long, in seconds of a story, a front end answered wrongly at worst: told when all is run.
WORST: dict[Dialect, float] = {}


@pytest.fixture(scope="module", autouse=True)
def worst_told(
    request: pytest.FixtureRequest, record_testsuite_property: Callable[[str, object], None]
) -> Iterator[None]:
    yield
    for dialect, seconds in WORST.items():
        record_testsuite_property(f"worst staleness, {dialect}", seconds)
    with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        told = ", ".join(f"{dialect} {seconds:.0f} s" for dialect, seconds in WORST.items())
        sys.stdout.write(f" (worst staleness in a story: {told}) ")


@dataclass
class Seen:
    """A front end with its caches, and what the portal noted of it."""

    row: FrontEnd
    fe: ModelFe
    state: FeState = FeState.ALIVE
    done: list[CompletedRefresh] = field(default_factory=list)
    has_begun_anew: bool = False
    known_at: datetime = START
    empty_after: datetime | None = None


class Portal:
    """The portal in small: it hears, plans, sends and notes with the decisions under test."""

    def __init__(self, dialect: Dialect, seed: int) -> None:
        self.dialect, self.chance = dialect, random.Random(seed)
        self.now = START
        self.metastore = ModelMetastore()
        for name in NAMES[:3]:
            self.metastore.write(name)
        self.fes = [
            Seen(front_end(f"fe{n}"), ModelFe(dialect is Dialect.RESOURCES)) for n in range(N_FES)
        ]
        for one in self.fes:
            one.fe.query(self.metastore)
        self.unheard: list[tuple[str, str]] = []
        self.changes = TableChanges(START, is_partitioned=True)
        self.tries: dict[str, int] = {}
        self.fault_rate = 0.4
        self.n_statements = 0
        self.wrong_since: dict[str, datetime] = {}

    def tick(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now

    def write(self) -> None:
        name = self.chance.choice(NAMES)
        kind = "INSERT" if name in self.metastore.versions else "ADD_PARTITION"
        self.metastore.write(name)
        self.unheard.append((kind, name))

    def drop(self) -> None:
        if self.metastore.versions:
            name = self.chance.choice(sorted(self.metastore.versions))
            self.metastore.drop(name)
            self.unheard.append(("DROP_PARTITION", name))

    def hear(self) -> None:
        """Hear some of what is new, in any order; some of it is heard again later."""
        self.chance.shuffle(self.unheard)
        heard = [self.unheard.pop() for _ in range(min(len(self.unheard), 3))]
        self.unheard += [one for one in heard if self.chance.random() < 0.2]
        self.note(heard)

    def note(self, heard: list[tuple[str, str]]) -> None:
        at = self.tick()
        known = dict(self.changes.partitions)
        for name, touch in noted(heard).items():
            before = known.get(name, (at, touch))[1]
            known[name] = (at, touch if before is touch else PartitionChange.UPDATED)
        self.changes = replace(self.changes, partitions=known)

    def query(self) -> None:
        self.chance.choice(self.fes).fe.query(self.metastore)

    def restart(self) -> None:
        one = self.chance.choice(self.fes)
        one.fe.restart()
        one.has_begun_anew, one.state = True, FeState.ALIVE

    def freeze(self) -> None:
        self.chance.choice(self.fes).state = FeState.FROZEN

    def die(self) -> None:
        one = self.chance.choice(self.fes)
        one.fe.restart()
        one.has_begun_anew, one.state = True, FeState.DEAD

    def revive(self) -> None:
        self.chance.choice(self.fes).state = FeState.ALIVE

    def look(self) -> None:
        """Read SHOW FRONTENDS: who has another start than before began again since."""
        now = self.tick()
        for one in self.fes:
            if one.state is FeState.ALIVE:
                if one.has_begun_anew:
                    one.empty_after = one.known_at
                one.has_begun_anew, one.known_at = False, now

    def work(self) -> None:
        self.changes = as_in_metastore(self.changes, self.metastore.versions.keys())
        attempt = self.attempt()
        if attempt is None:
            return
        alive = [one for one in self.fes if one.state is FeState.ALIVE]
        coordinator = self.chance.choice(
            [one for one in alive if attempt.only_on in ("", one.row.name)]
        )
        names = attempt.pending.partitions.keys() & self.metastore.versions.keys()
        found = InMetastore(exists=True, is_partitioned=True, partitions=names)
        for step in steps_for(attempt.pending, found=found, dialect=self.dialect, limits=LIMITS):
            if self.chance.random() < self.fault_rate / 4:
                self.write()  # somebody writes between two statements
            if not self.send(step, coordinator):
                self.tries[coordinator.row.name] = self.tries.get(coordinator.row.name, 0) + 1
                return
        if not self.chance.randrange(3):
            self.changes = settled(self.changes, self.records())

    def attempt(self) -> Attempt | None:
        return next_attempt(
            IN_CATALOG, self.changes, self.records(), tries=self.tries, causes=CAUSES
        )

    def send(self, step: Step, coordinator: Seen) -> bool:
        """Refresh the taker, then ask the others: the text of 5074 names those that failed."""
        began_at, read = self.tick(), self.metastore.copy()
        self.n_statements += 1
        if self.fails(coordinator) or not self.renew(coordinator, step, read):
            return False
        text = ""
        for one in self.fes:
            if one is not coordinator and (self.fails(one) or not self.renew(one, step, read)):
                text += f"refresh fe {one.row.host} failed: Read timed out;"
        ended_at = self.tick()
        found = outcomes(
            f"refresh external table failed: {text}" if text else None,
            coordinator=coordinator.row,
            every=[one.row for one in self.fes],
        )
        for one in self.fes:
            if found[one.row.name].outcome is Outcome.DONE:
                one.done.append(CompletedRefresh(began_at, ended_at, frozenset(step.partitions)))
            else:
                self.tries[one.row.name] = self.tries.get(one.row.name, 0) + 1
        return True

    def fails(self, one: Seen) -> bool:
        return one.state is not FeState.ALIVE or self.chance.random() < self.fault_rate

    def renew(self, one: Seen, step: Step, read: ModelMetastore) -> bool:
        try:
            if step.kind is StepKind.TABLE:
                one.fe.refresh_table(read)
            else:
                one.fe.refresh_partitions(read, step.partitions)
        except MissingPartitionError:
            return False
        return True

    def records(self) -> list[FeRecord]:
        return [
            FeRecord(one.row.name, one.state, self.dialect, tuple(one.done), one.empty_after)
            for one in self.fes
        ]

    def right(self, one: Seen) -> bool:
        return one.fe.copy().query(self.metastore) == self.metastore.versions

    def compare(self) -> None:
        """Note for how long each front end has been answering wrongly."""
        for one in self.fes:
            if self.right(one):
                self.wrong_since.pop(one.row.name, None)
            else:
                since = self.wrong_since.setdefault(one.row.name, self.now)
                seconds = (self.now - since).total_seconds()
                WORST[self.dialect] = max(WORST.get(self.dialect, 0.0), seconds)


ACTIONS = (
    *("write", "write", "drop", "hear", "hear", "query", "query", "work", "work", "work"),
    *("look", "look", "restart", "freeze", "die", "revive"),
)


@pytest.mark.parametrize("dialect", Dialect)
@settings(max_examples=50)  # each is a long history
@given(
    script=st.lists(st.sampled_from(ACTIONS), min_size=20, max_size=70),
    seed=st.integers(0, 2**32),
)
def test_r6_when_the_faults_end_every_front_end_equals_the_metastore(
    dialect: Dialect, script: list[str], seed: int
) -> None:
    portal = Portal(dialect, seed)
    for action in script:
        portal.tick()
        getattr(portal, action)()
        portal.compare()
    portal.fault_rate = 0
    for one in portal.fes:
        one.state = FeState.ALIVE
    portal.look()
    portal.note(portal.unheard)
    portal.unheard.clear()
    before = portal.n_statements
    while portal.attempt() is not None:
        portal.work()
        portal.compare()
        # At worst one for the table and one each for three batches, on each front end.
        assert portal.n_statements - before <= N_FES * 4, "it never comes to an end"
    assert all(portal.right(one) for one in portal.fes)
    assert not any(pending_for(record, portal.changes) for record in portal.records())
    assert not settled(portal.changes, portal.records()).partitions


@pytest.mark.parametrize("dialect", Dialect)
@settings(max_examples=50)  # each is a long history
@given(
    script=st.lists(st.sampled_from(ACTIONS), min_size=20, max_size=70),
    seed=st.integers(0, 2**32),
)
def test_r3_a_wrong_answer_is_always_shown_as_a_danger(
    dialect: Dialect, script: list[str], seed: int
) -> None:
    """At any moment, for all that was heard: whoever answers wrongly is not called good."""
    portal = Portal(dialect, seed)
    for action in script:
        portal.tick()
        getattr(portal, action)()
        if portal.unheard:
            continue
        for one, record in zip(portal.fes, portal.records(), strict=True):
            if one.state is FeState.ALIVE and not portal.right(one):
                found = standing(portal.changes, record)
                assert found.freshness is Freshness.STALE
                assert found.danger is not Danger.NONE


def test_a_drop_heard_before_an_older_write_is_no_debt_for_ever() -> None:
    heard = {"dt=1": (START, PartitionChange.UPDATED), "dt=2": (START, PartitionChange.DROPPED)}
    changes = TableChanges(START, is_partitioned=True, partitions=heard)
    found = as_in_metastore(changes, {"dt=2"}).partitions
    assert {name: touch for name, (_, touch) in found.items()} == {
        "dt=1": PartitionChange.DROPPED,
        "dt=2": PartitionChange.UPDATED,
    }


def test_a_broken_front_end_keeps_nobody_else_waiting() -> None:
    changes = TableChanges(
        START, is_partitioned=True, partitions={"dt=1": (START, PartitionChange.UPDATED)}
    )
    done = (CompletedRefresh(START + timedelta(seconds=1), START + timedelta(seconds=2)),)
    a, b, c = (FeRecord(name, FeState.ALIVE, Dialect.CATALOGS) for name in "abc")

    def coordinator(*fes: FeRecord, **tries: int) -> str | None:
        found = next_attempt(IN_CATALOG, changes, fes, tries=tries, causes=CAUSES)
        return None if found is None else found.only_on

    assert coordinator(a, b, c) == ""
    assert coordinator(a, b, c, a=1) == "b"
    assert coordinator(replace(a, done=done), b, c) == "b"
    assert coordinator(replace(a, done=done), b, c, b=3) == "c"
    assert coordinator(replace(a, done=done)) is None
    assert coordinator(replace(a, state=FeState.FROZEN), replace(b, state=FeState.DEAD)) is None
