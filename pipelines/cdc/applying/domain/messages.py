"""Orders that the portal gives the program that applies changes, and what it says of its work.

Orders stand in the run's request, and newer ones in its control file below `apply`. What came of
them stands below the spool's results: `pipelines/<id>.json` and `tables/<id>.json`, each written
whole after every batch that changed it.
"""

from typing import Any, Literal

import msgspec

from pipelines.cdc.applying.domain.casts import check_type
from pipelines.cdc.changes.domain.kafka_place import KafkaPlace
from pipelines.cdc.protecting.domain.protections import Protection
from portal.lake.errors import RuleViolation

State = Literal["live", "held", "paused"]
"""Held: a decision is awaited. Paused: somebody stopped it. In both the records are kept."""


class Column(msgspec.Struct, frozen=True):
    """A column of the lake's table."""

    name: str
    type: str
    """Spark's words: `bigint`, `decimal(10,2)`."""


class SchemaPlan(msgspec.Struct, frozen=True, omit_defaults=True):
    """What happens to records that were made under one schema of the source's table."""

    number: int
    is_held: bool = False
    """Records wait for a decision. A number without a plan is held too."""
    live: dict[str, str] = {}
    """Name of the lake's column by the source's; other columns are left out."""
    aside: tuple[str, ...] = ()
    """Columns of the source whose values are kept until a decision."""


class Replay(msgspec.Struct, frozen=True):
    """An order to fill columns of the source that are live now from the values kept aside."""

    turn: str
    """Names the order; it is done once."""
    columns: tuple[str, ...]


class TableOrder(msgspec.Struct, frozen=True, omit_defaults=True):
    """One table of the source and the Hudi table that it goes to."""

    id: int
    db: str
    table: str
    target_db: str
    target_table: str
    location: str
    columns: tuple[Column, ...]
    """All columns of the target; new ones come last."""
    key: tuple[str, ...]
    """Columns of the source's primary key; all are live, and never change."""
    schemas: tuple[SchemaPlan, ...]
    kind: Literal["MOR", "COW"] = "MOR"
    partition: str = ""
    """Column of the target by whose value it is partitioned; empty: it is not."""
    state: State = "live"
    owner: str = ""
    """Names the pipeline in each commit: a table of another one, whose batches have other numbers,
    is not written. Empty: nobody is named."""
    is_synced: bool = True
    """Whether the metastore gets the table, its columns and partitions."""
    lock: dict[str, str] = {}
    """Settings of the lock provider that the writer and table services share; empty: none."""
    settings: dict[str, str] = {}
    """Settings of Hudi that replace those of the program."""
    protections: dict[str, str] = {}
    """Of columns of the target that are not plain: how, as `protections` writes it."""
    replays: tuple[Replay, ...] = ()
    refused: tuple[str, ...] = ()
    """Columns of the source whose values kept aside are deleted."""
    retry: str = ""
    """A new text has the records in quarantine applied again, once."""
    tombstone_days: int = 90
    """After so many days a delete is forgotten; no older batch may be applied again."""
    aside_days: int = 0
    """After so many days values kept aside are deleted; 0: never."""
    first_batch: int = 1
    """No batch before it is needed: the table is loaded from the source after those."""
    first_schema: int = 1
    """Records under an older one are needed no more: the table began again after them."""

    @property
    def name(self) -> str:
        """The source's name of the table."""
        return f"{self.db}.{self.table}"

    @property
    def target(self) -> str:
        """The lake's name of the table."""
        return f"{self.target_db}.{self.target_table}"

    def plan(self, number: int) -> SchemaPlan | None:
        """Return the plan of a schema whose records may be applied."""
        found = next((one for one in self.schemas if one.number == number), None)
        return None if found is None or found.is_held else found


class TopicsPlan(msgspec.Struct, frozen=True, omit_defaults=True):
    """Plain topics of Kafka that become tables."""

    patterns: tuple[str, ...]
    columns: tuple[Column, ...]
    """Declared ones; further fields of records are text and wait for a decision."""
    most_records: int = 100_000
    """How many offsets a batch takes of one partition."""


class PipelineOrder(msgspec.Struct, frozen=True, omit_defaults=True):
    """One changelog and the tables that it goes to."""

    id: int
    changelog: str
    """Root of a changelog of files."""
    folder: str
    """Where the program keeps its progress, tombstones and kept records: for admins alone."""
    tables: tuple[TableOrder, ...]
    kafka: KafkaPlace | None = None
    """Where the changelog is if it is in Kafka, or the topics."""
    topics: TopicsPlan | None = None
    """Of a pipeline of topics; its changelog is one of files that has offsets alone."""
    first_batch: int = 1
    """No batch before it is needed: the log begins with it, or tables were loaded after it."""
    is_paused: bool = False
    retry: str = ""
    """A new text starts a pipeline at once that an error stopped."""

    @property
    def name(self) -> str:
        """Where its changelog is, for messages."""
        if self.topics:
            return ", ".join(self.topics.patterns)
        return self.kafka.topic if self.kafka else self.changelog


class Orders(msgspec.Struct, frozen=True, omit_defaults=True):
    """Everything that the program is to do."""

    pipelines: tuple[PipelineOrder, ...] = ()
    most_tables_at_once: int = 4
    most_batches_at_once: int = 40
    """How many batches of a changelog become one commit of a table."""


class Failure(msgspec.Struct, frozen=True):
    """Why something is not done; it is tried again by itself."""

    code: str
    message: str
    at: str


class Quarantined(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that does not fit, of a record in quarantine; nothing of it is protected."""

    reason: Literal["type", "key", "conflict"]
    at: int
    """When the source made the change, in milliseconds since 1970."""
    schema: int
    column: str = ""
    key: str | None = None
    """JSON of the key; none where it is protected."""
    text: str | None = None
    """The value, cut; none where it is protected."""


class TableReport(msgspec.Struct, frozen=True, omit_defaults=True):
    """How far a table is; counts are since the program's start but for the kept ones."""

    id: int
    state: Literal["live", "held", "paused", "failing"]
    batch: int = 0
    """Last batch of the changelog that is in the table or among its kept records."""
    batches: str = ""
    """Batches that the table has, as its last commit says."""
    version: int = 0
    """Newest version that was applied."""
    position: str = ""
    """Where the newest applied change ends in the source's log."""
    changed_at: int = 0
    """When the source made the newest applied change, in milliseconds since 1970."""
    n_upserted: int = 0
    n_deleted: int = 0
    n_late: int = 0
    """Changes that a newer one of the same key had made void already."""
    n_quarantined: int = 0
    n_aside: int = 0
    n_waiting: int = 0
    """Records that are kept now because the table or their schema is held, or it fails."""
    n_in_quarantine: int = 0
    """Records that are in quarantine now."""
    quarantined: tuple[Quarantined, ...] = ()
    """Some of them."""
    aside: dict[str, int] = {}
    """How many values are kept aside, by the source's column."""
    waiting_schemas: tuple[int, ...] = ()
    """Numbers of the schemas of which records wait."""
    columns: tuple[Column, ...] = ()
    """Columns of the target as it has them now."""
    replayed: tuple[str, ...] = ()
    """Turns of replays that are done."""
    retried: str = ""
    """Last order to apply the records in quarantine again that is done."""
    foreign: tuple[str, ...] = ()
    """Instants of commits by which somebody else changed rows of the table, the last ten."""
    failure: Failure | None = None


class PipelineReport(msgspec.Struct, frozen=True, omit_defaults=True):
    """How far a changelog is read."""

    id: int
    state: Literal["running", "paused", "failing"]
    batch: int = 0
    """Last batch that was read."""
    position: str = ""
    """Where that batch ends in the source's log."""
    captured_at: int = 0
    """When it was captured, in milliseconds since 1970."""
    lag_seconds: float = 0
    """From its capture until all tables had it."""
    n_changes: int = 0
    """Changes read since the program's start."""
    n_unreadable: int = 0
    """Records in Kafka that are none of a changelog, kept aside with their offsets."""
    n_behind: int = 0
    """Of topics: records that no batch has yet."""
    n_read: int = 0
    """Of topics: records up to the last batch."""
    newest_at: int = 0
    """Of topics: Kafka's time of the newest record that was read, in milliseconds since 1970."""
    unknown: dict[str, int] = {}
    """Of each table (`db.table`) without an order: how many of its records are kept."""
    failure: Failure | None = None


def read_orders(data: Any) -> Orders:
    """Read orders from a request or a control file.

    Raises:
        RuleViolation: `cdc.orders`, with what is wrong.
    """
    try:
        orders = msgspec.convert(data, Orders)
    except msgspec.ValidationError as error:
        raise _refused(str(error)) from error
    for pipeline in orders.pipelines:
        for table in pipeline.tables:
            _check(table)
    return orders


def _check(table: TableOrder) -> None:
    names = [column.name for column in table.columns]
    for column in table.columns:
        check_type(column.type)
        if column.name.startswith(("_lw_", "_hoodie_")):
            raise _refused(f"Columns cannot be called {column.name}: such names are taken.")
    if len(set(names)) != len(names):
        raise _refused(f"{table.name} has a column twice.")
    if table.partition and table.partition not in names:
        raise _refused(f"{table.name} has no column {table.partition} to be partitioned by.")
    for plan in table.schemas:
        if strange := set(plan.live.values()) - set(names):
            raise _refused(f"{table.name} has no columns {sorted(strange)} in the lake.")
        if not plan.is_held and (missing := set(table.key) - plan.live.keys()):
            raise _refused(f"Key columns {sorted(missing)} of {table.name} are not live.")
    if not table.key:
        raise _refused(f"{table.name} has no key.")
    _check_protections(table)


def _check_protections(table: TableOrder) -> None:
    types = {column.name: column.type for column in table.columns}
    keys = {plan.live[name] for plan in table.schemas if not plan.is_held for name in table.key}
    for name, text in table.protections.items():
        protection = Protection.parse(text)
        if name not in types:
            raise _refused(f"{table.name} has no column {name} to protect.")
        if types[name] != protection.lake_type(types[name]):
            raise _refused(f"{name} of {table.name} cannot be {text} and {types[name]}.")
        if name in {*keys, table.partition} and not protection.may_address:
            raise _refused(f"{name} of {table.name} is of its key or partitions: not {text}.")


def _refused(message: str) -> RuleViolation:
    return RuleViolation("cdc.orders", f"These orders cannot be carried out: {message}")
