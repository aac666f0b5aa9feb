"""Who may answer for tables, and find the people to whom one is handed over."""

from collections.abc import Mapping

from tests.security.grid_rows import SIGNED_IN, Row, post_only

ANSWERS: Mapping[str, Row] = {
    # Anybody may answer for tables; those of others are refused one by one in the result.
    "lifecycle-api:answers": post_only(SIGNED_IN),
    "lifecycle:answers": post_only(SIGNED_IN),
    "ui:person-options": Row(SIGNED_IN),
    "ui:api-person-search": Row(SIGNED_IN),
}
