"""Template filters that write sizes and names in a mail safely.

A mail has no hover text, and lines in it can be forged.
"""

from django import template

from portal.lake.lines import one_line
from portal.people.search import shown_name
from portal.ui.templatetags.lw import human_bytes

register = template.Library()


@register.filter
def plain_bytes(value: int | None) -> str:
    """Spell a size in words."""
    return "unknown size" if value is None else human_bytes(value)


@register.filter
def person_name(username: str) -> str:
    """Write a person's name as a letter begins with it, on one line."""
    return one_line(shown_name(username))


@register.filter
def line(value: object) -> str:
    """Write a name so that it stays on its line of the plain text."""
    return one_line(str(value))


@register.filter
def indented(value: object) -> str:
    """Write text of several lines below a dash, so that no line of it passes for the mail's."""
    lines = str(value).splitlines()
    return "\n  ".join(one_line(line) for line in lines)
