"""Rows of the SHOW statements. Columns and their order are those of each version."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from stack.starrocks.cluster import Cluster
from stack.starrocks.front_end import FrontEnd, Life
from stack.starrocks.spec import Privilege

Row = Sequence[str | None]
_NEW_FRONT_ENDS = (
    "Id", "Name", "IP", "EditLogPort", "HttpPort", "QueryPort", "RpcPort", "Role", "ClusterId",
    "Join", "Alive", "ReplayedJournalId", "LastHeartbeat", "IsHelper", "ErrMsg", "StartTime",
    "Version",
)  # fmt: skip
_OLD_FRONT_ENDS = (
    "Name", "IP", "EditLogPort", "HttpPort", "QueryPort", "RpcPort", "Role", "IsMaster",
    "ClusterId", "Join", "Alive", "ReplayedJournalId", "LastHeartbeat", "IsHelper", "ErrMsg",
    "StartTime", "Version",
)  # fmt: skip
_INTERNAL = "An internal catalog contains this cluster's self-managed tables."
_CONFIG_COLUMNS = ("Key", "AliasNames", "Value", "Type", "IsMutable", "Comment")
# What the simulator stands for: nothing is loaded again by itself.
_CONFIG = (
    ("background_refresh_metadata_interval_millis", "600000", "int", "true"),
    ("background_refresh_metadata_time_secs_since_last_access_secs", "86400", "long", "true"),
    ("enable_background_refresh_connector_metadata", "false", "boolean", "true"),
    ("enable_background_refresh_resource_table_metadata", "false", "boolean", "true"),
    ("enable_hms_events_incremental_sync", "false", "boolean", "false"),
    ("hive_meta_cache_refresh_interval_s", "315360000", "long", "false"),
    ("hive_meta_cache_ttl_s", "315360000", "long", "false"),
    ("hive_meta_load_concurrency", "4", "int", "false"),
    ("hms_events_batch_size_per_rpc", "500", "int", "true"),
    ("hms_events_polling_interval_ms", "5000", "int", "false"),
    ("max_hive_partitions_per_rpc", "5000", "int", "true"),
)


@dataclass(frozen=True, slots=True)
class Result:
    """A result set."""

    columns: Sequence[str]
    rows: Sequence[Row]


def front_ends(cluster: Cluster) -> Result:
    """SHOW FRONTENDS, as the leader answers it."""
    columns = _OLD_FRONT_ENDS if cluster.spec.is_old else _NEW_FRONT_ENDS
    rows = [_front_end(cluster, fe) for fe in cluster.front_ends]
    return Result(columns, [[row[column] for column in columns] for row in rows])


def _front_end(cluster: Cluster, fe: FrontEnd) -> dict[str, str]:
    heard = cluster.heard_of(fe)
    is_known = fe.life is not Life.UNSTARTED
    is_leader = fe is cluster.leader()
    role = "OBSERVER" if fe.is_observer else "FOLLOWER"
    return {
        "Id": str(fe.number),
        "Name": fe.name,
        "IP": fe.host,
        "EditLogPort": "9010",
        "HttpPort": "8030",
        "QueryPort": str(fe.port) if is_known else "0",
        "RpcPort": "9020" if is_known else "0",
        "Role": "LEADER" if is_leader and not cluster.spec.is_old else role,
        "IsMaster": str(is_leader).lower(),
        "ClusterId": "1",
        "Join": "true",
        "Alive": str(heard.is_alive).lower(),
        "ReplayedJournalId": str(len(cluster.audit)),
        "LastHeartbeat": f"{cluster.last_heartbeat(fe):%Y-%m-%d %H:%M:%S}",
        "IsHelper": str(not fe.is_observer).lower(),
        "ErrMsg": heard.words,
        "StartTime": f"{fe.started:%Y-%m-%d %H:%M:%S}" if heard.is_alive else "NULL",
        "Version": cluster.spec.version if is_known else "NULL",
    }


def catalogs(cluster: Cluster, *, is_seen: bool) -> Result:
    """SHOW CATALOGS (3.x)."""
    rows: list[Row] = [("default_catalog", "Internal", _INTERNAL)]
    if is_seen:
        rows += [(name, "Hive", None) for name in sorted(cluster.spec.catalogs)]
    return Result(("Catalog", "Type", "Comment"), rows)


def grants(cluster: Cluster, name: str) -> Result:
    """SHOW GRANTS of the user itself (3.x)."""
    user = cluster.users[name]
    identity = f"'{name}'@'%'"
    rows: list[Row] = []
    if Privilege.OPERATE in user.privileges:
        rows.append((identity, "default", f"GRANT OPERATE ON SYSTEM TO USER {identity}"))
    held = ", ".join(sorted(user.privileges & {Privilege.SELECT, Privilege.ALTER}))
    for catalog in sorted(cluster.spec.catalogs) if held else ():
        rows.append((identity, catalog, f"GRANT USAGE ON CATALOG {catalog} TO USER {identity}"))
        on_all = f"GRANT {held} ON ALL TABLES IN ALL DATABASES TO USER {identity}"
        rows.append((identity, catalog, on_all))
    return Result(("UserIdentity", "Catalog", "Grants"), rows)


def resources(cluster: Cluster) -> Result:
    """SHOW RESOURCES: a row for each resource and property."""
    rows = [
        (name, "hive", "hive.metastore.uris", uris)
        for name, uris in sorted(cluster.spec.resources.items())
    ]
    return Result(("Name", "ResourceType", "Key", "Value"), rows)


def config(fe: FrontEnd, pattern: str | None) -> Result:
    """ADMIN SHOW FRONTEND CONFIG: the connected front end's own."""
    rows = [row for row in _config(fe) if like(row[0] or "", pattern)]
    return Result(_CONFIG_COLUMNS, sorted(rows, key=lambda row: row[0] or ""))


def _config(fe: FrontEnd) -> Iterator[Row]:
    timings = fe.spec.timings
    own = (
        ("hive_meta_store_timeout_s", f"{timings.metastore_timeout:g}", "long", "true"),
        ("thrift_rpc_timeout_ms", f"{timings.rpc_timeout * 1000:g}", "int", "true"),
    )
    for key, value, kind, is_mutable in (*_CONFIG, *own):
        yield (key, "[]", fe.config.get(key, value), kind, is_mutable, "")


def like(text: str, pattern: str | None) -> bool:
    """Whether a text fits a pattern of LIKE; no pattern fits all."""
    if pattern is None:
        return True
    glob = pattern.replace("[", "[[]").replace("%", "*").replace("_", "?")
    return fnmatchcase(text.lower(), glob.lower())


def one_column(name: str, values: Sequence[str]) -> Result:
    """Return a list of names."""
    return Result((name,), [(value,) for value in values])
