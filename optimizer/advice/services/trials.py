"""Has an advised layout tried on a branch, takes in what it showed, and has it cleaned up.

A trial decides nothing: who asked for it reads the verdict. What it left on the table is known by
its row until a run has said that it is gone.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Q

from optimizer.advice.domain.layout_advice import LEAST_SAVED
from optimizer.advice.domain.states import AdviceState, TrialState
from optimizer.advice.domain.subjects import Subject
from optimizer.advice.domain.trials.sample import MOST_BYTES, MOST_QUERIES
from optimizer.advice.services.decisions import checked_reason, claimed_advice
from optimizer.iceberg.tables.domain.branches import trial_branch
from optimizer.models import Advice, Trial
from optimizer.policies.selectors.policies import policies_of
from portal.access.models import User
from portal.audit.services import audit_record
from portal.lake.errors import RuleViolation, StaleState
from portal.runs.domain import FINAL
from portal.runs.models import Run
from portal.runs.requests.services import run_request
from portal.safety.selectors import emergency_stop_wait

KIND = "optimizer.trial"
CLEANUP_KIND = "optimizer.trial_cleanup"
AGAIN_AFTER = timedelta(minutes=10)
CLEANED_A_RUN = 20


def trial_request(row: Advice, *, user: User, reason: str, now: datetime) -> Trial:
    """Have a run try a new advice's layout on a branch; who may apply it may try it.

    Raises:
        NotVisible, NotAllowed: as for the policy of the table.
        RuleViolation: `trial.subject`, `trial.paused`, `advice.why`.
        StaleState: `optimizer.gone`, `advice.decided`, or `trial.running`, one is under way.
    """
    table, why = row.table, checked_reason(row, user, reason)
    if row.subject != Subject.LAYOUT or row.gives_up:
        after = "There is nothing to measure." if row.gives_up else "It is measured once applied."
        raise RuleViolation(
            "trial.subject",
            f"Only a new layout is tried on a branch; this advice changes the "
            f"{Subject(row.subject).word} of {table}. {after}",
        )
    if table.is_paused:
        raise RuleViolation(
            "trial.paused",
            f"{table} is paused for the optimizer: {table.paused_reason or 'no reason was given'}. "
            "Resume it, or wait.",
        )
    with transaction.atomic():
        one = claimed_advice(row, AdviceState.NEW)
        if one.trials.filter(is_open=True).exists():
            raise StaleState(
                "trial.running", f"A trial of {one.proposed} on {table} is under way; see its run."
            )
        trial = Trial.objects.create(
            advice=one, requested_by=user.username, requested_at=now, reason=why
        )
        run = run_request(
            KIND,
            lake=table.lake,
            params=_order(one, trial),
            requested_by=user.username,
            reason=why,
            subject=("table", str(table)),
            now=now,
        )
        trial.run, trial.branch = run.pk, trial_branch(one.pk, str(run.pk))
        trial.save(update_fields=["run", "branch"])
        _show(one, TrialState.RUNNING)
        _audit(trial, "optimizer.trial_asked", user.username, now, reason=why)
    return trial


def trial_wait(run: Run) -> str:
    """Say what a trial that is queued must wait for; empty while it may start."""
    if pressed := emergency_stop_wait(run.lake):
        return pressed
    trial = Trial.objects.filter(run=run.pk).select_related("advice__table").first()
    if trial is not None and trial.advice.table.is_paused:
        return f"{trial.advice.table} is paused for the optimizer."
    return ""


def trial_ingest(run: Run, manifest: dict[str, Any], *, now: datetime) -> None:
    """Record what a trial showed, or why it failed; the same manifest twice changes nothing."""
    found = manifest.get("result") or {}
    with transaction.atomic():
        trial = Trial.objects.select_for_update().filter(run=run.pk, is_open=True).first()
        if trial is None:
            return
        verdict = found.get("verdict")
        if manifest.get("outcome") == "done" and verdict:
            _judge(trial, found, verdict)
        else:
            trial.state, trial.outcome = TrialState.FAILED, _problem(run, manifest)
        trial.seconds = found.get("seconds")
        trial.cleanup = found.get("cleanup") or ""
        trial.cleaned_at = now if found.get("is_cleaned") else None
        _end(trial, now)
    manifest["result"] = {"trial": trial.pk, "decision": trial.state, "said": trial.outcome}


def trials_reclaim(lake: str, *, now: datetime) -> None:
    """End the trials whose run ended without a word, as one does that is cancelled in the queue."""
    open_ones = Trial.objects.filter(advice__table__lake=lake, is_open=True)
    runs = Run.objects.in_bulk([run for run in open_ones.values_list("run", flat=True) if run])
    for trial in open_ones:
        run = runs.get(trial.run) if trial.run else None
        if run is not None and run.state not in FINAL:
            continue
        with transaction.atomic():
            one = Trial.objects.select_for_update().filter(pk=trial.pk, is_open=True).first()
            if one is None:
                continue
            one.state = TrialState.FAILED
            one.outcome = "Its run ended before it came to a result."
            if run is not None and run.submitted_at is None:
                one.cleaned_at = now  # nothing was ever begun
            _end(one, now)


def cleanup_due(lake: str, *, now: datetime) -> dict[str, Any] | None:
    """Return the params of a run that cleans up; None where nothing is left of any trial."""
    left = Trial.objects.filter(advice__table__lake=lake, is_open=None, cleaned_at=None)
    gone = left.filter(advice__table__is_deleted=True)
    gone.update(cleaned_at=now, cleanup="The table is gone, and its branches with it.")
    rows = left.filter(Q(clean_after=None) | Q(clean_after__lte=now))
    rows = rows.select_related("advice__table").order_by("pk")[:CLEANED_A_RUN]
    found = [
        {
            "id": one.pk,
            "db": one.advice.table.db,
            "table": one.advice.table.table,
            "uuid": one.advice.table.uuid,
            "branch": one.branch,
            "run": str(one.run),
        }
        for one in rows
    ]
    return {"trials": found} if found else None


def cleanup_ingest(run: Run, manifest: dict[str, Any], *, now: datetime) -> None:
    """Record of which trials nothing is left; the others are tried again in ten minutes."""
    found = {one["id"]: one for one in (manifest.get("result") or {}).get("trials", ())}
    asked = [one["id"] for one in run.params["trials"]]
    for trial in Trial.objects.filter(pk__in=asked, cleaned_at=None):
        said = found.get(trial.pk)
        if said is not None and "problem" not in said:
            trial.cleaned_at, trial.clean_after, trial.cleanup = now, None, said["said"]
        else:
            trial.clean_after = now + AGAIN_AFTER
            trial.cleanup = (
                said["problem"] if said else "The run that cleans up did not come to it."
            )
        trial.save(update_fields=["cleaned_at", "clean_after", "cleanup"])


def _order(row: Advice, trial: Trial) -> dict[str, Any]:
    table = row.table
    policy = policies_of(table.lake).of(table.db, table.table).policy
    return {
        "trial": trial.pk,
        "advice": row.pk,
        "db": table.db,
        "table": table.table,
        "uuid": table.uuid,
        "layout": row.proposed,
        "target_bytes": policy.target_bytes,
        "max_group_bytes": MOST_BYTES,
        "most_bytes": MOST_BYTES,
        "most_queries": MOST_QUERIES,
        "least_saved": LEAST_SAVED,
        "shapes": [
            {"filters": one["filters"], "n_scans": one["n_scans"]}
            for one in row.evidence.get("shapes", ())
        ],
    }


def _judge(trial: Trial, found: Mapping[str, Any], verdict: Mapping[str, Any]) -> None:
    trial.state = TrialState(verdict["decision"])
    trial.outcome = verdict["reason"]
    for name in ("saved", "low", "high", "n_queries", "n_worse"):
        setattr(trial, name, verdict[name])
    trial.bytes_written = found["bytes_written"]
    kept = ("base", "n_partitions", "n_bytes", "most_bytes", "partitions", "shapes")
    trial.evidence = {name: found[name] for name in kept}


def _problem(run: Run, manifest: Mapping[str, Any]) -> str:
    found, error = manifest.get("result") or {}, manifest.get("error") or {}
    if problem := found.get("problem"):
        return str(problem)
    if run.cancel_requested_by:
        return f"{run.cancel_requested_by} cancelled it."
    return str(error.get("message") or "Its run ended before it came to a result.")


def _end(trial: Trial, now: datetime) -> None:
    trial.is_open, trial.ended_at = None, now
    trial.save()
    _show(trial.advice, TrialState(trial.state))
    _audit(trial, "optimizer.trial_ended", "lakewarden", now, outcome=trial.outcome)


def _show(row: Advice, state: TrialState) -> None:
    Advice.objects.filter(pk=row.pk).update(trial_state=state)


def _audit(trial: Trial, action: str, actor: str, now: datetime, **data: object) -> None:
    row = trial.advice
    audit_record(
        action,
        actor=actor,
        lake=row.table.lake,
        object_type="optimizer_advice",
        object_id=str(row.table),
        data={"advice": row.pk, "trial": trial.pk, "state": str(trial.state), **data},
        now=now,
    )
