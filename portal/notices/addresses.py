"""Checks that mail can be sent to an address and that it injects nothing into a header."""

from django.core.exceptions import ValidationError
from django.core.validators import validate_email

MAX_CHARS = 254


def address_problem(email: str) -> str:
    """Say in words why no mail can go to an address; empty when one can."""
    if not email:
        return "The directory has no mail address for this person."
    shown = f"{email[:100]!a}"
    if len(email) > MAX_CHARS:
        return f"The mail address {shown}... is longer than {MAX_CHARS} signs."
    try:
        validate_email(email)
    except ValidationError:
        return f"{shown} is no mail address; correct it in the directory."
    return ""
