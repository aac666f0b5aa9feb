"""Template tags of marks of front ends, causes and lanes in a cell."""

from collections.abc import Iterable, Sequence

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from portal.ui.frame.states import badge_for
from portal.ui.templatetags.lw import NOTHING, icon
from refresh.freshness.ui.tables import table_url
from refresh.models import RefreshTarget, TargetFrontEnd
from refresh.worker.domain.lanes import Lane

register = template.Library()


@register.simple_tag
def cache_page(target: RefreshTarget) -> str:
    """Return the page of a table at its tab Cache, in the cluster of the target."""
    return table_url(target)


@register.simple_tag
def fe_marks(records: Iterable[TargetFrontEnd], *, is_opted_out: bool = False) -> SafeString:
    """Show the state on each front end as a small mark; its address and reason on hover."""
    return _marks(
        [
            (row.fe.place, "NOT_MAINTAINED" if is_opted_out else row.now.freshness, row.now.reason)
            for row in records
        ]
    )


@register.simple_tag
def outcome_marks(outcomes: Iterable[tuple[str, str, str, str]]) -> SafeString:
    """Show what came of a statement on each front end, the same way."""
    return _marks([(place, outcome, reason) for place, outcome, reason, _ in outcomes])


def _marks(marks: Sequence[tuple[str, str, str]]) -> SafeString:
    if not marks:
        return NOTHING
    parts = []
    for name, state, reason in marks:
        look = badge_for(state)
        said = f"{name}: {look.word}" + (f". {reason}" if reason else "")
        parts.append((look.tone, said, icon(look.icon), f"{name}: {look.word}"))
    return format_html(
        '<span class="lw-marks">{}</span>',
        format_html_join(
            "",
            '<span class="lw-state lw-{}" title="{}">{}<span class="visually-hidden">{}</span>'
            "</span>",
            parts,
        ),
    )


@register.filter
def causes(value: Sequence[str]) -> str:
    """Say causes in words."""
    return ", ".join(badge_for(f"CAUSE_{cause}").word for cause in value)


@register.filter
def lane_state(value: int | None) -> str:
    """Return the state under which a lane is shown."""
    return "LANE_NEW" if value is None else f"LANE_{Lane(value).name}"
