"""Tests lines of the log: one line an event in both forms, with what it belongs to."""

import json
import logging
import threading
from contextvars import copy_context
from types import SimpleNamespace
from typing import Any

import pytest

from portal import log_context
from portal.log_context import ContextFilter, bind_process, bound, context
from portal.log_lines import JsonLine, OneLine, readable
from portal.settings.logs import log_format, logging_config

ODD = "a\nb\r\u2028c\u2029d\x85e\x1b[31m\x00\ud83d \N{SNOWMAN} \U0001f600 'q' \"q\" \\"


def record(message: str, *args: object, **fields: Any) -> logging.LogRecord:
    made = logging.LogRecord("lw.test", logging.INFO, "x.py", 1, message, args, None)
    made.__dict__.update(fields)
    assert ContextFilter().filter(made)
    return made


def as_json(made: logging.LogRecord) -> dict[str, Any]:
    line = JsonLine().format(made)
    assert len(line.splitlines()) == 1
    assert line.isascii()
    read: dict[str, Any] = json.loads(line)
    return read


def text(made: logging.LogRecord) -> str:
    return OneLine("%(levelname)s %(message)s").format(made)


def failed() -> logging.LogRecord:
    made = record("it broke")
    try:
        raise ValueError(ODD)
    except ValueError as error:
        made.exc_info = (type(error), error, error.__traceback__)
    return made


def test_a_line_has_its_fields() -> None:
    said = as_json(record("n is %d", 3))
    assert said["message"] == "n is 3"
    assert (said["level"], said["logger"]) == ("INFO", "lw.test")
    assert said["timestamp"].endswith("+00:00")
    assert isinstance(said["process"], int)
    assert said.keys() == {"timestamp", "level", "logger", "message", "process"}


def test_odd_text_stays_one_line_and_is_read_back_as_it_was() -> None:
    with bound(lake=ODD):
        made = record("table %s", ODD)
    said = as_json(made)
    assert said["message"] == f"table {ODD}"
    assert said["lake"] == ODD
    assert len(text(made).splitlines()) == 1


def test_a_traceback_is_a_field_of_its_line() -> None:
    said = as_json(failed())
    assert said["message"] == "it broke"
    assert said["traceback"].startswith("Traceback (most recent call last):\n")
    assert "ValueError: a\nb" in said["traceback"]


def test_what_is_bound_is_on_every_line_until_the_block_ends() -> None:
    with bound(run="r1", lake="main", person=lambda: "ada", task=""):
        inner = as_json(record("x"))
        with bound(run="r2"):
            assert as_json(record("x"))["run"] == "r2"
        assert text(record("x")) == "INFO x [person=ada run=r1 lake=main]"
    assert (inner["run"], inner["lake"], inner["person"]) == ("r1", "main", "ada")
    assert "task" not in inner
    assert context() == {}
    assert text(record("x")) == "INFO x"


def test_a_thread_knows_it_in_a_copied_context_or_from_its_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(log_context, "_of_process", {})
    heard: list[dict[str, str]] = []

    def say() -> None:
        heard.append(context())

    with bound(run="r1"):
        for target in (say, lambda: copy_context().run(say)):
            thread = threading.Thread(target=target)
            thread.start()
            thread.join()
        copied = threading.Thread(target=copy_context().run, args=(say,))
        copied.start()
        copied.join()
    bind_process(pipeline="shop")
    thread = threading.Thread(target=say)
    thread.start()
    thread.join()
    assert heard == [{}, {}, {"run": "r1"}, {"pipeline": "shop"}]


def test_only_known_fields_of_a_call_are_written() -> None:
    request = SimpleNamespace(path="/callback/?code=abc")
    made = record("x", status=404, route="a/<str:b>/", request=request, status_code=404, values=[1])
    said = as_json(made)
    assert (said["status"], said["route"]) == (404, "a/<str:b>/")
    assert "values" not in said
    assert "request" not in said
    assert "code=abc" not in JsonLine().format(made)


@pytest.mark.parametrize(
    "secret",
    ["password=hunter2hunter2", "Bearer lw_hunter2hunter2", "mysql://app:hunter2hunter2@db/portal"],
)
def test_what_is_called_a_secret_is_not_written(secret: str) -> None:
    made = record("cannot connect: %s", secret)
    try:
        raise ValueError(secret)
    except ValueError as error:
        made.exc_info = (type(error), error, error.__traceback__)
    for line in (JsonLine().format(made), text(made)):
        assert "hunter2" not in line
        assert "***" in line


def test_a_line_is_shown_to_people_as_they_read_it() -> None:
    said = readable(JsonLine().format(failed()))
    stamp, _, words = said.partition(" ")
    assert stamp.endswith("+00:00")
    assert words.startswith("it broke\nTraceback")
    for other in ("2026-11-20 plain", "", '{"a": 1}', '{"timestamp": ', '["timestamp", "message"]'):
        assert readable(other) == other


def test_the_form_is_asked_for_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LAKEWARDEN_LOG_FORMAT", raising=False)
    assert log_format("json") == "json"
    monkeypatch.setenv("LAKEWARDEN_LOG_FORMAT", "text")
    assert log_format("json") == "text"
    assert logging_config("text")["handlers"]["console"]["formatter"] == "line"
    monkeypatch.setenv("LAKEWARDEN_LOG_FORMAT", "xml")
    with pytest.raises(ValueError, match="json, text"):
        log_format("json")
