"""Lets people turn off kinds of mail that they need not get."""

from collections.abc import Collection

from django.db import transaction

from portal.access.models import User
from portal.lake.errors import RuleViolation
from portal.notices.kinds import MailKind, mail_kinds
from portal.notices.models import MutedMail


def mutable_kinds() -> list[MailKind]:
    """Return the kinds that a person may turn off, by title."""
    return [kind for kind in mail_kinds() if kind.may_be_muted]


def muted_by(user: User) -> frozenset[str]:
    """Return the names of the kinds that a person turned off."""
    return frozenset(MutedMail.objects.filter(user=user).values_list("kind", flat=True))


def who_muted(kind: str) -> frozenset[str]:
    """Return the people who turned a kind off."""
    rows = MutedMail.objects.filter(kind=kind)
    return frozenset(rows.values_list("user__username", flat=True))


def mail_kind_mute(user: User, kind: str) -> bool:
    """Turn one kind off for a person; returns whether it was on, so twice is harmless."""
    _, is_new = MutedMail.objects.get_or_create(user=user, kind=kind)
    return is_new


@transaction.atomic
def mails_mute(user: User, kinds: Collection[str]) -> frozenset[str]:
    """Turn off exactly these kinds for a person, and everything else on; twice is the same.

    Raises:
        RuleViolation: `mail.kind`, one of them cannot be turned off.
    """
    names = {kind.name for kind in mutable_kinds()}
    wrong = sorted(set(kinds) - names)
    if wrong:
        raise RuleViolation(
            "mail.kind", f"Mails of the kind '{wrong[0]}' cannot be turned off.", field="kinds"
        )
    MutedMail.objects.filter(user=user).exclude(kind__in=kinds).delete()
    known = muted_by(user)
    new = [MutedMail(user=user, kind=kind) for kind in sorted(set(kinds) - known)]
    MutedMail.objects.bulk_create(new, ignore_conflicts=True)
    return frozenset(kinds)
