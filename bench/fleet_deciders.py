"""Who decides in the fleet's bench: the product's own pure rules, and Amoro's published ones."""

import heapq
from collections import defaultdict
from datetime import UTC, datetime, timedelta

from bench.amoro_rules import AmoroConfig, AmoroFile, AmoroPartition, LastOptimized
from bench.fleet_history import MB, WRITERS
from bench.fleet_world import (
    BYTES_PER_SECOND,
    OPEN_SECONDS,
    TARGET,
    Begin,
    Part,
    Work,
    World,
    work_of,
)
from optimizer.core.domain.estimates import Speed
from optimizer.core.domain.scoring import SHARING, Candidate, place_of, score_of
from optimizer.core.domain.tasks import TaskKind
from optimizer.iceberg.inspect.domain.stats import PartitionStats, TableStats, partition_stats
from optimizer.iceberg.planner.domain.conflicts import Approach, Changes, CommitFact, advise
from optimizer.iceberg.planner.domain.deciding import Decision, decide
from optimizer.iceberg.planner.domain.estimates import estimate_task
from optimizer.iceberg.planner.domain.maintenance import LastTimes
from optimizer.policies.domain.policy import Policy

BASE = datetime(2026, 1, 1, tzinfo=UTC)
HEARING_SECONDS = 5.0
START_SECONDS = 20.0
REMEMBERED = 200
POLICY = Policy(is_on=True, target_bytes=TARGET, kinds=frozenset({TaskKind.MINOR, TaskKind.MAJOR}))
SPEED = Speed(BYTES_PER_SECOND, OPEN_SECONDS, START_SECONDS, 4.0)
AMORO = AmoroConfig()
AMORO_REFRESH = 60.0
AMORO_PLAN_INTERVAL = 60.0
AMORO_INPUT_PER_THREAD = 512 * MB
NEVER = -1e9


def instant(seconds: float) -> datetime:
    """Return the bench's clock as an instant."""
    return BASE + timedelta(seconds=seconds)


class Ours:
    """The product's rules: told of each commit, decides at once, goes by place in the line."""

    every = 1800.0
    loses_all = False

    def __init__(self, n_tables: int) -> None:
        self.line: list[tuple[float, int]] = []
        self.waiting: list[dict[int, TaskKind]] = [{} for _ in range(n_tables)]
        self.dirty: list[set[int]] = [set() for _ in range(n_tables)]
        self.open: list[set[int]] = [set() for _ in range(n_tables)]
        self.commits: defaultdict[int, list[CommitFact]] = defaultdict(list)
        self.held: dict[tuple[int, int], float] = {}

    def heard(self, world: World, table: int, partition: int) -> None:
        """Note it; the table is decided five seconds later, however many commits come."""
        if WRITERS[world.history.writer[table]].is_merge:
            part = world.tables[table][partition]
            if part.changed == world.now:
                seen = self.commits[table]
                name = frozenset({str(partition)})
                seen.append(CommitFact(instant(world.now), "overwrite", name))
                del seen[:-REMEMBERED]
        if not self.dirty[table]:
            world.later(world.now + HEARING_SECONDS, "wake", table)
        self.dirty[table].add(partition)

    def tick(self, world: World) -> None:
        """Decide again what waits for time or for other writers to pause."""
        for table, parts in enumerate(self.open):
            if parts:
                self._decide(world, table, sorted(parts))

    def woken(self, world: World, table: int) -> None:
        """Decide what has changed."""
        changed = sorted(self.dirty[table])
        self.dirty[table].clear()
        self._decide(world, table, changed)

    def begin(self, world: World) -> Begin | None:
        """Return the first table in the line with all its partitions, but those left for later."""
        while self.line:
            _, table = heapq.heappop(self.line)
            chosen, self.waiting[table] = self.waiting[table], {}
            works = [
                work
                for partition in sorted(chosen)
                if (work := self._work(world, table, partition)) is not None
            ]
            if works:
                return Begin(works, START_SECONDS, START_SECONDS / SHARING)
        return None

    def _decide(self, world: World, table: int, partitions: list[int]) -> None:
        for partition in partitions:
            part = world.tables[table][partition]
            if partition in self.waiting[table]:
                continue
            if part.is_busy or self.held.get((table, partition), 0.0) > world.now:
                self.open[table].add(partition)
                continue
            decision = decision_of({partition: part}, now=world.now)
            is_waiting = decision.decisions[0].code == "wait"
            (self.open[table].add if is_waiting else self.open[table].discard)(partition)
            for one in decision.proposals:
                self._queue(world, table, partition, one.kind)

    def _queue(self, world: World, table: int, partition: int, kind: TaskKind) -> None:
        world.want(table, partition)
        is_new = not self.waiting[table]
        self.waiting[table][partition] = kind
        if is_new:
            candidate = candidate_of(
                table, {partition: world.tables[table][partition]}, kind, since=world.now
            )
            place = place_of(score_of(candidate, speed=SPEED), since=candidate.since)
            heapq.heappush(self.line, (-place, table))

    def _work(self, world: World, table: int, partition: int) -> Work | None:
        part = world.tables[table][partition]
        if part.is_busy:
            return None
        picked = light([n for n, size in enumerate(part.sizes) if size < 0.75 * TARGET], part.sizes)
        if len(picked) < 2:
            return None
        work = work_of(table, partition, part.sizes, picked)
        if table not in self.commits:
            return work
        now = instant(world.now)
        changes = Changes(self.commits[table], now=now)
        found = changes.of(str(partition), newest_commit_at=None)
        since = instant(part.wanted if part.wanted is not None else world.now)
        advice = advise(
            found,
            seconds=START_SECONDS + work.seconds,
            caution=POLICY.caution,
            since=since,
            now=now,
        )
        if advice.approach is Approach.WAIT and advice.not_before is not None:
            self.held[table, partition] = (advice.not_before - BASE).total_seconds()
            self.open[table].add(partition)
            return None
        return work


def light(picked: list[int], sizes: list[int]) -> list[int]:
    """Leave out what weighs more than all lighter ones together, as the job does."""
    chosen = sorted(picked, key=lambda n: sizes[n])
    rest = sum(sizes[n] for n in chosen)
    while len(chosen) > 2 and 2 * sizes[chosen[-1]] > rest:
        rest -= sizes[chosen.pop()]
    return chosen


def stats_of(name: str, part: Part) -> PartitionStats:
    """Count a partition."""
    return partition_stats(name, part.sizes, target_bytes=TARGET)


def decision_of(parts: dict[int, Part], *, now: float) -> Decision:
    """Let the product decide on some partitions of a table."""
    stats = [stats_of(str(name), part) for name, part in parts.items()]
    done = {
        str(name): instant(part.rewritten)
        for name, part in parts.items()
        if part.rewritten is not None
    }
    return decide(
        stats, TableStats(), policy=POLICY, last=LastTimes(partitions=done), now=instant(now)
    )


def candidate_of(table: int, parts: dict[int, Part], kind: TaskKind, *, since: float) -> Candidate:
    """Return a table's place in the product's line."""
    stats = [stats_of(str(name), part) for name, part in parts.items()]
    estimate = estimate_task(kind, stats, target_bytes=TARGET, speed=SPEED)
    return Candidate(str(table), estimate, instant(since))


class Amoro:
    """Amoro's rules: looks each minute, longest un-optimized table first, all or nothing."""

    every = AMORO_REFRESH
    loses_all = True

    def __init__(self, n_tables: int) -> None:
        self.line: list[tuple[float, int]] = []
        self.pending: set[int] = set()
        self.fresh: defaultdict[int, set[int]] = defaultdict(set)
        self.timed: set[int] = set()
        self.open: list[set[int]] = [set() for _ in range(n_tables)]
        self.planned = [NEVER] * n_tables
        self.optimized = [NEVER] * n_tables

    def heard(self, world: World, table: int, partition: int) -> None:
        """It is seen at the next refresh."""
        part = world.tables[table][partition]
        if part.rewritten == world.now:
            self.optimized[table] = world.now
        small = sum(size <= AMORO.min_target for size in part.sizes)
        (self.open[table].add if small > 1 else self.open[table].discard)(partition)
        self.fresh[table].add(partition)

    def tick(self, world: World) -> None:
        """Refresh the tables that changed; those that need something become pending."""
        looked, self.fresh = self.fresh, defaultdict(set)
        for table, parts in looked.items():
            if table in self.pending:
                continue
            if self._is_busy(world, table):
                self.fresh[table] |= parts
                continue
            # A partition that did not change needs nothing new until an interval is over.
            needed = [one for one in parts & self.open[table] if self._needs(world, table, one)]
            for partition in needed:
                world.want(table, partition)
            if needed:
                self.pending.add(table)
                heapq.heappush(self.line, (self.optimized[table], table))
            elif self.open[table] and table not in self.timed:
                due = self.optimized[table] + AMORO.minor_interval + 1
                if due > world.now:
                    self.timed.add(table)
                    world.later(due, "wake", table)

    def woken(self, world: World, table: int) -> None:
        """The interval of minor optimizing is over: looked at with the next refresh."""
        self.timed.discard(table)
        self.fresh[table] |= self.open[table]

    def begin(self, world: World) -> Begin | None:
        """Plan the longest un-optimized pending table that may be planned now."""
        skipped: list[tuple[float, int]] = []
        found = None
        while self.line and found is None:
            entry = heapq.heappop(self.line)
            table = entry[1]
            if world.now - self.planned[table] < AMORO_PLAN_INTERVAL or self._is_busy(world, table):
                skipped.append(entry)
                continue
            self.pending.discard(table)
            self.planned[table] = world.now
            found = self._plan(world, table) or None
        for entry in skipped:
            heapq.heappush(self.line, entry)
        return Begin(found) if found else None

    def _is_busy(self, world: World, table: int) -> bool:
        return any(part.is_busy for part in world.tables[table].values())

    def _partition(self, world: World, table: int, partition: int) -> AmoroPartition:
        part = world.tables[table][partition]
        last = LastOptimized(minor=self.optimized[table])
        return AmoroPartition([AmoroFile(size) for size in part.sizes], AMORO, last, world.now)

    def _needs(self, world: World, table: int, partition: int) -> bool:
        return self._partition(world, table, partition).is_necessary()

    def _plan(self, world: World, table: int) -> list[Work]:
        found = [(one, self._partition(world, table, one)) for one in sorted(self.open[table])]
        needed = [(one, each) for one, each in found if each.is_necessary()]
        needed.sort(key=lambda pair: -pair[1].cost())
        works: list[Work] = []
        total = 0
        for partition, each in needed:
            if total > AMORO_INPUT_PER_THREAD * world.slots:
                break
            total += each.cost()
            sizes = world.tables[table][partition].sizes
            works += _works(table, partition, sizes, each)
        return works


def _works(table: int, partition: int, sizes: list[int], each: AmoroPartition) -> list[Work]:
    """Return the files that its tasks take, as one rewrite of the partition."""
    wanted: defaultdict[int, int] = defaultdict(int)
    for task in each.plan():
        for file in task.rewritten:
            wanted[file.n_bytes] += 1
    picked = []
    for n, size in enumerate(sizes):
        if wanted[size]:
            wanted[size] -= 1
            picked.append(n)
    return [work_of(table, partition, sizes, picked)] if len(picked) > 1 else []
