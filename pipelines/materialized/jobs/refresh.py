"""Brings one materialization up to date: by what changed, or in full, and says why.

Nothing is kept between two refreshes but the table itself: its newest commit says up to which
commits its sources were read. So a refresh that was killed is repeated, and changes nothing twice.
"""

import hashlib
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from datetime import datetime

import msgspec
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pipelines.commits.domain.marks import Written
from pipelines.commits.domain.positions import NOTHING, Kind, Meaning, Position
from pipelines.commits.jobs.changes import Changes, Source
from pipelines.commits.jobs.target import REPLACE, Target
from pipelines.materialized.domain.answers import Unanswering, described
from pipelines.materialized.domain.costs import Past
from pipelines.materialized.domain.definition import Definition
from pipelines.materialized.domain.kept_columns import GROUP, ROWS, VALUE
from pipelines.materialized.domain.messages import COUNTS, Note
from pipelines.materialized.domain.planner import Known, Plan, Way, plan, plan_groups
from pipelines.materialized.jobs import states
from pipelines.materialized.jobs.columns import Kept, with_group
from pipelines.materialized.jobs.distinct import Distinct
from pipelines.materialized.jobs.outputs import rows_of
from pipelines.materialized.jobs.projection import Projection
from portal.safety.failpoints import Failpoints

_MOST_ROUNDS = 3
_MOST_ASKED = 10_000
"""Groups whose dimensions the driver reads."""
Tell = Callable[[str], None]


@dataclass
class Numbers:
    """What a refresh found and did."""

    n_rows: int = 0
    n_groups: int = 0
    n_changed_groups: int = 0
    n_dirty_groups: int = 0
    n_commits: int = 0
    changed_bytes: int = 0
    all_bytes: int = 0


@dataclass
class Done:
    """What became of a refresh."""

    plan: Plan
    positions: Mapping[str, Position]
    numbers: Numbers
    kept: Kept


@dataclass
class Refresh:
    """One refresh of one materialization."""

    spark: SparkSession
    definition: Definition
    sources: Mapping[str, Source]
    target: Target
    distinct_location: str
    failpoints: Failpoints
    tell: Tell
    asked_at: datetime
    past: tuple[Past, ...] = ()
    numbers: Numbers = field(default_factory=Numbers)

    def run(self, *, is_full: bool) -> Done:
        """Bring the table to the newest commits of its sources.

        Raises:
            RuleViolation: `commits.foreign_table`, `commits.foreign_write`,
                `materialized.definition`, `materialized.type`: nothing was written.
        """
        done = None
        for _ in range(_MOST_ROUNDS):
            newest = {name: source.position() for name, source in self.sources.items()}
            # What is computed in full needs no finished counts.
            wanted = newest if is_full else self._unfinished(newest) or newest
            done = self._round(wanted, is_full=is_full)
            if done.positions == newest:
                break
        if done is None:
            raise AssertionError
        return done

    @property
    def projection(self) -> Projection:
        """The expressions of the definition."""
        return Projection(self.spark, self.definition)

    def kept(self, positions: Mapping[str, Position]) -> Kept:
        """Return what is kept of the sources as they are at positions, checked."""
        frames = {name: source.read_at(positions[name]) for name, source in self.sources.items()}
        for table in self.definition.tables:
            self.projection.check_names(table, frames[table.name].columns)
        columns = {name: dict(frame.dtypes) for name, frame in frames.items()}
        found = Kept(self.definition, self._projected(frames).schema, columns)
        found.check()
        return found

    def rows(self, positions: Mapping[str, Position]) -> DataFrame:
        """Return the projected rows of the sources at positions."""
        return self._projected(
            {name: source.read_at(positions[name]) for name, source in self.sources.items()}
        )

    def _round(self, wanted: Mapping[str, Position], *, is_full: bool) -> Done:
        said = self.target.written(may_be_foreign=is_full)
        kept = self.kept(wanted)
        with ExitStack() as stack:
            meanings, changes = self._meanings(said, wanted, stack)
            known = self._known(kept, said, meanings, changes, wanted)
            if is_full:
                known = msgspec.structs.replace(known, is_asked_full=True)
            found = plan(known)
            self.tell(f"{found.way}: {found.reason}")
            if found.way is Way.INCREMENTAL and changes.rows is not None and said is not None:
                found = self._change(kept, changes.rows, said, wanted) or found
            elif found.way is Way.NOTHING and said is not None and said.positions != wanted:
                self._move(kept, said, wanted)
        if found.way is Way.FULL:
            self._compute(kept, wanted)
        self.numbers.n_groups, self.numbers.n_rows = self._total()
        return Done(found, wanted, self.numbers, kept)

    def _unfinished(self, newest: Mapping[str, Position]) -> Mapping[str, Position] | None:
        """Return the positions that the counts of distinct values have and the table has not.

        They are written first, so after a crash in between the table is brought to them.
        """
        if not self.definition.distinct or not self.target.is_there:
            return None
        said = self._counted()
        own = self.target.written(may_be_foreign=True)
        if said is None or own is None or said.positions == own.positions:
            return None
        if said.positions.keys() != newest.keys():
            return None
        for name, source in self.sources.items():
            # What cannot be read any more as it was then is computed in full as it is now.
            with source.changes(said.positions[name], newest[name]) as found:
                if found.kind is Kind.FULL:
                    return None
        return said.positions

    def _meanings(
        self, said: Written | None, wanted: Mapping[str, Position], stack: ExitStack
    ) -> tuple[dict[str, Meaning], Changes]:
        """Return what the commits of each source mean, and the changes of the facts."""
        found: dict[str, Meaning] = {}
        facts = Changes(NOTHING)
        if said is None or said.positions.keys() != wanted.keys():
            return found, facts
        for table in self.definition.tables:
            source, name = self.sources[table.name], table.name
            columns = None
            if table == self.definition.fact:
                columns = self.projection.needed(source.read_at(wanted[name]).columns)
            changes = stack.enter_context(
                source.changes(said.positions[name], wanted[name], columns)
            )
            found[name] = changes.meaning
            if table == self.definition.fact:
                facts = changes
        return found, facts

    def _known(
        self,
        kept: Kept,
        said: Written | None,
        meanings: Mapping[str, Meaning],
        changes: Changes,
        wanted: Mapping[str, Position],
    ) -> Known:
        fact = self.definition.fact.name
        note = _note(said)
        self.numbers.changed_bytes = changes.n_bytes
        self.numbers.n_commits = changes.meaning.n_commits
        self.numbers.all_bytes = sum(
            source.n_bytes(wanted[name]) for name, source in self.sources.items()
        )
        return Known(
            is_new=said is None,
            is_redefined=said is not None
            and not (meanings and note.definition == digest(self.definition)),
            is_uncounted=said is not None and not self._has_counts(said, wanted),
            fact=meanings.get(fact, NOTHING),
            dimensions={name: one for name, one in meanings.items() if name != fact},
            changed_bytes=changes.n_bytes,
            all_bytes=self.numbers.all_bytes,
            has_floats=kept.has_floats,
            n_since_full=note.n_since_full,
            past=self.past,
        )

    def _has_counts(self, said: Written, wanted: Mapping[str, Position]) -> bool:
        """Whether the counts of distinct values are where the table is, or where it goes to."""
        if not self.definition.distinct:
            return True
        counts = self._counted()
        return counts is not None and counts.positions in (said.positions, dict(wanted))

    def _change(
        self, kept: Kept, rows: DataFrame, said: Written, wanted: Mapping[str, Position]
    ) -> Plan | None:
        """Merge changed rows into the table; returns why everything is to be computed instead."""
        dimensions = {
            one.table.name: self.sources[one.table.name].read_at(wanted[one.table.name])
            for one in self.definition.joins
        }
        signed = self.projection.rows(rows, dimensions)
        changes = states.netted(kept, signed).persist()
        merged = states.merged(kept, changes, self.target.read()).persist()
        try:
            found = merged.agg(
                F.count(F.lit(1)).alias("n"),
                F.count_if(states.DIRTY).alias("n_dirty"),
                F.count_if(states.IMPOSSIBLE).alias("n_impossible"),
                F.sum(states.MORE).alias("n_more"),
            ).collect()[0]
            self.numbers.n_changed_groups = found["n"]
            self.numbers.n_dirty_groups = found["n_dirty"]
            known = _note(said)
            n_groups, n_rows = known.n_groups, known.n_rows
            if found["n_dirty"] or n_rows is None or n_groups is None:
                n_groups, n_rows = self._total()
            refused = plan_groups(
                n_dirty=found["n_dirty"],
                n_groups=n_groups,
                n_impossible=found["n_impossible"],
            )
            if refused is not None:
                self.tell(f"{refused.way}: {refused.reason}")
                return refused
            n_rows += states.n_more(changes)
            n_groups += found["n_more"] or 0
            note = self._noted(kept, known.n_since_full + 1, n_rows, n_groups)
            counts = self._counts(kept)
            if counts is not None and not self._is_at(wanted):
                self.tell("distinct values")
                with self.failpoints.step("distinct"):
                    counts.add(changes, wanted, note)
            new = self._recomputed(kept, merged, wanted, n_dirty=found["n_dirty"])
            self._write(kept, new, wanted, note, operation="upsert")
            return None
        finally:
            merged.unpersist()
            changes.unpersist()

    def _recomputed(
        self, kept: Kept, merged: DataFrame, wanted: Mapping[str, Position], *, n_dirty: int
    ) -> DataFrame:
        """Return new states, those of dirty groups computed from the rows that are."""
        clean = merged.where(~F.col(states.DIRTY)).drop(*states.JUDGED)
        if not n_dirty:
            return clean
        self.tell(f"{n_dirty} dirty groups")
        dirty = merged.where(F.col(states.DIRTY)).select(*kept.keys)
        is_few = n_dirty <= _MOST_ASKED
        is_few = is_few and all(one.has_plain_partitions for one in self.sources.values())
        again = states.of_groups(kept, self.rows(wanted), dirty, is_asked=is_few)
        return clean.unionByName(states.of_rows(kept, again))

    def _move(self, kept: Kept, said: Written, wanted: Mapping[str, Position]) -> None:
        """Say that the table is at newer commits, which changed no row."""
        known = _note(said)
        note = self._noted(kept, known.n_since_full, known.n_rows, known.n_groups)
        counts = self._counts(kept)
        if counts is not None and not self._is_at(wanted):
            counts.target.write(_nothing(counts.target), wanted, note=note)
        self.target.write(_nothing(self.target), wanted, note=note)

    def _compute(self, kept: Kept, wanted: Mapping[str, Position]) -> None:
        """Compute everything, in the place of what is there."""
        self.tell("all rows")
        rows = self.rows(wanted)
        new = states.of_rows(kept, rows).persist()
        try:
            n_groups, n_rows = _counted(new)
            note = self._noted(kept, 0, n_rows, n_groups)
            counts = self._counts(kept)
            if counts is not None:
                self.tell("distinct values")
                with self.failpoints.step("distinct"):
                    counts.replace(states.once(with_group(rows, kept.keys)), wanted, note)
            self._write(kept, new, wanted, note, operation=REPLACE)
        finally:
            new.unpersist()

    def _write(
        self,
        kept: Kept,
        new: DataFrame,
        wanted: Mapping[str, Position],
        note: str,
        *,
        operation: str,
    ) -> None:
        counts = self._counts(kept)
        if counts is not None:
            names = [name for name in counts.numbers(new).columns if name != GROUP]
            new = new.join(counts.numbers(new), GROUP, "left").na.fill(0, names)
        self.tell("write")
        with self.failpoints.step("target"):
            self.target.write(rows_of(kept, new), wanted, operation=operation, note=note)

    def _counts(self, kept: Kept) -> Distinct | None:
        return Distinct(kept, self._distinct_target) if self.definition.distinct else None

    @property
    def _distinct_target(self) -> Target:
        return Target(
            self.spark,
            self.target.db,
            f"{self.target.table}{COUNTS}",
            self.distinct_location,
            self.target.owner,
            VALUE,
            self.target.metastore,
            deleted_by=(ROWS, "0"),
        )

    def _counted(self) -> Written | None:
        """Return what the counts of distinct values say; None: they are not of this definition.

        What was counted for another one, or was written to by somebody else, is counted again.
        """
        said, foreign = self._distinct_target.newest()
        if said is None or foreign or said.owner != self.target.owner:
            return None
        return said if _note(said).definition == digest(self.definition) else None

    def _is_at(self, wanted: Mapping[str, Position]) -> bool:
        said = self._counted()
        return said is not None and said.positions == dict(wanted)

    def _total(self) -> tuple[int, int]:
        """Return how many groups the table has, and how many rows are in them."""
        return _counted(self.target.read())

    def _noted(
        self, kept: Kept, n_since_full: int, n_rows: int | None, n_groups: int | None
    ) -> str:
        answers = None
        with suppress(Unanswering):  # only queries miss it
            zone = str(self.spark.conf.get("spark.sql.session.timeZone"))
            answers = described(self.definition, kept.types, kept.columns, zone)
        note = Note(
            digest(self.definition),
            n_since_full,
            n_rows,
            int(self.asked_at.timestamp()),
            answers,
            n_groups,
        )
        return msgspec.json.encode(note).decode()

    def _projected(self, frames: Mapping[str, DataFrame]) -> DataFrame:
        return self.projection.rows(frames[self.definition.fact.name], frames)


def digest(definition: Definition) -> str:
    """Return what identifies a definition, however it is laid out."""
    return hashlib.sha256(msgspec.json.encode(definition)).hexdigest()


def _note(said: Written | None) -> Note:
    return Note("") if said is None else msgspec.json.decode(said.note, type=Note)


def _counted(groups: DataFrame) -> tuple[int, int]:
    total = groups.agg(F.count(F.lit(1)).alias("groups"), F.sum(ROWS).alias("rows")).collect()[0]
    return total["groups"], total["rows"] or 0


def _nothing(target: Target) -> DataFrame:
    """Return no row, of the table's own columns."""
    rows = target.read().limit(0)
    return rows.select(*(f"`{one}`" for one in rows.columns if not one.startswith("_hoodie_")))
