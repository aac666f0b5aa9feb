"""What does a person type on the platform's own pages?"""

from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm

from portal.ui.frame import THEMES


class LoginForm(AuthenticationForm):
    """User name and password of a local account."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("username", "password"):
            self.fields[name].widget.attrs["class"] = "form-control"


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
        error_messages={"required": "Say why; it stands in the audit record."},
        widget=forms.Textarea(attrs={"class": "form-control", "rows": 3}),
    )


class ThemeForm(forms.Form):
    """Light, dark, or as the system has it."""

    theme = forms.ChoiceField(choices=[(theme, theme.capitalize()) for theme in THEMES])
