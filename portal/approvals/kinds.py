"""Registry of what needs approval. Apps register their kinds in `AppConfig.ready()`."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from portal.access.roles.domain import ADMIN
from portal.approvals.models import Approval
from portal.lake.errors import NotVisible

Hook = Callable[[Approval, datetime], None]
Ended = Callable[[Approval, str, datetime], None]
Lock = Callable[[Approval], None]
Parties = Callable[[Approval], Collection[str]]


def _nothing(approval: Approval, now: datetime) -> None:
    """Do nothing: the default of what follows the last approval."""


def _nothing_more(approval: Approval, by: str, now: datetime) -> None:
    """Do nothing: the default of what follows an end."""


def _no_row(approval: Approval) -> None:
    """Lock nothing: the object has no row of its own."""


def _nobody_else(approval: Approval) -> Collection[str]:
    """Return nobody: only those count who were stored when it was asked for."""
    return ()


@dataclass(frozen=True, slots=True)
class ApprovalKind:
    """One sort of approval; hooks run inside the deciding transaction and write rows only."""

    name: str
    title: str = ""
    roles: frozenset[str] = frozenset({ADMIN})
    lock_object: Lock = _no_row
    """Takes the row lock of the object, which every step needs right after the approval's own."""
    requesters: Parties = _nobody_else
    """Returns who counts as a requester at this moment; those who were stored stay requesters."""
    on_approved: Hook = _nothing
    on_ended: Ended = _nothing_more
    """Called with who rejected or withdrew it; with nobody when it expired."""
    cooling_off: timedelta | None = None
    """None = the deployment's cooling-off time."""


_kinds: dict[str, ApprovalKind] = {}


def register(kind: ApprovalKind) -> ApprovalKind:
    """Add a kind; registering a name again replaces it."""
    _kinds[kind.name] = kind
    return kind


def all_kinds() -> list[ApprovalKind]:
    """Return every registered kind."""
    return list(_kinds.values())


def get_kind(name: str) -> ApprovalKind:
    """Return a kind by name.

    Raises:
        NotVisible: no room registered it.
    """
    try:
        return _kinds[name]
    except KeyError:
        raise NotVisible(
            "approval.kind", f"No approval of the kind '{name}' is known.", kind=name
        ) from None
