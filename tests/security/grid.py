"""Who may open and who may change what stands behind each address? The one table of it.

An address that is missing here fails `test_access_grid`, so nobody adds one without saying whose
it is.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

SIGNED_IN = frozenset({"owner", "dba", "stranger", "operator", "requester", "admin"})
EVERYBODY = SIGNED_IN | {"nobody"}
KEEPERS = frozenset({"operator", "requester", "admin"})
ADMINS = frozenset({"requester", "admin"})
NO_ONE: frozenset[str] = frozenset()
# Of a run: who asked for it. Of a table: who owns or administers it.
OF_THE_RUN = KEEPERS | {"owner"}
OF_THE_TABLE = KEEPERS | {"owner", "dba"}
OF_THE_DATABASE = KEEPERS | {"dba"}


@dataclass(frozen=True)
class Row:
    """One address: the values in it, who reads it by GET, who changes things by POST.

    A value `run_id:preview_id` puts the target's `preview_id` where the address says `run_id`.
    `body` is what a right POST says (a value that begins with @ names one of the target's), so that
    a refusal is one of the person and not of the form.
    """

    reads: frozenset[str] = NO_ONE
    changes: frozenset[str] = NO_ONE
    values: tuple[str, ...] = ()
    query: str = ""
    is_get: bool = True
    body: Mapping[str, str] = field(default_factory=dict)


def post_only(changes: frozenset[str], *values: str, **body: str) -> Row:
    """Give a row of an address that answers GET with 405."""
    return Row(changes=changes, values=values, is_get=False, body=body)


WHY = {"reason": "because"}
DECISION = {"digest": "@digest", "reason": "because", "typed": "sales.orders"}

RULE = {
    "db": "sales",
    "table": "orders",
    "max_items_day": "9",
    "max_gib_day": "9",
    "max_bytes_day": "9000000000",
    "until": "@until",
    "reason": "because",
}

GRID: dict[str, Row] = {
    # -- the platform ------------------------------------------------------------------------
    "ui:home": Row(SIGNED_IN),
    "ui:login": Row(EVERYBODY, EVERYBODY),
    "ui:fresh-login": Row(SIGNED_IN, SIGNED_IN),
    "ui:logout": post_only(EVERYBODY),
    "ui:theme": post_only(EVERYBODY),
    "ui:profile": Row(SIGNED_IN),
    "ui:runs": Row(SIGNED_IN),
    "ui:run": Row(OF_THE_RUN, values=("run_id",)),
    "ui:run-progress": Row(OF_THE_RUN, values=("run_id",)),
    "ui:run-cancel": post_only(OF_THE_RUN, "run_id", **WHY),
    "ui:audit": Row(SIGNED_IN),
    "ui:red-button": Row(KEEPERS, KEEPERS, body={"do": "press", **WHY}),
    "ui:health": Row(KEEPERS),
    "ui:api-health": Row(KEEPERS),
    "ui:api": Row(SIGNED_IN),
    "ui:api-explorer": Row(SIGNED_IN),
    "ui:schema": Row(EVERYBODY),
    "ui:api-runs": Row(SIGNED_IN),
    "ui:api-run": Row(OF_THE_RUN, values=("run_id",)),
    "ui:api-run-cancel": post_only(OF_THE_RUN, "run_id", **WHY),
    "ui:api-audit": Row(SIGNED_IN),
    "ui:api-red-button": Row(SIGNED_IN, KEEPERS, body={"do": "press", **WHY}),
    "ui:livez": Row(EVERYBODY),
    "ui:readyz": Row(EVERYBODY),
    "ui:metrics": Row(EVERYBODY),
    # -- findings ----------------------------------------------------------------------------
    "lifecycle:paths": Row(SIGNED_IN),
    "lifecycle:expiring": Row(SIGNED_IN),
    "lifecycle:table": Row(OF_THE_TABLE, values=("db", "table")),
    "lifecycle:why": Row(OF_THE_TABLE, values=("db", "table"), query="partition=dt%3D2026-01-01"),
    "lifecycle:databases": Row(SIGNED_IN),
    "lifecycle:database": Row(OF_THE_DATABASE, values=("db",)),
    "lifecycle:database-mode": post_only(ADMINS, "db", seen="ACT", wanted="OBSERVE", **WHY),
    "lifecycle:holds": Row(SIGNED_IN),
    "lifecycle:hold-place": post_only(ADMINS, db="sales", table="orders", **WHY),
    "lifecycle:hold-release": post_only(ADMINS, "hold", **WHY),
    "lifecycle:dropped": Row(SIGNED_IN),
    "lifecycle:dropped-object": Row(OF_THE_TABLE, values=("dropped_id",)),
    "lifecycle:policy-alarms": Row(SIGNED_IN),
    "lifecycle:policy-alarms-close": post_only(ADMINS, alarm="@alarm_id", **WHY),
    "lifecycle:scan": post_only(KEEPERS),
    "lifecycle:scan-smaller": Row(KEEPERS, ADMINS, values=("run_id:shrunk_id",), body=WHY),
    "lifecycle-api:picture": Row(KEEPERS),
    "lifecycle-api:paths": Row(SIGNED_IN),
    "lifecycle-api:tables": Row(SIGNED_IN),
    "lifecycle-api:table": Row(OF_THE_TABLE, values=("db", "table")),
    "lifecycle-api:items": Row(OF_THE_TABLE, values=("db", "table")),
    "lifecycle-api:why": Row(
        OF_THE_TABLE, values=("db", "table"), query="partition=dt%3D2026-01-01"
    ),
    "lifecycle-api:databases": Row(SIGNED_IN),
    "lifecycle-api:database-mode": post_only(ADMINS, "db", seen="ACT", wanted="OBSERVE", **WHY),
    "lifecycle-api:shadow": Row(OF_THE_DATABASE, values=("db",)),
    "lifecycle-api:holds": Row(
        SIGNED_IN, ADMINS, body={"db": "sales", "table": "orders", "partition": "", **WHY}
    ),
    "lifecycle-api:hold-release": post_only(ADMINS, "hold", **WHY),
    "lifecycle-api:dropped": Row(SIGNED_IN),
    "lifecycle-api:dropped-object": Row(OF_THE_TABLE, values=("dropped_id",)),
    "lifecycle-api:policy-events": Row(SIGNED_IN),
    "lifecycle-api:policy-events-close": post_only(ADMINS, alarms="@alarm_id", **WHY),
    "lifecycle-api:scans": post_only(KEEPERS),
    "lifecycle-api:scan-accept-smaller": post_only(ADMINS, "run_id:shrunk_id", **WHY),
    # -- plans -------------------------------------------------------------------------------
    "lifecycle:plans": Row(SIGNED_IN),
    "lifecycle:plan-new": Row(KEEPERS, KEEPERS, body={"tables": "sales.orders", **WHY}),
    "lifecycle:plan": Row(OF_THE_TABLE, values=("plan_id",)),
    "lifecycle:plan-progress": Row(OF_THE_TABLE, values=("plan_id",)),
    "lifecycle:plan-table": Row(OF_THE_TABLE, values=("plan_id", "db", "table")),
    # The requester may not decide; that is another refusal than not being an admin.
    "lifecycle:plan-approve": post_only(frozenset({"admin"}), "plan_id", **DECISION),
    "lifecycle:plan-reject": post_only(frozenset({"admin"}), "plan_id", **DECISION),
    "lifecycle:plan-withdraw": post_only(frozenset({"requester"}), "plan_id", **WHY),
    "lifecycle:wishes": Row(SIGNED_IN),
    "lifecycle:wish-new": post_only(frozenset({"owner", "dba"}), db="sales", table="orders", **WHY),
    "lifecycle:wish-close": post_only(ADMINS | {"owner"}, "wish_id", **WHY),
    "lifecycle:standing-rules": Row(SIGNED_IN),
    "lifecycle:standing-rule-new": post_only(KEEPERS, **RULE),
    "lifecycle:standing-rule": Row(OF_THE_TABLE, values=("rule_id",)),
    "lifecycle:standing-rule-decide": post_only(
        frozenset({"admin"}), "rule_id", verdict="APPROVE", **WHY
    ),
    "lifecycle:standing-rule-end": post_only(ADMINS, "rule_id", **WHY),
    # -- backups -----------------------------------------------------------------------------
    "lifecycle:backups": Row(SIGNED_IN),
    "lifecycle:backup-day": Row(OF_THE_TABLE, values=("day",)),
    "lifecycle:backup-table": Row(OF_THE_TABLE, values=("day", "db", "table")),
    "lifecycle:backup": Row(OF_THE_TABLE, values=("batch_id",)),
    "lifecycle:backup-look": post_only(OF_THE_TABLE, "batch_id"),
    "lifecycle:restore-new": post_only(ADMINS | {"owner", "dba"}, batches="@batch_id", **WHY),
    "lifecycle:restore": Row(OF_THE_RUN, values=("run_id:preview_id",)),
    "lifecycle:restore-progress": Row(OF_THE_RUN, values=("run_id:preview_id",)),
    "lifecycle:restore-go": post_only(ADMINS | {"owner"}, "run_id:preview_id"),
    # -- plans and backups over the API ---------------------------------------------------------
    "lifecycle-api:plans": Row(SIGNED_IN, KEEPERS, body={"reason": "because"}),
    "lifecycle-api:plan": Row(OF_THE_TABLE, values=("plan_id",)),
    "lifecycle-api:plan-tables": Row(OF_THE_TABLE, values=("plan_id",)),
    "lifecycle-api:plan-results": Row(OF_THE_TABLE, values=("plan_id",)),
    "lifecycle-api:plan-approve": post_only(frozenset({"admin"}), "plan_id", **DECISION),
    "lifecycle-api:plan-reject": post_only(frozenset({"admin"}), "plan_id", **DECISION),
    "lifecycle-api:plan-withdraw": post_only(frozenset({"requester"}), "plan_id", **WHY),
    "lifecycle-api:wishes": Row(
        SIGNED_IN, frozenset({"owner", "dba"}), body={"db": "sales", "table": "orders", **WHY}
    ),
    "lifecycle-api:wish-close": post_only(ADMINS | {"owner"}, "wish_id", **WHY),
    "lifecycle-api:standing-rules": Row(SIGNED_IN, KEEPERS, body=RULE),
    "lifecycle-api:standing-rule": Row(OF_THE_TABLE, values=("rule_id",)),
    "lifecycle-api:standing-rule-decide": post_only(
        frozenset({"admin"}), "rule_id", verdict="APPROVE", digest="@digest", **WHY
    ),
    "lifecycle-api:standing-rule-end": post_only(ADMINS, "rule_id", **WHY),
    "lifecycle-api:backups": Row(SIGNED_IN),
    "lifecycle-api:backup": Row(OF_THE_TABLE, values=("batch_id",)),
    "lifecycle-api:backup-items": Row(OF_THE_TABLE, OF_THE_TABLE, values=("batch_id",)),
    "lifecycle-api:restores": post_only(
        ADMINS | {"owner", "dba"}, db="sales", table="orders", **WHY
    ),
    "lifecycle-api:restore": Row(OF_THE_RUN, ADMINS | {"owner"}, values=("run_id:preview_id",)),
}
