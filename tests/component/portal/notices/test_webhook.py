"""Lines to a chat by a real HTTP server: counted and shown like mails, never led elsewhere."""

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from portal.lake.errors import ExternalFailure, RuleViolation
from portal.notices.models import Notice, NoticeState
from portal.notices.services import notices_send, webhook_queue
from portal.notices.webhook import webhook_post

pytestmark = pytest.mark.django_db
TODAY = date(2026, 11, 20)


@dataclass
class Chat:
    """What the server was told, and how it answers: a status, or 0 to hang up."""

    port: int = 0
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    lines: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)


@pytest.fixture
def chat(settings: Any) -> Iterator[Chat]:
    """A chat server on loopback that the settings name and allow."""
    told = Chat()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            told.lines.append((self.path, self.headers["Host"], json.loads(body)))
            if not told.status:
                return
            self.send_response(told.status)
            for name, value in told.headers.items():
                self.send_header(name, value)
            self.end_headers()

        def log_message(self, *_args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    told.port = server.server_port
    threading.Thread(target=server.serve_forever, daemon=True).start()
    settings.LAKEWARDEN_WEBHOOK_URL = f"http://chat.example:{told.port}/hook/topsecret"
    settings.LAKEWARDEN_WEBHOOK_HOSTS = (f"chat.example:{told.port}", f"127.0.0.1:{told.port}")
    settings.LAKEWARDEN_WEBHOOK_NETWORKS = ("127.0.0.1/32",)
    settings.LAKEWARDEN_WEBHOOK_PLAIN = True
    yield told
    server.shutdown()
    server.server_close()


def here(_host: str, _port: int) -> list[str]:
    return ["127.0.0.1"]


def queue(chat: Chat, settings: Any, now: datetime) -> Notice:
    settings.LAKEWARDEN_WEBHOOK_URL = f"http://127.0.0.1:{chat.port}/hook/topsecret"
    notice = webhook_queue("daily", lake="main", day=TODAY, text="9 dropped\nsee <b>", now=now)
    assert notice is not None
    return notice


def test_a_line_arrives_under_its_own_name_at_the_checked_address(chat: Chat) -> None:
    webhook_post({"text": "9 dropped"}, resolver=here)
    assert chat.lines == [("/hook/topsecret", f"chat.example:{chat.port}", {"text": "9 dropped"})]


def test_a_name_is_resolved_once_and_one_bad_address_refuses_it(chat: Chat, settings: Any) -> None:
    asked: list[str] = []

    def changing(host: str, _port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["169.254.169.254"]

    webhook_post({"text": "x"}, resolver=changing)
    assert asked == ["chat.example"]
    with pytest.raises(RuleViolation, match=r"169\.254\.169\.254"):
        webhook_post({"text": "x"}, resolver=lambda *_: ["127.0.0.1", "169.254.169.254"])
    settings.LAKEWARDEN_WEBHOOK_NETWORKS = ()
    with pytest.raises(RuleViolation, match="LAKEWARDEN_WEBHOOK_NETWORKS"):
        webhook_post({"text": "x"}, resolver=here)
    assert len(chat.lines) == 1


@pytest.mark.parametrize(
    ("status", "code", "retryable"),
    [
        (302, "webhook.refused", False),
        (307, "webhook.refused", False),
        (404, "webhook.refused", False),
        (429, "webhook.refused", True),
        (500, "webhook.refused", True),
        (0, "webhook.lost", True),
    ],
)
def test_redirects_are_not_followed_and_refusals_say_whether_later_helps(
    chat: Chat, status: int, code: str, *, retryable: bool
) -> None:
    chat.status, chat.headers = status, {"Location": f"http://127.0.0.1:{chat.port}/other"}
    with pytest.raises(ExternalFailure) as caught:
        webhook_post({"text": "x"}, resolver=here)
    assert (caught.value.code, caught.value.retryable) == (code, retryable)
    assert "topsecret" not in caught.value.message
    assert len(chat.lines) == 1


def test_a_server_without_a_certificate_gets_no_line(chat: Chat, settings: Any) -> None:
    settings.LAKEWARDEN_WEBHOOK_URL = f"https://chat.example:{chat.port}/hook/topsecret"
    with pytest.raises(ExternalFailure) as caught:
        webhook_post({"text": "x"}, resolver=here)
    assert caught.value.code == "webhook.silent"
    assert chat.lines == []


def test_a_line_is_sent_once_a_kind_and_day(chat: Chat, settings: Any, now: datetime) -> None:
    notice = queue(chat, settings, now)
    assert queue(chat, settings, now).pk == notice.pk
    assert notices_send(now=now, today=TODAY) == {"sent": 1, "failed": 0, "retry": 0}
    assert notices_send(now=now, today=TODAY)["sent"] == 0
    assert [line[2]["text"] for line in chat.lines] == ["9 dropped\nsee &lt;b&gt;"]


def test_what_failed_is_shown_and_a_lost_answer_is_counted(
    chat: Chat, settings: Any, now: datetime
) -> None:
    chat.status = 0
    notice = queue(chat, settings, now)
    assert notices_send(now=now, today=TODAY)["retry"] == 1
    chat.status = 404
    later = now + timedelta(hours=1)
    assert notices_send(now=later, today=TODAY)["failed"] == 1
    notice.refresh_from_db()
    assert (notice.state, notice.n_repeats) == (NoticeState.FAILED, 1)
    assert notice.error == "127.0.0.1 answered 404."


def test_an_address_in_a_file_counts_and_is_read_for_each_message(
    chat: Chat, settings: Any, tmp_path: Path, now: datetime
) -> None:
    file = tmp_path / "webhook"
    settings.LAKEWARDEN_WEBHOOK_URL = ""
    settings.LAKEWARDEN_WEBHOOK_URL_FILE = str(file)
    with pytest.raises(ExternalFailure, match="LAKEWARDEN_WEBHOOK_URL_FILE names cannot be read"):
        webhook_post({"text": "none"}, resolver=here)
    assert webhook_queue("daily", lake="main", day=TODAY, text="x", now=now) is not None
    for path in ("/hook/former", "/hook/newer"):
        file.write_text(f"http://127.0.0.1:{chat.port}{path}\n", encoding="utf-8")
        webhook_post({"text": path}, resolver=here)
    assert [path for path, _, _ in chat.lines] == ["/hook/former", "/hook/newer"]


def test_without_a_webhook_nothing_is_queued(settings: Any, now: datetime) -> None:
    settings.LAKEWARDEN_WEBHOOK_URL = ""
    assert webhook_queue("daily", lake="main", day=TODAY, text="x", now=now) is None
    assert not Notice.objects.exists()
