"""Specification of a cluster: version, front ends, catalogs, resources, users and timings."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from portal.connectors.kerberos.settings import Kerberos

NEW = "3.5.0-simulator"
OLD = "2.2.9-simulator"


class Privilege(StrEnum):
    """What a user may do; on everything, as no test needs it finer."""

    ALTER = "ALTER"
    SELECT = "SELECT"
    OPERATE = "OPERATE"


@dataclass(frozen=True, slots=True)
class User:
    """A login."""

    password: str
    privileges: frozenset[Privilege] = frozenset(Privilege)


@dataclass(frozen=True, slots=True)
class Member:
    """A front end as it is registered; port 0 = any that is free.

    One that is registered and not started yet is listed with port 0 and without a version.
    """

    host: str
    role: str = "FOLLOWER"
    port: int = 0
    is_started: bool = True


@dataclass(frozen=True, slots=True)
class ResourceTable:
    """A table of 2.2 on a resource, with columns of StarRocks' own as (name, type)."""

    db: str
    name: str
    resource: str
    hive_db: str
    hive_table: str
    columns: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Timings:
    """Seconds as measured; tests that wait for one make it short, as an operator could."""

    metastore_timeout: float = 10.0
    rpc_timeout: float = 10.0
    heartbeat: float = 5.0
    listing_with_a_frozen_one: float = 40.0
    planner_timeout: float = 3.0


@dataclass(frozen=True, slots=True)
class Access:
    """How front ends log in to a secured lake, as their core-site.xml and hive-site.xml say."""

    kerberos: Kerberos | None = None
    hadoop_conf: tuple[tuple[str, str], ...] = ()


OPEN = Access()


@dataclass(frozen=True, slots=True)
class Spec:
    """A cluster. Catalogs and resources are given by their metastores' addresses."""

    version: str = NEW
    members: tuple[Member, ...] = (
        Member("127.0.0.2"),
        Member("127.0.0.3"),
        Member("127.0.0.4", role="OBSERVER"),
    )
    catalogs: Mapping[str, str] = field(default_factory=dict)
    resources: Mapping[str, str] = field(default_factory=dict)
    tables: tuple[ResourceTable, ...] = ()
    users: Mapping[str, User] = field(default_factory=dict)
    timings: Timings = Timings()
    access: Access = OPEN

    @property
    def is_old(self) -> bool:
        """Whether tables hang on resources (2.2)."""
        return self.version.startswith("2.2")

    @property
    def uris(self) -> set[str]:
        """The metastores that the cluster reads."""
        return {*self.catalogs.values(), *self.resources.values()}

    def as_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        data = asdict(self)
        for user in data["users"].values():
            user["privileges"] = sorted(user["privileges"])
        return data


def from_json(data: Mapping[str, Any]) -> Spec:
    """Read what `as_json` gave."""
    users = {name: _user(**user) for name, user in data["users"].items()}
    return Spec(
        version=data["version"],
        members=tuple(Member(**member) for member in data["members"]),
        catalogs=data["catalogs"],
        resources=data["resources"],
        tables=tuple(map(resource_table, data["tables"])),
        users=users,
        timings=Timings(**data["timings"]),
        access=_access(**data["access"]),
    )


def resource_table(data: Mapping[str, Any]) -> ResourceTable:
    """Read the JSON form of a table on a resource."""
    return ResourceTable(**{**data, "columns": tuple(map(tuple, data["columns"]))})


def _access(kerberos: Mapping[str, str] | None, hadoop_conf: list[list[str]]) -> Access:
    pairs = tuple((name, value) for name, value in hadoop_conf)
    return Access(Kerberos(**kerberos) if kerberos else None, pairs)


def _user(password: str, privileges: list[str]) -> User:
    return User(password, frozenset(map(Privilege, privileges)))
