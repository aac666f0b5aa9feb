"""Template tags that word a path rule, or the limits of a restore."""

from django import template

from lifecycle.core.ui import badges
from lifecycle.drop.domain.loss_words import NOT_RESTORED

register = template.Library()

register.filter("reason_word", badges.reason_word)
register.filter("reason_remedy", badges.reason_remedy)


@register.simple_tag
def not_restored() -> tuple[str, ...]:
    """Return what no restore brings back."""
    return NOT_RESTORED
