"""Finds what was read last of the tables of a query."""

from portal.runs.models import Run

SUBJECT = "optimizer.rewrite"
"""The type of subject of such runs: the tables that were read."""


def last_reading(lake: str, subject: str) -> Run | None:
    """Return the newest run that read just these tables, in whatever state; None for none."""
    runs = Run.objects.filter(lake=lake, subject_type=SUBJECT, subject_id=subject)
    return runs.order_by("-queued_at").first()
