"""Template tags that render findings, evidence and points of Hudi tables as words and badges."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from optimizer.hudi.inspect.domain.health import Part
from optimizer.models import HudiTable, OptimizeTask
from optimizer.templatetags.optimizer_words import with_whole
from portal.ui.frame.states import badge_for
from portal.ui.templatetags.lw import human_bytes, icon, state_badge

register = template.Library()
TASK = "task"  # the code of a decision that became a task
TIMELINE = str(Part.TIMELINE)


@register.filter
def lost(deductions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return what cost a whole point or more, as `with_whole` rounds it."""
    return [one for one in with_whole(deductions) if one["whole"]]


@register.simple_tag
def counted_badge(state: str, n: int, one: str, many: str) -> SafeString:
    """Show how many there are of a state, by icon, number, word and colour."""
    look = badge_for(state)
    return format_html(
        '<span class="lw-state lw-{}" title="{}">{}{} {}</span>',
        look.tone,
        look.help or look.word,
        icon(look.icon),
        f"{n:,}",
        one if n == 1 else many,
    )


@register.filter
def is_untold(table: HudiTable) -> bool:
    """Whether nobody can tell what is wrong: of its version, or for its timeline is broken."""
    return table.health is None or any(one.get("part") == TIMELINE for one in table.deductions)


@register.filter
def begun(decisions: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Return what was decided to be done, each with the name under which its work is shown."""
    return [
        {"kind": work_of(one["service"], one["step"]), "reason": one["reason"]}
        for one in decisions
        if one.get("code") == TASK and one.get("service") and one.get("step")
    ]


def work_of(service: str, step: str) -> str:
    """Return the state under which a step of a service is shown."""
    return f"WORK_HUDI_{service}_{step}"


@register.filter
def state_help(state: str) -> str:
    """Return what a state means."""
    return badge_for(state).help


@register.simple_tag
def key_of(*parts: object) -> str:
    """Put the parts of a name together that is unique on its page."""
    return "-".join(str(one).lower() for one in parts)


@register.simple_tag
def service_form(service: str, step: str) -> dict[str, str]:
    """Return what the form of a step of a service sends."""
    return {"service": str(service), "step": str(step)}


@register.simple_tag
def work_badge(service: str, step: str) -> SafeString:
    """Show a step of a service."""
    return state_badge(work_of(service, step))


@register.filter
def changed(task: OptimizeTask) -> list[str]:
    """Say what a task changed, as far as its run told: every number that is known of both times."""
    words = []
    for key, was in task.before.items():
        now = task.after.get(key)
        if isinstance(was, int | float) and isinstance(now, int | float) and (was or now):
            title = key.removeprefix("n_").removesuffix("_bytes").replace("_", " ")
            shown = [
                human_bytes(int(one)) if key.endswith("_bytes") else f"{one:,}"
                for one in (was, now)
            ]
            words.append(f"{title}: {' → '.join(shown)}")
    return words
