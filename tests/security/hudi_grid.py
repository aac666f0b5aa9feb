"""Access grid of Hudi tables: who reads their pages, and who requests something there."""

from collections.abc import Mapping

from tests.security.grid_bodies import WHY
from tests.security.grid_rows import OF_THE_TABLE, SIGNED_IN, Row, post_only

HUDI = ("table_id:hudi_id",)

HUDI_PAGES: Mapping[str, Row] = {
    "optimizer:hudi-tables": Row(SIGNED_IN),
    "optimizer:hudi-table": Row(OF_THE_TABLE, values=HUDI),
    "optimizer:hudi-timeline": Row(OF_THE_TABLE, values=HUDI),
    "optimizer:hudi-files": Row(OF_THE_TABLE, values=HUDI),
    "optimizer:hudi-settings": Row(OF_THE_TABLE, values=HUDI),
    "optimizer:hudi-services": Row(OF_THE_TABLE, values=HUDI),
    "optimizer:hudi-tasks": Row(OF_THE_TABLE, values=HUDI),
    "optimizer:hudi-now": Row(OF_THE_TABLE, values=HUDI),
    "optimizer:hudi-plan": Row(OF_THE_TABLE, values=HUDI),
    "optimizer:hudi-look": post_only(OF_THE_TABLE, *HUDI),
    "optimizer:hudi-service": post_only(
        OF_THE_TABLE, "table_id:served_hudi_id", service="COMPACTION", step="EXECUTE", **WHY
    ),
    "optimizer:hudi-pause": post_only(OF_THE_TABLE, *HUDI, **WHY),
    "optimizer:hudi-resume": post_only(OF_THE_TABLE, "table_id:paused_hudi_id", **WHY),
}
