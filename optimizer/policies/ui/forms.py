"""Forms that set a policy. An empty field is inherited; a refused one stays as typed.

What is the same for tables of every format; the settings of each are a form of its own.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from django import forms
from django.http import QueryDict

from optimizer.core.domain.tasks import TaskKind
from optimizer.policies.domain.formats import POLICY_SCHEMAS, TableFormat
from optimizer.policies.domain.policy import AdviceMode, ConflictTolerance, QueryConstants
from optimizer.policies.domain.words import say
from optimizer.policies.services.policies import MAX_REASON, PolicyChange
from portal.lake.errors import PortalError, RuleViolation
from portal.ui.frame.states import badge_for

INHERITED = [("", "Inherited")]
ON_OFF = [*INHERITED, ("on", "on"), ("off", "off")]
NOTHING = "NOTHING"
_OF_LAYOUT = "layout."


class ScopeForm(forms.Form):
    """The settings of one scope; only what is filled in is set there."""

    table_format: ClassVar[TableFormat]
    texts: ClassVar[tuple[str, ...]]
    """Settings that take words and not only a number."""
    flags: ClassVar[tuple[str, ...]] = ("is_on",)

    reason = forms.CharField(
        label="Reason",
        max_length=MAX_REASON,
        error_messages={"required": "Enter a reason; it is kept in the history."},
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    seen = forms.IntegerField(min_value=0, widget=forms.HiddenInput)

    def __init__(
        self,
        data: QueryDict | None = None,
        *,
        initial: Mapping[str, Any] | None = None,
        inherits: Mapping[str, tuple[str, str]],
    ) -> None:
        # Other than the list's filters, which stand on the same page.
        super().__init__(data, initial=dict(initial or {}), auto_id="policy_%s")
        self._manners = POLICY_SCHEMAS[self.table_format]
        for name in self._manners.fields:
            value, scope = inherits[name]
            title, means = self._manners.settings[name]
            self.fields[name].label = title
            self.fields[name].help_text = f"{means}. Inherited: {value}, {scope}."
            if name in self.texts:
                self.fields[name].widget.attrs["placeholder"] = value
            self.fields[name].widget.attrs["autocomplete"] = "off"

    @property
    def settings(self) -> list[forms.BoundField]:
        """The settings, with one control each."""
        return [self[name] for name in self._manners.fields if name != "kinds"]

    def clean(self) -> dict[str, Any]:
        """Read what was typed; what cannot be read is said at its field."""
        for name in self.texts:
            text = self.cleaned_data.get(name)
            if text:
                try:
                    self.cleaned_data[name] = (self._manners.typed(name, text),)
                except RuleViolation as error:
                    self.refuse(error)
        return self.cleaned_data

    def values(self) -> dict[str, object]:
        """Return the settings that were filled in, in their JSON form."""
        out: dict[str, object] = {}
        for name in self._manners.fields:
            data = self.cleaned_data.get(name)
            if data in ("", None, []):
                continue
            out[name] = self._value(name, data)
        return out

    def change(self, lake: str, scope: str) -> PolicyChange:
        """Return what the person asks for."""
        data = self.cleaned_data
        seen, reason = data.get("seen") or 0, data.get("reason", "")
        return PolicyChange(lake, scope, self.values(), seen, reason, self.table_format)

    def refuse(self, error: PortalError) -> None:
        """Say what a rule refuses at a field that it lies in, best at one that was filled in."""
        named = error.fields.get("policy_fields")
        names = list(named) if isinstance(named, list) else []
        if error.code.startswith(_OF_LAYOUT):
            names = ["layout"]
        if error.code == "policy.why":
            names = ["reason"]
        filled = [name for name in names if self.data.get(name)]
        for name in (filled or names)[-1:] or [None]:
            self.add_error(name, error.message)

    def _value(self, name: str, said: Any) -> object:
        if name in self.flags:
            return said == "on"
        if name == "kinds":
            return sorted(set(said) - {NOTHING})
        return said[0] if name in self.texts else said


def shown(values: Mapping[str, object], seen: int) -> dict[str, Any]:
    """Return what a form opens with: the scope's own settings, as they are typed."""
    initial: dict[str, Any] = {"seen": seen}
    for name, value in values.items():
        if name == "kinds" and isinstance(value, list):
            initial[name] = value or [NOTHING]
        else:
            initial[name] = say(name, value)
    return initial


def _kinds() -> list[tuple[str, str]]:
    words = [(kind.value, f"{kind}: {badge_for(f'WORK_{kind}').word}") for kind in TaskKind]
    return [*words, (NOTHING, "Disable all")]


class PolicyForm(ScopeForm):
    """The settings of Iceberg tables."""

    table_format = TableFormat.ICEBERG
    texts = ("target_bytes", "layout", "quiet", "budget_gb_hours", "index_columns")

    is_on = forms.ChoiceField(choices=ON_OFF, required=False)
    target_bytes = forms.CharField(max_length=40, required=False)
    layout = forms.CharField(max_length=1000, required=False)
    min_interval_minutes = forms.IntegerField(required=False)
    full_days = forms.IntegerField(required=False)
    expire_days = forms.IntegerField(required=False)
    keep_snapshots = forms.IntegerField(required=False)
    orphan_days = forms.IntegerField(required=False)
    quarantine_days = forms.IntegerField(required=False)
    manifests = forms.IntegerField(required=False)
    quiet = forms.CharField(max_length=40, required=False)
    budget_gb_hours = forms.CharField(max_length=40, required=False)
    kinds = forms.MultipleChoiceField(
        choices=_kinds, required=False, widget=forms.CheckboxSelectMultiple
    )
    index_columns = forms.CharField(max_length=2000, required=False)
    caution = forms.ChoiceField(
        choices=[*INHERITED, *((one.value, one.value) for one in ConflictTolerance)], required=False
    )
    advice = forms.ChoiceField(
        choices=[*INHERITED, *((one.value, one.value) for one in AdviceMode)], required=False
    )
    query_constants = forms.ChoiceField(
        choices=[*INHERITED, *((one.value, one.value) for one in QueryConstants)], required=False
    )
