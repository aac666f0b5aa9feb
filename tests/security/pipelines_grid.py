"""Access grid of change capture: staff keep pipelines, admins decide on servers and schemas."""

from collections.abc import Mapping

from tests.security.grid_bodies import WHY, WORD
from tests.security.grid_rows import ADMINS, STAFF, Row, post_only

NAME = ("name:pipeline_name",)
PAUSED = ("name:paused_pipeline",)
TABLE = (*NAME, "pk:captured_id")
COMPARISON = (*TABLE, "comparison_id:comparison_id")
COLUMN = {"column": "phone", "choice": "plain", **WHY}
PROTECTED = {"protections": "qty = redact", "partition": "", **WHY}
API_PROTECTED = {**PROTECTED, "protections": {"qty": "hash:PII"}}
SERVER = {
    "host": "127.0.0.1",
    "port": "1",
    "user": "cdc",
    "password_name": "NONE",
    "server_id": "7009",
    "patterns": "shop.*",
    "ssl_ca": "",
}
API_SERVER = {**SERVER, "patterns": ["shop.*"]}
NEW = {
    "name": "two",
    "lake": "main",
    "target_db": "ods",
    "table_type": "MERGE_ON_READ",
    "changelog": "DIRECTORY",
}
TICKET = ("ticket_id:schema_ticket_id",)
STATEMENT = {"statement": "ALTER TABLE spare DROP qty", **WHY}
SCHEDULE = {"hour": "3", "rows_per_second": "1000"}
KAFKA = {"kafka_servers": "127.0.0.1:1", "kafka_mechanism": "PLAIN"}
TOPICS = {"patterns": "orders", "columns": "id bigint"}
API_TOPICS = {"kafka": {"servers": "127.0.0.1:1"}, "patterns": ["orders"]}
NEW_TOPICS = {
    **{name: NEW[name] for name in ("name", "lake", "target_db", "table_type")},
    "columns": [{"name": "id", "type": "bigint"}],
}
DECISION = {"digest": "@schema_digest", **WORD}
LAYER, PAUSED_LAYER = ("layer_id",), ("layer_id:paused_layer",)
SOURCE = (*LAYER, "edge_id:layer_edge")
API_LAYER = {
    "target": "shop.made",
    "sources": [{"table": "shop.orders"}],
    "key": ["id"],
    "sql": "SELECT id, dt FROM shop.orders",
    "partition": "dt",
}
LAYER_FORM = {
    **API_LAYER,
    "sources": "shop.orders",
    "key": "id",
    "lateness_minutes": "0",
    "kind": "COW",
    "every_minutes": "15",
    "version_read": "1",
}
RANGE = {"low": "1", "high": "2"}
SEEN = {"seen": "new: vat int"}

PIPELINES: Mapping[str, Row] = {
    "pipelines:pipelines": Row(STAFF),
    "pipelines:create": Row(STAFF, STAFF, body={"do": "create", **SERVER, **NEW}),
    "pipelines:create-topics": Row(STAFF, STAFF, body={"do": "create", **KAFKA, **NEW, **TOPICS}),
    "pipelines:pipeline": Row(STAFF, values=NAME),
    "pipelines:edit": Row(STAFF, STAFF, values=NAME, body={"do": "keep", "version": "0", **SERVER}),
    "pipelines:pause": post_only(STAFF, *NAME, **WHY),
    "pipelines:resume": post_only(STAFF, *PAUSED, **WHY),
    "pipelines:delete": post_only(ADMINS, *PAUSED, typed="resting", **WHY),
    "pipelines:reload": post_only(STAFF, *NAME, **WHY),
    "pipelines:table-reload": post_only(STAFF, *TABLE, **WHY),
    "pipelines-api:reload": post_only(STAFF, *NAME, **WHY),
    "pipelines-api:table-reload": post_only(STAFF, *TABLE, **WHY),
    "pipelines:table": Row(STAFF, values=TABLE),
    "pipelines:table-pause": post_only(STAFF, *TABLE, **WHY),
    "pipelines:table-resume": post_only(STAFF, *TABLE, **WHY),
    "pipelines:table-protect": post_only(ADMINS, *TABLE, **PROTECTED),
    "pipelines:table-kept": Row(ADMINS, values=TABLE),
    "pipelines:quarantine-retry": post_only(STAFF, *TABLE, **WHY),
    "pipelines-api:table-protect": post_only(ADMINS, *TABLE, **API_PROTECTED),
    "pipelines-api:table-kept": Row(ADMINS, values=TABLE),
    "pipelines-api:quarantine-retry": post_only(STAFF, *TABLE, **WHY),
    "pipelines:table-column": post_only(STAFF, *TABLE, **COLUMN),
    "pipelines:schema-request": Row(STAFF, values=("request_id:schema_request_id",)),
    "pipelines:schema-request-decide": post_only(
        ADMINS, "request_id:schema_request_id", **DECISION
    ),
    "pipelines:tickets": Row(STAFF, values=NAME),
    "pipelines:ticket-open": Row(
        STAFF, STAFF, values=NAME, body={"do": "open", "table": "shop.spare", **STATEMENT}
    ),
    "pipelines:schema-ticket": Row(STAFF, values=TICKET),
    "pipelines:schema-ticket-decide": post_only(
        frozenset({"admin"}), *TICKET, digest="@ticket_digest", **WORD
    ),
    "pipelines:schema-ticket-withdraw": post_only(frozenset({"requester"}), *TICKET, **WHY),
    "pipelines-api:tickets": Row(
        STAFF, STAFF, values=NAME, body={"db": "shop", "table": "spare", **STATEMENT}
    ),
    "pipelines-api:schema-ticket": Row(STAFF, values=TICKET),
    "pipelines-api:schema-ticket-withdraw": post_only(frozenset({"requester"}), *TICKET, **WHY),
    "pipelines:comparisons": Row(STAFF, values=NAME),
    "pipelines:compare": post_only(STAFF, *NAME),
    "pipelines:comparison-schedule": post_only(STAFF, *NAME, **SCHEDULE),
    "pipelines:table-comparisons": Row(STAFF, values=TABLE),
    "pipelines:table-compare": post_only(STAFF, *TABLE),
    "pipelines:comparison-keys": Row(ADMINS, values=COMPARISON),
    "pipelines:comparison-repair": post_only(ADMINS, *COMPARISON, **WHY),
    "pipelines-api:comparisons": Row(STAFF, values=NAME),
    "pipelines-api:compare": post_only(STAFF, *NAME),
    "pipelines-api:comparison-schedule": Row(STAFF, STAFF, values=NAME, body=SCHEDULE),
    "pipelines-api:table-comparisons": Row(STAFF, values=TABLE),
    "pipelines-api:table-compare": post_only(STAFF, *TABLE),
    "pipelines-api:comparison-keys": Row(ADMINS, values=COMPARISON),
    "pipelines-api:comparison-repair": post_only(ADMINS, *COMPARISON, **WHY),
    "pipelines:layers": Row(STAFF),
    "pipelines:layer-lineage": Row(STAFF),
    "pipelines:layer-new": Row(STAFF, STAFF, body=LAYER_FORM),
    "pipelines:layer": Row(STAFF, values=LAYER),
    "pipelines:layer-edit": Row(STAFF, STAFF, values=LAYER, body=LAYER_FORM),
    "pipelines:layer-run": post_only(STAFF, *LAYER),
    "pipelines:layer-pause": post_only(STAFF, *LAYER, **WHY),
    "pipelines:layer-resume": post_only(STAFF, *PAUSED_LAYER),
    "pipelines:layer-reread": post_only(STAFF, *LAYER, **WHY),
    "pipelines:layer-backfill": post_only(STAFF, *LAYER, **RANGE),
    "pipelines:layer-schema-ask": post_only(STAFF, *SOURCE, **SEEN),
    "pipelines:layer-schema-request": Row(STAFF, values=("request_id:layer_request_id",)),
    "pipelines:layer-schema-request-decide": post_only(
        ADMINS, "request_id:layer_request_id", digest="@layer_digest", **WORD
    ),
    "pipelines:layer-delete": post_only(STAFF, *LAYER, version="1"),
    "pipelines-api:layers": Row(STAFF, STAFF, body={"lake": "main", "definition": API_LAYER}),
    "pipelines-api:layer-edges": Row(STAFF),
    "pipelines-api:layer": Row(STAFF, values=LAYER),
    "pipelines-api:layer-advances": Row(STAFF, values=LAYER),
    "pipelines-api:layer-edit": post_only(STAFF, *LAYER, definition=API_LAYER, version=1),
    "pipelines-api:layer-run": post_only(STAFF, *LAYER),
    "pipelines-api:layer-pause": post_only(STAFF, *LAYER, **WHY),
    "pipelines-api:layer-resume": post_only(STAFF, *PAUSED_LAYER),
    "pipelines-api:layer-reread": post_only(STAFF, *LAYER, **WHY),
    "pipelines-api:layer-backfill": post_only(STAFF, *LAYER, **RANGE),
    "pipelines-api:layer-schema-ask": post_only(STAFF, *SOURCE, **SEEN),
    "pipelines-api:layer-delete": post_only(STAFF, *LAYER, version=1),
    "pipelines-api:pipelines": Row(STAFF, ADMINS, body={**API_SERVER, **NEW}),
    "pipelines-api:pipeline-test": post_only(ADMINS, **API_SERVER, **NEW),
    "pipelines-api:create-topics": post_only(ADMINS, **API_TOPICS, **NEW_TOPICS),
    "pipelines-api:test-topics": post_only(ADMINS, **API_TOPICS, **NEW_TOPICS),
    "pipelines-api:edit-topics": post_only(ADMINS, *NAME, version="0", **API_TOPICS),
    "pipelines-api:pipeline": Row(STAFF, values=NAME),
    "pipelines-api:tables": Row(STAFF, values=NAME),
    "pipelines-api:edit": post_only(ADMINS, *NAME, version="0", **API_SERVER),
    "pipelines-api:pause": post_only(STAFF, *NAME, **WHY),
    "pipelines-api:resume": post_only(STAFF, *PAUSED, **WHY),
    "pipelines-api:delete": post_only(ADMINS, *PAUSED, typed="resting", **WHY),
    "pipelines-api:table-pause": post_only(STAFF, *TABLE, **WHY),
    "pipelines-api:table-resume": post_only(STAFF, *TABLE, **WHY),
    "pipelines-api:table-column": post_only(STAFF, *TABLE, **COLUMN),
}
