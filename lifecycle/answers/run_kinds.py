"""The run that answers for more tables than a request does."""

from datetime import datetime
from typing import Any

from django.utils import timezone

from lifecycle.answers.domain import Answer, Outcome
from lifecycle.answers.services.bulk import KIND, Chosen, answers_give
from portal.access.models import User
from portal.lake.errors import NotAllowed
from portal.runs.kinds import registry as run_kinds
from portal.runs.models import Run
from portal.runs.records.logs import Line, run_log_many
from portal.runs.records.progress import run_progress

PHASE = "answering"
EVERY = 25
NAMED_IN_LOG = 500


class AnswersKind(run_kinds.RunKind):
    """Gives one answer for many tables."""

    name = KIND
    title = "Answer for many tables"
    queue = "plan"

    def execute(self, run: Run) -> dict[str, Any]:
        """Answer for each table; the log names those that were not done, with the reason."""
        user = User.objects.filter(username=run.requested_by, is_active=True).first()
        if user is None:
            raise NotAllowed("answers.left", f"{run.requested_by} is no longer here.")
        params = run.params
        chosen = Chosen(
            lake=run.lake,
            names=[(db, table) for db, table in params["tables"]],
            seen_at=datetime.fromisoformat(params["seen_at"]),
        )

        def progress(done: int, total: int) -> None:
            if done % EVERY == 0:
                run_progress(run, phase=PHASE, done=done, total=total)

        answer = Answer.from_json(params["answer"])
        now = timezone.now()
        result = answers_give(chosen, answer, user=user, now=now, progress=progress)
        run_progress(run, phase=PHASE, done=len(result.tables), total=len(result.tables))
        left = [one for one in result.tables if one.outcome is not Outcome.DONE]
        lines = [Line("warning", f"{one.name}: {one.message}") for one in left[:NAMED_IN_LOG]]
        run_log_many(run, [Line("info", result.words), *lines], now=now)
        return {
            "result": result.words,
            "answered": result.n_done,
            "waiting": result.n_waiting,
            "not_answered": result.n_refused,
        }


def register_answers_kind() -> None:
    """Tell the platform of the run of this file."""
    run_kinds.register(AnswersKind())
