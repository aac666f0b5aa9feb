"""What the notification log says of a metastore between two looks, and where it says nothing."""

import json
from dataclasses import dataclass, field

from pymetastore.hive_metastore import ttypes

from portal.events.change_log import ChangeLog
from portal.spark.registered import Changes


@dataclass
class Log:
    """The log of a metastore."""

    newest: int
    events: list[ttypes.NotificationEvent] = field(default_factory=list)

    def add(self, table: str) -> None:
        self.newest += 1
        event = ttypes.NotificationEvent(
            self.newest, 0, "CREATE_TABLE", "sales", table, json.dumps({})
        )
        self.events.append(event)

    def current_notification_id(self) -> int:
        return self.newest

    def notifications_after(self, event_id: int, limit: int) -> list[ttypes.NotificationEvent]:
        return [event for event in self.events if event.eventId > event_id][:limit]


def test_only_what_changed_since_the_last_look_is_named() -> None:
    metastore = Log(7)
    log = ChangeLog(metastore)
    assert log.changes() == Changes()
    metastore.add("orders")
    assert log.changes() == Changes(tables={("sales", "orders"): set()})
    assert log.changes() == Changes()


def test_a_log_that_nobody_writes_says_nothing() -> None:
    assert ChangeLog(Log(0)).changes() is None


def test_a_log_that_went_backwards_says_nothing() -> None:
    metastore = Log(7)
    log = ChangeLog(metastore)
    metastore.newest = 3
    assert log.changes() is None
