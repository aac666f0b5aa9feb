"""Keeps what was read of Hudi tables and of materializations in a program that stays.

The newest commit of each is looked up for every query; columns and descriptions are read again only
where it is another one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from pyspark.sql import SparkSession

from optimizer.hudi.tables.jobs.errors import clear_errors
from optimizer.hudi.tables.jobs.table import OpenedTable, open_table
from optimizer.rewriting.domain.aggregates import aggregate_facts
from optimizer.rewriting.domain.described import NOTE, POSITIONS, described_aggregate
from optimizer.rewriting.domain.facts import TableFacts
from optimizer.rewriting.domain.hudi_readers import HudiReader
from optimizer.rewriting.jobs.hudi_tables import (
    facts_of,
    has_logs,
    n_commits,
    newest_commit,
)
from portal.connectors.lake_config import LakeConfig
from portal.lake.aggregates import StoredAggregate
from portal.lake.errors import PortalError, RuleViolation
from portal.lake.formats import HUDI_SAME_ROWS

PlaceOf = Callable[[str], str | None]
"""Returns where a table lies now, as the metastore has it; None: it is no Hudi table."""


@dataclass(frozen=True)
class Known:
    """The tables that a query reads with their materializations, and those that say nothing."""

    tables: dict[str, TableFacts]
    problems: tuple[str, ...] = ()
    """Why a materialization could not be read, one sentence each."""


@dataclass
class KeptAggregates:
    """What is known of materializations and their sources, never older than the question."""

    spark: SparkSession
    config: LakeConfig
    place_of: PlaceOf
    reader: HudiReader
    """How the engine that is to run the queries reads the lake's Hudi tables."""
    _facts: dict[str, tuple[int, TableFacts]] = field(default_factory=dict)
    _described: dict[tuple[str, str], StoredAggregate] = field(default_factory=dict)

    def facts(
        self, asked: Sequence[str], tables: Sequence[str], *, max_lag: timedelta, now: datetime
    ) -> Known:
        """Return what is known of the tables that a query reads, with the materializations of them.

        `tables` are those of materializations. What cannot be read is left out, as it answers
        nothing.
        """
        kept: list[StoredAggregate] = []
        problems: list[str] = []
        for name in tables:
            try:
                one = self._newest(self._opened(name))
            except PortalError as error:
                problems.append(error.message)
                continue
            if one.source in asked:
                kept.append(one)
        names = {one.source for one in kept} | {j.table for one in kept for j in one.joins}
        known = {name: facts for name in sorted(names) if (facts := self._table(name))}
        own = {one.table: facts for one in kept if (facts := self._table(one.table))}
        found = dict(known)
        for one in kept:
            if one.source in found:
                cube = aggregate_facts(
                    one, {**known, **own}, max_lag=max_lag, now=now, reader=self.reader
                )
                facts = found[one.source]
                found[one.source] = replace(facts, cubes=(*facts.cubes, cube))
            else:
                problems.append(f"{one.table} answers nothing: {one.source} cannot be read.")
        return Known(found, tuple(problems))

    def _table(self, name: str) -> TableFacts | None:
        try:
            table = self._opened(name)
            commit, n = newest_commit(table), n_commits(table)
            n_known, known = self._facts.get(name, (0, None))
            if known is None or (known.uuid, known.snapshot_id, n_known) != (
                table.location,
                commit,
                n,
            ):
                known = facts_of(self.spark, table, commit)
                if not self.reader.reads_logs:
                    known = replace(known, has_logs=has_logs(table, commit))
                self._facts[name] = (n, known)
        except PortalError:
            return None
        return known

    def _opened(self, name: str) -> OpenedTable:
        """Open a table where it is now.

        Raises:
            PortalError: it is gone, or no Hudi table.
        """
        place = self.place_of(name)
        if place is None:
            raise RuleViolation(
                "rewrite.description", f"{name} answers nothing: it is no Hudi table here."
            )
        return open_table(self.spark, name, place, lake_zone=self.config.zone)

    def _newest(self, table: OpenedTable) -> StoredAggregate:
        """Return what the newest commit that changed rows says.

        Raises:
            RuleViolation: `rewrite.description`, also where somebody else wrote that commit.
        """
        with clear_errors(table.name):
            commits = table.java.getActiveTimeline().getCommitsTimeline()
            done = commits.filterCompletedInstants()
            for instant in done.getReverseOrderedInstants().iterator():
                key = (table.location, str(instant.getCompletionTime()))
                if key in self._described:
                    return self._described[key]
                said = done.readCommitMetadata(instant)
                positions, note = (str(said.getMetadata(one) or "") for one in (POSITIONS, NOTE))
                if not positions and str(said.getOperationType()) in HUDI_SAME_ROWS:
                    continue
                if not positions:
                    break
                found = described_aggregate(table.name, positions, note)
                self._described = {
                    known: one for known, one in self._described.items() if known[0] != key[0]
                } | {key: found}
                return found
        raise RuleViolation(
            "rewrite.description", f"{table.name} answers nothing: its newest commit is no refresh."
        )
