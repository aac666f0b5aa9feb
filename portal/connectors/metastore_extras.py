"""What belongs to an object beside its structure: grants, column statistics, constraints.

The metastore keeps them in tables of its own and drops them with the object, so that who wants them
back reads them before. Structures are raw; where a metastore has no such call there is nothing.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pymetastore.hive_metastore import ttypes

from portal.connectors.metastore import Metastore
from portal.lake.errors import ExternalFailure
from portal.lake.names import TableName

# From so many grants on partitions in the whole metastore on they are asked for one by one.
MANY_GRANTS = 50_000
_CATALOG = "hive"


@dataclass(frozen=True, slots=True)
class _Kind:
    """How constraints of one kind are read and added; `fields` names the table in its structure."""

    read: str
    request: Callable[[TableName], Any]
    found: str
    add: str
    added: Callable[[list[Any]], Any]
    name: str


_KINDS = {
    "primary_key": _Kind(
        "get_primary_keys",
        lambda table: ttypes.PrimaryKeysRequest(table.db, table.table, _CATALOG),
        "primaryKeys",
        "add_primary_key",
        ttypes.AddPrimaryKeyRequest,
        "pk_name",
    ),
    "unique": _Kind(
        "get_unique_constraints",
        lambda table: ttypes.UniqueConstraintsRequest(_CATALOG, table.db, table.table),
        "uniqueConstraints",
        "add_unique_constraint",
        ttypes.AddUniqueConstraintRequest,
        "uk_name",
    ),
    "not_null": _Kind(
        "get_not_null_constraints",
        lambda table: ttypes.NotNullConstraintsRequest(_CATALOG, table.db, table.table),
        "notNullConstraints",
        "add_not_null_constraint",
        ttypes.AddNotNullConstraintRequest,
        "nn_name",
    ),
    "default": _Kind(
        "get_default_constraints",
        lambda table: ttypes.DefaultConstraintsRequest(_CATALOG, table.db, table.table),
        "defaultConstraints",
        "add_default_constraint",
        ttypes.AddDefaultConstraintRequest,
        "dc_name",
    ),
    "check": _Kind(
        "get_check_constraints",
        lambda table: ttypes.CheckConstraintsRequest(_CATALOG, table.db, table.table),
        "checkConstraints",
        "add_check_constraint",
        ttypes.AddCheckConstraintRequest,
        "dc_name",
    ),
    "foreign_key": _Kind(
        "get_foreign_keys",
        lambda table: ttypes.ForeignKeysRequest(None, None, table.db, table.table, _CATALOG),
        "foreignKeys",
        "add_foreign_key",
        ttypes.AddForeignKeyRequest,
        "fk_name",
    ),
    # Foreign keys of other tables that name this one: the metastore drops them with it, too.
    "referenced_by": _Kind(
        "get_foreign_keys",
        lambda table: ttypes.ForeignKeysRequest(table.db, table.table, None, None, _CATALOG),
        "foreignKeys",
        "add_foreign_key",
        ttypes.AddForeignKeyRequest,
        "fk_name",
    ),
}
CONSTRAINTS: dict[str, Callable[[], Any]] = {
    "primary_key": ttypes.SQLPrimaryKey,
    "unique": ttypes.SQLUniqueConstraint,
    "not_null": ttypes.SQLNotNullConstraint,
    "default": ttypes.SQLDefaultConstraint,
    "check": ttypes.SQLCheckConstraint,
    "foreign_key": ttypes.SQLForeignKey,
    "referenced_by": ttypes.SQLForeignKey,
}


class MetastoreExtras:
    """Reads and writes them over one connection; keep one for a run: it learns what is costly."""

    def __init__(self, metastore: Metastore) -> None:
        self._metastore = metastore
        self._has_many_grants = False

    def grants(self, table: TableName, columns: Iterable[str]) -> list[Any]:
        """Return what is granted on a table and on these of its columns; a call a column."""
        place = {"dbName": table.db, "objectName": table.table}
        refs = [ttypes.HiveObjectRef(objectType=ttypes.HiveObjectType.TABLE, **place)]
        refs += [
            ttypes.HiveObjectRef(
                objectType=ttypes.HiveObjectType.COLUMN, columnName=column, **place
            )
            for column in columns
        ]
        return [grant for ref in refs for grant in self._granted(ref)]

    def partition_grants(self, table: TableName, values: Sequence[Sequence[str]]) -> list[Any]:
        """Return what is granted on these partitions, not on columns of theirs.

        One call gives all grants on partitions of a metastore, which mostly has none. Where there
        are many, or that call fails, the partitions are asked for one by one from then on.
        """
        kind = ttypes.HiveObjectType.PARTITION
        every = None if self._has_many_grants else self._every_partition_grant()
        if every is not None:
            self._has_many_grants = len(every) > MANY_GRANTS
            wanted = {tuple(one) for one in values}
            return [
                grant
                for grant in every
                if (grant.hiveObject.dbName, grant.hiveObject.objectName) == (table.db, table.table)
                and tuple(grant.hiveObject.partValues) in wanted
            ]
        self._has_many_grants = True
        place = {"objectType": kind, "dbName": table.db, "objectName": table.table}
        refs = [ttypes.HiveObjectRef(partValues=list(one), **place) for one in values]
        return [grant for ref in refs for grant in self._granted(ref)]

    def _every_partition_grant(self) -> list[Any] | None:
        """Return the grants on all partitions; None where the metastore could not say.

        Hive 3.1.3 closes the connection when a granted partition is dropped while it reads them
        (JDOObjectNotFoundException), so it is asked on the second connection.
        """
        ref = ttypes.HiveObjectRef(objectType=ttypes.HiveObjectType.PARTITION)
        try:
            aside = self._metastore.aside()
            return list(aside.call(lambda client: client.list_privileges(None, None, ref)) or ())
        except ExternalFailure:
            self._metastore.close_aside()
            return None

    def grant(self, privileges: Sequence[Any]) -> None:
        """Grant all of them or, where one is granted already, none."""
        bag = ttypes.PrivilegeBag(list(privileges))
        self._metastore.call(lambda client: client.grant_privileges(bag))

    def statistics(self, table: TableName, columns: Sequence[str]) -> list[Any]:
        """Return the statistics of a table's columns, without those that have none."""
        if not columns:
            return []
        request = ttypes.TableStatsRequest(table.db, table.table, list(columns))
        found = self._metastore.call(lambda client: client.get_table_statistics_req(request))
        return list(found.tableStats or ())

    def partition_statistics(
        self, table: TableName, columns: Sequence[str], partitions: Sequence[str]
    ) -> dict[str, list[Any]]:
        """Return the statistics of columns by partition name, in one call."""
        if not columns or not partitions:
            return {}
        request = ttypes.PartitionsStatsRequest(
            table.db, table.table, list(columns), list(partitions)
        )
        found = self._metastore.call(lambda client: client.get_partitions_statistics_req(request))
        return dict(found.partStats or {})

    def set_statistics(self, statistics: Sequence[Any]) -> None:
        """Set the column statistics of one table, or of partitions of one, in one call."""
        request = ttypes.SetPartitionsStatsRequest(colStats=list(statistics), needMerge=False)
        self._metastore.call(lambda client: client.set_aggr_stats_for(request))

    def constraints(self, table: TableName) -> list[tuple[str, Any]]:
        """Return a table's constraints as (kind, structure), one a column that takes part."""
        found: list[tuple[str, Any]] = []
        for kind, how in _KINDS.items():
            answer = self._metastore.call_if_known(_asking(how, table))
            found += [(kind, one) for one in getattr(answer, how.found, None) or ()]
        return found

    def add_constraint(self, kind: str, structs: Sequence[Any]) -> None:
        """Add one constraint: the structures of all columns that take part."""
        how = _KINDS[kind]
        request = how.added(list(structs))
        self._metastore.call(lambda client: getattr(client, how.add)(request))

    def _granted(self, ref: Any) -> list[Any]:
        return list(
            self._metastore.call(lambda client: client.list_privileges(None, None, ref)) or ()
        )


def _asking(how: _Kind, table: TableName) -> Callable[[Any], Any]:
    return lambda client: getattr(client, how.read)(how.request(table))


def constraint_name(kind: str, struct: Any) -> str:
    """Return the name of the constraint that a structure is a part of."""
    return str(getattr(struct, _KINDS[kind].name) or "")
