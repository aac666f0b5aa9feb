"""People of the access grid, and the form of its rows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

SIGNED_IN = frozenset({"owner", "dba", "stranger", "operator", "requester", "admin"})
EVERYBODY = SIGNED_IN | {"nobody"}
STAFF = frozenset({"operator", "requester", "admin"})
ADMINS = frozenset({"requester", "admin"})
NO_ONE: frozenset[str] = frozenset()
# Of a run: who asked for it. Of a table: who owns or administers it.
OF_THE_RUN = STAFF | {"owner"}
OF_THE_TABLE = STAFF | {"owner", "dba"}
OF_THE_DATABASE = STAFF | {"dba"}


@dataclass(frozen=True)
class Row:
    """One address: the values in it, who reads it by GET, who changes things by POST.

    A value `run_id:preview_id` puts the target's `preview_id` where the address says `run_id`.
    `body` is what a right POST says (a value that begins with @ names one of the target's), so that
    a refusal is one of the person and not of the form. A door always leads to another page: the
    provider of single sign-on, or the log-in page with what went wrong. `is_signed`: what proves a
    POST is the signed address, not a form's token.
    """

    reads: frozenset[str] = NO_ONE
    changes: frozenset[str] = NO_ONE
    values: tuple[str, ...] = ()
    query: str = ""
    is_get: bool = True
    is_door: bool = False
    is_signed: bool = False
    body: Mapping[str, Any] = field(default_factory=dict)


def post_only(changes: frozenset[str], *values: str, **body: Any) -> Row:
    """Return a row of an address that answers GET with 405."""
    return Row(changes=changes, values=values, is_get=False, body=body)
