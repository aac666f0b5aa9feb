"""The tab of a Hudi table's files on the page of the table, and its part of the health."""

from optimizer.core.ui.table_tab import FilesTab
from optimizer.hudi.pages.ui import files, policy, quality, services, tasks, timeline
from optimizer.hudi.tables.selectors.tables import (
    get_hudi_for_user,
    hudi_files_of,
    hudi_named,
    hudi_of,
)

FILES_TAB = FilesTab(
    format="hudi",
    parts={
        "": quality.health,
        "timeline": timeline.timeline,
        "groups": files.files,
        "services": services.services,
        "tasks": tasks.tasks,
        "settings": policy.policy,
    },
    named=hudi_named,
    visible=hudi_of,
    row_of=get_hudi_for_user,
    judge=hudi_files_of,
    missing="optimizer.hudi",
)
