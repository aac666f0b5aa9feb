"""What belongs to an object beside its structure, made and read by plain Thrift for tests."""

from collections.abc import Sequence
from typing import Any

from pymetastore.hive_metastore import ttypes

from portal.lake.names import TableName
from tests.support.act_lake import ActLake

USER, ROLE, GROUP = 1, 2, 3
_OBJECT = ttypes.HiveObjectType
_STATISTICS = {
    "id": ttypes.ColumnStatisticsData(
        longStats=ttypes.LongColumnStatsData(lowValue=-3, highValue=9, numNulls=1, numDVs=5)
    ),
}
ACCURATE = '{"BASIC_STATS":"true","COLUMN_STATS":{"id":"true"}}'


def dress(lake: ActLake, name: TableName, *, parent: TableName | None = None) -> None:
    """Give a table grants, statistics and constraints, and its partitions grants and statistics."""
    client = _client(lake)
    table = client.get_table(name.db, name.table)
    grants = [
        _grant(_ref(_OBJECT.TABLE, name), "bob", USER, "SELECT"),
        _grant(_ref(_OBJECT.TABLE, name), "analysts", GROUP, "INSERT"),
        _grant(_ref(_OBJECT.COLUMN, name, columnName="id"), "public", ROLE, "SELECT"),
    ]
    structs = client.get_partitions(name.db, name.table, -1) if table.partitionKeys else []
    grants += [
        _grant(_ref(_OBJECT.PARTITION, name, partValues=one.values), "carol", USER, "SELECT")
        for one in structs
    ]
    client.grant_privileges(ttypes.PrivilegeBag(grants))
    names = lake.metastore.partition_names(name) if structs else []
    _set_statistics(client, name, names)
    _be_accurate(client, name, table, structs)
    _constrain(client, name, parent)


def extras_of(lake: ActLake, name: TableName) -> dict[str, Any]:
    """Return all of it that stands, without the times at which it was given."""
    client = _client(lake)
    table = client.get_table(name.db, name.table)
    columns = [column.name for column in table.sd.cols]
    names = lake.metastore.partition_names(name) if table.partitionKeys else []
    structs = lake.metastore.partitions_by_names(name, names)
    refs = [
        _ref(_OBJECT.TABLE, name),
        *(_ref(_OBJECT.COLUMN, name, columnName=column) for column in columns),
        *(_ref(_OBJECT.PARTITION, name, partValues=one.values) for one in structs),
    ]
    grants = [grant for ref in refs for grant in client.list_privileges(None, None, ref)]
    for grant in grants:
        grant.grantInfo.createTime = 0
    parts = ttypes.PartitionsStatsRequest(name.db, name.table, columns, names)
    return {
        "grants": sorted(map(repr, grants)),
        "statistics": repr(
            client.get_table_statistics_req(
                ttypes.TableStatsRequest(name.db, name.table, columns)
            ).tableStats
        ),
        "partitions": repr(
            sorted(client.get_partitions_statistics_req(parts).partStats.items()) if names else []
        ),
        "constraints": _constraints(client, name),
    }


def constrained(lake: ActLake, name: TableName) -> dict[str, str]:
    """Return a table's constraints by kind."""
    return _constraints(_client(lake), name)


def grant_more(lake: ActLake, name: TableName, who: str) -> None:
    """Grant one thing more on a table."""
    bag = ttypes.PrivilegeBag([_grant(_ref(_OBJECT.TABLE, name), who, USER, "SELECT")])
    _client(lake).grant_privileges(bag)


def revoke(lake: ActLake, name: TableName, who: str) -> None:
    """Take from somebody what was granted on a table."""
    client, ref = _client(lake), _ref(_OBJECT.TABLE, name)
    found = [one for one in client.list_privileges(None, None, ref) if one.principalName == who]
    client.revoke_privileges(ttypes.PrivilegeBag(found))


def _client(lake: ActLake) -> Any:
    return lake.metastore._client


def _ref(kind: int, name: TableName, **more: Any) -> Any:
    return ttypes.HiveObjectRef(objectType=kind, dbName=name.db, objectName=name.table, **more)


def _grant(ref: Any, who: str, kind: int, privilege: str) -> Any:
    info = ttypes.PrivilegeGrantInfo(privilege, 0, "admin", USER, kind == USER)
    return ttypes.HiveObjectPrivilege(ref, who, kind, info, authorizer="SQL")


def _set_statistics(client: Any, name: TableName, partitions: Sequence[str]) -> None:
    objects = [
        ttypes.ColumnStatisticsObj(column, "bigint", data) for column, data in _STATISTICS.items()
    ]
    whole = ttypes.ColumnStatisticsDesc(True, name.db, name.table)
    parts = [ttypes.ColumnStatisticsDesc(False, name.db, name.table, one) for one in partitions]
    for descs in filter(None, ([whole], parts)):
        found = [ttypes.ColumnStatistics(desc, objects) for desc in descs]
        client.set_aggr_stats_for(ttypes.SetPartitionsStatsRequest(found, False))


def _be_accurate(client: Any, name: TableName, table: Any, structs: Sequence[Any]) -> None:
    keep = ttypes.EnvironmentContext(properties={"DO_NOT_UPDATE_STATS": "true"})
    if structs:
        for one in structs:
            one.parameters["COLUMN_STATS_ACCURATE"] = ACCURATE
        client.alter_partitions_with_environment_context(name.db, name.table, structs, keep)
    else:
        table.parameters["COLUMN_STATS_ACCURATE"] = ACCURATE
        client.alter_table_with_environment_context(name.db, name.table, table, keep)


def _constrain(client: Any, name: TableName, parent: TableName | None) -> None:
    # The metastore wants names that no other constraint has.
    tag = f"{name.db}_{name.table}"
    mine = {"table_db": name.db, "table_name": name.table, "catName": "hive"}
    soft = {"enable_cstr": False, "validate_cstr": False, "rely_cstr": True}
    hard = {"enable_cstr": True, "validate_cstr": False, "rely_cstr": False}
    key = ttypes.SQLPrimaryKey(
        column_name="id", key_seq=1, pk_name=f"the_key_{tag}", **mine, **soft
    )
    client.add_primary_key(ttypes.AddPrimaryKeyRequest([key]))
    none = ttypes.SQLNotNullConstraint(column_name="id", nn_name=f"not_null_{tag}", **mine, **hard)
    client.add_not_null_constraint(ttypes.AddNotNullConstraintRequest([none]))
    seven = ttypes.SQLDefaultConstraint(
        column_name="id", default_value="7", dc_name=f"seven_{tag}", **mine, **hard
    )
    client.add_default_constraint(ttypes.AddDefaultConstraintRequest([seven]))
    check = ttypes.SQLCheckConstraint(
        column_name="id", check_expression="id > 0", dc_name=f"above_{tag}", **mine, **hard
    )
    client.add_check_constraint(ttypes.AddCheckConstraintRequest([check]))
    one = ttypes.SQLUniqueConstraint(
        column_name="m", key_seq=1, uk_name=f"one_{tag}", **mine, **soft
    )
    client.add_unique_constraint(ttypes.AddUniqueConstraintRequest([one]))
    if parent is not None:
        names = {"pktable_db": parent.db, "pktable_name": parent.table, "fktable_db": name.db}
        foreign = ttypes.SQLForeignKey(
            fktable_name=name.table,
            pkcolumn_name="id",
            fkcolumn_name="id",
            key_seq=1,
            update_rule=0,
            delete_rule=0,
            fk_name=f"points_up_{tag}",
            pk_name=f"the_key_{parent.db}_{parent.table}",
            catName="hive",
            **names,
            **soft,
        )
        client.add_foreign_key(ttypes.AddForeignKeyRequest([foreign]))


def _constraints(client: Any, name: TableName) -> dict[str, str]:
    place = ("hive", name.db, name.table)
    found = {
        "primary": client.get_primary_keys(
            ttypes.PrimaryKeysRequest(name.db, name.table, "hive")
        ).primaryKeys,
        "foreign": client.get_foreign_keys(
            ttypes.ForeignKeysRequest(None, None, name.db, name.table, "hive")
        ).foreignKeys,
        "referenced": client.get_foreign_keys(
            ttypes.ForeignKeysRequest(name.db, name.table, None, None, "hive")
        ).foreignKeys,
        "not_null": client.get_not_null_constraints(
            ttypes.NotNullConstraintsRequest(*place)
        ).notNullConstraints,
        "default": client.get_default_constraints(
            ttypes.DefaultConstraintsRequest(*place)
        ).defaultConstraints,
        "check": client.get_check_constraints(
            ttypes.CheckConstraintsRequest(*place)
        ).checkConstraints,
        "unique": client.get_unique_constraints(
            ttypes.UniqueConstraintsRequest(*place)
        ).uniqueConstraints,
    }
    return {kind: repr(sorted(map(repr, structs or ()))) for kind, structs in found.items()}
