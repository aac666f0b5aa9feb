"""Template tags for answers to a notice, on the page of a table or partition."""

from datetime import date
from typing import Any
from urllib.parse import urlencode

from django import template
from django.template import Context
from django.urls import reverse
from django.utils import timezone

from lifecycle.models import PathFinding, TableFinding
from lifecycle.policies.services.extensions import PUT_OFF, near_due_on
from lifecycle.policies.ui.actions import answers_for

register = template.Library()


@register.simple_tag(takes_context=True)
def exception_url(context: Context, row: PathFinding) -> str:
    """Return where exceptions from the rules that a path violates are requested."""
    said = {
        "lake": row.lake,
        "db": row.db,
        "table": row.table,
        "rule": row.broken,
        "next": context["request"].get_full_path(),
    }
    return f"{reverse('lifecycle:exception-ask')}?{urlencode(said, doseq=True)}"


@register.inclusion_tag("lifecycle/_policy_actions.html", takes_context=True)
def policy_actions(
    context: Context,
    table: TableFinding,
    partition: str = "",
    due_on: date | None = None,
    cls: str = "",
) -> dict[str, Any]:
    """Offer to keep data some days more or for ever, and to hand its table over.

    For a whole table, or for one partition of it, whose class is given then.
    """
    user = context["request"].user
    if not partition:
        due_on = near_due_on(table)
    elif cls not in PUT_OFF:
        due_on = None
    now, kept = timezone.now(), context.get("kept")
    answers = answers_for(table, partition, due_on, user=user, now=now, kept=kept)
    return {
        "answers": answers,
        "here": context["request"].get_full_path(),
        "csrf_token": context.get("csrf_token"),
        "frame": context.get("frame"),
    }
