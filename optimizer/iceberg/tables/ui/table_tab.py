"""The tab of an Iceberg table's files on the page of the table, and its part of the health."""

from optimizer.core.selectors.table_health import files_of
from optimizer.core.ui.table_tab import FilesTab
from optimizer.iceberg.tables.selectors.tables import get_table_for_user, tables_named, tables_of
from optimizer.iceberg.tables.ui import policy, table

FILES_TAB = FilesTab(
    format="iceberg",
    parts={
        "": table.health,
        "files": table.files,
        "layout": table.layout,
        "commits": table.commits,
        "tasks": table.tasks,
        "policy": policy.policy,
    },
    named=tables_named,
    visible=tables_of,
    row_of=get_table_for_user,
    judge=files_of,
    missing="optimizer.table",
)
