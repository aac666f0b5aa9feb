"""Starts what is due by the clock.

Kinds say when; one unique key per slot makes two beats harmless.
"""

import logging
from datetime import datetime
from pathlib import Path

from django.conf import settings

from portal.access.lakes import all_lakes
from portal.access.services import directory_sync
from portal.approvals.services import approvals_lapse
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import PortalError
from portal.people.leavers import directory_leavers, ldap_leavers
from portal.runs.kinds.registry import RunKind, all_kinds
from portal.runs.models import Run
from portal.runs.requests.services import run_request

_log = logging.getLogger(__name__)
_synced: dict[str, int] = {}
_looked_up: dict[str, int] = {}
REQUESTER = "schedule"


def schedule(now: datetime) -> None:
    """Ask for the runs whose slot has come, end approvals that lapsed, sync the directory."""
    approvals_lapse(now)
    _leavers(now)
    for name, config in all_lakes().items():
        _sync(name)
        for kind in all_kinds():
            try:
                _ask(name, config, kind, now=now)
            except PortalError as error:
                _log.warning("%s of %s: %s", kind.name, name, error.message)


def _ask(lake: str, config: LakeConfig, kind: RunKind, *, now: datetime) -> None:
    slot = kind.schedule.slot(now.astimezone(config.zone)) if kind.schedule else None
    if slot is None:
        return
    key = kind.scheduled_key(lake, slot)
    if Run.objects.filter(unique_key=key).exists():
        return
    params = kind.scheduled_params(lake, now=now)
    if params is not None:
        run_request(
            kind.name, lake=lake, params=params, requested_by=REQUESTER, unique_key=key, now=now
        )


def _leavers(now: datetime) -> None:
    """Close who is gone from the directory (when its file has changed) or from LDAP (hourly)."""
    path = Path(settings.LAKEWARDEN_DIRECTORY)
    stamp = path.stat().st_mtime_ns if path.exists() else 0
    try:
        if stamp and stamp != _looked_up.get("directory"):
            _looked_up["directory"] = stamp
            directory_leavers(path, now=now)
        hour = int(now.timestamp()) // 3600
        if hour != _looked_up.get("ldap"):
            _looked_up["ldap"] = hour
            ldap_leavers(now=now)
    except PortalError as error:
        _log.warning("leavers: %s", error.message)


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
