"""Does what is due by the clock: calls the ticks of each lake, then asks for its scheduled runs.

Ticks come first, so that a kind is asked whether a run is wanted after everything was decided. One
unique key per slot makes two schedulers harmless; a tick may be called twice.
"""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError

from portal.access.lakes import all_lakes
from portal.access.services import directory_sync
from portal.approvals.services import approvals_lapse
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import PortalError
from portal.people.deprovisioning import directory_leavers, ldap_leavers
from portal.runs.domain import Schedule
from portal.runs.kinds.registry import RunKind, all_kinds
from portal.runs.kinds.ticks import Tick, all_ticks
from portal.runs.models import Run
from portal.runs.requests.services import run_request_scheduled
from tasks.each_lake import EachLake

_AGAIN = timedelta(minutes=5)

_log = logging.getLogger(__name__)
_lakes = EachLake("schedule")
_synced: dict[str, int] = {}
_looked_up: dict[str, int] = {}
_failed: dict[str, tuple[int, datetime]] = {}
"""What was looked up in vain, and when it is tried again."""
_ticked: dict[tuple[str, str], str | None] = {}


def schedule(now: datetime) -> None:
    """Do what is due in every lake, end approvals that expired, sync the directory."""
    _guarded("every lake", "approvals", partial(approvals_lapse, now))
    _leavers(now)
    lakes = all_lakes()
    _lakes.turn(lakes, lambda name: _schedule_lake(name, lakes[name], now=now))


def _schedule_lake(name: str, config: LakeConfig, *, now: datetime) -> None:
    _sync(name)
    for tick in all_ticks():
        _guarded(name, tick.name, partial(_tick, name, tick, now=now))
    for kind in all_kinds():
        _guarded(name, kind.name, partial(_ask, name, config, kind, now=now))


def _guarded(lake: str, what: str, work: Callable[[], object]) -> None:
    try:
        work()
    except DatabaseError:
        raise  # the loop closes its connection
    except PortalError as error:
        _log.warning("%s of %s: %s", what, lake, error.message)
    except Exception:
        # A tick or kind that breaks must not keep the others from their turn.
        _log.exception("%s of %s broke", what, lake)


def _tick(lake: str, tick: Tick, *, now: datetime) -> None:
    """Call a tick once in its interval; a new process calls it at once."""
    slot = Schedule(every=tick.every).slot(now)
    if _ticked.get((lake, tick.name)) != slot:
        _ticked[lake, tick.name] = slot
        tick.turn(lake, now=now)


def _ask(lake: str, config: LakeConfig, kind: RunKind, *, now: datetime) -> None:
    slot = kind.schedule.slot(now.astimezone(config.zone)) if kind.schedule else None
    if slot is None:
        return
    if Run.objects.filter(unique_key=kind.scheduled_key(lake, slot)).exists():
        return
    params = kind.scheduled_params(lake, now=now)
    if params is not None:
        run_request_scheduled(kind, lake=lake, slot=slot, params=params, now=now)


def _leavers(now: datetime) -> None:
    """Close who is gone from the directory (when its file has changed) or from LDAP (hourly)."""
    path = Path(settings.LAKEWARDEN_DIRECTORY)
    if stamp := path.stat().st_mtime_ns if path.exists() else 0:
        _close("directory", stamp, partial(directory_leavers, path, now=now), now=now)
    _close("ldap", int(now.timestamp()) // 3600, partial(ldap_leavers, now=now), now=now)


def _close(way: str, stamp: int, work: Callable[[], object], *, now: datetime) -> None:
    """Close who is gone once for each stamp; after a failure again, so that nobody stays open."""
    failed_stamp, again_at = _failed.get(way, (0, now))
    if stamp == _looked_up.get(way) or (stamp == failed_stamp and now < again_at):
        return
    try:
        work()
    except (OperationalError, InterfaceError):
        raise  # the loop closes its connection, and its next turn tries again
    except PortalError as error:
        _log.warning("leavers of %s: %s", way, error.message)
    except Exception:
        # Neither a broken file nor a broken server may keep the lakes from their turn.
        _log.exception("leavers of %s broke", way)
    else:
        _looked_up[way] = stamp
        return
    _failed[way] = (stamp, now + _AGAIN)


def _sync(lake: str) -> None:
    """Read the directory again whenever its file has changed."""
    path = Path(settings.LAKEWARDEN_DIRECTORY)
    stamp = path.stat().st_mtime_ns if path.exists() else 0
    if stamp == _synced.get(lake, 0):
        return
    try:
        directory_sync(lake, path=path)
    except PortalError as error:
        _log.warning("directory: %s", error.message)
    _synced[lake] = stamp
