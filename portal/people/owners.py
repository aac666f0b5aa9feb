"""Maps an owner's name of the metastore that is no person's to the people behind it.

`etl_user` owns half of a lake and reads no mail. An admin says who answers for it; these people
then get its notices, see its data and act for it. The name itself is written to no longer.
"""

from collections.abc import Sequence
from datetime import datetime

from django.conf import settings
from django.db import transaction

from portal.access.models import OwnerMapping, User
from portal.audit.services import audit_record
from portal.connectors.directory import directory_read
from portal.lake.errors import NotAllowed, RuleViolation
from portal.lake.reasons import check_reason
from portal.people.deprovisioning import departed

MOST_PEOPLE = 20
_MOST_CHARS = 128


def owner_map(lake: str) -> dict[str, tuple[str, ...]]:
    """Return the people behind each mapped owner name of a lake."""
    found: dict[str, tuple[str, ...]] = {}
    rows = OwnerMapping.objects.filter(lake=lake).order_by("owner", "username")
    for owner, username in rows.values_list("owner", "username"):
        found[owner] = (*found.get(owner, ()), username)
    return found


def owner_set(
    lake: str, owner: str, usernames: Sequence[str], *, user: User, reason: str, now: datetime
) -> tuple[str, ...]:
    """Put exactly these people behind an owner's name; none takes the name off the map.

    Twice it changes nothing and is recorded once.

    Raises:
        NotAllowed: for anyone but an admin.
        RuleViolation: no owner's name, an unknown person or one who left, no reason.
    """
    if not user.is_lake_admin_of(lake):
        raise NotAllowed("owner.role", "Only an admin maps an owner's name to people.")
    owner, names = _owner(owner), tuple(dict.fromkeys(name.strip() for name in usernames if name))
    check_reason(reason, "owner.reason", "Enter a reason; it is kept in the audit record.")
    _check_people(owner, names)
    with transaction.atomic():
        rows = OwnerMapping.objects.select_for_update().filter(lake=lake, owner=owner)
        before = tuple(rows.order_by("username").values_list("username", flat=True))
        after = tuple(sorted(names))
        if before == after:
            return after
        rows.exclude(username__in=after).delete()
        OwnerMapping.objects.bulk_create(
            [
                OwnerMapping(
                    lake=lake, owner=owner, username=name, added_by=user.username, added_at=now
                )
                for name in after
                if name not in before
            ]
        )
        audit_record(
            "owner.mapped" if after else "owner.unmapped",
            actor=user.username,
            lake=lake,
            object_type="owner",
            object_id=owner,
            data={"before": before, "after": after, "reason": reason.strip()},
            now=now,
        )
    return after


def _owner(said: str) -> str:
    owner = said.strip()
    if not owner or len(owner) > _MOST_CHARS or not owner.isprintable():
        raise RuleViolation(
            "owner.name",
            f"{said[:100]!a} is no owner's name: one line of 1 to {_MOST_CHARS} signs, as the "
            "metastore has it.",
        )
    return owner


def _check_people(owner: str, names: tuple[str, ...]) -> None:
    if len(names) > MOST_PEOPLE:
        raise RuleViolation(
            "owner.many", f"At most {MOST_PEOPLE} people can be mapped to one name."
        )
    if owner in names:
        raise RuleViolation(
            "owner.self", f"{owner} is responsible for itself already; name others."
        )
    accounts = User.objects.filter(username__in=names).values_list("username", flat=True)
    known = set(accounts) | set(directory_read(settings.LAKEWARDEN_DIRECTORY).people)
    left = departed()
    for name in names:
        if name not in known:
            raise RuleViolation(
                "owner.person",
                f"Nobody called {name[:100]!a} is known to the portal or the directory; check the "
                "spelling.",
            )
        if name in left:
            raise RuleViolation("owner.left", f"{name} has left; name somebody who is here.")
