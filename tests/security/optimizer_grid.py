"""Access grid of the optimizer: who reads and sets its policies, and who cancels a task."""

from collections.abc import Mapping

from tests.security.grid_bodies import WHY
from tests.security.grid_rows import ADMINS, OF_THE_TABLE, SIGNED_IN, STAFF, Row, post_only

FORM = {"manifests": "7", "seen": "0", "reason": "because"}
HUDI_FORM = {"commits": "7", "seen": "0", "reason": "because"}
WISH = {"scope": "*", "values": {"manifests": 7}, "seen": 1, "reason": "because"}
ICEBERG = ("table_id:iceberg_id",)
HUDI = ("table_id:hudi_id",)
SCOPE = ("scope:policy_scope",)
SERVED = ("table_id:served_hudi_id",)
PRUNE = ("run_id:prune_id",)
ADVICE = ("advice_id",)
CUBE = ("cube_id:cube_id",)
TASK = ("task_id:optimize_task_id",)

SERVICE = {"service": "COMPACTION", "step": "EXECUTE", "instants": [], **WHY}

QUERY = {"sql": "SELECT * FROM sales.paused WHERE id = 5", "dialect": "trino", "max_files": 10}

CUBE_DRAFT = {"name": "by_kind", "dimensions": "kind", "measures": "price: sum"}

REWRITE = {
    "sql": "SELECT count(*) FROM sales.paused",
    "dialect": "trino",
    "max_files": 10,
    "max_age": 0,
}

POLICIES_AND_TASKS: Mapping[str, Row] = {
    "optimizer:table-policy": Row(OF_THE_TABLE, OF_THE_TABLE, ICEBERG, body=FORM),
    "optimizer-api:table-policy": Row(OF_THE_TABLE, values=ICEBERG),
    "optimizer:policies": Row(SIGNED_IN),
    "optimizer:policy-new": Row(ADMINS | {"dba"}, ADMINS | {"dba"}, body=FORM),
    "optimizer:policy-scope": Row(SIGNED_IN, ADMINS, SCOPE, body=FORM | {"seen": "1"}),
    "optimizer:hudi-policies": Row(SIGNED_IN),
    "optimizer:hudi-policy-new": Row(ADMINS | {"dba"}, ADMINS | {"dba"}, body=HUDI_FORM),
    "optimizer:hudi-policy-scope": Row(SIGNED_IN, ADMINS, SCOPE, body=HUDI_FORM | {"seen": "1"}),
    "optimizer:optimizer-hudi-policy": Row(OF_THE_TABLE, OF_THE_TABLE, HUDI, body=HUDI_FORM),
    "optimizer-api:hudi-policy": Row(OF_THE_TABLE, values=HUDI),
    "optimizer-api:policies": Row(SIGNED_IN, ADMINS, body=WISH),
    "optimizer-api:policy-preview": post_only(ADMINS, **WISH),
    "optimizer-api:policy-history": Row(SIGNED_IN, values=SCOPE),
    "optimizer:task-cancel": Row(OF_THE_TABLE, OF_THE_TABLE, TASK, body=WHY),
    "optimizer-api:task-cancel": post_only(OF_THE_TABLE, *TASK, **WHY),
    "optimizer:table-index": post_only(OF_THE_TABLE, *ICEBERG, **WHY),
    "optimizer-api:index": post_only(OF_THE_TABLE, *ICEBERG, **WHY),
    "optimizer-api:table-indexes": Row(OF_THE_TABLE, values=ICEBERG),
    "optimizer-api:table-index-coverage": Row(OF_THE_TABLE, values=ICEBERG),
    "optimizer-api:table-scans": Row(OF_THE_TABLE, values=ICEBERG),
    "optimizer:index-estimate": post_only(OF_THE_TABLE, *ICEBERG, columns="id"),
    "optimizer-api:index-estimate": post_only(OF_THE_TABLE, *ICEBERG, columns=["id"]),
    **dict.fromkeys(
        ("optimizer:index-estimate-shown", "optimizer-api:index-estimate-shown"),
        Row(OF_THE_TABLE, values=(*ICEBERG, "run_id:estimate_id")),
    ),
    **{f"{area}:advice": Row(SIGNED_IN) for area in ("optimizer", "optimizer-api")},
    "optimizer-api:trino-table": Row(SIGNED_IN),
    **{f"{area}:scans": Row(STAFF) for area in ("optimizer", "optimizer-api")},
    **{
        f"{area}:advice-{name}": row
        for area in ("optimizer", "optimizer-api")
        for name, row in (
            ("shown", Row(OF_THE_TABLE, values=ADVICE)),
            ("ask", post_only(OF_THE_TABLE, *ICEBERG)),
            ("apply", post_only(OF_THE_TABLE, *ADVICE, **WHY)),
            ("try", post_only(OF_THE_TABLE, *ADVICE, **WHY)),
            ("dismiss", post_only(OF_THE_TABLE, *ADVICE, **WHY)),
            ("roll-back", post_only(OF_THE_TABLE, "advice_id:applied_advice_id", **WHY)),
        )
    },
    **{f"{area}:top-shapes": Row(SIGNED_IN) for area in ("optimizer", "optimizer-api")},
    **{
        f"{area}:top-shape{name}": row
        for area in ("optimizer", "optimizer-api")
        for name, row in (
            ("", Row(OF_THE_TABLE, values=("digest:top_shape",))),
            ("s-analyse", post_only(STAFF)),
        )
    },
    "optimizer:cubes": Row(SIGNED_IN),
    "optimizer-api:cubes": Row(SIGNED_IN),
    "optimizer:cube-define": Row(OF_THE_TABLE, OF_THE_TABLE, ICEBERG, body=CUBE_DRAFT),
    "optimizer:cube-check": post_only(OF_THE_TABLE, *ICEBERG, **CUBE_DRAFT),
    "optimizer:cube-change": Row(OF_THE_TABLE, OF_THE_TABLE, CUBE, body=CUBE_DRAFT),
    "optimizer-api:cube-estimates": post_only(OF_THE_TABLE, *ICEBERG, **CUBE_DRAFT),
    **dict.fromkeys(
        ("optimizer:cube-estimate", "optimizer-api:cube-estimate"),
        Row(OF_THE_TABLE, values=(*ICEBERG, "run_id:cube_estimate_id")),
    ),
    "optimizer:cube-accept": post_only(OF_THE_TABLE, *ICEBERG, "run_id:cube_estimate_id", **WHY),
    "optimizer-api:table-cubes": post_only(
        OF_THE_TABLE, *ICEBERG, estimate="@cube_estimate_id", **WHY
    ),
    "optimizer-api:cube-change": post_only(
        OF_THE_TABLE, *CUBE, estimate="@cube_change_id", seen=1, **WHY
    ),
    **dict.fromkeys(
        (
            *("optimizer:cube", "optimizer-api:cube", "optimizer-api:cube-coverage"),
            *("optimizer-api:cube-versions", "optimizer-api:cube-builds"),
            "optimizer-api:cube-uses",
        ),
        Row(OF_THE_TABLE, values=CUBE),
    ),
    **{
        f"{area}:cube-{name}": post_only(OF_THE_TABLE, *values, **WHY)
        for area in ("optimizer", "optimizer-api")
        for name, values in (
            ("rebuild", CUBE),
            ("pause", CUBE),
            ("resume", ("cube_id:paused_cube_id",)),
            ("drop", CUBE),
        )
    },
    "optimizer:prune": Row(SIGNED_IN, OF_THE_TABLE, body=QUERY),
    "optimizer-api:prune": post_only(OF_THE_TABLE, **QUERY),
    "optimizer:prune-query": Row(frozenset({"owner"}), values=PRUNE),
    "optimizer-api:prune-query": Row(frozenset({"owner"}), values=PRUNE),
    "optimizer:rewrite": Row(SIGNED_IN, OF_THE_TABLE, body=REWRITE),
    "optimizer-api:rewrite": post_only(OF_THE_TABLE, **REWRITE),
    "optimizer-api:hudi-plan": Row(OF_THE_TABLE, values=SERVED),
    "optimizer-api:hudi-service": post_only(OF_THE_TABLE, *SERVED, **SERVICE),
    "optimizer-api:hudi-pause": post_only(OF_THE_TABLE, *SERVED, **WHY),
    "optimizer-api:hudi-resume": post_only(OF_THE_TABLE, "table_id:paused_hudi_id", **WHY),
}
