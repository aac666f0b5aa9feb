"""Navigation entry and words of the pages of clusters."""

from portal.access.registry import Page, register_page
from portal.access.roles.domain import STAFF
from portal.ui.frame.states import Badge, register_badges

_LOOKS = {
    "CLUSTER_KEPT": Badge("Kept fresh", "circle-check", "good"),
    "CLUSTER_PAUSED": Badge("Paused", "player-pause", "warn", "Nothing is sent to it."),
    "CLUSTER_TROUBLED": Badge("Error", "alert-triangle", "bad", "Its page says why."),
    "CLUSTER_UNREAD": Badge("Not read yet", "clock", "quiet"),
    "ALIVE": Badge("Alive", "circle-check", "good"),
    "FROZEN": Badge(
        "Frozen", "plug-connected-x", "bad", "It may still answer people from old caches."
    ),
    "DEAD": Badge("Dead", "heart-off", "warn", "Its process is gone, and its caches with it."),
    "COLD": Badge("Cold", "snowflake", "info", "It restarted, with empty caches."),
    "NOT_STARTED": Badge(
        "Not started yet", "clock", "quiet", "It is registered and has not answered anybody yet."
    ),
    "BREAKER_CLOSED": Badge("Closed", "circle-check", "good", "It is asked."),
    "BREAKER_OPEN": Badge(
        "Open", "hand-stop", "warn", "It failed several times and is not asked for a while."
    ),
    "BREAKER_HALF_OPEN": Badge(
        "Probing", "progress-help", "warn", "It is asked once, and that answer decides."
    ),
    "AS_HIVE": Badge("As in Hive", "circle-check", "good"),
    "COLUMNS_DRIFTED": Badge(
        "Drifted", "columns", "bad", "Its columns are not Hive's; no refresh repairs that."
    ),
    "NOT_COMPARED": Badge("Not compared yet", "clock", "quiet"),
    "NO_LAKE": Badge("Unknown metastore", "map-off", "warn", "Nothing in it is refreshed."),
    "AGAINST": Badge("Conflicts", "alert-triangle", "warn"),
    "IDLE": Badge("Does nothing", "zzz", "quiet"),
}


def register_pages() -> None:
    """Add the navigation and the words."""
    register_badges(_LOOKS)
    added = frozenset({"refresh:cluster-add"})
    register_page(
        Page("refresh", "Clusters", "refresh:clusters", 10, STAFF, also=added, is_of_portal=True)
    )
