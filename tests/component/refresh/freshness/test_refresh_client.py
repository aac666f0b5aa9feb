"""The schedulers' client against a real HTTP server: what it sends, repeats, refuses and says."""

import ast
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from refresh import client
from refresh.client import Portal, RefreshError, main, read_token

Answer = tuple[int, dict[str, str], str]
TAKEN: Answer = (202, {}, '{"id": "7"}')


@dataclass
class Site:
    """What the server was told, and its next answers; the last one stays."""

    url: str = ""
    answers: list[Answer] = field(default_factory=lambda: [TAKEN])
    told: list[tuple[str, str, Any]] = field(default_factory=list)


@pytest.fixture
def site() -> Iterator[Site]:
    told = Site()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            told.told.append((self.path, self.headers["Authorization"], json.loads(body)))
            status, headers, text = told.answers[0]
            if len(told.answers) > 1:
                del told.answers[0]
            if not status:
                return
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    told.url = f"http://127.0.0.1:{server.server_port}"
    yield told
    server.shutdown()
    server.server_close()


def portal(site: Site, waits: list[float] | None = None, *, patience: float = 60.0) -> Portal:
    pauses = waits if waits is not None else []
    return Portal(site.url, "s3cret", timeout=5, patience=patience, pause=pauses.append)


def test_a_table_and_its_partitions_are_told_once(site: Site) -> None:
    assert portal(site).tell("shop.sales", ["dt=2026-11-21/name=o'é"]) == {"id": "7"}
    body = {"table": "shop.sales", "partitions": ["dt=2026-11-21/name=o'é"]}
    assert site.told == [("/api/refresh/", "Bearer s3cret", body)]
    portal(site).tell("shop.sales", lake="archive")
    assert site.told[1][2] == {"lake": "archive", "table": "shop.sales", "partitions": []}
    assert "s3cret" not in repr(portal(site))


@pytest.mark.parametrize("status", [429, 502, 503, 504, 0])
def test_a_busy_portal_is_told_again_until_it_takes_it_in(site: Site, status: int) -> None:
    waits: list[float] = []
    site.answers = [(status, {"Retry-After": "7"}, "busy"), (status, {}, ""), TAKEN]
    assert portal(site, waits).tell("shop.sales") == {"id": "7"}
    assert len(site.told) == 3
    assert waits[0] == 7 if status else 0.5 <= waits[0] <= 1
    assert 1 <= waits[1] <= 2


def test_patience_ends_with_what_to_do(site: Site) -> None:
    site.answers = [(503, {"Retry-After": "30"}, '{"message": "The queue is full."}')]
    with pytest.raises(RefreshError, match=r"1 tries: 503 The queue is full\. - tell it") as busy:
        portal(site, patience=20).tell("shop.sales")
    assert (busy.value.is_temporary, busy.value.status) == (True, 503)


def test_a_portal_that_is_not_there_is_a_matter_of_time() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(RefreshError, match="does not answer") as gone:
        Portal(url, "x", patience=0).tell("shop.sales")
    assert gone.value.is_temporary


@pytest.mark.parametrize(
    ("status", "text", "words"),
    [
        (400, '{"code": "name.table", "message": "Not of the form db.table."}', "db.table"),
        (401, '{"detail": "No."}', "ask an operator"),
        (403, "<html>", "may not refresh"),
        (404, "", "Check the address"),
        (500, "boom", "500"),
        (302, "", "302"),
    ],
)
def test_a_refusal_is_final_and_says_what_to_do(
    site: Site, status: int, text: str, words: str
) -> None:
    site.answers = [(status, {"Location": f"{site.url}/elsewhere"}, text)]
    with pytest.raises(RefreshError, match=words) as refused:
        portal(site).tell("shop.sales")
    assert (refused.value.is_temporary, refused.value.status) == (False, status)
    assert len(site.told) == 1


@pytest.mark.parametrize("text", ["", "<html>", "[1]", "7"])
def test_an_answer_that_is_not_the_portals_is_no_yes(site: Site, text: str) -> None:
    site.answers = [(200, {}, text)]
    with pytest.raises(RefreshError, match="not the portal"):
        portal(site).tell("shop.sales")


@pytest.mark.parametrize("url", ["http://portal.example.com", "ftp://x", "portal", "", "https://"])
def test_a_token_goes_to_a_safe_address_only(url: str) -> None:
    with pytest.raises(RefreshError, match="no address"):
        Portal(url, "x")


@pytest.mark.parametrize("token", ["", "a\nb", "é", "a\r\nX-Evil: 1"])
def test_a_token_that_is_none_is_refused(token: str) -> None:
    with pytest.raises(RefreshError, match="token"):
        Portal("https://portal.example.com", token)


def test_a_token_file_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "token"
    with pytest.raises(RefreshError, match="cannot be read"):
        read_token(path)
    path.write_text("s3cret\n")
    path.chmod(0o640)
    with pytest.raises(RefreshError, match="chmod 600"):
        read_token(path)
    path.chmod(0o600)
    assert read_token(path) == "s3cret"


def test_the_command_says_by_its_code_whether_to_try_again(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    token = tmp_path / "token"
    token.write_text("s3cret")
    token.chmod(0o600)
    told = ["--url", site.url, "--token-file", str(token), "--table", "shop.sales"]
    done = subprocess.run(
        [sys.executable, "-I", client.__file__, *told, "--partition", "dt=1", "--partition=dt=2"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, json.loads(done.stdout)) == (0, {"id": "7"})
    assert site.told[0][2]["partitions"] == ["dt=1", "dt=2"]
    site.answers = [(400, {}, "{}")]
    assert main(told) == 1
    site.answers = [(503, {}, "{}")]
    assert main([*told, "--patience", "0"]) == 75
    assert "tell it again later" in capsys.readouterr().err


def test_the_client_needs_nothing_but_the_standard_library() -> None:
    tree = ast.parse(Path(client.__file__).read_text(encoding="utf-8"))
    named = {
        name.split(".")[0]
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert named <= sys.stdlib_module_names


TOLD = {"lake": "main", "table": "shop.sales", "written_at": "T", "shown_as": ["bi: shop.sales"]}


def seen(*, is_visible: bool, is_over: bool, may_go_on: bool, again: int = 0) -> Answer:
    said = {"is_visible": is_visible, "is_over": is_over, "may_go_on": may_go_on}
    return 200, {}, json.dumps(said | {"ask_again_seconds": again, "clusters": []})


VISIBLE = seen(is_visible=True, is_over=True, may_go_on=True)
NOT_YET = seen(is_visible=False, is_over=False, may_go_on=False, again=1)
TOO_LATE = seen(is_visible=False, is_over=True, may_go_on=False)


def test_n14_the_wait_asks_again_until_it_is_over(site: Site) -> None:
    waits: list[float] = []
    site.answers = [NOT_YET, (503, {"Retry-After": "2"}, ""), VISIBLE]
    answer = portal(site, waits).wait(TOLD, ["dt=1"], seconds=60)
    assert answer["is_visible"]
    assert waits == [1.0, 2.0]
    address, token, body = site.told[0]
    assert (address, token) == ("/api/refresh/wait", "Bearer s3cret")
    assert 59 < body.pop("timeout") <= 60
    told = {"lake": "main", "table": "shop.sales", "written_at": "T"}
    assert body == {**told, "partitions": ["dt=1"], "strict": True}


def test_n14_a_table_that_nobody_shows_is_not_waited_for(site: Site) -> None:
    assert portal(site).wait({**TOLD, "shown_as": []}, seconds=60)["may_go_on"]
    assert site.told == []


def test_n14_a_portal_that_stays_away_is_no_yes(site: Site) -> None:
    site.answers = [(503, {"Retry-After": "30"}, "{}")]
    with pytest.raises(RefreshError, match=r"could not say whether shop\.sales") as away:
        portal(site).wait(TOLD, seconds=5)
    assert away.value.is_temporary


def test_n14_the_command_says_by_its_code_whether_it_is_visible(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    token = tmp_path / "token"
    token.write_text("s3cret")
    token.chmod(0o600)
    told = ["--url", site.url, "--token-file", str(token), "--table", "shop.sales", "--wait", "9"]
    taken: Answer = (202, {}, json.dumps(TOLD))
    site.answers = [taken, VISIBLE]
    assert main(told) == 0
    site.answers = [taken, TOO_LATE]
    assert main(told) == 3
    site.answers = [taken, seen(is_visible=False, is_over=True, may_go_on=True)]
    assert main([*told, "--best-effort"]) == 0
    assert site.told[-1][2]["strict"] is False
    assert '"is_visible": false' in capsys.readouterr().out
