"""Who acts: a person with their roles, or an operator at the shell of the portal's machine."""

from dataclasses import dataclass
from typing import Self

from portal.access.models import User


@dataclass(frozen=True, slots=True)
class Actor:
    """A name with what it may do; services take it, so that commands need no person."""

    name: str
    is_staff: bool
    is_admin: bool
    is_fresh: bool = False
    """Whether they proved just now who they are."""

    @classmethod
    def of(cls, user: User, *, lake: str, is_fresh: bool = False) -> Self:
        """Take a person with their roles on a lake; for what has none (empty), on all lakes."""
        is_staff, is_admin = user.is_lake_staff_of(lake), user.is_lake_admin_of(lake)
        return cls(user.username, is_staff, is_admin, is_fresh)
