"""Tests where passwords of captured sources and of Kafka are taken from, at each use."""

from pathlib import Path
from typing import Any

import pytest

from pipelines.cdc.changes.domain.kafka_place import KafkaPlace
from pipelines.cdc.changes.services.passwords import (
    kafka_password,
    password_of,
    password_variables,
)
from portal.lake.errors import ExternalFailure, RuleViolation

PLACE = KafkaPlace("b1:9093", "changes", user="lake", password_name="KAFKA")
VARIABLE = "LAKEWARDEN_CDC_PASSWORD_KAFKA"


@pytest.fixture
def folder(settings: Any, tmp_path: Path) -> Path:
    settings.LAKEWARDEN_CAPTURE_PASSWORD_DIR = str(tmp_path)
    return tmp_path


def test_a_file_counts_before_the_variable_and_is_read_at_each_use(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "of the environment")
    assert kafka_password(PLACE) == "of the environment"
    for password in ("first", "second"):
        (folder / "KAFKA").write_text(f"{password}\n", encoding="utf-8")
        assert kafka_password(PLACE) == password
        assert password_variables([PLACE, None, KafkaPlace("b2:9092")]) == {VARIABLE: password}


def test_without_a_folder_only_the_variable_counts(
    settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "KAFKA").write_text("of another program", encoding="utf-8")
    monkeypatch.delenv(VARIABLE, raising=False)
    settings.LAKEWARDEN_CAPTURE_PASSWORD_DIR = ""
    assert password_of("KAFKA") is None
    with pytest.raises(RuleViolation, match=f"{VARIABLE} is not set, and .* has no file KAFKA"):
        kafka_password(PLACE)
    assert password_variables([PLACE]) == {}
    assert kafka_password(KafkaPlace("b2:9092")) == ""


def test_a_file_that_cannot_be_used_is_said_and_the_variable_is_not_taken(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "of the environment")
    (folder / "KAFKA").touch()
    with pytest.raises(ExternalFailure, match="LAKEWARDEN_CAPTURE_PASSWORD_DIR names is empty"):
        kafka_password(PLACE)
    (folder / "KAFKA").unlink()
    (folder / "KAFKA").mkdir()
    with pytest.raises(ExternalFailure, match="cannot be read"):
        kafka_password(PLACE)
