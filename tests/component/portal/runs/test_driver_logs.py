"""The driver's log of a run: who reads it, page by page, without secrets, and of no other file."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.html import escape
from pytest_django.fixtures import Settings

from portal.access.models import User
from portal.lake.errors import RuleViolation
from portal.runs.execution.settling import manifest_of
from portal.runs.kinds import registry
from portal.runs.kinds.registry import RunKind
from portal.runs.models import Run, RunEvent
from portal.runs.records import driver_logs
from portal.runs.records.spools import log_file
from tests.component.conftest import LAKE, NOW, People

pytestmark = pytest.mark.usefixtures("lake")
PASSWORD = "correct horse"


class SecretKind(RunKind):
    """A kind whose job gets a password."""

    name = "test.secret"
    title = "Secret"
    job = "lifecycle.core.jobs.none"

    def environment(self, run: Run) -> dict[str, str]:
        if run.params.get("unreadable"):
            raise RuleViolation("config.password_file", "The password file cannot be read.")
        return {"LW_PASSWORD": PASSWORD}


@pytest.fixture(autouse=True)
def kind() -> Iterator[None]:
    """A kind that is known as long as the test runs."""
    registry.register(SecretKind())
    yield
    registry._kinds.pop(SecretKind.name)


def make_run(by: User, text: str | bytes | None = None, **fields: Any) -> Run:
    values = {"lake": LAKE, "kind": SecretKind.name, "queued_at": NOW, "epoch": 1, **fields}
    run = Run.objects.create(requested_by=by.username, **values)
    if text is not None:
        write(run, text)
    return run


def write(run: Run, text: str | bytes) -> Path:
    path = log_file(run)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def page(run: Run) -> str:
    return reverse("ui:run-driver-log", args=[run.pk])


def api(run: Run) -> str:
    return reverse("ui:api-run-driver-log", args=[run.pk])


def shown(user: User, address: str) -> str:
    answer = client_of(user).get(address)
    assert answer.status_code == 200
    return bytes(b"".join(answer) if answer.streaming else answer.content).decode()


def test_the_log_is_read_by_those_who_may_see_the_run(people: People) -> None:
    run = make_run(people.owner, "first <b>\nlast\n")
    for user in (people.owner, people.admin):
        text = shown(user, page(run))
        assert "first &lt;b&gt;" in text
        assert text.index("first") < text.index("last")
        assert client_of(user).get(api(run)).json()["lines"] == ["first <b>", "last"]
    for address in (page(run), page(run) + "?format=text", api(run)):
        assert client_of(people.stranger).get(address).status_code == 404
    assert page(run) in shown(people.owner, reverse("ui:run", args=[run.pk]))
    told = client_of(people.owner).get(reverse("ui:api-run", args=[run.pk])).json()
    assert told["driver_log"] == page(run)


def test_a_run_without_a_captured_log_says_why_and_is_not_linked(people: People) -> None:
    run = make_run(people.owner)
    assert "No captured log" in shown(people.owner, page(run))
    assert client_of(people.owner).get(api(run)).json() == {
        "attempt": 1,
        "attempts": [],
        "lines": [],
        "older": None,
    }
    assert page(run) not in shown(people.owner, reverse("ui:run", args=[run.pk]))
    told = client_of(people.owner).get(reverse("ui:api-run", args=[run.pk])).json()
    assert told["driver_log"] == ""


def test_secrets_are_out_of_page_api_download_and_last_words(people: People) -> None:
    run = make_run(
        people.owner,
        f"x {PASSWORD}\njdbc:mysql://hive:hunter2@db/hive\nkey.token=opensesame\nplain\n",
    )
    texts = [shown(people.owner, address) for address in (page(run), api(run))]
    texts += [shown(people.owner, page(run) + "?format=text"), str(manifest_of(run)["log"])]
    for text in texts:
        assert "plain" in text
        for secret in (PASSWORD, "hunter2", "opensesame"):
            assert secret not in text, text
    assert client_of(people.owner).get(api(run) + "?text=hunter2").json()["lines"] == []


def test_a_log_whose_secrets_cannot_be_told_is_not_shown(people: People) -> None:
    run = make_run(people.owner, f"x {PASSWORD}\n", params={"unreadable": True})
    for address in (page(run), page(run) + "?format=text", api(run)):
        answer = client_of(people.owner).get(address)
        assert answer.status_code == 400
        assert PASSWORD not in answer.content.decode()
    assert PASSWORD not in str(manifest_of(run)["log"])
    assert client_of(people.owner).get(reverse("ui:run", args=[run.pk])).status_code == 200


def test_a_long_log_is_read_in_bounded_pages_and_narrowed(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver_logs, "WINDOW", 2_000)
    lines = [f"line {n:05d} é" for n in range(1_000)]
    lines[7] += " ERROR"
    run = make_run(people.owner, "\n".join(lines) + "\n")
    client = client_of(people.owner)
    found: list[str] = []
    older: int | str | None = ""
    while older is not None:
        answer = client.get(api(run), {"before": older}).json()
        found = answer["lines"] + found
        older = answer["older"]
    assert found == lines
    narrowed: list[str] = []
    asked, older = 0, ""
    while older is not None:
        answer = client.get(api(run), {"before": older, "text": "error"}).json()
        narrowed, asked, older = answer["lines"] + narrowed, asked + 1, answer["older"]
    assert (narrowed, asked) == ([lines[7]], 2)
    text = shown(people.owner, page(run))
    assert "Older lines" in text
    assert lines[-1] in text
    assert lines[0] not in text
    assert shown(people.owner, page(run) + "?format=text") == "\n".join(lines) + "\n"
    assert "No line of this part fits" in shown(people.owner, page(run) + "?text=absent")


def test_a_line_without_end_is_left_out_and_the_rest_is_read(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver_logs, "WINDOW", 100)
    run = make_run(people.owner, b"first\n" + b"\xff" * 950 + b"\nlast\nno end")
    client = client_of(people.owner)
    found: list[str] = []
    older: int | str | None = ""
    while older is not None:
        answer = client.get(api(run), {"before": older}).json()
        found, older = answer["lines"] + found, answer["older"]
    assert found[0] == "first"
    assert found[-2:] == ["last", "no end"]
    assert set(found[1:-2]) == {driver_logs.LEFT_OUT}
    text = shown(people.owner, page(run) + "?format=text")
    assert text == f"first\n{driver_logs.LEFT_OUT}\nlast\nno end"


def test_each_attempt_has_its_log(people: People) -> None:
    run = make_run(people.owner, "of the first\n")
    run.epoch = 3
    run.save()
    write(run, "of the third\n")
    client = client_of(people.owner)
    assert client.get(api(run)).json()["attempts"] == [1, 3]
    assert client.get(api(run)).json()["lines"] == ["of the third"]
    assert client.get(api(run) + "?attempt=1").json()["lines"] == ["of the first"]
    assert "of the first" in shown(people.owner, page(run) + "?attempt=1")
    assert client.get(api(run) + "?attempt=2").json()["lines"] == []


@pytest.mark.parametrize(
    "query",
    [
        *("attempt=4", "attempt=0", "attempt=-1", "attempt=../x", "attempt=1%00", "attempt=9" * 9),
        *("before=-1", "before=x", "before=" + "9" * 30, "before=1.5"),
        *("text=" + "x" * 300, "text=%00"),
    ],
)
def test_odd_values_open_nothing(people: People, query: str) -> None:
    run = make_run(people.owner, "the only line\n")
    client = client_of(people.owner)
    assert "the only line" not in client.get(f"{page(run)}?{query}").content.decode()
    answer = client.get(f"{api(run)}?{query}")
    assert answer.status_code == 400
    assert "the only line" not in answer.content.decode()


def test_no_place_in_the_log_shows_a_part_of_a_secret(people: People) -> None:
    text = f"{PASSWORD} one\n{PASSWORD} two\n"
    run = make_run(people.owner, text)
    client = client_of(people.owner)
    for before in range(len(text) + 2):
        told = str(client.get(f"{api(run)}?before={before}").json()["lines"])
        assert not any(part in told for part in ("corr", "horse", "rect")), before


def test_a_link_in_the_place_of_a_log_is_not_followed(people: People, tmp_path: Path) -> None:
    secret = tmp_path / "secret_key"
    secret.write_text("of no log\n")
    run = make_run(people.owner)
    log_file(run).parent.mkdir(exist_ok=True)
    log_file(run).symlink_to(secret)
    for address in (page(run), api(run), page(run) + "?format=text"):
        assert "of no log" not in shown(people.owner, address)
    assert "of no log" not in str(manifest_of(run)["log"])


def test_the_run_page_says_where_both_logs_are(people: People) -> None:
    run = make_run(people.owner, "line\n")
    RunEvent.objects.create(run=run, seq=1, at=NOW, level="info", text="said")
    text = shown(people.owner, reverse("ui:run", args=[run.pk]))
    assert "Download the whole log" in text
    assert "Log of the driver" in text


def test_the_log_on_the_cluster_is_linked_where_an_address_is_set(
    people: People, settings: Settings
) -> None:
    template = "https://yarn.example.org/logs?a={application_id}&b=1"
    for setting, application, wanted in (
        (
            template,
            "application_17_0002",
            "https://yarn.example.org/logs?a=application_17_0002&b=1",
        ),
        (template, "local-1700000000000", ""),
        (template, "", ""),
        (template, "x/../y?z", ""),
        ("", "application_17_0002", ""),
    ):
        settings.LAKEWARDEN_DRIVER_LOG_URL = setting
        run = make_run(people.owner, application_id=application)
        told = client_of(people.owner).get(reverse("ui:api-run", args=[run.pk])).json()
        assert (told["cluster_log"], told["application_id"]) == (wanted, application)
        text = shown(people.owner, reverse("ui:run", args=[run.pk]))
        assert ("Log of the driver on the cluster" in text) is bool(wanted)
        assert escape(wanted) in text
