"""A guarded metastore for tests: whoever asks, whatever the mode, and what the guard noted."""

import json
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pymetastore.hive_metastore import ttypes

from portal.connectors.metastore import Metastore
from portal.lake.errors import ExternalFailure
from portal.lake.ids import LakeId
from portal.lake.names import TableName
from stack.servers.guard import SERVICE_USERS
from stack.stack import LAKE, Stack

ADMIN, EVE = "lakewarden", "eve"
OWN = {"LEVEL": "1", "TTL": "60"}
_TEXT = "org.apache.hadoop.mapred.TextInputFormat"
_OUT = "org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat"
_SERDE = "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"


@dataclass
class Guarded:
    """One stack's metastore, asked by several people."""

    stack: Stack
    _open: dict[str, Metastore] = field(default_factory=dict)

    def switch(self, mode: str = "audit", *, sql_is_admin: bool = True, **more: str) -> None:
        """Set the guard's mode; Spark SQL runs as this program's user, an admin or not."""
        names = {name.replace("__", "."): value for name, value in more.items()}
        admins = ",".join(SERVICE_USERS) if sql_is_admin else ADMIN
        self.stack.guard.switch({"guard.mode": mode, "admins": admins, **names})

    def as_(self, user: str) -> Metastore:
        """Return a connection that says it is `user`; without Kerberos that is believed."""
        if user not in self._open:
            config = replace(self.stack.config(), hadoop_user=user)
            self._open[user] = Metastore.connect(config)
        return self._open[user]

    def raw(self, user: str) -> Any:
        """Return the bare Thrift client, for calls that the portal has no use for."""
        return self.as_(user)._client

    def close(self) -> None:
        """Undo what was switched and hang up."""
        self.stack.guard.switch({})
        for metastore in self._open.values():
            metastore.close()

    def database(self, parameters: Mapping[str, str] | None = None, *, user: str = ADMIN) -> str:
        """Make a database of eve's with a fresh name."""
        name = f"guard_{uuid.uuid4().hex[:10]}"
        self.as_(user).create_database(self.database_struct(name, parameters))
        return name

    def database_struct(
        self, name: str, parameters: Mapping[str, str] | None = None, *, place: str = ""
    ) -> ttypes.Database:
        """Return a database as a client would send it, under its owner's directory."""
        return ttypes.Database(
            name=name,
            description="",
            locationUri=place or f"{self.stack.lake_root}/user/eve/{name}",
            parameters=dict(parameters or {}),
            ownerName=EVE,
            ownerType=ttypes.PrincipalType.USER,
        )

    def table_struct(
        self,
        db: str,
        table: str,
        parameters: Mapping[str, str] | None = None,
        *,
        place: str = "",
        kind: str = "EXTERNAL_TABLE",
    ) -> ttypes.Table:
        """Return a table as a client would send it, with a partition key."""
        marks = {"EXTERNAL": "TRUE"} if kind == "EXTERNAL_TABLE" else {}
        location = place or f"{self.stack.lake_root}/user/eve/{db}/{table}"
        return ttypes.Table(
            tableName=table,
            dbName=db,
            owner=EVE,
            sd=storage(location),
            partitionKeys=[ttypes.FieldSchema("dt", "string", "")],
            parameters={**marks, **(parameters or {})} or None,
            tableType=kind,
        )

    def table(
        self, db: str, parameters: Mapping[str, str] | None = None, *, user: str = ADMIN
    ) -> TableName:
        """Make a table with a fresh name."""
        name = TableName(LakeId(LAKE), db, f"t_{uuid.uuid4().hex[:10]}")
        self.as_(user).create_table(self.table_struct(db, name.table, parameters))
        return name

    def add_partitions(self, name: TableName, values: list[str]) -> None:
        """Add partitions below the table."""
        home = self.as_(ADMIN).table(name).sd.location
        self.as_(ADMIN).add_partitions(
            [
                ttypes.Partition(
                    values=[value],
                    dbName=name.db,
                    tableName=name.table,
                    sd=storage(f"{home}/dt={value}"),
                    parameters={},
                )
                for value in values
            ],
            if_not_exists=False,
        )

    def policy(self, name: TableName) -> dict[str, str]:
        """Return LEVEL and TTL, in whatever spelling, as they stand now."""
        return policy_of(self.as_(ADMIN).table(name).parameters)

    def database_policy(self, db: str) -> dict[str, str]:
        """Return a database's."""
        return policy_of(self.as_(ADMIN).database(db).parameters)

    def here(self) -> int:
        """Return the newest event's id."""
        return self.as_(ADMIN).current_notification_id()

    def events(self, after: int) -> list[ttypes.NotificationEvent]:
        """Return the log's events after an id."""
        return self.as_(ADMIN).notifications_after(after, 1000)

    def notes(self, after: int) -> list[dict[str, Any]]:
        """Return what the guard noted after an id."""
        return [
            {"id": event.eventId, "type": event.eventType, **json.loads(event.message)}
            for event in self.events(after)
            if event.eventType.startswith("LAKEWARDEN_")
        ]


def storage(location: str) -> ttypes.StorageDescriptor:
    """Return a text table's storage."""
    return ttypes.StorageDescriptor(
        cols=[ttypes.FieldSchema("id", "int", "größe")],
        location=location,
        inputFormat=_TEXT,
        outputFormat=_OUT,
        serdeInfo=ttypes.SerDeInfo(serializationLib=_SERDE, parameters={}),
        parameters={},
    )


def policy_of(parameters: Mapping[str, str] | None) -> dict[str, str]:
    """Keep the parameters that spell LEVEL or TTL."""
    found = (parameters or {}).items()
    return {key: value for key, value in found if key.lower() in ("level", "ttl")}


def refused(ask: Callable[[], object]) -> str:
    """Return the words with which the guard refuses a call."""
    try:
        ask()
    except (ExternalFailure, AssertionError, ttypes.MetaException) as error:
        words = repr(error)
    else:
        raise AssertionError("it was not refused")
    assert "Lakewarden refuses this" in words, words
    return words
