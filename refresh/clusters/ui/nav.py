"""Navigation entry and words of the pages of clusters."""

from portal.access.models import KEEPERS
from portal.access.registry import Page, register_page
from portal.ui.frame.states import StateLook, register_states

_LOOKS = {
    "CLUSTER_KEPT": StateLook("Kept fresh", "circle-check", "good"),
    "CLUSTER_PAUSED": StateLook("Paused", "player-pause", "warn", "Nothing is sent to it."),
    "CLUSTER_TROUBLED": StateLook("Error", "alert-triangle", "bad", "Its page says why."),
    "CLUSTER_UNREAD": StateLook("Not read yet", "clock", "quiet"),
    "ALIVE": StateLook("Alive", "circle-check", "good"),
    "FROZEN": StateLook(
        "Frozen", "plug-connected-x", "bad", "It may still answer people from old caches."
    ),
    "DEAD": StateLook("Dead", "heart-off", "warn", "Its process is gone, and its caches with it."),
    "COLD": StateLook("Cold", "snowflake", "info", "It restarted, with empty caches."),
    "NOT_STARTED": StateLook(
        "Not started yet", "clock", "quiet", "It is registered and has not answered anybody yet."
    ),
    "BREAKER_CLOSED": StateLook("Closed", "circle-check", "good", "It is asked."),
    "BREAKER_OPEN": StateLook(
        "Open", "hand-stop", "warn", "It failed several times and is not asked for a while."
    ),
    "BREAKER_HALF_OPEN": StateLook(
        "Probing", "progress-help", "warn", "It is asked once, and that answer decides."
    ),
    "AS_HIVE": StateLook("As in Hive", "circle-check", "good"),
    "COLUMNS_DRIFTED": StateLook(
        "Drifted", "columns", "bad", "Its columns are not Hive's; no refresh repairs that."
    ),
    "NOT_COMPARED": StateLook("Not compared yet", "clock", "quiet"),
    "NO_LAKE": StateLook("Unknown metastore", "map-off", "warn", "Nothing in it is refreshed."),
    "AGAINST": StateLook("Conflicts", "alert-triangle", "warn"),
    "IDLE": StateLook("Does nothing", "zzz", "quiet"),
}


def register_pages() -> None:
    """Add the navigation and the words."""
    register_states(_LOOKS)
    register_page(Page("Refresh", "Clusters", "refresh:clusters", "server-2", 53, KEEPERS))
