"""What comes of a policy's form: opened, tried out, kept, refused, or late by another person?

The same for a table's tab and for the page of any scope. What was typed is never lost.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from optimizer.domain.policy import BUILT_IN, FIELDS
from optimizer.domain.policy_values import write_policy
from optimizer.domain.policy_words import SETTINGS, say
from optimizer.models import IcebergTable, PolicyVersion
from optimizer.selectors.policies import inherited_by, policies_of, policy_current
from optimizer.selectors.policy_scopes import table_names
from optimizer.services.policies import policy_allowed, policy_may_set, policy_set
from optimizer.services.policy_preview import Preview, policy_preview
from optimizer.ui.policy_forms import PolicyForm, shown
from portal.access.models import User
from portal.lake.errors import RuleViolation, StaleState

TRY = "preview"


@dataclass(frozen=True, slots=True)
class SettingRow:
    """One setting as it holds for a table, and the scope that says so; no address: built in."""

    title: str
    words: str
    scope: str
    url: str
    is_own: bool


@dataclass(frozen=True, slots=True)
class Said:
    """What a page shows of its form; no form for who does not answer for the scope."""

    scope: str
    current: PolicyVersion | None
    form: PolicyForm | None
    preview: Preview | None = None
    status: int = 200
    is_kept: bool = False

    @property
    def is_late(self) -> bool:
        """Whether somebody was first."""
        return self.status == StaleState.status


def scope_url(lake: str, scope: str) -> str:
    """Give the page of a scope."""
    return f"{reverse('optimizer:policy-scope', args=[scope])}?{urlencode({'lake': lake})}"


def settings_of(table: IcebergTable) -> list[SettingRow]:
    """Give every setting of a table as it resolves now."""
    found = policies_of(table.lake).of(table.db, table.table)
    values, own = write_policy(found.policy), str(table).lower()
    return [
        SettingRow(
            SETTINGS[name][0],
            say(name, values[name]),
            scope,
            "" if scope in (BUILT_IN, own) else scope_url(table.lake, scope),
            is_own=scope == own,
        )
        for name, scope in ((name, found.sources[name]) for name in FIELDS)
    ]


def policy_said(request: HttpRequest, *, lake: str, scope: str, user: User) -> Said:
    """Do what the form asks.

    Raises:
        NotAllowed, NotVisible: for who sends the form and does not answer for the scope.
    """
    scope = scope.lower()
    current, inherits = policy_current(lake, scope), _inherits(lake, scope)
    if request.method != "POST":
        opened = shown(current.values if current else {}, current.version if current else 0)
        form = PolicyForm(initial=opened, inherits=inherits)
        return Said(scope, current, form if policy_may_set(lake, scope, user) else None)
    policy_allowed(lake, scope, user)
    form = PolicyForm(request.POST, inherits=inherits)
    is_trial = request.POST.get("do") == TRY
    form.fields["why"].required = not is_trial
    if not form.is_valid():
        return Said(scope, current, form, status=400)
    change = form.change(lake, scope)
    try:
        if is_trial:
            names = table_names(lake, user)
            return Said(scope, current, form, policy_preview(change, user=user, names=names))
        policy_set(change, user=user, now=timezone.now())
    except RuleViolation as error:
        form.refuse(error)
        return Said(scope, current, form, status=error.status)
    except StaleState as error:
        # The page shows what stands now, so the next try is for that version.
        current = policy_current(lake, scope)
        typed = request.POST.copy()
        typed["seen"] = str(current.version if current else 0)
        form = PolicyForm(typed, inherits=inherits)
        form.add_error(None, error.message)
        return Said(scope, current, form, status=error.status)
    messages.success(request, "It is set, and holds from the next decision on.")
    return Said(scope, current, form, is_kept=True)


def _inherits(lake: str, scope: str) -> Mapping[str, tuple[str, str]]:
    found = inherited_by(lake, scope)
    values = write_policy(found.policy)
    return {name: (say(name, values[name]), _from(found.sources[name])) for name in FIELDS}


def _from(scope: str) -> str:
    return BUILT_IN if scope == BUILT_IN else f"from {scope}"
