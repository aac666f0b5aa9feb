"""Notices that nothing is heard of a running application, and decides when it must be ended.

The driver beats beside its log (portal/spark/heartbeat.py). One that was launched without a
heartbeat, or whose file cannot be read, is never called silent.
"""

from dataclasses import asdict
from datetime import datetime, timedelta

from portal.runs.domain import SILENCE_SHOWN, RunState, Silence, is_frozen
from portal.runs.kinds.registry import RunKind
from portal.runs.models import Run
from portal.runs.records.logs import run_log
from portal.runs.records.spools import heartbeat_file
from portal.spark.heartbeat import LAUNCH, Sign, oldest_sign
from portal.spark.process_table import cpu_seconds

# Spark may load jars from afar before the driver's own program begins, and nothing acts so early.
_LAUNCH_LIMIT = timedelta(minutes=10)


def silence_note(run: Run, kind: RunKind, *, now: datetime) -> str:
    """Note on the run since when it is silent; return why it must be ended, empty as a rule.

    Called twice at once it changes nothing more.
    """
    sign = oldest_sign(heartbeat_file(run))
    silent = sign.silent_seconds() if sign is not None else 0.0
    if sign is None or silent < SILENCE_SHOWN.total_seconds():
        if run.silent_since is not None:
            _store(run, None, None)
            run_log(run, "The application answers again.", now=now)
        return ""
    known = _known(run, sign)
    cpu = cpu_seconds(sign.pid)
    text = f"Its {sign.part} has given no sign of life for {silent:.0f} s"
    if known is None:
        _store(run, Silence(sign.part, silent, cpu, now), now - timedelta(seconds=silent))
        run_log(run, f"{text}.", now=now, level="warning")
        return ""
    silence = Silence(sign.part, silent, known.cpu, known.seen_at)
    limit = _LAUNCH_LIMIT if sign.part == LAUNCH else kind.silence
    return text if is_frozen(silence, cpu=cpu, limit=limit, now=now) else ""


def _known(run: Run, sign: Sign) -> Silence | None:
    """Return the silence that was noticed before, if it is of the same process."""
    told = run.silence
    if told is None or told["part"] != sign.part:
        return None
    seen_at = datetime.fromisoformat(told["seen_at"])
    return Silence(told["part"], told["seconds"], told["cpu"], seen_at)


def _store(run: Run, silence: Silence | None, since: datetime | None) -> None:
    told = {**asdict(silence), "seen_at": silence.seen_at.isoformat()} if silence else None
    run.silence, run.silent_since = told, since
    Run.objects.filter(pk=run.pk, epoch=run.epoch, state=RunState.RUNNING).update(
        silence=told, silent_since=since
    )
