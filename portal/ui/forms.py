"""Forms of the platform's own pages, and numbers out of fields that are no forms."""

from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm
from django.core.exceptions import ValidationError
from django.utils import timezone

from portal.lake.errors import ExternalFailure, PortalError
from portal.lake.reasons import check_text
from portal.people.lockout import Try, address_of, try_begins, try_succeeded
from portal.ui.frame.context import THEMES

_MOST_DIGITS = 18
"""Longer numbers are none of the database's."""


def whole_number(text: str) -> int | None:
    """Return the number that a field or an address says; None: it says none that may be stored."""
    is_number = text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS
    return int(text) if is_number else None


class LoginForm(AuthenticationForm):
    """User name and password, of a local account or of the company's directory."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("username", "password"):
            self.fields[name].widget.attrs["class"] = "form-control"

    def clean(self) -> dict[str, Any]:
        """Try the log-in; whatever keeps the person out is said on the form."""
        name, now = self.data.get("username", ""), timezone.now()
        tried = Try(name, address_of(self.request)) if self.request else None
        try:
            if tried:
                try_begins(tried, now=now)
            cleaned = super().clean()
        except PortalError as error:
            if tried and isinstance(error, ExternalFailure):
                try_succeeded(tried, now=now)  # it failed, and not the person
            raise ValidationError(error.message, code=error.code) from error
        if tried:
            try_succeeded(tried, now=now)
        return cleaned


class PasswordForm(forms.Form):
    """The password of the person who is signed in already."""

    password = forms.CharField(
        label="Password",
        strip=False,
        widget=forms.PasswordInput(
            attrs={
                "class": "form-control",
                "autocomplete": "current-password",
                "autofocus": True,
            }
        ),
    )


class ReasonForm(forms.Form):
    """Why something is done; never empty."""

    reason = forms.CharField(
        max_length=1000,
        label="Reason",
        error_messages={"required": "Enter a reason; it is kept in the audit record."},
        widget=forms.Textarea(attrs={"class": "form-control", "rows": 3}),
    )

    def clean_reason(self) -> str:
        """Refuse what the record cannot show, on the form itself."""
        reason: str = self.cleaned_data["reason"]
        try:
            check_text(reason)
        except PortalError as error:
            raise ValidationError(error.message, code=error.code) from error
        return reason


class ThemeForm(forms.Form):
    """Light, dark, or as the system has it."""

    theme = forms.ChoiceField(choices=[(theme, theme.capitalize()) for theme in THEMES])
