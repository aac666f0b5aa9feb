"""Models of sign-in methods of people and programs, of failed log-ins, and of departures."""

import uuid

from django.conf import settings
from django.db import models

from portal.people.domain import Counted, Way
from portal.people.token_rules import MOST_CHARS


class SignInIdentity(models.Model):
    """The account of a person whom a log-in server knows, by the subject that never changes."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="sign_in_identity"
    )
    way = models.CharField(max_length=8)
    subject = models.CharField(max_length=300)
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["way", "subject"], name="people_one_subject"),
            models.CheckConstraint(
                condition=models.Q(way__in=[Way.OIDC.value, Way.LDAP.value]),
                name="people_known_way",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} by {self.way}"


class LoginAttempts(models.Model):
    """How often log-ins of a name, an address or a person failed lately.

    `key` is a keyed hash: what people type as a name is sometimes their password.
    """

    counted = models.CharField(max_length=8)
    key = models.CharField(max_length=64)
    n_failed = models.PositiveIntegerField(default=0)
    last_at = models.DateTimeField(null=True)
    locked_until = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["counted", "key"], name="people_one_tally"),
            models.CheckConstraint(
                condition=models.Q(counted__in=[one.value for one in Counted]),
                name="people_known_count",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.counted} failed {self.n_failed} times"


class DirectoryPerson(models.Model):
    """Somebody whom the company's directory knew when it was last read."""

    username = models.CharField(max_length=150, unique=True)
    seen_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.username


class Deactivation(models.Model):
    """Somebody left: nothing is sent to them any more, and their word counts no longer."""

    username = models.CharField(max_length=150, unique=True)
    at = models.DateTimeField()
    by = models.CharField(max_length=150)
    reason = models.CharField(max_length=300)

    def __str__(self) -> str:
        return f"{self.username} left"


class ApiToken(models.Model):
    """A program may act as somebody, within scopes and for a time; the secret is not kept."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    name = models.CharField(max_length=MOST_CHARS)
    digest = models.CharField(max_length=64, unique=True)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens"
    )
    scopes = models.JSONField(default=list)
    made_by = models.CharField(max_length=150)
    made_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    ended_by = models.CharField(max_length=150, default="", blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(expires_at__gt=models.F("made_at")),
                name="people_token_has_a_life",
            ),
        ]
        indexes = [
            models.Index(fields=["owner", "made_at"], name="people_token_by_owner"),
            models.Index(fields=["made_at"], name="people_token_by_age"),
        ]

    def __str__(self) -> str:
        return f"{self.name} of {self.owner_id}"
