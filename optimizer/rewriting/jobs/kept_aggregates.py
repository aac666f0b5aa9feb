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
from optimizer.rewriting.jobs.hudi_tables import facts_of, newest_commit
from portal.connectors.lake_config import LakeConfig
from portal.lake.aggregates import StoredAggregate
from portal.lake.errors import PortalError, RuleViolation

_SAME_ROWS = frozenset({"COMPACT", "LOG_COMPACT", "CLUSTER", "INDEX"})
PlaceOf = Callable[[str], str | None]
"""Returns where a table lies now, as the metastore has it; None: it is no Hudi table."""


@dataclass
class KeptAggregates:
    """What is known of materializations and their sources, never older than the question."""

    spark: SparkSession
    config: LakeConfig
    place_of: PlaceOf
    _facts: dict[str, TableFacts] = field(default_factory=dict)
    _described: dict[tuple[str, str], StoredAggregate] = field(default_factory=dict)

    def facts(
        self, asked: Sequence[str], tables: Sequence[str], *, max_lag: timedelta, now: datetime
    ) -> dict[str, TableFacts]:
        """Return what is known of the tables that a query reads, with the materializations of them.

        `tables` are those of materializations. What cannot be read is left out, as it answers
        nothing.
        """
        kept = [one for one in map(self._aggregate, tables) if one and one.source in asked]
        names = {one.source for one in kept} | {j.table for one in kept for j in one.joins}
        known = {name: facts for name in sorted(names) if (facts := self._table(name))}
        found = dict(known)
        for one in kept:
            if one.source in found:
                cube = aggregate_facts(one, known, max_lag=max_lag, now=now)
                facts = found[one.source]
                found[one.source] = replace(facts, cubes=(*facts.cubes, cube))
        return found

    def _table(self, name: str) -> TableFacts | None:
        try:
            table = self._opened(name)
            if table is None:
                return None
            known = self._facts.get(name)
            commit = newest_commit(table)
            if known is None or (known.uuid, known.snapshot_id) != (table.location, commit):
                self._facts[name] = known = facts_of(self.spark, table, commit)
        except PortalError:
            return None
        return known

    def _aggregate(self, name: str) -> StoredAggregate | None:
        try:
            table = self._opened(name)
            return None if table is None else self._newest(table)
        except PortalError:
            return None

    def _opened(self, name: str) -> OpenedTable | None:
        place = self.place_of(name)
        if place is None:
            return None
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
                if not positions and str(said.getOperationType()) in _SAME_ROWS:
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
