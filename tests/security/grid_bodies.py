"""Request bodies for the forms and the API of the grid's rows."""

WHY = {"reason": "because"}
DAYS = {"seen_notice_days": "7", "seen_backup_days": "15", "notice_days": "7", "backup_days": "15"}
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

# Of a table in lifecycle; what the page showed is sent along.
OTHER_TTL = {
    "kind": "SET",
    "db": "sales",
    "table": "orders",
    "seen_level": "1",
    "seen_ttl": "60",
    "level": "1",
    "ttl": "90",
    "reason": "because",
}
ENROL = {"table": "old", "level": "1", "ttl": "60", "n_tables": "1", "reason": "because"}
ETL = {"owner": "etl_user", "people": "alice", **WHY}
ROLE = {"username": "alice", "do": "take", "role": "operator", "on": "main", **WHY}
TOKEN = {"name": "nightly load", "scope": "refresh", "days": "30"}
WORD = {"decision": "APPROVE", "reason": "because"}
REMOVAL = {**WORD, "digest": "@removal_digest"}

STILL_READ = {"db": "sales", "table": "orders", "until": "@until", "reason": "because"}

READY = {"time_key": "dt", "time_format": "yyyy-MM-dd", "sla_minutes": "90", "version": "0"}

CLUSTER_NAME = ("name:cluster_name",)
CLUSTER = {"addresses": "127.0.0.1:1", "user": "svc", "password_file": "/none/at/all"}
LIMITS = {"per_fe": "5", "per_catalog": "7"}
