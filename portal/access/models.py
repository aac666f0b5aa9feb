"""Models of users, the databases they administer, and the people behind owner names."""

from functools import cached_property

from django.contrib.auth.models import AbstractUser
from django.db import models

ADMIN = "admin"
OPERATOR = "operator"
ROLES = frozenset({ADMIN, OPERATOR})
STAFF = frozenset({ADMIN, OPERATOR})


class User(AbstractUser):
    """A person; the username is the Hive user name, `OwnerPerson` adds service accounts."""

    @cached_property
    def roles(self) -> frozenset[str]:
        """Return the person's roles; a superuser has none unless a group says so."""
        if not self.is_active:
            return frozenset()
        return frozenset(self.groups.values_list("name", flat=True)) & ROLES

    @cached_property
    def administered(self) -> dict[str, list[str]]:
        """Return the databases that the person administers, by lake."""
        rows = DatabaseAdministrator.objects.filter(username=self.username).order_by("lake", "db")
        found: dict[str, list[str]] = {}
        for lake, db in rows.values_list("lake", "db"):
            found.setdefault(lake, []).append(db)
        return found

    @cached_property
    def stands_for(self) -> dict[str, list[str]]:
        """Return the owner names (of service accounts) behind which the person stands, by lake."""
        rows = OwnerMapping.objects.filter(username=self.username).order_by("lake", "owner")
        found: dict[str, list[str]] = {}
        for lake, owner in rows.values_list("lake", "owner"):
            found.setdefault(lake, []).append(owner)
        return found

    @property
    def is_lake_admin(self) -> bool:
        """Say whether the person approves drops and sees the whole lake."""
        return ADMIN in self.roles

    @property
    def is_lake_operator(self) -> bool:
        """Say whether the person keeps the portal running."""
        return OPERATOR in self.roles

    @property
    def is_lake_staff(self) -> bool:
        """Say whether the person keeps the lake: admins and operators see and ask for all of it."""
        return not STAFF.isdisjoint(self.roles)


class DatabaseAdministrator(models.Model):
    """A person answers for a database of a lake; synced from the directory, never edited here."""

    lake = models.CharField(max_length=32)
    db = models.CharField(max_length=128)
    username = models.CharField(max_length=150)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["lake", "db", "username"], name="access_one_administrator_row"
            )
        ]
        indexes = [models.Index(fields=["lake", "username"], name="access_dba_by_person")]

    def __str__(self) -> str:
        return f"{self.username} of {self.lake}.{self.db}"


class OwnerMapping(models.Model):
    """A person answers for what an owner of the metastore owns that is no person itself."""

    lake = models.CharField(max_length=32)
    owner = models.CharField(max_length=128)
    username = models.CharField(max_length=150)
    added_by = models.CharField(max_length=150)
    added_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["lake", "owner", "username"], name="access_one_owner_person"
            )
        ]
        indexes = [models.Index(fields=["username"], name="access_owner_by_person")]

    def __str__(self) -> str:
        return f"{self.username} for {self.owner} of {self.lake}"
