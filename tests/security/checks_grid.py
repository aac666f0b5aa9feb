"""Who may open and change the checks of tables: whoever may see the table."""

from tests.security.grid_bodies import WHY
from tests.security.grid_rows import OF_THE_TABLE, SIGNED_IN, Row, post_only

_SET, _RESULT = ("set_id:check_set_id",), ("result_id:check_result_id",)
_DOCUMENT = {
    "document": "table: sales.orders\nrules: [{metric: row_count, min: 1}]",
    "every_minutes": "60",
    "version": "0",
}
CHECKS: dict[str, Row] = {
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
