"""Decides which tables a person may see, from names and owners in rows or for one table.

The one rule of every room: admins and operators of a lake see all of it; others what they own, what
lies in the databases that they administer, and what belongs to accounts that they stand for.
"""

from collections.abc import Sequence

from django.db.models import Q, Value

from portal.access.models import DatabaseAdministrator, OwnerMapping, User
from portal.lake.errors import NotAllowed
from portal.lake.names import TableName


def visible_to(
    user: User, *, prefix: str = "", owners: Sequence[str] = ("owner",), of_lake: str = ""
) -> Q:
    """Return the condition for rows that `user` may see.

    `prefix` leads to the row that carries the names, `lake` and `db` beside them; `owners` are its
    columns of owners. `of_lake` as for `of_staffed_lakes`.
    """
    if not user.is_authenticated:
        return Q(pk__in=[])
    if of_lake and user.is_lake_staff_of(of_lake):
        return Q(**{f"{prefix}lake": of_lake})
    if user.staffed_lakes is None:
        return Q()  # before it is asked what is theirs, which costs two queries
    mine = Q()
    for column in owners:
        mine |= Q(**{f"{prefix}{column}": user.username})
    # Names and not a subquery: a database turns `a or b or one of these` into three index look-ups.
    for lake, dbs in user.administered.items():
        mine |= Q(**{f"{prefix}lake": lake, f"{prefix}db__in": dbs})
    for lake, accounts in user.stands_for.items():
        for column in owners:
            mine |= Q(**{f"{prefix}lake": lake, f"{prefix}{column}__in": accounts})
    return of_staffed_lakes(user, lake=f"{prefix}lake", otherwise=mine, of_lake=of_lake)


def of_staffed_lakes(user: User, *, lake: str = "lake", otherwise: Q, of_lake: str = "") -> Q:
    """Return the condition for all rows of the lakes that a person keeps; of others, `otherwise`.

    `lake` is the rows' column, or the way to it. `of_lake` is the one lake whose rows are wanted:
    lists name it, for no index gives the order of `mine or of my lakes`.
    """
    if of_lake:
        wanted = Q(**{lake: of_lake})
        return wanted if user.is_lake_staff_of(of_lake) else wanted & otherwise
    lakes = user.staffed_lakes
    if lakes is None:
        return Q()
    # No lake, no condition: what nobody keeps needs no further look-up. The column is asked first,
    # for `otherwise` may be a search in other rows.
    return Q(**{f"{lake}__in": sorted(lakes)}) | otherwise if lakes else otherwise


def answered_by(username: str, *, prefix: str = "", owners: Sequence[str] = ("owner",)) -> Q:
    """Return the condition for rows that one person answers for, whoever is looking.

    `prefix` and `owners` as for `visible_to`; roles do not count. One query.
    """
    mapped = OwnerMapping.objects.filter(username=username)
    administered = DatabaseAdministrator.objects.filter(username=username)
    names = mapped.values_list("lake", "owner", Value(1)).union(
        administered.values_list("lake", "db", Value(0)), all=True
    )
    found = Q()
    for column in owners:
        found |= Q(**{f"{prefix}{column}": username})
    for lake, name, is_owner in names:
        for column in owners if is_owner else ("db",):
            found |= Q(**{f"{prefix}lake": lake, f"{prefix}{column}": name})
    return found


def may_see(user: User, hive: TableName, *, owner: str) -> bool:
    """Whether a person sees a table of this owner: the rule of `visible_to` for one name."""
    lake = str(hive.lake)
    return (
        user.is_lake_staff_of(lake)
        or user.username == owner
        or hive.db in user.administered.get(lake, ())
        or owner in user.stands_for.get(lake, ())
    )


def may_see_rows(user: User, hive: TableName, *, owner: str) -> bool:
    """Whether a person may be shown rows of a table, and not only what is known about it.

    Stricter than `may_see`: admins and who owns the table or answers for it; operators run the
    portal and need no data.
    """
    lake = str(hive.lake)
    is_owner = user.username == owner or owner in user.stands_for.get(lake, ())
    return (
        user.is_lake_admin_of(lake)
        or (bool(owner) and is_owner)
        or hive.db in user.administered.get(lake, ())
    )


def check_rows(user: User | None, hive: TableName, *, owner: str, code: str, use: str) -> None:
    """Refuse who may not see the rows of a table that they may see; `use` shows its rows.

    `user` None is somebody without an account.

    Raises:
        NotAllowed: with this code; it names the table, and whom to ask.
    """
    if user is not None and may_see_rows(user, hive, owner=owner):
        return
    whom = f"its owner {owner}, " if owner else ""
    who = "somebody without an account" if user is None else user.username
    raise NotAllowed(
        code,
        f"{use} shows the rows of {hive}, which {who} may not see. Ask {whom}an administrator of "
        f"the database {hive.db} or an admin to define it.",
        table=str(hive),
    )
