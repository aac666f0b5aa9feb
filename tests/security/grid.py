"""The one table of who may open and who may change what is behind each address.

An address that is missing here fails `test_access_grid`, so nobody adds one without saying whose
it is.
"""

from tests.security.answers_grid import ANSWERS
from tests.security.checks_grid import CHECKS
from tests.security.grid_bodies import (
    DAYS,
    DECISION,
    ENROL,
    ETL,
    OTHER_TTL,
    READY,
    REMOVAL,
    ROLE,
    RULE,
    WHY,
    WORD,
)
from tests.security.grid_rows import (
    ADMINS,
    EVERYBODY,
    OF_THE_DATABASE,
    OF_THE_RUN,
    OF_THE_TABLE,
    SIGNED_IN,
    STAFF,
    Row,
    post_only,
)
from tests.security.hudi_grid import HUDI_PAGES
from tests.security.incidents_grid import INCIDENTS
from tests.security.materialized_grid import MATERIALIZED
from tests.security.optimizer_grid import POLICIES_AND_TASKS
from tests.security.pipelines_grid import PIPELINES
from tests.security.platform_grid import TABLES_AND_TOKENS
from tests.security.refresh_grid import CLUSTERS

READY_RULE = ("rule_id:ready_rule_id",)
GRID: dict[str, Row] = {
    # -- the platform ------------------------------------------------------------------------
    "ui:home": Row(SIGNED_IN),
    "ui:login": Row(EVERYBODY, EVERYBODY),
    "ui:fresh-login": Row(SIGNED_IN, SIGNED_IN),
    # Sent to the provider, or back with words; the way back without a log-in says so on a page.
    "ui:sign-in-begin": Row(EVERYBODY, is_door=True),
    "ui:sign-in-back": Row(EVERYBODY, is_door=True),
    "ui:sign-in-out": Row(EVERYBODY, is_door=True),
    "ui:logout": post_only(EVERYBODY),
    "ui:theme": post_only(EVERYBODY),
    "ui:profile": Row(SIGNED_IN),
    "ui:runs": Row(SIGNED_IN),
    "ui:run": Row(OF_THE_RUN, values=("run_id",)),
    "ui:run-progress": Row(OF_THE_RUN, values=("run_id",)),
    "ui:run-cancel": post_only(OF_THE_RUN, "run_id", **WHY),
    "ui:audit": Row(SIGNED_IN),
    "ui:mails": Row(SIGNED_IN),
    "ui:mail": Row(STAFF | {"owner"}, values=("notice_id",)),
    "ui:people": Row(STAFF),
    "ui:person-close": post_only(ADMINS, "username", **WHY),
    "ui:person-reopen": post_only(ADMINS, "username", **WHY),
    "ui:person-role": post_only(ADMINS, **ROLE),
    "ui:owners": Row(STAFF),
    "ui:owner-set": post_only(ADMINS, **ETL),
    "ui:api-people": Row(STAFF),
    "ui:api-person-close": post_only(ADMINS, "username", **WHY),
    "ui:api-person-reopen": post_only(ADMINS, "username", **WHY),
    "ui:api-owners": Row(STAFF, ADMINS, body={**ETL, "people": ["alice"]}),
    "ui:profile-mails": post_only(SIGNED_IN, kinds=[]),
    "ui:api-mail-kinds": Row(SIGNED_IN, SIGNED_IN, body={"kinds": []}),
    "ui:mail-retry": post_only(STAFF, "notice_id"),
    "ui:red-button": Row(SIGNED_IN, SIGNED_IN, body={"do": "press", **WHY}),
    "ui:health": Row(STAFF),
    "ui:api-health": Row(STAFF),
    "ui:api": Row(SIGNED_IN),
    "ui:api-explorer": Row(SIGNED_IN),
    "ui:schema": Row(SIGNED_IN),
    "ui:api-runs": Row(SIGNED_IN),
    "ui:api-run": Row(OF_THE_RUN, values=("run_id",)),
    "ui:api-run-cancel": post_only(OF_THE_RUN, "run_id", **WHY),
    "ui:api-audit": Row(SIGNED_IN),
    "ui:api-mails": Row(SIGNED_IN),
    "ui:api-mail": Row(STAFF | {"owner"}, values=("notice_id",)),
    "ui:api-mail-retry": post_only(STAFF, "notice_id"),
    "ui:api-red-button": Row(SIGNED_IN, SIGNED_IN, body={"do": "press", **WHY}),
    "search:search": Row(SIGNED_IN),
    "search:api-search": Row(SIGNED_IN),
    "ui:livez": Row(EVERYBODY),
    "ui:readyz": Row(EVERYBODY),
    "ui:metrics": Row(EVERYBODY),
    **TABLES_AND_TOKENS,
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
    "lifecycle:calendar": Row(SIGNED_IN),
    "lifecycle:calendar-make": post_only(SIGNED_IN),
    "lifecycle:calendar-end": post_only(SIGNED_IN),
    "lifecycle:calendar-feed": Row(EVERYBODY, values=("secret:calendar_secret",)),
    "lifecycle:dropped": Row(SIGNED_IN),
    "lifecycle:dropped-object": Row(OF_THE_TABLE, values=("dropped_id",)),
    "lifecycle:policy-alarms": Row(SIGNED_IN),
    "lifecycle:policy-alarms-close": post_only(ADMINS, alarm="@alarm_id", **WHY),
    "lifecycle:scan": post_only(STAFF),
    "lifecycle:scan-smaller": Row(STAFF, ADMINS, values=("run_id:shrunk_id",), body=WHY),
    "lifecycle-api:picture": Row(STAFF),
    "lifecycle-api:needs-answer": Row(SIGNED_IN),
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
    "lifecycle-api:calendar": Row(SIGNED_IN, SIGNED_IN),
    "lifecycle-api:calendar-month": Row(SIGNED_IN),
    "lifecycle-api:calendar-end": post_only(SIGNED_IN),
    "lifecycle-api:dropped": Row(SIGNED_IN),
    "lifecycle-api:dropped-object": Row(OF_THE_TABLE, values=("dropped_id",)),
    "lifecycle-api:policy-events": Row(SIGNED_IN),
    "lifecycle-api:policy-events-close": post_only(ADMINS, alarms=["@alarm_id"], **WHY),
    "lifecycle-api:scans": post_only(STAFF),
    "lifecycle-api:scan-accept-smaller": post_only(ADMINS, "run_id:shrunk_id", **WHY),
    # -- policy ------------------------------------------------------------------------------
    "lifecycle:policy": Row(OF_THE_TABLE, values=("db", "table")),
    "lifecycle:why-look": Row(
        changes=OF_THE_TABLE,
        values=("db", "table"),
        query="partition=dt%3D2026-01-01",
        is_get=False,
    ),
    "lifecycle:database-policy": Row(OF_THE_DATABASE, values=("db",)),
    "lifecycle:database-policy-look": post_only(STAFF, "db"),
    "lifecycle:database-days": post_only(ADMINS, "db", **DAYS, **WHY),
    "lifecycle:shadow": Row(OF_THE_DATABASE, values=("db",)),
    "lifecycle:policy-requests": Row(SIGNED_IN),
    "lifecycle:policy-request-new": post_only(ADMINS | {"owner", "dba"}, **OTHER_TTL),
    "lifecycle:policy-request": Row(OF_THE_TABLE, values=("request_id",)),
    "lifecycle:policy-request-decide": post_only(
        ADMINS, "request_id", digest="@request_digest", **WORD
    ),
    "lifecycle:policy-request-withdraw": post_only(frozenset({"owner"}), "request_id", **WHY),
    # The table's owner alone, no admin; to take it back is safe.
    "lifecycle:waivers": Row(SIGNED_IN),
    "lifecycle:savings": Row(SIGNED_IN),
    "lifecycle:drills": Row(SIGNED_IN),
    "lifecycle:drill-start": post_only(STAFF),
    # What it compared is shown to everybody of their own only.
    "lifecycle:drill": Row(SIGNED_IN, values=("drill_id",)),
    # Asked for by the owner; an owner of the table, its administrator or an admin ends it.
    "lifecycle:waiver-end": post_only(ADMINS | {"owner", "dba"}, "waiver_id", **WHY),
    "lifecycle:enrolments": Row(SIGNED_IN),
    "lifecycle:enrolment-new": Row(STAFF, STAFF, body=ENROL),
    "lifecycle:enrolment": Row(OF_THE_TABLE, values=("enrolment_id",)),
    "lifecycle:enrolment-decide": post_only(
        frozenset({"admin"}), "enrolment_id", digest="@enrol_digest", **WORD
    ),
    "lifecycle:enrolment-withdraw": post_only(frozenset({"requester"}), "enrolment_id", **WHY),
    "lifecycle:enrolment-undo": post_only(ADMINS, "enrolment_id", **WHY),
    "lifecycle-api:policy": Row(OF_THE_TABLE, values=("db", "table")),
    "lifecycle-api:why-look": Row(
        changes=OF_THE_TABLE,
        values=("db", "table"),
        query="partition=dt%3D2026-01-01",
        is_get=False,
    ),
    "lifecycle-api:database-policy": Row(OF_THE_DATABASE, values=("db",)),
    "lifecycle-api:database-policy-look": post_only(STAFF, "db"),
    "lifecycle-api:database-days": Row(
        OF_THE_DATABASE, ADMINS, values=("db",), body={**DAYS, **WHY}
    ),
    "lifecycle-api:shadow-summary": Row(OF_THE_DATABASE, values=("db",)),
    "lifecycle-api:policy-requests": Row(SIGNED_IN, ADMINS | {"owner", "dba"}, body=OTHER_TTL),
    "lifecycle-api:policy-request": Row(OF_THE_TABLE, values=("request_id",)),
    "lifecycle-api:policy-request-decide": post_only(
        ADMINS, "request_id", digest="@request_digest", **WORD
    ),
    "lifecycle-api:policy-request-withdraw": post_only(frozenset({"owner"}), "request_id", **WHY),
    "lifecycle-api:waivers": Row(SIGNED_IN),
    "lifecycle-api:savings": Row(SIGNED_IN),
    "lifecycle-api:drills": Row(SIGNED_IN, STAFF),
    "lifecycle-api:drill-databases": Row(SIGNED_IN),
    "lifecycle-api:drill": Row(SIGNED_IN, values=("drill_id",)),
    "lifecycle-api:drill-items": Row(SIGNED_IN, values=("drill_id",)),
    "lifecycle-api:waiver-end": post_only(ADMINS | {"owner", "dba"}, "waiver_id", **WHY),
    "lifecycle-api:enrolments": Row(SIGNED_IN, STAFF, body=ENROL),
    "lifecycle-api:enrolment-preview": Row(STAFF),
    "lifecycle-api:enrolment": Row(OF_THE_TABLE, values=("enrolment_id",)),
    "lifecycle-api:enrolment-items": Row(OF_THE_TABLE, values=("enrolment_id",)),
    "lifecycle-api:enrolment-decide": post_only(
        frozenset({"admin"}), "enrolment_id", digest="@enrol_digest", **WORD
    ),
    "lifecycle-api:enrolment-withdraw": post_only(frozenset({"requester"}), "enrolment_id", **WHY),
    "lifecycle-api:enrolment-undo": post_only(ADMINS, "enrolment_id", **WHY),
    # -- relocation plans
    # ---------------------------------------------------------------------------
    "lifecycle:path-fixes": Row(SIGNED_IN),
    "lifecycle:path-fix-new": Row(STAFF, STAFF, body={"row": "@finding_id", **WHY}),
    "lifecycle:path-fix": Row(OF_THE_TABLE, values=("fix_id",)),
    "lifecycle:path-fix-progress": Row(OF_THE_TABLE, values=("fix_id",)),
    "lifecycle:path-fix-decide": post_only(
        frozenset({"admin"}), "fix_id", digest="@fix_digest", **WORD
    ),
    "lifecycle:path-fix-withdraw": post_only(frozenset({"requester"}), "fix_id", **WHY),
    "lifecycle:path-fix-undo": post_only(ADMINS, "fix_id", **WHY),
    "lifecycle-api:path-fixes": Row(
        SIGNED_IN, STAFF, body={"rows": ["@finding_id"], "reason": "because"}
    ),
    "lifecycle-api:path-fix-candidates": Row(SIGNED_IN),
    "lifecycle-api:path-fix": Row(OF_THE_TABLE, values=("fix_id",)),
    "lifecycle-api:path-fix-items": Row(OF_THE_TABLE, values=("fix_id",)),
    "lifecycle-api:path-fix-decide": post_only(
        frozenset({"admin"}), "fix_id", digest="@fix_digest", **WORD
    ),
    "lifecycle-api:path-fix-withdraw": post_only(frozenset({"requester"}), "fix_id", **WHY),
    "lifecycle-api:path-fix-undo": post_only(ADMINS, "fix_id", **WHY),
    # -- plans -------------------------------------------------------------------------------
    "lifecycle:plans": Row(SIGNED_IN),
    "lifecycle:plan-new": Row(STAFF, STAFF, body={"tables": "sales.orders", **WHY}),
    "lifecycle:plan": Row(OF_THE_TABLE, values=("plan_id",)),
    "lifecycle:plan-progress": Row(OF_THE_TABLE, values=("plan_id",)),
    "lifecycle:plan-table-ranges": Row(OF_THE_TABLE, values=("plan_id", "db", "table")),
    "lifecycle-api:plan-changes": Row(OF_THE_TABLE, values=("plan_id",)),
    "lifecycle-api:plan-table-ranges": Row(OF_THE_TABLE, values=("plan_id", "db", "table")),
    "lifecycle:plan-table": Row(OF_THE_TABLE, values=("plan_id", "db", "table")),
    # The requester may not decide; that is another refusal than not being an admin.
    "lifecycle:plan-approve": post_only(frozenset({"admin"}), "plan_id", **DECISION),
    "lifecycle:plan-reject": post_only(ADMINS, "plan_id", **DECISION),
    "lifecycle:plan-withdraw": post_only(frozenset({"requester"}), "plan_id", **WHY),
    "lifecycle:standing-rules": Row(SIGNED_IN),
    "lifecycle:standing-rule-new": post_only(STAFF, **RULE),
    "lifecycle:standing-rule": Row(OF_THE_TABLE, values=("rule_id",)),
    "lifecycle:standing-rule-decide": post_only(
        frozenset({"admin"}), "rule_id", decision="APPROVE", digest="@rule_digest", **WHY
    ),
    "lifecycle:standing-rule-end": post_only(ADMINS, "rule_id", **WHY),
    # -- what schedulers tell ----------------------------------------------------------------
    # Whose the table is only the metastore knows, which answers nobody here: see
    # tests/component/quality/ready_flag/test_partitions_ready.py for who is refused.
    "readiness-hook:mark": post_only(SIGNED_IN, table="sales.orders", partitions=[], ready=True),
    "readiness:awaited": Row(SIGNED_IN),
    "readiness:readers": Row(SIGNED_IN),
    "readiness:rules": Row(SIGNED_IN),
    "readiness:rule-new": Row(SIGNED_IN, SIGNED_IN, body={"table": "sales.orders", **READY}),
    "readiness:rule": Row(OF_THE_TABLE, OF_THE_TABLE, values=READY_RULE, body=READY),
    "readiness:rule-end": post_only(OF_THE_TABLE, *READY_RULE, version="9"),
    "readiness-api:awaited": Row(SIGNED_IN),
    "readiness-api:rules": Row(SIGNED_IN, SIGNED_IN, body={"table": "sales.orders", **READY}),
    "readiness-api:rule": Row(OF_THE_TABLE, OF_THE_TABLE, values=READY_RULE, body=READY),
    "readiness-api:rule-end": post_only(OF_THE_TABLE, *READY_RULE, version="9"),
    "refresh-hook:tell": post_only(OF_THE_TABLE, lake="main", table="sales.orders"),
    "refresh-hook:wait": Row(
        OF_THE_TABLE,
        OF_THE_TABLE,
        query="lake=main&table=sales.orders&written_at=2026-01-01T00:00:00Z",
        body={"lake": "main", "table": "sales.orders", "written_at": "2026-01-01T00:00:00Z"},
    ),
    # -- backups -----------------------------------------------------------------------------
    "lifecycle:backups": Row(SIGNED_IN),
    "lifecycle:backup-day": Row(OF_THE_TABLE, values=("day",)),
    "lifecycle:backup-table": Row(OF_THE_TABLE, values=("day", "db", "table")),
    "lifecycle:backup-contents": Row(OF_THE_TABLE, values=("day", "db", "table")),
    "lifecycle:backup-contents-look": post_only(OF_THE_TABLE, "day", "db", "table"),
    "lifecycle:backup": Row(OF_THE_TABLE, values=("batch_id",)),
    "lifecycle:backup-look": post_only(OF_THE_TABLE, "batch_id"),
    "lifecycle:restore-new": post_only(ADMINS | {"owner", "dba"}, batches="@batch_id", **WHY),
    "lifecycle:restore": Row(OF_THE_RUN, values=("run_id:preview_id",)),
    "lifecycle:restore-progress": Row(OF_THE_RUN, values=("run_id:preview_id",)),
    "lifecycle:restore-go": post_only(ADMINS | {"owner"}, "run_id:preview_id"),
    "lifecycle:restore-undo": post_only(ADMINS | {"owner"}, "run_id:preview_id", **WHY),
    # -- plans and backups over the API ---------------------------------------------------------
    "lifecycle-api:plans": Row(SIGNED_IN, STAFF, body={"reason": "because"}),
    "lifecycle-api:plan": Row(OF_THE_TABLE, values=("plan_id",)),
    "lifecycle-api:plan-tables": Row(OF_THE_TABLE, values=("plan_id",)),
    "lifecycle-api:plan-results": Row(OF_THE_TABLE, values=("plan_id",)),
    "lifecycle-api:plan-approve": post_only(frozenset({"admin"}), "plan_id", **DECISION),
    "lifecycle-api:plan-reject": post_only(ADMINS, "plan_id", **DECISION),
    "lifecycle-api:plan-withdraw": post_only(frozenset({"requester"}), "plan_id", **WHY),
    "lifecycle-api:standing-rules": Row(SIGNED_IN, STAFF, body=RULE),
    "lifecycle-api:standing-rule": Row(OF_THE_TABLE, values=("rule_id",)),
    "lifecycle-api:standing-rule-decide": post_only(
        frozenset({"admin"}), "rule_id", decision="APPROVE", digest="@rule_digest", **WHY
    ),
    "lifecycle-api:standing-rule-end": post_only(ADMINS, "rule_id", **WHY),
    "lifecycle-api:backups": Row(SIGNED_IN),
    "lifecycle-api:backup": Row(OF_THE_TABLE, values=("batch_id",)),
    "lifecycle-api:backup-contents": Row(OF_THE_TABLE, OF_THE_TABLE, values=("day", "db", "table")),
    "lifecycle-api:backup-items": Row(OF_THE_TABLE, OF_THE_TABLE, values=("batch_id",)),
    "lifecycle-api:restores": post_only(
        ADMINS | {"owner", "dba"}, db="sales", table="orders", **WHY
    ),
    "lifecycle-api:restore": Row(OF_THE_RUN, ADMINS | {"owner"}, values=("run_id:preview_id",)),
    "lifecycle-api:restore-undo": post_only(ADMINS | {"owner"}, "run_id:preview_id", **WHY),
    # -- refresh -----------------------------------------------------------------------------
    "refresh:tables": Row(SIGNED_IN),
    "refresh:table": Row(OF_THE_TABLE, values=("target_id",)),
    "refresh:table-ask": post_only(OF_THE_TABLE, "target_id", partitions="dt=1"),
    "refresh:table-repair": post_only(STAFF, "target_id", front_end="bi-fe0"),
    "refresh:table-opt-out": post_only(STAFF, "target_id", **WHY),
    "refresh:table-opt-in": post_only(STAFF, "target_id:off_target_id", **WHY),
    "refresh:queue": Row(SIGNED_IN),
    "refresh:queue-live": Row(SIGNED_IN),
    "refresh:history": Row(SIGNED_IN),
    "refresh:statement": Row(OF_THE_TABLE, values=("public_id:statement_id",)),
    "refresh-api:tables": Row(SIGNED_IN),
    "refresh-api:table": Row(OF_THE_TABLE, values=("target_id",)),
    "refresh-api:table-changes": Row(OF_THE_TABLE, values=("target_id",)),
    "refresh-api:table-ask": post_only(OF_THE_TABLE, "target_id"),
    "refresh-api:table-repair": post_only(STAFF, "target_id", front_end="bi-fe0"),
    "refresh-api:table-opt-out": post_only(STAFF, "target_id", **WHY),
    "refresh-api:table-opt-in": post_only(STAFF, "target_id:off_target_id", **WHY),
    "refresh-api:queue": Row(SIGNED_IN),
    "refresh-api:queue-now": Row(SIGNED_IN),
    "refresh-api:history": Row(SIGNED_IN),
    "refresh-api:statement": Row(OF_THE_TABLE, values=("public_id:statement_id",)),
    # -- what writers of Iceberg tables report -------------------------------------------------
    "optimizer-hook:metrics": post_only(
        OF_THE_TABLE, "lake:lake_name", "db", "table", **{"report-type": "scan-report"}
    ),
    # Who sees nothing of a table has nothing of it counted: the answer says so.
    "optimizer-hook:index-reports": post_only(SIGNED_IN, "lake:lake_name", tables=[]),
    "optimizer-hook:trino-queries": post_only(
        SIGNED_IN, "lake:lake_name", "catalog:lake_name", metadata={"queryId": "q1"}
    ),
    "optimizer-hook:spark-queries": post_only(
        SIGNED_IN, "lake:lake_name", "catalog:lake_name", application={"id": "a"}, queries=[]
    ),
    "optimizer-api:queries": Row(SIGNED_IN),
    # -- optimizer ---------------------------------------------------------------------------
    **{
        name: Row(OF_THE_TABLE, values=("table_id:iceberg_id",))
        for name in (
            *("optimizer:table", "optimizer:table-files", "optimizer:table-layout"),
            *("optimizer:table-commits", "optimizer:table-tasks", "optimizer-api:table"),
            *("optimizer-api:partitions", "optimizer-api:trend", "optimizer-api:commits"),
            *("optimizer-api:tasks", "optimizer:table-plan", "optimizer-api:plan"),
        )
    },
    **{
        f"{address}{act}": post_only(OF_THE_TABLE, f"table_id:{which}", **WHY)
        for address in ("optimizer:table-", "optimizer-api:")
        for act, which in (
            *(("run", "iceberg_id"), ("pause", "iceberg_id")),
            ("resume", "paused_iceberg_id"),
        )
    },
    **{
        f"optimizer{room}:{name}": row
        for room in ("", "-api")
        for name, row in (
            *((name, Row(SIGNED_IN)) for name in ("queue", "tables", "removals")),
            ("removal", Row(OF_THE_TABLE, values=("removal_id",))),
            ("removal-decide", post_only(frozenset({"admin"}), "removal_id", **REMOVAL)),
            ("removal-withdraw", post_only(frozenset({"requester"}), "removal_id", **WHY)),
            ("removal-bring-back", post_only(OF_THE_TABLE, "removal_id:held_removal_id")),
            ("table-removal", post_only(OF_THE_TABLE, "table_id:iceberg_id", kind="EXPIRE", **WHY)),
        )
    },
    **POLICIES_AND_TASKS,
    **ANSWERS,
    **HUDI_PAGES,
    **dict.fromkeys(("optimizer:queue-live", "optimizer-api:queue-now"), Row(SIGNED_IN)),
    **CLUSTERS,
    **PIPELINES,
    **CHECKS,
    **INCIDENTS,
    **MATERIALIZED,
}
