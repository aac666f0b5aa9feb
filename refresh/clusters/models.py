"""Models of the StarRocks clusters kept fresh, their front ends, and what these see."""

from typing import ClassVar

from django.db import models

from portal.reliability.breaker import Breaker
from portal.reliability.token_bucket import TokenBucket
from refresh.changes.domain.pressure import Pressure
from refresh.clusters.domain.addresses import Place
from refresh.clusters.domain.frontends import Contact, FeState, FrontEnd, state_of
from refresh.core.domain.versions import Dialect, Version

NAME_LENGTH = 256
CATALOG_LENGTH = 128


class Cluster(models.Model):
    """A StarRocks cluster; the password stands in a 0600 file, never here."""

    name = models.CharField(max_length=32, unique=True)
    addresses = models.JSONField(help_text='["host:port"] of front ends to ask first')
    user = models.CharField(max_length=128)
    password_file = models.CharField(max_length=1024)
    per_fe = models.PositiveSmallIntegerField(default=4)
    per_catalog = models.PositiveSmallIntegerField(default=6)
    large_table_window = models.CharField(
        max_length=200,
        blank=True,
        help_text=(
            "when very large tables may start where one lock covers all (2.x), in UTC; "
            "empty: always"
        ),
    )
    is_paused = models.BooleanField(default=False)
    paused_by = models.CharField(max_length=150, blank=True)
    paused_at = models.DateTimeField(null=True)
    paused_reason = models.TextField(blank=True)
    pressure = models.CharField(
        max_length=8,
        default=Pressure.NONE.value,
        choices=[(level.value, level.value) for level in Pressure],
    )
    read_at = models.DateTimeField(null=True, help_text="when its front ends were last listed")
    names_read_at = models.DateTimeField(null=True, help_text="when its names were last read")
    read_requested_at = models.DateTimeField(
        null=True, help_text="when somebody last asked to have it read; null: it was since"
    )
    problem = models.TextField(blank=True, help_text="why it could not be read; empty: it could")
    judged_states = models.JSONField(
        default=dict, help_text="states of the front ends by which all tables were last judged"
    )
    named_after = models.CharField(
        max_length=300, blank=True, help_text="the last database whose tables were listed"
    )
    named_at = models.DateTimeField(
        null=True, help_text="when the tables of all its databases were last listed"
    )
    swept_after = models.BigIntegerField(
        default=0, help_text="key of the last table at rest whose files were inspected"
    )
    added_by = models.CharField(max_length=150)
    added_at = models.DateTimeField()
    version = models.PositiveIntegerField(default=0, help_text="how often its login was changed")

    def __str__(self) -> str:
        return self.name

    @property
    def lease_name(self) -> str:
        """The lease of the worker that leads it."""
        return f"refresh:{self.name}"

    def address_of(self, front_end: str) -> str:
        """Return the address of a front end by its internal name.

        One that is registered no more is known by its internal name only. Read `front_ends` along
        for a list of rows.
        """
        found = (fe.place for fe in self.front_ends.all() if fe.name == front_end)
        return next(found, front_end)


class ClusterFrontEnd(models.Model):
    """A front end as SHOW FRONTENDS listed it last, and what our own contact showed."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="front_ends")
    name = models.CharField(max_length=NAME_LENGTH)
    host = models.CharField(max_length=NAME_LENGTH)
    query_port = models.PositiveIntegerField()
    is_alive = models.BooleanField(help_text="as the leader says")
    is_leader = models.BooleanField()
    error = models.TextField(blank=True)
    start = models.CharField(max_length=64, blank=True)
    version = models.CharField(max_length=128, blank=True)
    listed_at = models.DateTimeField()
    seen_start = models.CharField(max_length=64, blank=True)
    seen_start_at = models.DateTimeField(null=True)
    contact = models.CharField(
        max_length=12, blank=True, choices=[(one.value, one.value) for one in Contact]
    )
    contact_at = models.DateTimeField(null=True)
    empty_after = models.DateTimeField(null=True)
    n_failed = models.PositiveIntegerField(default=0)
    n_opened = models.PositiveIntegerField(default=0)
    open_until = models.DateTimeField(null=True)
    trial_until = models.DateTimeField(null=True)
    config = models.JSONField(default=dict)
    config_at = models.DateTimeField(null=True)
    config_start = models.CharField(
        max_length=64, blank=True, help_text="its start when its settings were read"
    )
    unstarted_at = models.DateTimeField(
        null=True, help_text="when it was last listed as not started; null: it has answered since"
    )
    silent_at = models.DateTimeField(
        null=True, help_text="when it last refused a contact or left one unanswered"
    )
    login_refused = models.TextField(
        blank=True, help_text="why it refused our login; empty: it did not"
    )

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["cluster", "name"], name="refresh_fe_once")
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def place(self) -> str:
        """Its address as people know it."""
        return str(Place(self.host, self.query_port)) if self.query_port else self.host

    @property
    def dialect(self) -> Dialect:
        """The kind of cache that its version has."""
        return Version.read(self.version).dialect

    @property
    def as_listed(self) -> FrontEnd:
        """The row as the domain knows it."""
        return FrontEnd(
            self.name,
            self.host,
            self.query_port,
            self.is_alive,
            self.is_leader,
            self.error,
            self.start,
            Version.read(self.version),
        )

    @property
    def state(self) -> FeState:
        """What it can be counted on for, by the newest of both witnesses.

        One that has not started yet answered nobody, whatever its port does while it boots.
        """
        if self.unstarted_at is not None:
            return FeState.DEAD
        contact = Contact(self.contact) if self.contact else None
        return state_of(
            self.as_listed, listed_at=self.listed_at, contact=contact, contact_at=self.contact_at
        )

    @property
    def breaker(self) -> Breaker:
        """Its circuit breaker."""
        return Breaker(self.n_failed, self.n_opened, self.open_until, self.trial_until)


class ClusterCatalog(models.Model):
    """A Hive catalog of a cluster; `lake` is empty where no lake has its metastore."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="catalogs")
    name = models.CharField(max_length=CATALOG_LENGTH)
    uris = models.TextField()
    lake = models.CharField(max_length=32, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["cluster", "name"], name="refresh_catalog_once")
        ]
        indexes: ClassVar = [models.Index(fields=["lake"], name="refresh_catalog_lake")]

    def __str__(self) -> str:
        return f"{self.cluster}: {self.name}"


class DeclaredTable(models.Model):
    """A table on a resource (2.x): its own name, the Hive table behind it, and column drift."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="declared")
    db = models.CharField(max_length=NAME_LENGTH)
    table = models.CharField(max_length=NAME_LENGTH)
    resource = models.CharField(max_length=NAME_LENGTH)
    lake = models.CharField(max_length=32, blank=True)
    hive_db = models.CharField(max_length=128)
    hive_table = models.CharField(max_length=256)
    columns = models.JSONField(default=list, help_text="[name, type] as declared in StarRocks")
    drift = models.TextField(blank=True, help_text="how its columns differ from Hive's")
    drift_at = models.DateTimeField(null=True, help_text="when they were last compared")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["cluster", "db", "table"], name="refresh_declared_once")
        ]
        indexes: ClassVar = [
            models.Index(fields=["lake", "hive_db", "hive_table"], name="refresh_declared_hive")
        ]

    def __str__(self) -> str:
        return f"{self.db}.{self.table}"

    @property
    def hive(self) -> str:
        """The Hive table behind it."""
        return f"{self.hive_db}.{self.hive_table}"


class MetastoreLoad(models.Model):
    """What one lake's metastore may still be asked for: its breaker and its token bucket."""

    lake = models.CharField(max_length=32, unique=True)
    n_failed = models.PositiveIntegerField(default=0)
    n_opened = models.PositiveIntegerField(default=0)
    open_until = models.DateTimeField(null=True)
    trial_until = models.DateTimeField(null=True)
    calls = models.FloatField()
    calls_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.lake

    @property
    def breaker(self) -> Breaker:
        """Its circuit breaker."""
        return Breaker(self.n_failed, self.n_opened, self.open_until, self.trial_until)

    @property
    def bucket(self) -> TokenBucket:
        """What it is still good for."""
        return TokenBucket(self.calls, self.calls_at)
