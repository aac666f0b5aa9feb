"""Who may open and change the checks of tables: whoever may see the table."""

from tests.security.grid_bodies import WHY
from tests.security.grid_rows import ADMINS, OF_THE_TABLE, SIGNED_IN, Row, post_only

_SET, _RESULT = ("set_id:check_set_id",), ("result_id:check_result_id",)
_TRIAL = ("trial_id:check_trial_id",)
# Rows of the table: operators run the portal, and need none.
_OF_THE_ROWS = ADMINS | {"owner", "dba"}
_SODA = {"soda": "checks for sales.orders:\n  - row_count > 0"}
_DOCUMENT = {
    "document": "table: sales.orders\nrules: [{metric: row_count, min: 1}]",
    "every_minutes": "60",
    "version": "0",
}
_DRAFT = {"lake": "main", "document": _DOCUMENT["document"]}
CHECKS: dict[str, Row] = {
    "readiness:check-coverage": Row(SIGNED_IN),
    "readiness:check-soda": Row(SIGNED_IN, SIGNED_IN, body=_SODA),
    "readiness:check-trial": Row(OF_THE_TABLE, values=_TRIAL),
    "readiness:check-rule": Row(OF_THE_TABLE, values=(*_SET, "rule:check_rule")),
    "readiness:check-samples": Row(_OF_THE_ROWS, values=_RESULT),
    "readiness-api:check-coverage": Row(SIGNED_IN),
    "readiness-api:check-try": post_only(SIGNED_IN, **_DRAFT),
    "readiness-api:check-trials": post_only(SIGNED_IN, **_DRAFT),
    "readiness-api:check-trial": Row(OF_THE_TABLE, values=_TRIAL),
    "readiness-api:check-proposal": post_only(SIGNED_IN, lake="main", table="sales.orders"),
    "readiness-api:check-soda": post_only(SIGNED_IN, **_SODA),
    "readiness-api:check-samples": Row(_OF_THE_ROWS, values=_RESULT),
    "readiness:checks": Row(SIGNED_IN),
    "readiness:check-set-new": Row(SIGNED_IN, SIGNED_IN, body=_DOCUMENT),
    "readiness:check-set": Row(OF_THE_TABLE, values=_SET),
    "readiness:check-set-edit": Row(OF_THE_TABLE, OF_THE_TABLE, values=_SET, body=_DOCUMENT),
    "readiness:check-history": Row(OF_THE_TABLE, values=_SET),
    "readiness:check-run": post_only(OF_THE_TABLE, *_SET),
    "readiness:check-pause": post_only(OF_THE_TABLE, *_SET, paused="1"),
    "readiness:check-delete": post_only(OF_THE_TABLE, *_SET, version="9"),
    "readiness:check-result": Row(OF_THE_TABLE, values=_RESULT),
    "readiness:check-override": post_only(OF_THE_TABLE, *_RESULT, **WHY),
    "readiness:check-override-confirm": post_only(OF_THE_TABLE, *_RESULT),
    "readiness-api:checks": Row(SIGNED_IN, SIGNED_IN, body={"lake": "main", **_DOCUMENT}),
    "readiness-api:check-set": Row(OF_THE_TABLE, values=_SET),
    "readiness-api:check-history": Row(OF_THE_TABLE, values=_SET),
    "readiness-api:check-results": Row(OF_THE_TABLE, values=_SET),
    "readiness-api:check-run": post_only(OF_THE_TABLE, *_SET),
    "readiness-api:check-pause": post_only(OF_THE_TABLE, *_SET, paused=True),
    "readiness-api:check-delete": post_only(OF_THE_TABLE, *_SET, version=9),
    "readiness-api:check-result": Row(OF_THE_TABLE, values=_RESULT),
    "readiness-api:check-override": post_only(OF_THE_TABLE, *_RESULT, **WHY),
    "readiness-api:check-override-confirm": post_only(OF_THE_TABLE, *_RESULT),
}
