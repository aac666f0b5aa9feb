"""Access grid of tables, approvals and tokens: who reads their pages, who changes them."""

from collections.abc import Mapping

from tests.security.grid_bodies import TOKEN
from tests.security.grid_rows import (
    EVERYBODY,
    NO_ONE,
    OF_THE_RUN,
    OF_THE_TABLE,
    SIGNED_IN,
    STAFF,
    Row,
    post_only,
)

TABLE = ("db", "table:listed_table")
OF_THE_PLAN = ("kind:plan_kind", "proposal_id:plan_id")

TABLES_AND_TOKENS: Mapping[str, Row] = {
    "ui:home-picture": Row(NO_ONE, values=("key:no_picture",)),
    "ui:tour-hide": post_only(SIGNED_IN),
    "ui:tables": Row(SIGNED_IN),
    "ui:saved-view-save": post_only(SIGNED_IN, name="mine"),
    "ui:saved-view-delete": post_only(NO_ONE, "view_id:no_view"),
    "ui:api-saved-views": Row(SIGNED_IN, SIGNED_IN, body={"name": "mine", "query": ""}),
    "ui:api-saved-view-delete": post_only(NO_ONE, "view_id:no_view"),
    "ui:database": Row(OF_THE_TABLE, values=("db",)),
    "ui:api-tables": Row(SIGNED_IN),
    "ui:api-table": Row(OF_THE_TABLE, values=TABLE),
    "ui:api-database": Row(OF_THE_TABLE, values=("db",)),
    "ui:table": Row(OF_THE_TABLE, values=TABLE),
    "ui:table-tab": Row(OF_THE_TABLE, values=(*TABLE, "key:files_key")),
    "ui:table-part": Row(OF_THE_TABLE, values=(*TABLE, "key:files_key", "part:files_key")),
    "ui:approvals": Row(SIGNED_IN),
    "ui:api-approvals": Row(SIGNED_IN),
    "ui:api-approval-changes": Row(OF_THE_TABLE, values=OF_THE_PLAN),
    **dict.fromkeys(
        ("ui:approval-ranges", "ui:api-approval-ranges"),
        Row(OF_THE_TABLE, values=(*OF_THE_PLAN, "db", "table:planned_table")),
    ),
    "ui:approval-comments": post_only(OF_THE_TABLE, *OF_THE_PLAN, text="see you"),
    "ui:api-approval-comments": Row(
        OF_THE_TABLE, OF_THE_TABLE, values=OF_THE_PLAN, body={"text": "see you"}
    ),
    "ui:run-log": Row(OF_THE_RUN, values=("run_id",)),
    "ui:run-driver-log": Row(OF_THE_RUN, values=("run_id",)),
    "ui:api-run-driver-log": Row(OF_THE_RUN, values=("run_id",)),
    "ui:api-run-lines": Row(OF_THE_RUN, values=("run_id",)),
    # The link in a mail's text serves its recipient alone; the one in its headers, any program.
    "ui:mail-off": Row(frozenset({"owner"}), frozenset({"owner"}), values=("token:off_token",)),
    "ui:mail-one-click": Row(
        EVERYBODY,
        EVERYBODY,
        values=("token:one_click_token",),
        is_signed=True,
        body={"List-Unsubscribe": "One-Click"},
    ),
    "ui:tokens": Row(SIGNED_IN),
    "ui:token-new": Row(SIGNED_IN, SIGNED_IN, body=TOKEN),
    "ui:token-end": post_only(STAFF | {"owner"}, "token_id"),
    "ui:api-tokens": Row(
        SIGNED_IN, SIGNED_IN, body={"name": "nightly load", "scopes": "refresh", "days": "30"}
    ),
    "ui:api-token-end": post_only(STAFF | {"owner"}, "token_id"),
}
