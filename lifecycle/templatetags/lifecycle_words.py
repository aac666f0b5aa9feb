"""Template tags that word a path rule, or the limits of a restore."""

from django import template

from lifecycle.core.ui import words
from lifecycle.drop.domain.loss_words import NOT_RESTORED

register = template.Library()

register.filter("reason_word", words.reason_word)
register.filter("reason_remedy", words.reason_remedy)


@register.simple_tag
def not_restored() -> tuple[str, ...]:
    """Return what no restore brings back."""
    return NOT_RESTORED
