"""Who may see a table that no row of ours may exist for yet?"""

from portal.access.models import User
from portal.lake.names import TableName


def may_see(user: User, hive: TableName, *, owner: str) -> bool:
    """Whether a person sees a table of this owner: the rule of `visible_to` for one name."""
    lake = str(hive.lake)
    return (
        user.is_lake_keeper
        or user.username == owner
        or hive.db in user.administered.get(lake, ())
        or owner in user.stands_for.get(lake, ())
    )
