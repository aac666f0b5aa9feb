"""Who reads the pages of a Hudi table, and who asks for something there?"""

from collections.abc import Mapping

from tests.security.grid_rows import OF_THE_TABLE, SIGNED_IN, Row

HUDI = ("table_id:hudi_id",)

HUDI_PAGES: Mapping[str, Row] = {
    "optimizer:hudi-tables": Row(SIGNED_IN),
    "optimizer:hudi-table": Row(OF_THE_TABLE, values=HUDI),
    "optimizer:hudi-timeline": Row(OF_THE_TABLE, values=HUDI),
    "optimizer:hudi-files": Row(OF_THE_TABLE, values=HUDI),
    "optimizer:hudi-settings": Row(OF_THE_TABLE, values=HUDI),
}
