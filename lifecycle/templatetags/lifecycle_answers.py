"""Template tags for the bar that answers for the ticked tables of a list."""

from typing import Any

from django import template
from django.template import Context
from django.utils import timezone

from lifecycle.answers.domain import DAYS_OFFERED
from portal.ui.frame.lakes import shown_lake

register = template.Library()


@register.inclusion_tag("lifecycle/_answers.html", takes_context=True)
def answers_bar(context: Context) -> dict[str, Any]:
    """Offer one answer for the ticked rows, or for all tables of the filter; nothing to others.

    All of the filter are counted where the list has one page, or where they are one's own: the
    whole lake's tables are not.
    """
    request, page = context["request"], context["page"]
    n_open = sum(row.may_select for row in page.rows)
    is_one_page = not (page.has_next or page.has_previous)
    n_all = None
    if is_one_page:
        n_all = n_open
    elif n_open and not request.user.is_lake_staff_of(shown_lake(request)):
        n_all = context["filter"].qs.count()
    return {
        "form": context["form"],
        "n_open": n_open,
        "n_all": n_all,
        "is_one_page": is_one_page,
        "lake": context["frame"]["lake"],
        "asked": context["asked"],
        "here": request.get_full_path(),
        "seen_at": timezone.now().isoformat(),
        "csrf_token": context.get("csrf_token"),
        "frame": context.get("frame"),
    }


@register.inclusion_tag("lifecycle/_partition_answers.html", takes_context=True)
def partition_bar(context: Context) -> dict[str, Any]:
    """Offer to keep the ticked partitions or to request their deletion; nothing to others."""
    request = context["request"]
    return {
        "form": context["form"],
        "found": context["found"],
        "offered": any(row.may_select for row in context["page"].rows),
        "here": request.get_full_path(),
        "seen_at": timezone.now().isoformat(),
        "csrf_token": context.get("csrf_token"),
        "frame": context.get("frame"),
    }


@register.simple_tag
def answer_days() -> tuple[int, ...]:
    """Return for how many days one may keep tables by one button."""
    return DAYS_OFFERED
