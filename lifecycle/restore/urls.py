"""Addresses of `lifecycle.restore`: pages and API."""

from django.urls import URLPattern, path

from lifecycle.restore.api import backups as api_backups
from lifecycle.restore.api import contents as api_contents
from lifecycle.restore.api import savings as api_savings
from lifecycle.restore.ui import backups, contents, savings, undo

ui_urlpatterns: list[URLPattern] = [
    path("savings/", savings.savings, name="savings"),
    path("backups/", backups.backups, name="backups"),
    path("backups/days/<lwday:day>/", backups.backup_day, name="backup-day"),
    path(
        "backups/days/<lwday:day>/<name:db>/<name:table>/",
        backups.backup_table,
        name="backup-table",
    ),
    path(
        "backups/days/<lwday:day>/<name:db>/<name:table>/inside/",
        contents.backup_contents,
        name="backup-contents",
    ),
    path(
        "backups/days/<lwday:day>/<name:db>/<name:table>/inside/look/",
        contents.backup_contents_look,
        name="backup-contents-look",
    ),
    path("backups/batches/<uuid:batch_id>/", backups.backup, name="backup"),
    path("backups/batches/<uuid:batch_id>/look/", backups.backup_look, name="backup-look"),
    path("backups/restore/", backups.restore_new, name="restore-new"),
    path("backups/restore/<uuid:run_id>/", backups.restore, name="restore"),
    path(
        "backups/restore/<uuid:run_id>/progress/",
        backups.restore_progress,
        name="restore-progress",
    ),
    path("backups/restore/<uuid:run_id>/go/", backups.restore_go, name="restore-go"),
    path("backups/restore/<uuid:run_id>/undo/", undo.restore_undo, name="restore-undo"),
]

api_urlpatterns: list[URLPattern] = [
    path("savings/", api_savings.SavingsList.as_view(), name="savings"),
    path("backups/", api_backups.BackupList.as_view(), name="backups"),
    path("backups/<uuid:batch_id>/", api_backups.BackupDetail.as_view(), name="backup"),
    path("backups/<uuid:batch_id>/items/", api_backups.BackupItems.as_view(), name="backup-items"),
    path(
        "backups/days/<lwday:day>/<name:db>/<name:table>/contents/",
        api_contents.BackupContents.as_view(),
        name="backup-contents",
    ),
    path("restores/", api_backups.RestoreList.as_view(), name="restores"),
    path("restores/<uuid:run_id>/", api_backups.RestoreDetail.as_view(), name="restore"),
    path("restores/<uuid:run_id>/undo/", api_backups.RestoreUndo.as_view(), name="restore-undo"),
]
