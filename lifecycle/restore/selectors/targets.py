"""Checks whether a person may have a table restored under a given name."""

from django.db.models import Q

from lifecycle.models import DatabaseFinding, LatestScan, TableFinding
from portal.access.models import User


def may_restore_to(
    user: User, lake: str, db: str, table: str, *, source_db: str, into: bool
) -> bool:
    """Whether a person may restore a table of `source_db` as, or into, a table.

    Admins everywhere; who administers or owns the database everywhere in it; an owner into a table
    that is theirs, and under a new name in the database where their table was.
    """
    if user.is_lake_admin_of(lake) or db in user.administered.get(lake, ()):
        return True
    current = LatestScan.objects.filter(lake=lake).values("generation_id")
    mine = Q(owner=user.username) | Q(db_owner=user.username)
    databases = DatabaseFinding.objects.filter(generation_id__in=current, db=db)
    if databases.filter(mine).exists():
        return True
    if not into:
        return db == source_db
    return TableFinding.objects.filter(mine, generation_id__in=current, db=db, table=table).exists()
