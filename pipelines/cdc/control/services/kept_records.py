"""Shows admins what is kept of a table: records in quarantine, and values aside."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

import msgspec

from pipelines.cdc.applying.domain.messages import Quarantined
from pipelines.cdc.control.services.orders import plan_of
from pipelines.cdc.control.services.pipelines import table_record
from pipelines.cdc.protecting.domain.protections import PLAIN
from pipelines.models import CapturedTable
from portal.access.actors import Actor
from portal.lake.errors import NotVisible

_MILLISECONDS = 1_000


@dataclass(frozen=True, slots=True)
class KeptRecord:
    """Something that does not fit its type, as a page shows it; what is protected is left out."""

    reason: str
    column: str
    text: str | None
    key: str | None
    schema: int
    at: datetime


@dataclass(frozen=True, slots=True)
class KeptColumn:
    """How many values of a column wait for a word."""

    column: str
    n: int


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept of a table, as its program last told."""

    n_quarantined: int
    quarantined: tuple[KeptRecord, ...]
    n_waiting: int
    aside: tuple[KeptColumn, ...]


def kept_read(table: CapturedTable, *, by: Actor, now: datetime) -> Kept:
    """Return it; each read is recorded, for it shows values of the source.

    Raises:
        NotVisible: for anyone but an admin.
    """
    if not by.is_admin:
        raise NotVisible("page.missing", "There is nothing at this address for you.")
    stored: Mapping[str, object] = table.kept
    plan = plan_of(table, table.schemas.all())
    is_key_hidden = any(plan.protection_of(name) != PLAIN for name in table.key)
    told = msgspec.convert(stored.get("quarantined", []), tuple[Quarantined, ...])
    aside = msgspec.convert(stored.get("aside", {}), dict[str, int])
    table_record(
        "kept_read",
        table,
        by=by.name,
        data={"n": len(told)},
        now=now,
    )
    return Kept(
        n_quarantined=table.n_quarantined,
        # What was told before a column was protected is not shown after it.
        quarantined=tuple(
            _record(one, is_hidden=one.column in plan.protections, is_key_hidden=is_key_hidden)
            for one in told
        ),
        n_waiting=table.n_aside,
        aside=tuple(KeptColumn(name, n) for name, n in sorted(aside.items())),
    )


def _record(one: Quarantined, *, is_hidden: bool, is_key_hidden: bool) -> KeptRecord:
    return KeptRecord(
        reason=one.reason,
        column=one.column,
        text=None if is_hidden else one.text,
        key=None if is_key_hidden else one.key,
        schema=one.schema,
        at=datetime.fromtimestamp(one.at / _MILLISECONDS, UTC),
    )
