"""A small metastore in memory that keeps partitions and grants, behind the real client's calls.

What it does at a drop, an add and a grant is what Hive 3.1.3 does: integration tests ask the real
one the same (`act_cases`, `test_act_unsure`, `test_partition_grants`).
"""

import copy
from collections.abc import Callable, Sequence
from typing import Any

from pymetastore.hive_metastore import ttypes
from thrift.transport.TTransport import TTransportException

from portal.connectors.metastore import Metastore


class GrantingHive:
    """The client of one table sales.orders with the key dt; `fail` names calls that break."""

    def __init__(self) -> None:
        self.table: Any = None
        self.partitions: dict[str, Any] = {}
        self.grants: list[Any] = []
        self.calls: list[str] = []
        self.n_connections = 0
        self.fail: dict[str, Exception] = {}
        self.before: dict[str, Callable[[], None]] = {}
        self.now = 1_000

    def connect(self) -> Metastore:
        """Open a connection."""
        self.n_connections += 1
        return Metastore(_Client(self), _Transport(), self.connect)

    def make(self, location: str, *, parts: Sequence[str]) -> None:
        """Register the table and these partitions, each with a grant to carol."""
        columns = [ttypes.FieldSchema("id", "bigint")]
        self.table = ttypes.Table(
            dbName="sales",
            tableName="orders",
            createTime=self.now,
            sd=_storage(columns, location),
            partitionKeys=[ttypes.FieldSchema("dt", "string")],
            parameters={},
        )
        for part in parts:
            self.partitions[part] = ttypes.Partition(
                values=[part.partition("=")[2]],
                dbName="sales",
                tableName="orders",
                createTime=self.now,
                sd=_storage(columns, f"{location}/{part}"),
                parameters={"transient_lastDdlTime": str(self.now)},
            )
            ref = ttypes.HiveObjectRef(
                ttypes.HiveObjectType.PARTITION, "sales", "orders", self.partitions[part].values
            )
            self.grants.append(_grant(ref, "carol"))
        self.grants.append(
            _grant(ttypes.HiveObjectRef(ttypes.HiveObjectType.TABLE, "sales", "orders"), "bob")
        )
        self.now += 1_000

    def granted(self) -> set[tuple[str, str]]:
        """Return what is granted, as (partition value or '', to whom)."""
        return {
            (",".join(one.hiveObject.partValues or []), one.principalName) for one in self.grants
        }


class _Transport:
    def close(self) -> None:
        """Close nothing."""


class _Client:
    def __init__(self, hive: GrantingHive) -> None:
        self._hive = hive

    def __getattr__(self, name: str) -> Any:
        call = getattr(_Calls(self._hive), name)

        def counted(*args: Any) -> Any:
            hive = self._hive
            hive.calls.append(name)
            if name in hive.before:
                hive.before.pop(name)()
            if name in hive.fail:
                raise hive.fail.pop(name)
            return copy.deepcopy(call(*copy.deepcopy(args)))

        return counted


class _Calls:
    def __init__(self, hive: GrantingHive) -> None:
        self._hive = hive

    def get_table(self, db: str, name: str) -> Any:
        if self._hive.table is None or (db, name) != ("sales", "orders"):
            raise ttypes.NoSuchObjectException(f"{db}.{name}")
        return self._hive.table

    def get_partition_names(self, _db: str, _name: str, _limit: int) -> list[str]:
        return sorted(self._hive.partitions)

    def get_partitions_by_names(self, _db: str, _name: str, names: Sequence[str]) -> list[Any]:
        return [self._hive.partitions[one] for one in names if one in self._hive.partitions]

    def create_table_with_environment_context(self, table: Any, _context: Any) -> None:
        self._hive.table = table
        table.createTime = self._hive.now

    def alter_table_with_environment_context(
        self, _db: str, _name: str, table: Any, _c: Any
    ) -> None:
        self._hive.table = table

    def add_partitions_req(self, request: Any) -> Any:
        added = []
        for one in request.parts:
            name = f"dt={one.values[0]}"
            if name not in self._hive.partitions:
                one.createTime = self._hive.now
                one.parameters.setdefault("transient_lastDdlTime", str(self._hive.now))
                self._hive.partitions[name] = one
                added.append(one)
        return ttypes.AddPartitionsResult(partitions=added)

    def drop_partitions_req(self, request: Any) -> Any:
        names = request.parts.names
        if any(name not in self._hive.partitions for name in names):
            raise ttypes.NoSuchObjectException("a partition")
        dropped = [self._hive.partitions.pop(name) for name in names]
        gone = [one.values for one in dropped]
        self._hive.grants = [
            one for one in self._hive.grants if one.hiveObject.partValues not in gone
        ]
        return ttypes.DropPartitionsResult(partitions=dropped)

    def alter_partitions_with_environment_context(
        self, _db: str, _name: str, partitions: Sequence[Any], _context: Any
    ) -> None:
        for one in partitions:
            name = f"dt={one.values[0]}"
            if name not in self._hive.partitions:
                raise ttypes.NoSuchObjectException(name)
            self._hive.partitions[name] = one

    def list_privileges(self, _who: Any, _kind: Any, ref: Any) -> list[Any]:
        return [
            one
            for one in self._hive.grants
            if one.hiveObject.objectType == ref.objectType
            and (ref.partValues is None or one.hiveObject.partValues == ref.partValues)
        ]

    def grant_privileges(self, bag: Any) -> bool:
        self._hive.grants += bag.privileges
        return True

    def get_table_statistics_req(self, _request: Any) -> Any:
        return ttypes.TableStatsResult(tableStats=[])

    def get_partitions_statistics_req(self, _request: Any) -> Any:
        return ttypes.PartitionsStatsResult(partStats={})

    def get_primary_keys(self, _request: Any) -> Any:
        return ttypes.PrimaryKeysResponse(primaryKeys=[])

    def get_unique_constraints(self, _request: Any) -> Any:
        return ttypes.UniqueConstraintsResponse(uniqueConstraints=[])

    def get_not_null_constraints(self, _request: Any) -> Any:
        return ttypes.NotNullConstraintsResponse(notNullConstraints=[])

    def get_default_constraints(self, _request: Any) -> Any:
        return ttypes.DefaultConstraintsResponse(defaultConstraints=[])

    def get_check_constraints(self, _request: Any) -> Any:
        return ttypes.CheckConstraintsResponse(checkConstraints=[])

    def get_foreign_keys(self, _request: Any) -> Any:
        return ttypes.ForeignKeysResponse(foreignKeys=[])

    def fire_listener_event(self, _request: Any) -> Any:
        return ttypes.FireEventResponse()


def broken() -> Exception:
    """Return what the client raises when the metastore ends the connection."""
    error: Exception = TTransportException(TTransportException.END_OF_FILE, "closed")
    return error


def _storage(columns: Sequence[Any], location: str) -> Any:
    return ttypes.StorageDescriptor(
        cols=list(columns), location=location, serdeInfo=ttypes.SerDeInfo(parameters={})
    )


def _grant(ref: Any, who: str) -> Any:
    info = ttypes.PrivilegeGrantInfo("SELECT", 7, "admin", ttypes.PrincipalType.USER, False)
    return ttypes.HiveObjectPrivilege(ref, who, ttypes.PrincipalType.USER, info, authorizer="SQL")
