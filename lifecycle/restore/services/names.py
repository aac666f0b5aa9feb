"""Decides the name and place at which a backup is restored, and who may restore it there.

The place is found once, by the preview, and written into the restore's run: what was shown is what
happens.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lifecycle.backup.engine.restore.order import NewName
from lifecycle.restore.selectors.targets import may_restore_to
from portal.access.models import User
from portal.connectors.lake_config import LakeConfig
from portal.connectors.metastore import Metastore
from portal.lake.errors import NotAllowed, NotVisible, RuleViolation
from portal.lake.formats import registered_location
from portal.lake.ids import LakeId
from portal.lake.names import TableName
from portal.lake.paths import LakePath


@dataclass(frozen=True, slots=True)
class RestoreTo:
    """Another name to restore under; `into`: that table stands, and partitions come into it."""

    db: str
    table: str
    into: bool = False

    @property
    def words(self) -> str:
        """What is meant, for titles and the audit."""
        return f"{'into' if self.into else 'as'} {self.db}.{self.table}"

    def as_dict(self) -> dict[str, Any]:
        """Return the form that a run's params hold."""
        return {"db": self.db, "table": self.table, "into": self.into}

    @classmethod
    def of(cls, params: Mapping[str, Any] | None) -> "RestoreTo | None":
        """Read what `as_dict` gave; None stays None."""
        return cls(params["db"], params["table"], into=params["into"]) if params else None


def check_target(lake: str, to: RestoreTo, *, sources: set[tuple[str, str]], user: User) -> None:
    """Refuse another name where it is none, means several tables, or is not the person's.

    Raises:
        RuleViolation: no name of a table, several tables under one name, or the table's own name.
        NotAllowed: neither an admin nor the owner of where it shall come.
    """
    TableName(LakeId(lake), to.db, to.table)
    if len(sources) != 1:
        raise RuleViolation("restore.one_table", "Only one table can come back under another name.")
    (source,) = sources
    if not to.into and source == (to.db, to.table):
        raise RuleViolation("restore.same_name", "That is its own name; choose another one.")
    if not may_restore_to(user, lake, to.db, to.table, source_db=source[0], into=to.into):
        raise NotAllowed(
            "restore.target",
            "Only an admin, or who owns that table or administers that database, may restore "
            "there. Choose a new name in the table's own database, or ask an admin.",
        )


def place_of(
    asked: Mapping[str, Any] | None, *, config: LakeConfig, metastore: Metastore
) -> dict[str, Any] | None:
    """Add to a target where its data goes: below its database, or where the live table lies.

    Raises:
        NotVisible: `restore.no_database`, `restore.no_table`, there is none of this name.
    """
    if not asked:
        return None
    try:
        home = config.path(metastore.database(asked["db"]).locationUri)
    except NotVisible as error:
        raise NotVisible(
            "restore.no_database",
            f"There is no database {asked['db']}. Choose one that is there.",
        ) from error
    name = TableName(config.lake, asked["db"], asked["table"])
    table = metastore.table_or_none(name)
    if table is None and asked["into"]:
        raise NotVisible(
            "restore.no_table",
            f"There is no table {name} to restore into. Restore under that name instead.",
        )
    return {**asked, "location": str(_live_place(table, config=config) or home.child(name.table))}


def _live_place(table: Any, *, config: LakeConfig) -> LakePath | None:
    """Return where the data of a table that stands lies; None where there is none."""
    if table is None:
        return None
    text = registered_location(table, None)
    return config.path(text) if text else None


def new_name_of(place: Mapping[str, Any] | None, *, config: LakeConfig) -> NewName | None:
    """Read what `place_of` gave."""
    if not place:
        return None
    location = config.path(place["location"])
    return NewName(place["db"], place["table"], location, into=bool(place["into"]))
