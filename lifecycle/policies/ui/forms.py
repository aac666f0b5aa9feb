"""Forms for LEVEL, TTL, more days, owners and exceptions."""

from datetime import date
from typing import Any

from django import forms

from lifecycle.core.domain.enrollment import MAX_TTL_DAYS
from lifecycle.policies.domain.policy import Values
from lifecycle.policies.services.exceptions import ExceptionParams
from lifecycle.policies.services.extensions import ExtensionParams
from lifecycle.policies.services.request_params import HandoverParams, SetParams
from lifecycle.rules.domain.conformity import Reason
from portal.ui.lists.filters import DayInput

LEVELS = [("1", "1: lifecycle"), ("0", "0: keep for ever")]


class ValuesForm(forms.Form):
    """A LEVEL and a TTL to try out."""

    level = forms.TypedChoiceField(label="LEVEL", choices=LEVELS, coerce=int)
    ttl = forms.IntegerField(
        label="TTL in days", min_value=1, max_value=MAX_TTL_DAYS, required=False
    )

    def clean(self) -> dict[str, Any]:
        """Ask for a TTL where there must be one."""
        data = super().clean() or {}
        if data.get("level") == 1 and data.get("ttl") is None and "ttl" not in self.errors:
            self.add_error("ttl", "LEVEL 1 needs a TTL.")
        return data

    @property
    def values(self) -> Values:
        """What was typed."""
        return Values(self.cleaned_data["level"], self.cleaned_data.get("ttl"))


class DeletionRequestForm(forms.Form):
    """What every request says."""

    db = forms.CharField(label="Database", max_length=128)
    table = forms.CharField(max_length=256, required=False)
    reason = forms.CharField(
        label="Reason",
        max_length=1000,
        error_messages={"required": "Enter a reason; it is kept in the history."},
        widget=forms.Textarea(attrs={"class": "form-control", "rows": 3}),
    )


class SetForm(DeletionRequestForm):
    """Other values, beside those that stood on the page."""

    seen_level = forms.IntegerField(required=False, widget=forms.HiddenInput())
    seen_ttl = forms.IntegerField(required=False, widget=forms.HiddenInput())
    level = forms.TypedChoiceField(label="LEVEL", choices=LEVELS, coerce=int)
    ttl = forms.IntegerField(
        label="TTL in days", required=False, min_value=-(10**12), max_value=10**12
    )

    def wish(self) -> SetParams:
        """Return what was said."""
        data = self.cleaned_data
        return SetParams(
            db=data["db"],
            table=data["table"],
            seen=Values(data["seen_level"], data["seen_ttl"]),
            wanted=Values(data["level"], data["ttl"]),
            reason=data["reason"],
        )


class ExtendForm(DeletionRequestForm):
    """More days for a table or partition, and the day to which the page said they lead."""

    partition = forms.CharField(max_length=767, required=False, strip=False)
    days = forms.IntegerField(label="Days more")
    until = forms.DateField(label="To the end of", widget=DayInput())

    def wish(self) -> ExtensionParams:
        """Return what was said."""
        data = self.cleaned_data
        until: date = data["until"]
        return ExtensionParams(
            db=data["db"],
            table=data["table"],
            partition=data["partition"],
            days=data["days"],
            until=until,
            reason=data["reason"],
        )


class HandOverForm(DeletionRequestForm):
    """A new owner, beside the one that stood on the page."""

    seen_owner = forms.CharField(
        max_length=128, required=False, strip=False, widget=forms.HiddenInput()
    )
    owner = forms.CharField(label="New owner (user name)", max_length=128)

    def wish(self) -> HandoverParams:
        """Return what was said."""
        data = self.cleaned_data
        return HandoverParams(
            db=data["db"],
            table=data["table"],
            seen_owner=data["seen_owner"],
            owner=data["owner"],
            reason=data["reason"],
        )


class PathRuleExceptionForm(DeletionRequestForm):
    """A path rule that shall not count for a table or database, until a day."""

    field_order = ("db", "table", "rule", "until", "reason")
    rule = forms.ChoiceField(label="Rule", choices=[(one.value, one.value) for one in Reason])
    until = forms.DateField(label="Last day", widget=DayInput())

    def wish(self) -> ExceptionParams:
        """Return what was said."""
        data = self.cleaned_data
        until: date = data["until"]
        return ExceptionParams(
            db=data["db"],
            table=data["table"],
            rule=data["rule"],
            until=until,
            reason=data["reason"],
        )
