"""What a person may define: over tables whose rows they see, where they may create tables.

It is looked at when a definition is set and again before each refresh, by the rights of who owns it
then: a result shows what its sources hold.
"""

from pipelines.materialized.domain.definition import Definition
from pipelines.materialized.domain.messages import COUNTS, DISTINCT
from portal.access.models import User
from portal.access.visibility import check_rows, may_see
from portal.connectors.metastore import Metastore
from portal.lake.errors import NotVisible, RuleViolation
from portal.lake.formats import committed_format
from portal.lake.ids import LakeId
from portal.lake.names import TableName


def check_sources(
    metastore: Metastore, lake: LakeId, definition: Definition, *, user: User
) -> None:
    """Refuse sources whose rows the person may not see, or whose commits cannot be read.

    Raises:
        RuleViolation: `materialized.source`; it says the same of a table that is not there.
        NotAllowed: `materialized.rows`, they may see a table, but no rows of it.
    """
    for one in definition.tables:
        name = TableName(lake, one.db, one.table)
        struct = metastore.table_or_none(name)
        if struct is None or not may_see(user, name, owner=struct.owner or ""):
            raise RuleViolation(
                "materialized.source",
                f"There is no table {name} in the lake that {user.username} may see. Correct the "
                "name, or leave the table out.",
                table=str(name),
            )
        check_rows(
            user, name, owner=struct.owner or "", code="materialized.rows", use="A materialization"
        )
        if committed_format(struct) is None:
            raise RuleViolation(
                "materialized.source",
                f"{name} is neither a Hudi nor an Iceberg table, so nobody knows what of it "
                "changed.",
                table=str(name),
            )


def location_of(metastore: Metastore, target: TableName, *, user: User) -> str:
    """Return where a new table of a database goes to.

    Raises:
        RuleViolation: `materialized.database`, there is none in which the person may create.
    """
    try:
        database = metastore.database(target.db)
    except NotVisible:
        database = None
    owner = "" if database is None else str(database.ownerName or "")
    if database is None or not may_see(user, target, owner=owner):
        raise RuleViolation(
            "materialized.database",
            f"There is no database {target.db} in which {user.username} may create a table: its "
            "owner and its administrators may.",
            database=target.db,
        )
    return f"{str(database.locationUri).rstrip('/')}/{target.table}"


def check_place(
    metastore: Metastore, target: TableName, definition: Definition, *, location: str
) -> None:
    """Refuse names that other tables have: of the result, and of its counts of distinct values.

    Raises:
        RuleViolation: `materialized.taken`.
    """
    _check_free(metastore, target, location)
    if definition.distinct:
        counts = TableName(target.lake, target.db, f"{target.table}{COUNTS}")
        _check_free(metastore, counts, f"{location.rstrip('/')}{DISTINCT}")


def _check_free(metastore: Metastore, target: TableName, location: str) -> None:
    struct = metastore.table_or_none(target)
    if struct is None:
        return
    place = str(struct.sd.location or "").rstrip("/") if struct.sd else ""
    if place != location.rstrip("/"):
        raise RuleViolation(
            "materialized.taken", f"There is another table {target}. Choose another name."
        )
