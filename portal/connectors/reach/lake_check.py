"""Asks each system of a lake as the portal's work does, and says who was let in and what to do.

Changes nothing but one small file in the spool and in each backup root, which it removes again.
"""

import getpass
import re
import socket
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from urllib.parse import urlsplit

import pymysql

from portal.connectors.filesystem import open_file_system
from portal.connectors.kerberos.settings import Kerberos
from portal.connectors.kerberos.tickets import seconds_left
from portal.connectors.lake_config import LakeConfig
from portal.connectors.metastore import Metastore
from portal.connectors.reach.name_nodes import check_principals
from portal.connectors.reach.preemption import kinds_by_queue, preemption
from portal.lake.errors import ExternalFailure, PortalError
from portal.spark.masters.kubernetes import KubernetesApi
from portal.spark.masters.resource_manager import ResourceManager
from portal.spark.masters.settings import has_cluster, is_kubernetes, is_yarn
from portal.spark.masters.standalone import check_properties_file

_CONNECT_SECONDS = 10.0
_PROBE = b"lakewarden check_lake\n"
_NOBODY = "lw-check"
_SPARK = "Spark master"
_NO_LISTENER = (
    "There are databases, but nothing writes the metastore's notification log, so changes by "
    "others are not followed. Add org.apache.hive.hcatalog.listener.DbNotificationListener to "
    "metastore.transactional.event.listeners in its configuration, and restart it."
)
_PATTERN = re.compile(r"[*?{\[]")


@dataclass(frozen=True, slots=True)
class Reach:
    """How one system answered."""

    system: str
    place: str
    as_whom: str
    seconds: float
    detail: str
    advice: str = ""
    """What to do; empty where nothing is. A system that was reached may need something, too."""
    is_reached: bool = True


@dataclass(frozen=True, slots=True)
class _Answer:
    as_whom: str
    detail: str
    advice: str = ""


def check_lake(config: LakeConfig, *, acting: Iterable[str] = ()) -> list[Reach]:
    """Ask every system of a lake, one after the other; none that fails keeps the others away.

    `acting`: the kinds of run that change the lake, whose queues are looked at where YARN answers.
    """
    found = [_asked(*probe) for probe in _probes(config)]
    if is_yarn(config) and all(row.is_reached for row in found if row.system == _SPARK):
        for queue, kinds in kinds_by_queue(config, acting).items():
            found.append(_asked("Queue", queue, partial(_queue, config, queue, kinds)))
    return found


def _probes(config: LakeConfig) -> Iterator[tuple[str, str, Callable[[], _Answer]]]:
    if (kerberos := config.kerberos) is not None:
        yield "Kerberos ticket", kerberos.keytab, lambda: _ticket(kerberos)
    yield "Metastore", config.metastore_uri, lambda: _metastore(config)
    yield "Notification log", config.metastore_uri, lambda: _notification_log(config)
    database = config.metastore_db
    place = f"{database.host}:{database.port}/{database.database}"
    yield "Metastore database", place, lambda: _database(config)
    yield "File system", config.default_fs, lambda: _file_system(config)
    if kerberos is not None:
        for authority in _name_services(config):
            ask = partial(_name_nodes, config, kerberos, authority)
            yield "NameNodes' principal", f"hdfs://{authority}", ask
    yield "Spool", config.spool, lambda: _written(config, config.spool)
    for root in config.backup_roots:
        yield "Backup root", root, partial(_written, config, root)
    yield _SPARK, config.spark_master, lambda: _spark(config)
    if is_kubernetes(config):
        yield "Applications", config.spark_master, lambda: _pods(config)
    if has_cluster(config) and config.spark_python:
        yield "Packed Python", config.spark_python, lambda: _packed_python(config)
    for jar in filter(_is_looked_for, config.spark_jars):
        yield "Spark jar", jar, partial(_jar, config, jar)
    if _is_looked_for(archive := config.spark_conf.get("spark.yarn.archive", "")):
        yield "Spark archive", archive, lambda: _jar(config, archive)


def _asked(system: str, place: str, ask: Callable[[], _Answer]) -> Reach:
    began = time.monotonic()
    try:
        answer = ask()
    except PortalError as error:
        seconds = time.monotonic() - began
        return Reach(system, place, "", seconds, error.code, error.message, is_reached=False)
    seconds = time.monotonic() - began
    return Reach(system, place, answer.as_whom, seconds, answer.detail, answer.advice)


def _ticket(kerberos: Kerberos) -> _Answer:
    minutes = seconds_left(kerberos) // 60
    return _Answer(kerberos.principal, f"valid for {minutes:,} min, renewed at half of its life")


def _metastore(config: LakeConfig) -> _Answer:
    with Metastore.connect(config) as metastore:
        n_databases = len(metastore.databases())
    return _Answer(_who(config), f"databases: {n_databases:,}")


def _notification_log(config: LakeConfig) -> _Answer:
    """Read the newest event as the follower does."""
    try:
        with Metastore.connect(config) as metastore:
            newest = metastore.current_notification_id()
            events = metastore.notifications_after(max(newest - 1, 0), 1)
            is_new = set(metastore.databases()) <= {"default"}
    except ExternalFailure as error:
        if error.code != "metastore.refused":
            raise
        raise ExternalFailure(
            "check.no_log",
            f"The notification log is not shown to {_who(config)}, so changes by others are not "
            f"followed. {error.message}. Set hive.metastore.event.db.notification.api.auth to "
            "false in the metastore's configuration, or make this account a proxy user there "
            "(hadoop.proxyuser.*), and restart the metastore.",
            service="metastore",
            retryable=False,
        ) from error
    if not newest:
        advice = "" if is_new else _NO_LISTENER
        return _Answer(_who(config), "no event was ever written", advice)
    if not events:
        return _Answer(_who(config), f"the newest, event {newest:,}, was cleaned away since")
    at = datetime.fromtimestamp(events[0].eventTime, tz=UTC)
    return _Answer(_who(config), f"event {newest:,} of {at:%Y-%m-%d %H:%M} UTC is the newest")


def _database(config: LakeConfig) -> _Answer:
    database = config.metastore_db
    if database.kind != "mysql":
        _connect(database.host, database.port, service="metastore_db")
        return _Answer("", "accepts connections; jobs log in by JDBC")
    try:
        connection = pymysql.connect(
            host=database.host,
            port=database.port,
            user=database.user,
            password=database.password(),
            database=database.database,
            connect_timeout=int(_CONNECT_SECONDS),
        )
        with connection, connection.cursor() as cursor:
            cursor.execute("SELECT COUNT(*) FROM DBS")
            (n_databases,) = cursor.fetchone() or (0,)
    except (pymysql.MySQLError, OSError) as error:
        raise ExternalFailure(
            "check.database",
            f"The metastore's database refused {database.user}: {error}. Check host, port and "
            "password file in lakes.json, and that the account may SELECT.",
            service="metastore_db",
            retryable=True,
        ) from error
    return _Answer(database.user, f"databases, by SQL: {n_databases:,}")


def _file_system(config: LakeConfig) -> _Answer:
    root = config.path("/")
    fs = open_file_system(root, config=config, acls=False)
    return _Answer(_who(config), f"names in its root: {len(fs.names(root)):,}")


def _name_services(config: LakeConfig) -> list[str]:
    """Return the authorities of HDFS that runs use, the lake's own first."""
    places = (config.default_fs, config.spool, *config.backup_roots)
    paths = [config.path(place) for place in places]
    return list(dict.fromkeys(path.authority for path in paths if path.scheme == "hdfs"))


def _name_nodes(config: LakeConfig, kerberos: Kerberos, authority: str) -> _Answer:
    return _Answer("", check_principals(config, kerberos, authority))


def _written(config: LakeConfig, place: str) -> _Answer:
    """Write, read and remove a file, as runs do there."""
    path = config.path(place)
    fs = open_file_system(path, config=config, acls=False)
    if fs.status(path) is None:
        raise ExternalFailure(
            "check.no_directory",
            f"{path} is not there. Make it for the portal's account alone (mode 0700).",
            service="filesystem",
            retryable=False,
        )
    probe = path.child(f"._check_lake.{uuid.uuid4().hex}")
    fs.write_new(probe, _PROBE)
    try:
        found, data = fs.status(probe), fs.read(probe)
    finally:
        fs.remove_file(probe)
    if found is None or data != _PROBE:
        raise ExternalFailure(
            "check.read_back",
            f"A file written to {path} did not come back as it was. Look at the DataNodes.",
            service="filesystem",
            retryable=True,
        )
    return _Answer(found.owner, "a file was written, read and removed")


def _spark(config: LakeConfig) -> _Answer:
    master = config.spark_master
    if config.kerberos is not None:
        config.kerberos.check_master(
            master, properties_file=config.spark_properties_file, lake=str(config.lake)
        )
    check_properties_file(config)
    if master.startswith("local"):
        return _Answer(_who(config), "runs on the workers' hosts")
    if master == "yarn":
        return _yarn(config)
    addresses = master.removeprefix("k8s://").removeprefix("spark://").split(",")
    for address in addresses:
        parts = urlsplit(address if "//" in address else f"//{address}")
        _connect(parts.hostname or "", parts.port or 443, service="spark")
    return _Answer(_who(config), "accepts connections")


def _yarn(config: LakeConfig) -> _Answer:
    """Ask YARN's web service for itself, and for applications by a tag, as runs do."""
    manager = ResourceManager.of(config)
    found = manager.service()
    manager.tagged(_NOBODY)
    detail = (
        f"YARN {found.version}: {found.state}, {found.ha_state or 'no high availability'}; "
        "applications are found by their tags"
    )
    if found.is_proven:
        return _Answer(_who(config), detail)
    return _Answer(f"{manager.user or getpass.getuser()} (not verified)", detail)


def _queue(config: LakeConfig, queue: str, kinds: Sequence[str]) -> _Answer:
    return _Answer("", *preemption(config, queue, kinds))


def _pods(config: LakeConfig) -> _Answer:
    """Ask for pods by a tag, as runs do."""
    KubernetesApi.of(config).tagged(_NOBODY)
    return _Answer(
        "", "pods are listed; Lakewarden's tests submit to Kubernetes, and no node has run one"
    )


def _packed_python(config: LakeConfig) -> _Answer:
    path = config.path(config.spark_python)
    found = open_file_system(path, config=config, acls=False).status(path)
    if found is None:
        raise ExternalFailure(
            "check.no_python",
            f"{path} is not there, so no driver would start. Pack the portal's environment "
            "(venv-pack) and put it there, or remove spark_python from lakes.json.",
            service="filesystem",
            retryable=False,
        )
    return _Answer("", f"{found.size:,} bytes, of {found.owner}")


def _is_looked_for(place: str) -> bool:
    """Whether a driver's file can be seen from here: not on nodes alone, and no pattern."""
    return place.startswith(("hdfs:", "file:", "/")) and not _PATTERN.search(place)


def _jar(config: LakeConfig, place: str) -> _Answer:
    """Look for a file that drivers are given, and read of it."""
    path = config.path(f"file:{place}" if place.startswith("/") else place)
    fs = open_file_system(path, config=config, acls=False)
    found = fs.status(path)
    if found is not None and found.is_dir:
        problem = "is a directory"
    elif found is not None and fs.read(path, n_bytes=1):
        return _Answer("", f"{found.size:,} bytes, of {found.owner}")
    else:
        problem = "is not there" if found is None else "is empty"
    raise ExternalFailure(
        "check.no_jar",
        f"{path} {problem}, so no driver would start or find its classes. Put it there, or correct "
        "spark_jars or spark.yarn.archive in lakes.json.",
        service="filesystem",
        retryable=False,
    )


def _connect(host: str, port: int, *, service: str) -> None:
    try:
        socket.create_connection((host, port), timeout=_CONNECT_SECONDS).close()
    except OSError as error:
        raise ExternalFailure(
            "check.unreachable",
            f"{host}:{port} does not accept connections: {error}. Check that it runs, and the "
            "firewall from this host.",
            service=service,
            retryable=True,
        ) from error


def _who(config: LakeConfig) -> str:
    """Say who others take the portal for: proven by Kerberos, or only said."""
    if config.kerberos is not None:
        return config.kerberos.principal
    return f"{config.hadoop_user or getpass.getuser()} (not verified)"
