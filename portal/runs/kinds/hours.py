"""Decides whether a run may start now, or what it waits for: working hours, or its kind."""

from datetime import datetime

from portal.access.lakes import all_lakes, get_lake
from portal.lake.errors import StaleState
from portal.runs.kinds.registry import destroys, find_kind
from portal.runs.models import Run


def working_hours(lake: str) -> str:
    """Return a lake's working hours with their zone; empty where none are set."""
    config = all_lakes().get(lake)
    if config is None or not config.hours.spans:
        return ""
    return f"{config.hours.text} ({config.time_zone})"


def hours_wait(lake: str, *, now: datetime) -> str:
    """Say until when what destroys must wait; empty while it may start."""
    config = all_lakes().get(lake)
    if config is None or config.hours.is_open(now, config.zone):
        return ""
    opens = config.hours.opens_at(now, config.zone)
    if opens is None:
        return f"The working hours {working_hours(lake)} never come; correct them in lakes.json."
    local = opens.astimezone(config.zone)
    return (
        f"It is outside the lake's working hours, {working_hours(lake)}. It starts by itself after "
        f"{local:%Y-%m-%d %H:%M} {config.time_zone}."
    )


def hours_check(lake: str, *, now: datetime) -> None:
    """Raise StaleState `hours.closed`, with the time to wait for, outside the working hours."""
    get_lake(lake)
    wait = hours_wait(lake, now=now)
    if wait:
        raise StaleState("hours.closed", wait)


def run_start_wait(run: Run, *, now: datetime) -> str:
    """Say what a run must wait for before it is started: working hours, or what its kind says."""
    kind = find_kind(run.kind)
    own = kind.waits(run, now=now) if kind is not None else ""
    return own or (hours_wait(run.lake, now=now) if destroys(run.kind) else "")
