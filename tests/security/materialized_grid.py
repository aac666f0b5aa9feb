"""Who may open and change materializations: who owns one, and staff."""

from tests.security.grid_bodies import WHY
from tests.security.grid_rows import OF_THE_RUN, SIGNED_IN, STAFF, Row, post_only

_ONE = ("number:materialization_id",)
_SQL = {"sql": "SELECT dt, count(*) AS n FROM sales.orders GROUP BY dt", "every_minutes": "60"}
_NEW = {"name": "sales.days", **_SQL}
_EDIT = {"name": "sales.kept", "version": "0", **_SQL}
_ADVISED = ("number:materialization_advice_id",)
_UNREAD = ("number:unread_advice_id",)
_TYPED = {"typed": "sales.kept", "version": "0"}
MATERIALIZED: dict[str, Row] = {
    "pipelines:materializations": Row(SIGNED_IN),
    "pipelines:materialization-new": Row(SIGNED_IN, SIGNED_IN, body=_NEW),
    "pipelines:materialization": Row(OF_THE_RUN, values=_ONE),
    "pipelines:materialization-edit": Row(OF_THE_RUN, OF_THE_RUN, values=_ONE, body=_EDIT),
    "pipelines:materialization-refresh": post_only(OF_THE_RUN, *_ONE),
    "pipelines:materialization-pause": post_only(OF_THE_RUN, *_ONE, paused="1"),
    "pipelines:materialization-delete": post_only(OF_THE_RUN, *_ONE, **_TYPED),
    "pipelines:materialization-advice": Row(SIGNED_IN),
    "pipelines:materialization-advice-one": Row(STAFF, values=_ADVISED),
    "pipelines:materialization-advice-pause": post_only(STAFF, *_UNREAD, **WHY),
    "pipelines:materialization-advice-dismiss": post_only(STAFF, *_ADVISED, **WHY),
    "pipelines-api:materialization-advice": Row(SIGNED_IN),
    "pipelines-api:materialization-advice-one": Row(STAFF, values=_ADVISED),
    "pipelines-api:materialization-advice-define": post_only(STAFF, *_ADVISED, **_NEW),
    "pipelines-api:materialization-advice-pause": post_only(STAFF, *_UNREAD, **WHY),
    "pipelines-api:materialization-advice-dismiss": post_only(STAFF, *_ADVISED, **WHY),
    "pipelines-api:materializations": Row(SIGNED_IN, SIGNED_IN, body={"lake": "main", **_NEW}),
    "pipelines-api:materialization-check": post_only(SIGNED_IN, **_SQL),
    "pipelines-api:materialization": Row(OF_THE_RUN, OF_THE_RUN, values=_ONE, body=_EDIT),
    "pipelines-api:materialization-refreshes": Row(OF_THE_RUN, values=_ONE),
    "pipelines-api:materialization-refresh": post_only(OF_THE_RUN, *_ONE),
    "pipelines-api:materialization-pause": post_only(OF_THE_RUN, *_ONE, paused=True),
    "pipelines-api:materialization-delete": post_only(OF_THE_RUN, *_ONE, **_TYPED),
}
