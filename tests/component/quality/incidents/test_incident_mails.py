"""Who is written to of incidents: one mail a person and run, only who may see the table."""

from datetime import date, timedelta
from typing import Any

import pytest

from portal.access.models import OwnerMapping, User
from portal.notices.kinds import mail_kind_title
from portal.notices.models import Notice
from portal.notices.services import WEBHOOK, notices_send
from quality.incidents.domain.states import Resolution
from quality.incidents.services.acting import incident_assign, incident_reopen, incident_resolve
from quality.incidents.services.escalation import incidents_escalate
from quality.incidents.services.mails import incidents_tell
from quality.models import CheckSet, Incident
from tests.component.conftest import People
from tests.component.quality.checks.checked import declare
from tests.component.quality.flag_lake import FlagLake
from tests.component.quality.incidents.failing import DAY, NOW, act, measured
from tests.support.mailbox import mail_server
from tests.support.together import together

HOUR = timedelta(hours=1)
pytestmark = pytest.mark.django_db


@pytest.fixture
def checks(hive: FlagLake, people: People) -> CheckSet:
    return declare(people.owner, NOW)


def told(now: Any = NOW) -> dict[str, str]:
    """Send what is due, and return the text of each mail by its reader."""
    Notice.objects.all().delete()
    incidents_tell("main", now=now)
    return {one.recipient: one.text for one in Notice.objects.all()}


def test_the_owner_gets_one_mail_of_all_that_fails(checks: CheckSet, people: People) -> None:
    measured(checks, NOW, (DAY, 4, 3))
    found = told()
    assert list(found) == ["olga"]
    text = found["olga"]
    assert text.index("enough of shop.notes") < text.index("no_nulls of shop.notes"), "blocks first"
    assert "row_count is 4, below the minimum of 5" in text
    assert f"/readiness/incidents/{Incident.objects.get(rule='enough').pk}/" in text
    notice = Notice.objects.get()
    assert notice.subject == ("[Lakewarden] 2 incidents of 1 table, enough of shop.notes first")
    assert mail_kind_title(notice.kind) == "Incidents of checks"
    measured(checks, NOW + HOUR, (DAY, 4, 3))
    assert told(NOW + HOUR) == {}, "nothing new"


def test_a_mail_arrives_at_a_real_server(checks: CheckSet, people: People, settings: Any) -> None:
    measured(checks, NOW, (DAY, 4, 0))
    incidents_tell("main", now=NOW)
    with mail_server() as (box, host, port):
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = host, port
        assert notices_send(now=NOW, today=date(2026, 11, 21))["sent"] == 1
    (mail,) = box.to("olga@example.org")
    assert mail["Subject"] == "[Lakewarden] Incident: enough of shop.notes"


def test_what_is_over_before_the_mail_is_not_told(checks: CheckSet, people: People) -> None:
    measured(checks, NOW, (DAY, 4, 0))
    measured(checks, NOW + HOUR, (DAY, 9, 0))
    assert told() == {}


def test_people_behind_an_owner_s_name_get_it_and_else_the_operators(
    checks: CheckSet, people: People
) -> None:
    CheckSet.objects.update(owner="etl")
    measured(checks, NOW, (DAY, 4, 0))
    assert list(told()) == ["otto"]
    for name in ("dora", "stan"):
        OwnerMapping.objects.create(
            lake="main", owner="etl", username=name, added_by="ada", added_at=NOW
        )
    Incident.objects.all().delete()
    measured(checks, NOW + HOUR, (DAY, 4, 0))
    assert sorted(told(NOW + HOUR)) == ["dora", "stan"]


def test_who_may_not_see_the_table_any_more_gets_no_mail(checks: CheckSet, people: People) -> None:
    measured(checks, NOW, (DAY, 4, 0))
    Incident.objects.update(owner="dora")
    assert list(told()) == ["otto"], "it was olga's when it was opened"


def test_who_left_gets_no_mail_and_the_admins_get_it_where_there_is_no_operator(
    checks: CheckSet, people: People
) -> None:
    measured(checks, NOW, (DAY, 4, 0))
    User.objects.filter(username__in=["olga", "otto"]).update(is_active=False)
    assert sorted(told()) == ["ada", "ben", "cem"]


def test_steps_are_told_to_who_has_it_then_and_not_to_who_took_them(
    checks: CheckSet, people: People
) -> None:
    measured(checks, NOW, (DAY, 4, 0))
    row = Incident.objects.get()
    told()
    incident_assign(row, act(people.owner, row, NOW), to="ada")
    assert list(told()) == ["ada"]
    incident_assign(row, act(people.owner, row, NOW), to="olga")
    assert told() == {}, "she gave it to herself"
    incidents_escalate("main", now=NOW + 9 * HOUR)
    assert list(told(NOW + 9 * HOUR)) == ["otto"]
    incidents_escalate("main", now=NOW + 50 * HOUR)
    assert sorted(told(NOW + 50 * HOUR)) == ["ada", "ben", "cem"]
    closing = act(people.admin, row, NOW)
    incident_resolve(row, closing, resolution=Resolution.FIXED, reason="done")
    assert told(NOW + 51 * HOUR) == {}
    incident_reopen(row, act(people.admin, row, NOW + 52 * HOUR), reason="no")
    assert sorted(told(NOW + 52 * HOUR)) == ["ben", "cem"]


def test_the_chat_gets_one_line_a_run(checks: CheckSet, people: People, settings: Any) -> None:
    settings.LAKEWARDEN_WEBHOOK_URL = "https://chat.example/hook"
    measured(checks, NOW, (DAY, 4, 3))
    text = told()[WEBHOOK]
    assert text.startswith("[Lakewarden] 2 incidents of 1 table, enough of shop.notes first: http")
    assert "row_count" not in text, "the chat does not get values"


def test_a_long_list_is_cut(checks: CheckSet, people: People) -> None:
    rules = "\n".join(f"  - {{name: r{n}, metric: row_count, min: {5 + n}}}" for n in range(30))
    text = f"table: shop.notes\npartition_key: dt\nrules:\n{rules}\n"
    row = declare(people.owner, NOW, text, version=0)
    measured(row, NOW, (DAY, 4, 0))
    text = told()["olga"]
    assert text.count("of shop.notes") < 25
    assert "10 more" in text


@pytest.mark.django_db(transaction=True)
def test_two_runs_at_once_tell_each_step_once(checks: CheckSet, people: People) -> None:
    measured(checks, NOW, (DAY, 4, 3))
    later = NOW + HOUR
    together(lambda: incidents_tell("main", now=NOW), lambda: incidents_tell("main", now=later))
    assert Notice.objects.count() == 1
