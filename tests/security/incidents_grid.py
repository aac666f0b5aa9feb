"""Who may open incidents and act on them: whoever may see the table."""

from tests.security.grid_bodies import WHY
from tests.security.grid_rows import OF_THE_TABLE, SIGNED_IN, Row, post_only

_ONE = ("incident_id:quality_incident_id",)
# Of a version that the incident does not have: who may act is told that it was changed.
_OLD = {"version": "99"}
INCIDENTS: dict[str, Row] = {
    "readiness:incidents": Row(SIGNED_IN),
    "readiness:incident": Row(OF_THE_TABLE, values=_ONE),
    "readiness:incident-acknowledge": post_only(OF_THE_TABLE, *_ONE, **_OLD),
    "readiness:incident-assign": post_only(OF_THE_TABLE, *_ONE, to="alice", **_OLD),
    "readiness:incident-resolve": post_only(OF_THE_TABLE, *_ONE, resolution="fixed", **WHY, **_OLD),
    "readiness:incident-reopen": post_only(OF_THE_TABLE, *_ONE, **WHY, **_OLD),
    "readiness-api:incidents": Row(SIGNED_IN),
    "readiness-api:incident": Row(OF_THE_TABLE, values=_ONE),
    "readiness-api:incident-acknowledge": post_only(OF_THE_TABLE, *_ONE, **_OLD),
    "readiness-api:incident-assign": post_only(OF_THE_TABLE, *_ONE, assignee="alice", **_OLD),
    "readiness-api:incident-resolve": post_only(
        OF_THE_TABLE, *_ONE, resolution="fixed", **WHY, **_OLD
    ),
    "readiness-api:incident-reopen": post_only(OF_THE_TABLE, *_ONE, **WHY, **_OLD),
}
