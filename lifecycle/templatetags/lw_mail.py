"""How is a size written in a mail, where nothing can be hovered?"""

from django import template

from portal.ui.templatetags.lw import human_bytes

register = template.Library()


@register.filter
def plain_bytes(value: int | None) -> str:
    """Spell a size in words."""
    return "unknown size" if value is None else human_bytes(value)
