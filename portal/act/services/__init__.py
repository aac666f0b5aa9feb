"""What the portal may do about acting on data; every name here is called by rooms and run kinds."""

from portal.act.services.beating import act_beat
from portal.act.services.fencing import (
    act_prepare,
    move_prepare,
    purge_prepare,
    restore_claims,
    restore_prepare,
    undo_prepare,
)
from portal.act.services.holds import (
    hold_place,
    hold_release,
    holds_place_restored,
    holds_release_restored,
)
from portal.act.services.ingesting import IngestReport, act_ingest, backups_rebuild
from portal.act.services.locating import read_where_it_lies, restore_that_has
from portal.act.services.moving import moves_read
from portal.act.services.probing import probes_ingest, probes_request
from portal.act.services.purging import purge_ingest
from portal.act.services.red_button import red_button_press, red_button_release
from portal.act.services.repairing import drop_repair
from portal.act.services.settling import act_settle
from portal.act.services.totals import backup_totals_refresh

__all__ = [
    "IngestReport",
    "act_beat",
    "act_ingest",
    "act_prepare",
    "act_settle",
    "backup_totals_refresh",
    "backups_rebuild",
    "drop_repair",
    "hold_place",
    "hold_release",
    "holds_place_restored",
    "holds_release_restored",
    "move_prepare",
    "moves_read",
    "probes_ingest",
    "probes_request",
    "purge_ingest",
    "purge_prepare",
    "read_where_it_lies",
    "red_button_press",
    "red_button_release",
    "restore_claims",
    "restore_prepare",
    "restore_that_has",
    "undo_prepare",
]
