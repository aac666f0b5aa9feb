"""Which rows about tables may a person see, told from the rows' own columns?

The one rule of every room: admins and operators see everything; others what they own, what lies in
the databases that they administer, and what belongs to accounts that they stand for.
"""

from collections.abc import Sequence

from django.db.models import Q

from portal.access.models import User


def visible_to(user: User, *, prefix: str = "", owners: Sequence[str] = ("owner",)) -> Q:
    """Give the condition for rows that `user` may see.

    `prefix` leads to the row that carries the names, `lake` and `db` beside them; `owners` are its
    columns of owners.
    """
    if not user.is_authenticated:
        return Q(pk__in=[])
    if user.is_lake_keeper:
        return Q()
    mine = Q()
    for column in owners:
        mine |= Q(**{f"{prefix}{column}": user.username})
    # Names and not a subquery: a database turns `a or b or one of these` into three index look-ups.
    for lake, dbs in user.administered.items():
        mine |= Q(**{f"{prefix}lake": lake, f"{prefix}db__in": dbs})
    for lake, accounts in user.stands_for.items():
        for column in owners:
            mine |= Q(**{f"{prefix}lake": lake, f"{prefix}{column}__in": accounts})
    return mine
