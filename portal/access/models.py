"""Models of users, the databases they administer, and the people behind owner names."""

from functools import cached_property

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models import Value

from portal.access.roles.domain import (
    ADMIN,
    ALL_LAKES,
    OPERATOR,
    ROLES,
    STAFF,
    RoleGrant,
    lakes_with,
    roles_on,
)


class User(AbstractUser):
    """A person; the username is the Hive user name, `OwnerPerson` adds service accounts."""

    @cached_property
    def grants(self) -> frozenset[RoleGrant]:
        """Return the person's roles: groups give them on all lakes, `LakeRole` on one.

        A superuser has none unless a group says so. One query for each object of a person, so one
        for a request.
        """
        return self.stored_grants() if self.is_active else frozenset()

    def stored_grants(self) -> frozenset[RoleGrant]:
        """Read the roles as they are stored, those of a closed account too, in one query."""
        everywhere = self.groups.values_list("name", Value(ALL_LAKES))
        rows = everywhere.union(self.lake_roles.values_list("role", "lake"), all=True)
        return frozenset(RoleGrant(role, lake) for role, lake in rows if role in ROLES)

    def roles_on(self, lake: str) -> frozenset[str]:
        """Return the roles that count on a lake; for what has no lake (empty), on all lakes."""
        return roles_on(self.grants, lake)

    def is_lake_admin_of(self, lake: str) -> bool:
        """Say whether the person approves drops of the lake and sees all of it."""
        return ADMIN in self.roles_on(lake)

    def is_lake_operator_of(self, lake: str) -> bool:
        """Say whether the person keeps the portal running for the lake."""
        return OPERATOR in self.roles_on(lake)

    def is_lake_staff_of(self, lake: str) -> bool:
        """Say whether the person keeps the lake: admins and operators see and ask for all of it."""
        return not STAFF.isdisjoint(self.roles_on(lake))

    @property
    def is_portal_admin(self) -> bool:
        """Say whether the person is an admin of all lakes, as for what belongs to none."""
        return self.is_lake_admin_of(ALL_LAKES)

    @property
    def is_portal_staff(self) -> bool:
        """Say whether the person is admin or operator of all lakes."""
        return self.is_lake_staff_of(ALL_LAKES)

    @property
    def staffed_lakes(self) -> frozenset[str] | None:
        """Return the lakes of which the person is admin or operator; None is all of them."""
        return lakes_with(self.grants, STAFF)

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


class LakeRole(models.Model):
    """A role of a person on one lake; what they have on all lakes is a group of theirs."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="lake_roles"
    )
    role = models.CharField(max_length=32)
    lake = models.CharField(max_length=32)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["user", "role", "lake"], name="access_one_role_on_a_lake"
            ),
            models.CheckConstraint(
                condition=models.Q(role__in=sorted(ROLES)), name="access_known_lake_role"
            ),
            models.CheckConstraint(
                condition=~models.Q(lake=ALL_LAKES), name="access_lake_role_names_lake"
            ),
        ]
        indexes = [models.Index(fields=["lake", "role"], name="access_roles_of_lake")]

    def __str__(self) -> str:
        return f"{self.user_id}: {RoleGrant(self.role, self.lake)}"


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
