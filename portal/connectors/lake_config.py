"""Where one lake's systems are and how to reach them: the metastore, its database, files, Spark.

Read from lakes.json ({"main": {...}}). Passwords are never in it: it names the 0600 file that holds
one. A job gets the same object through its request, so driver and portal mean the same lake.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal
from zoneinfo import ZoneInfo

from portal.connectors.kerberos.settings import Kerberos
from portal.connectors.name_services.properties import check_name_services, derived_aliases
from portal.lake.errors import ExternalFailure, RuleViolation
from portal.lake.ids import LakeId
from portal.lake.lines import secret_lines
from portal.lake.names import TableName
from portal.lake.paths import LakePath
from portal.lake.places import unknown_authorities
from portal.lake.working_hours import WorkingHours

DatabaseKind = Literal["derby", "mysql"]
PLAN_LIMITS = frozenset(
    {"max_items", "max_bytes", "max_percent", "small", "big_items", "big_bytes", "big_approvals"}
)
TABLE_VERSIONS = frozenset({0, 6, 8, 9})
"""The versions of Hudi tables that can be written: those of 0.14, 1.0 and 1.1; 0: the newest."""


@dataclass(frozen=True, slots=True)
class MetastoreDb:
    """The relational database behind the metastore; scans read it, nothing ever writes it."""

    kind: DatabaseKind
    jdbc_url: str
    driver: str
    user: str
    password_file: str
    host: str
    port: int
    database: str
    timeout_seconds: float = 180
    """After this silence an answer is taken for lost; reading a big table is slow, not silent."""

    def password(self) -> str:
        """Read the password from its file."""
        return _password(self.password_file, "metastore database", service="metastore_db")


@dataclass(frozen=True, slots=True)
class TrinoQueriesDb:
    """The database into which Trino's MySQL event listener writes its queries; only read."""

    host: str
    database: str
    user: str
    password_file: str
    catalog: str
    """Trino's name of the lake's catalog."""
    as_user: str
    """The portal's account with whose rights queries count: that of an HTTP listener's token."""
    port: int = 3306
    ssl_ca: str = ""
    """A file with the certificate that signed the server's; empty: without TLS."""
    timeout_seconds: float = 20

    def password(self) -> str:
        """Read the password from its file."""
        return _password(self.password_file, "database of Trino's queries", service="trino_queries")


@dataclass(frozen=True, slots=True)
class LakeConfig:
    """Everything that a worker or a job needs to reach one lake."""

    lake: LakeId
    thrift_host: str
    thrift_port: int
    metastore_db: MetastoreDb
    default_fs: str
    spool: str
    time_zone: str
    spark_master: str
    deployment_id: str
    path_aliases: dict[str, str] = field(default_factory=dict)
    backup_roots: tuple[str, ...] = ()
    hadoop_conf: dict[str, str] = field(default_factory=dict)
    """Properties for every client of Hadoop, such as those of a name service, by their names."""
    spark_conf: dict[str, str] = field(default_factory=dict)
    spark_jars: tuple[str, ...] = ()
    spark_queues: dict[str, str] = field(default_factory=dict)
    """The queue on YARN by kind of run; `default` is for all other kinds."""
    queue_wait_minutes: int = 0
    """After how many minutes a run is ended whose application YARN or Kubernetes has accepted and
    not started; 0: when it took longer than its kind of run may."""
    spark_python: str = ""
    """A packed Python environment for drivers and executors on a cluster; empty: one is there."""
    spark_properties_file: str = ""
    """A 0600 file of Spark's properties that no list of processes may show; empty: there is none.

    On the standalone master it holds spark.authenticate.secret.
    """
    hadoop_user: str | None = None
    kerberos: Kerberos | None = None
    """As whom clients log in to a secured lake; None: nothing asks them for a proof."""
    metastore_timeout_seconds: float = 30
    plan_limits: dict[str, int] = field(default_factory=dict)
    """How much one plan may take here, and from where it needs more people; unset = the site's."""
    namespace_image: str = ""
    """Where a dump of the name node's image lies (`hdfs oiv -p Delimited`, TZ=UTC); empty: none."""
    trino_queries: TrinoQueriesDb | None = None
    """Where Trino keeps its queries for the portal to read; None: it is not read."""
    working_hours: str = ""
    """When runs that destroy may start, as "Mon-Fri 20:00-06:00" of its zone; empty: always."""

    recorded_queries: str = ""
    """The Iceberg table (`db.table`) that keeps queries which engines tell of; empty: none does."""
    protection_keys: tuple[str, ...] = ()
    """Keys of protected columns that captures may use here; only asked where lakes are several."""
    check_samples: bool = True
    """Whether checks may keep rows that speak against their rules in the portal's database."""
    materialization_table_version: int = 0
    """hoodie.table.version of new materializations, for engines that read old ones; 0: newest."""
    aliases: dict[str, str] = field(init=False, repr=False, compare=False)
    """The other names of its file systems: those of its NameNodes, then those typed in."""

    def __post_init__(self) -> None:
        """Derive the aliases once: each of a scan's million paths is read by them."""
        aliases = {**derived_aliases(self.hadoop_conf), **self.path_aliases}
        object.__setattr__(self, "aliases", aliases)

    @property
    def hours(self) -> WorkingHours:
        """The hours in which runs that destroy may start."""
        return WorkingHours.read(self.working_hours)

    @property
    def zone(self) -> ZoneInfo:
        """The lake's time zone: it sets days for notices, directories and reports."""
        return ZoneInfo(self.time_zone)

    @property
    def metastore_uri(self) -> str:
        """The metastore's Thrift address as Spark wants it."""
        return f"thrift://{self.thrift_host}:{self.thrift_port}"

    def path(self, text: str) -> LakePath:
        """Read a location of this lake: its default file system, its aliases."""
        return LakePath.parse(text, default_fs=self.default_fs, aliases=self.aliases)

    def unknown_file_systems(self, paths: Iterable[LakePath]) -> list[str]:
        """Return the file systems of `paths` that are no default, backup root or alias here."""
        own = [self.path("/"), *map(self.path, self.backup_roots)]
        aliases = {*self.aliases, *self.aliases.values()}
        return unknown_authorities(paths, own, aliases=aliases)

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON form, as it stands in lakes.json and in a job's request."""
        plain = asdict(self)
        del plain["aliases"]
        plain["lake"] = str(self.lake)
        plain["backup_roots"] = list(self.backup_roots)
        plain["spark_jars"] = list(self.spark_jars)
        return plain

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "LakeConfig":
        """Read the JSON form; a missing or unknown key is an ExternalFailure that names it."""
        values = dict(data)
        try:
            values["lake"] = LakeId(values["lake"])
            values["metastore_db"] = MetastoreDb(**values["metastore_db"])
            if (queries := values.get("trino_queries")) is not None:
                values["trino_queries"] = TrinoQueriesDb(**queries)
            if (kerberos := values.get("kerberos")) is not None:
                values["kerberos"] = Kerberos(**kerberos)
            values["backup_roots"] = tuple(values.get("backup_roots", ()))
            values["spark_jars"] = tuple(values.get("spark_jars", ()))
            values["protection_keys"] = _names("protection_keys", values)
            _check_limits(values.get("plan_limits", {}))
            _check_texts("hadoop_conf", values.get("hadoop_conf", {}))
            _check_texts("spark_queues", values.get("spark_queues", {}))
            check_name_services(values.get("hadoop_conf", {}))
            WorkingHours.read(values.get("working_hours", ""))
            if kept := values.get("recorded_queries", ""):
                TableName.parse(values["lake"], kept)
            minutes = values.get("queue_wait_minutes", 0)
            if type(minutes) is not int or minutes < 0:
                raise TypeError("queue_wait_minutes must be a whole number of minutes")
            if type(values.get("check_samples", True)) is not bool:
                raise TypeError("check_samples must be true or false")
            if values.get("materialization_table_version", 0) not in TABLE_VERSIONS:
                raise TypeError("materialization_table_version must be 0, 6, 8 or 9")
            return cls(**values)
        except (KeyError, TypeError, AttributeError, RuleViolation) as error:
            raise ExternalFailure(
                "config.lake",
                f"The lake's configuration is not complete: {error}. Compare it with lakes.json "
                "in docs/operations.md.",
                service="config",
                retryable=False,
            ) from error


def _names(key: str, values: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a list of names; a text alone would be read as one name a sign."""
    found = values.get(key, ())
    if not isinstance(found, list | tuple) or not all(isinstance(one, str) for one in found):
        raise TypeError(f"{key} must be a list of names")
    return tuple(found)


def _check_limits(limits: Mapping[str, Any]) -> None:
    """Refuse what would be taken for no limit: a misspelt name, or anything but a whole number."""
    for name, value in limits.items():
        if name not in PLAN_LIMITS:
            raise KeyError(f"plan_limits.{name}")
        if type(value) is not int or value < 0:
            raise TypeError(f"plan_limits.{name} must be a whole number, not {value!r}")


def _check_texts(key: str, properties: Mapping[str, Any]) -> None:
    """Refuse what a Hadoop client would read otherwise than it was meant: true, 1, null."""
    for name, value in properties.items():
        if not isinstance(value, str):
            raise TypeError(f"{key}.{name} must be a text in quotes, not {value!r}")


def _password(path: str, whose: str, *, service: str) -> str:
    try:
        return next(iter(secret_lines(Path(path).read_text(encoding="utf-8"))), "")
    except OSError as error:
        raise ExternalFailure(
            "config.password_file",
            f"The {whose}'s password file {path} cannot be read.",
            service=service,
            retryable=False,
            reason=error.strerror,
        ) from error


def load_lakes(path: Path) -> dict[str, LakeConfig]:
    """Read lakes.json: the lakes that this portal governs, by name."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ExternalFailure(
            "config.lakes",
            f"{path} cannot be read as JSON: {error}.",
            service="config",
            retryable=False,
        ) from error
    return {name: LakeConfig.from_dict({"lake": name, **entry}) for name, entry in data.items()}
