"""Judges what a plan names by the metastore as it is now: neighbours, path rules and owners.

All of it is read once a run from the metastore's own database; before each batch the notification
log says what changed since, and only that is read again. Between the two lie days of approval.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pyspark.sql import SparkSession

from lifecycle.inventory.jobs.metastore import MetastoreReader
from lifecycle.inventory.jobs.tables import (
    path_exceptions,
    path_templates,
    read_path,
    scratch_databases,
    table_facts,
)
from lifecycle.rules.domain.conformity import (
    SPOILS_TABLES,
    DatabaseFacts,
    Findings,
    TableFacts,
    judge,
    partition_conforms,
)
from lifecycle.rules.domain.templates import template_for
from portal.connectors.metastore import Metastore
from portal.events.change_log import ChangeLog
from portal.lake.clock import day_of
from portal.lake.paths import LakePath
from portal.lake.places import Holder, Neighbours
from portal.spark.job import JobContext
from portal.spark.registered import Changes, RegisteredPlaces, common_directory, under


class PathRules:
    """The path rules of the lake, over what is registered now."""

    def __init__(self, spark: SparkSession, job: JobContext) -> None:
        self._reader = MetastoreReader(spark, job.config)
        self._config = job.config
        params: Mapping[str, Any] = job.params["path_rules"]
        self._params = params
        self.templates = path_templates(params, job.config)
        self._exceptions = path_exceptions(params)
        self._today = day_of(job.now, job.config.zone)
        self.databases: dict[str, DatabaseFacts] = {}
        self.tables: dict[tuple[str, str], TableFacts] = {}
        self.findings = Findings({}, {}, 0)

    def read(self) -> None:
        """Read every database and table, and judge them."""
        self.databases = self._databases()
        self.tables = self._tables(None)
        self._judge()

    def learn(self, changes: Changes) -> None:
        """Read again what changed; judged again only where a place or an owner did."""
        known = self.databases, dict(self.tables)
        if changes.databases:
            self.databases = self._databases()
        if changes.whole_tables:
            for key in changes.whole_tables:
                self.tables.pop(key, None)
            self.tables |= self._tables(changes.whole_tables)
        if known != (self.databases, self.tables):
            self._judge()

    def refusal(self, db: str, table: str) -> str | None:
        """Say which path rules a table breaks now, or None."""
        found = self.findings.tables.get((db, table))
        if found is None:
            return "its path cannot be judged: it is not in the metastore's database"
        if found.conforms:
            return None
        reasons = ", ".join(found.reasons)
        related = f": {', '.join(found.related)}" if found.related else ""
        return f"its path does not conform any more ({reasons}{related})"

    def partition_refusal(self, db: str, table: str, location: LakePath) -> str | None:
        """Say that a partition lies outside its table without an exception, or None."""
        facts, found = self.tables.get((db, table)), self.findings.tables.get((db, table))
        home = facts.location if facts else None
        if home is not None and partition_conforms(location, home):
            return None
        is_excepted = found is not None and found.parts_waived_until is not None
        return None if is_excepted else "it is outside its table (PART_PATH_NOT_IN_TBL)"

    def target_refusal(self, db: str, table: str, target: LakePath) -> str | None:
        """Say why a table would not conform at `target`, as far as its database and owner tell."""
        facts, above = self.tables.get((db, table)), self.findings.databases.get(db)
        if facts is None or above is None:
            return "its table or database is not in the metastore's database"
        if not SPOILS_TABLES.isdisjoint(above.reasons):
            return f"its database is in a wrong place ({', '.join(above.reasons)})"
        if not template_for(db, self.templates).holds(target, facts.owner):
            return f"{target} is no place for what {facts.owner or 'nobody'} owns"
        return None

    def owners(self, db: str, table: str) -> list[str]:
        """Return the owner of a table and of its database as they are now."""
        facts, above = self.tables.get((db, table)), self.databases.get(db)
        return [facts.owner if facts else "", above.owner if above else ""]

    def _judge(self) -> None:
        self.findings = judge(
            self.databases.values(),
            self.tables.values(),
            templates=self.templates,
            waivers=self._exceptions,
            today=self._today,
        )

    def _databases(self) -> dict[str, DatabaseFacts]:
        facts = [
            DatabaseFacts(row["db"], row["owner"] or "", read_path(row["location"], self._config))
            for row in self._reader.databases()
        ]
        scratch = scratch_databases(facts, self._params, self._config)
        return {one.name: one for one in facts if one.name not in scratch}

    def _tables(self, only: Sequence[tuple[str, str]] | None) -> dict[tuple[str, str], TableFacts]:
        rows = self._reader.tables(only)
        ids = None if only is None else [row["tbl_id"] for row in rows]
        parameters = self._reader.parameters(ids)
        return {
            (row["db"], row["tbl"]): table_facts(
                row, parameters.get(row["tbl_id"], {}), self._config
            )
            for row in rows
            if row["db"] in self.databases
        }


class LiveMetastore:
    """What must be asked again before each batch of an acting job.

    `neighbours` compare the run's places with everything registered; `places` are those places.
    """

    def __init__(
        self,
        job: JobContext,
        metastore: Metastore,
        *,
        neighbours: Iterable[Neighbours[Holder]],
        places: Iterable[LakePath],
    ) -> None:
        self.rules = PathRules(job.spark, job)
        self._owners: Mapping[str, Sequence[str]] = job.params["owners"]
        self._job = job
        self._places = RegisteredPlaces(job.spark, job.config)
        self._near = under([common_directory(places)])
        self._neighbours = list(neighbours)
        self._log = ChangeLog(metastore)
        self._read_all()

    def refresh(self) -> None:
        """Read again what changed since the last call."""
        changes = self._log.changes()
        if changes is None:
            self._read_all()
        elif changes != Changes():
            self.rules.learn(changes)
            self._see(self._places.of(changes, self._near))

    def table_refusal(self, db: str, table: str) -> str | None:
        """Say why a table may not be acted on: its path, or an owner that is another one now."""
        reasons = (self.rules.refusal(db, table), self.owner_refusal(db, table))
        return "; ".join(filter(None, reasons)) or None

    def owner_refusal(self, db: str, table: str) -> str | None:
        """Say that an owner is not the one of whom the plan knew, or None."""
        pairs = zip(
            ("its owner", "its database's owner"),
            self._owners.get(f"{db}.{table}", ()),
            self.rules.owners(db, table),
            strict=False,
        )
        changed = [
            f"{what} was {before or 'nobody'}, now {now or 'nobody'}"
            for what, before, now in pairs
            if before != now
        ]
        if f"{db}.{table}" not in self._owners:
            return "the plan does not say whose it is"
        return "; ".join(changed) or None

    def _read_all(self) -> None:
        self.rules.read()
        self._see(self._places.all(self._near))

    def _see(self, places: Iterable[tuple[Holder, str]]) -> None:
        n = 0
        for holder, location in places:
            n += 1
            for neighbours in self._neighbours:
                neighbours.see(holder, location)
        self._job.log(f"{n} registered locations compared with the plan's places")
