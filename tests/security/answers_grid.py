"""Who may answer for tables: many at once, by consents, and by requests of deletion."""

from collections.abc import Mapping

from tests.security.grid_bodies import STILL_READ, WHY
from tests.security.grid_rows import ADMINS, OF_THE_TABLE, SIGNED_IN, Row, post_only

ANSWERS: Mapping[str, Row] = {
    # Anybody may answer for tables; those of others are refused one by one in the result.
    "lifecycle-api:answers": post_only(SIGNED_IN),
    "lifecycle:answers": post_only(SIGNED_IN),
    "lifecycle-api:partition-answers": post_only(SIGNED_IN, "db", "table"),
    "lifecycle:partition-answers": post_only(OF_THE_TABLE, "db", "table"),
    # What it says is signed, and a forged one answers 400; whom it serves is told by its own test.
    "lifecycle:answer-link": Row(values=("token:run_id",)),
    "lifecycle:exception-ask": Row(SIGNED_IN, SIGNED_IN),
    "ui:person-options": Row(SIGNED_IN),
    "ui:api-person-search": Row(SIGNED_IN),
    "lifecycle:still-read": Row(SIGNED_IN),
    "lifecycle:still-read-new": post_only(frozenset({"owner"}), **STILL_READ),
    "lifecycle:still-read-end": post_only(ADMINS | {"owner"}, "yes_id"),
    "lifecycle-api:still-read": Row(SIGNED_IN, frozenset({"owner"}), body=STILL_READ),
    "lifecycle-api:still-read-end": post_only(ADMINS | {"owner"}, "yes_id"),
    "lifecycle:wishes": Row(SIGNED_IN),
    "lifecycle:wish-new": post_only(frozenset({"owner", "dba"}), db="sales", table="orders", **WHY),
    "lifecycle:wish-close": post_only(ADMINS | {"owner"}, "wish_id", **WHY),
    "lifecycle-api:wishes": Row(
        SIGNED_IN, frozenset({"owner", "dba"}), body={"db": "sales", "table": "orders", **WHY}
    ),
    "lifecycle-api:wish-close": post_only(ADMINS | {"owner"}, "wish_id", **WHY),
}
