"""Checks that an object is still exactly what a restore registered under its name.

The same structure is built again from the manifest, by the functions that the restore used, and
compared whole. What the metastore sets by itself, and our own marks, are left out.
"""

from contextlib import suppress
from typing import Any

from pymetastore.hive_metastore import ttypes

from lifecycle.backup.engine.facts import DDL_TIME
from lifecycle.backup.engine.journal.reading import JournalBatch
from lifecycle.backup.engine.journal.records import ItemIntent, RestoreIntent
from lifecycle.backup.engine.metastore.tags import is_ours, is_rebuilt, tag_of, tagged, tagged_table
from portal.connectors.metastore import from_json
from portal.lake.errors import RuleViolation
from portal.lake.paths import LakePath

# The metastore writes these by itself, also when it registers a table over files that are there.
# The files are compared one by one, so a number that it counted is no change of a person's.
BOOKKEEPING = frozenset({"numFiles", "totalSize", "COLUMN_STATS_ACCURATE"})


def metadata_change(batch: JournalBatch, item: ItemIntent, step: RestoreIntent, live: Any) -> str:
    """Say how an item's metadata is another than the restore left it; '' = it is the same."""
    if live is None:
        return "its name is not registered any more"
    if not is_ours(live, batch.intent, item):
        return "something else is registered under its name"
    targets = {target.item: target.target for target in step.items}
    kind = ttypes.Partition if item.partition else ttypes.Table
    struct: Any = from_json(kind, item.metadata)
    tag = tag_of(batch.intent, item)
    made = tagged(struct, tag=tag, rename=step.rename, target=targets[item.item])
    return "" if _is_same(made, live) else "its metadata was changed since the restore"


def is_as_made(batch: JournalBatch, step: RestoreIntent, live: Any) -> bool:
    """Whether a table is the one that a restore made for its partitions, and nobody altered it."""
    original: Any = from_json(ttypes.Table, batch.intent.table_metadata)
    return is_rebuilt(original, live) and _is_same(tagged_table(original, rename=step.rename), live)


def _is_same(made: Any, live: Any) -> bool:
    return _storage(made) == _storage(live) and _own(made, made) == _own(live, made)


def _storage(struct: Any) -> dict[str, Any]:
    """Return how and where data is stored; the metastore spells a new place in its own way."""
    plain = dict(vars(struct.sd))
    with suppress(RuleViolation):
        plain["location"] = LakePath.parse(plain["location"])
    return plain


def _own(struct: Any, made: Any) -> dict[str, Any]:
    """Give what a person may have changed beside the storage; a DDL time only where one was set."""
    had_time = DDL_TIME in (made.parameters or {})
    parameters = {
        key: value
        for key, value in (struct.parameters or {}).items()
        if not key.startswith("lakewarden.")
        and key not in BOOKKEEPING
        and (had_time or key != DDL_TIME)
    }
    about = {name: getattr(struct, name, None) for name in ("owner", "tableType", "partitionKeys")}
    return {**about, "parameters": parameters}
