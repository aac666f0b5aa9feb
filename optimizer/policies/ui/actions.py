"""Handles a policy form: opened, previewed, saved, refused, or outrun by another person.

The same for a table's tab and for the page of any scope. What was typed is never lost.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from optimizer.models import HudiTable, IcebergTable, PolicyVersion
from optimizer.policies.domain.formats import POLICY_SCHEMAS, TableFormat, is_built_in
from optimizer.policies.domain.words import say
from optimizer.policies.selectors.policies import inherited_by, levels_of, policy_current
from optimizer.policies.selectors.scopes import format_of, table_names
from optimizer.policies.services.policies import policy_allowed, policy_may_set, policy_set
from optimizer.policies.services.preview import Preview, policy_preview
from optimizer.policies.ui.forms import PolicyForm, ScopeForm, shown
from optimizer.policies.ui.hudi_forms import HudiPolicyForm
from portal.access.models import User
from portal.lake.errors import RuleViolation, StaleState

TRY = "preview"
FORMS: Mapping[TableFormat, type[ScopeForm]] = {
    TableFormat.ICEBERG: PolicyForm,
    TableFormat.HUDI: HudiPolicyForm,
}
_PAGES = {TableFormat.ICEBERG: "policy-scope", TableFormat.HUDI: "hudi-policy-scope"}


@dataclass(frozen=True, slots=True)
class SettingRow:
    """One setting as it holds for a table, and the scope that says so; no address: built in."""

    title: str
    words: str
    scope: str
    url: str
    is_own: bool


@dataclass(frozen=True, slots=True)
class SubmittedPolicy:
    """What a page shows of its form; no form for who does not answer for the scope."""

    scope: str
    current: PolicyVersion | None
    form: ScopeForm | None
    preview: Preview | None = None
    status: int = 200
    is_kept: bool = False

    @property
    def is_late(self) -> bool:
        """Whether somebody was first."""
        return self.status == StaleState.status


def scope_url(lake: str, scope: str, table_format: TableFormat = TableFormat.ICEBERG) -> str:
    """Return the page of a scope."""
    page = reverse(f"optimizer:{_PAGES[table_format]}", args=[scope])
    return f"{page}?{urlencode({'lake': lake})}"


def settings_of(table: IcebergTable | HudiTable) -> list[SettingRow]:
    """Return every setting of a table as it resolves now."""
    about = format_of(table)
    manners, (levels, _) = POLICY_SCHEMAS[about], levels_of(table.lake, about)
    found = manners.resolve(levels, db=table.db, table=table.table)
    values, own = manners.write(found.policy), str(table).lower()
    return [
        SettingRow(
            manners.settings[name][0],
            say(name, values[name]),
            scope,
            "" if is_built_in(scope) or scope == own else scope_url(table.lake, scope, about),
            is_own=scope == own,
        )
        for name, scope in ((name, found.sources[name]) for name in manners.fields)
    ]


def policy_submitted(
    request: HttpRequest,
    *,
    lake: str,
    scope: str,
    user: User,
    table_format: TableFormat = TableFormat.ICEBERG,
) -> SubmittedPolicy:
    """Do what the form asks.

    Raises:
        NotAllowed, NotVisible: for who sends the form and does not answer for the scope.
    """
    scope, make = scope.lower(), FORMS[table_format]
    current = policy_current(lake, scope, table_format)
    inherits = _inherits(lake, scope, table_format)
    if request.method != "POST":
        opened = shown(current.values if current else {}, current.version if current else 0)
        form = make(initial=opened, inherits=inherits)
        may_set = policy_may_set(lake, scope, user, table_format)
        return SubmittedPolicy(scope, current, form if may_set else None)
    policy_allowed(lake, scope, user, table_format)
    form = make(request.POST, inherits=inherits)
    is_trial = request.POST.get("do") == TRY
    form.fields["reason"].required = not is_trial
    if not form.is_valid():
        return SubmittedPolicy(scope, current, form, status=400)
    change = form.change(lake, scope)
    try:
        if is_trial:
            names = table_names(lake, user, table_format)
            return SubmittedPolicy(
                scope, current, form, policy_preview(change, user=user, names=names)
            )
        policy_set(change, user=user, now=timezone.now())
    except RuleViolation as error:
        form.refuse(error)
        return SubmittedPolicy(scope, current, form, status=error.status)
    except StaleState as error:
        # The page shows what stands now, so the next try is for that version.
        current = policy_current(lake, scope, table_format)
        typed = request.POST.copy()
        typed["seen"] = str(current.version if current else 0)
        form = make(typed, inherits=inherits)
        form.add_error(None, error.message)
        return SubmittedPolicy(scope, current, form, status=error.status)
    messages.success(request, "Policy saved. It applies from the next planning cycle.")
    return SubmittedPolicy(scope, current, form, is_kept=True)


def _inherits(lake: str, scope: str, table_format: TableFormat) -> Mapping[str, tuple[str, str]]:
    found, manners = inherited_by(lake, scope, table_format), POLICY_SCHEMAS[table_format]
    values = manners.write(found.policy)
    return {name: (say(name, values[name]), _from(found.sources[name])) for name in manners.fields}


def _from(scope: str) -> str:
    return scope if is_built_in(scope) else f"from {scope}"
