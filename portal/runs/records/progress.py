"""Records how far a run has come whose work is done inside the worker."""

from portal.runs.domain import FINAL
from portal.runs.models import Run


def run_progress(run: Run, *, phase: str, done: int, total: int) -> None:
    """Store progress for the pages; a run that another epoch has taken over is left alone."""
    mine = Run.objects.filter(pk=run.pk, epoch=run.epoch).exclude(state__in=FINAL)
    mine.update(phase=phase[:64], done=done, total=total)
