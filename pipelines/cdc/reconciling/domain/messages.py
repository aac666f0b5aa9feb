"""What the program that compares tables is asked, and what it says of each.

The request's `reconcile` has a `Request`. A proof stands below the spool's results as
`proofs/<id of the table>.json`, written whole once the table is done.
"""

from typing import Any, Literal

import msgspec

from pipelines.cdc.applying.domain.messages import SchemaPlan, TableOrder
from pipelines.cdc.changes.domain.kafka_place import KafkaPlace
from pipelines.cdc.changes.domain.schemas import TableSchema
from pipelines.cdc.protecting.domain.protections import Protection
from portal.lake.errors import RuleViolation

PASSWORD = "LW_CDC_PASSWORD"  # noqa: S105  (the name of the variable that has it)
State = Literal["equal", "different", "skipped", "failed"]


class Server(msgspec.Struct, frozen=True):
    """The source; its password comes by the environment."""

    name: str
    host: str
    port: int
    user: str
    server_id: int
    tables: tuple[str, ...]
    ssl_ca: str
    epoch: int


class Task(msgspec.Struct, frozen=True, omit_defaults=True):
    """A table to compare: its order as the apply has it, and the schema that its rows have."""

    order: TableOrder
    schema: TableSchema
    reason: str = ""
    """Why it cannot be compared now; empty: it can."""


class Request(msgspec.Struct, frozen=True, omit_defaults=True):
    """A pipeline's tables to compare."""

    server: Server
    changelog: str
    """Root of a changelog of files."""
    folder: str
    first_batch: int
    tasks: tuple[Task, ...]
    rows_per_second: int
    """How fast the source is read at most."""
    wait_seconds: float
    """How long to wait for the apply to come to where the source was read."""
    most_rounds: int
    """How often keys that changed meanwhile are read again, and once more."""
    kafka: KafkaPlace | None = None
    """Where the changelog is if it is in Kafka."""


class Proof(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the comparison of a table came to."""

    id: int
    state: State
    note: str = ""
    """Why it was skipped or failed."""
    position: str = ""
    """The source's position after all its rows were read: the lake had everything up to here."""
    n_rows: int = 0
    """Rows of the source that were compared."""
    n_lake: int = 0
    n_ranges: int = 0
    """Ranges of the keys' hashes."""
    n_ranges_differing: int = 0
    """Of them, those whose rows were compared one by one."""
    n_rounds: int = 0
    n_missing: int = 0
    n_extra: int = 0
    n_different: int = 0
    n_unfit: int = 0
    """Rows of the source whose record is in quarantine."""
    n_changing: int = 0
    """Rows that changed in every round, so that nothing can be said of them."""
    columns_left_out: tuple[str, ...] = ()
    keys: tuple[tuple[str, dict[str, str | None]], ...] = ()
    """Kind and key of differing rows, as many as are kept."""
    seconds: float = 0


def read_request(data: Any) -> Request:
    """Read a request.

    Raises:
        RuleViolation: `cdc.orders`, with what is wrong.
    """
    try:
        return msgspec.convert(data, Request)
    except msgspec.ValidationError as error:
        raise RuleViolation("cdc.orders", f"This cannot be compared: {error}") from error


def compared_columns(order: TableOrder, plan: SchemaPlan) -> tuple[str, ...]:
    """Return the lake's columns of which source and lake must have the same value.

    Those that the source does not fill any more keep what they had, and are left out; so are those
    whose protection gives equal values another text in each row.
    """
    live = set(plan.live.values())
    random = {
        name
        for name, text in order.protections.items()
        if not Protection.parse(text).is_deterministic
    }
    return tuple(one.name for one in order.columns if one.name in live - random)
