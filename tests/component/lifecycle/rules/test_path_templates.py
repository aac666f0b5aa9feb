"""Where a database may lie: admins set it with a reason, from a shell, and it is recorded."""

import pytest
from django.core.management import CommandError, call_command

from lifecycle.models import DatabaseSetting
from portal.access.services import person_create
from portal.audit.models import AuditEvent
from portal.connectors.lake_config import LakeConfig


def _set(template: str, *, user: str, reason: str = "our warehouse") -> None:
    call_command("path_template", template, "sales", "web", user=user, reason=reason)


@pytest.mark.django_db
def test_an_admin_sets_the_template_once_and_it_is_recorded(lake: LakeConfig) -> None:
    person_create("ada", password="correct horse staple", email="a@example.org", roles=["admin"])
    _set("/warehouse/{owner}", user="ada")
    _set("/warehouse/{owner}", user="ada")
    rows = DatabaseSetting.objects.values_list("db", "template").order_by("db")
    assert list(rows) == [("sales", "/warehouse/{owner}"), ("web", "/warehouse/{owner}")]
    assert AuditEvent.objects.filter(action="database.template_changed").count() == 2


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("template", "user", "reason", "code"),
    [
        ("/warehouse/{owner}", "stan", "why not", "template.role"),
        ("/warehouse/{owner}", "ada", " ", "template.reason"),
        ("/warehouse/{db}", "ada", "typo", "template.placeholder"),
        ("warehouse", "ada", "typo", "path.relative"),
        ("/warehouse", "nobody", "typo", "no user"),
    ],
)
def test_others_and_unreadable_templates_are_refused(
    lake: LakeConfig, template: str, user: str, reason: str, code: str
) -> None:
    person_create("ada", password="correct horse staple", email="a@example.org", roles=["admin"])
    person_create("stan", password="correct horse staple", email="s@example.org")
    with pytest.raises(CommandError, match=code):
        _set(template, user=user, reason=reason)
    assert not DatabaseSetting.objects.exclude(template="").exists()
