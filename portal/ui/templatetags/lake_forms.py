"""Lets every form say which lake its page showed, where several are governed.

The tag takes the place of Django's own (`builtins` of the settings), so that no form can forget.
"""

from typing import Any

from django import template
from django.template.base import Parser, Token
from django.template.defaulttags import CsrfTokenNode
from django.utils.html import format_html

from portal.access.lakes import several_lakes

register = template.Library()
_FIELD = '<input type="hidden" name="lake" value="{}">'


class LakeTokenNode(CsrfTokenNode):
    """The hidden field against foreign forms, and one with the lake of the page."""

    def render(self, context: Any) -> str:
        """Return the hidden fields."""
        token = super().render(context)
        lake = (context.get("frame") or {}).get("lake", "")
        if not (token and lake and several_lakes()):
            return token
        return token + format_html(_FIELD, lake)


@register.tag
def csrf_token(parser: Parser, token: Token) -> LakeTokenNode:
    """Write the hidden fields of a form that is sent by POST."""
    return LakeTokenNode()
