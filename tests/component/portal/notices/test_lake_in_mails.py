"""Tests that a mail names its lake where several are governed, and only there."""

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from portal.connectors.lake_config import LakeConfig
from portal.lake.ids import LakeId
from portal.notices.services import Mail, notice_queue
from tests.component.conftest import LAKE, NOW
from tests.support.lakes import local_lake

pytestmark = pytest.mark.django_db


def queued(kind: str, subject: str, text: str) -> tuple[str, str]:
    row = notice_queue(
        kind,
        lake=LAKE,
        day=date(2026, 11, 20),
        recipient="olga",
        email="olga@example.org",
        mail=Mail(subject, text),
        now=NOW,
    )
    return row.subject, row.text


def test_one_lake_is_not_named(lake: LakeConfig) -> None:
    assert queued("test.a", "[Lakewarden] News", "Hello.") == ("[Lakewarden] News", "Hello.")


def test_of_several_lakes_the_mail_names_its_own(
    lake: LakeConfig, tmp_path: Path, settings: Any
) -> None:
    entries = {LAKE: lake.as_dict(), "second": local_lake(tmp_path, LakeId("second")).as_dict()}
    settings.LAKEWARDEN_LAKES.write_text(json.dumps(entries), encoding="utf-8")
    assert queued("test.a", "[Lakewarden] News", "Hello.") == ("[Lakewarden main] News", "Hello.")
    assert queued("test.b", "Late: x", "Late: x\nhttps://a") == (
        "main: Late: x",
        "main: Late: x\nhttps://a",
    )
    assert queued("audit.head", "Audit record: head 7", "Keep it.")[0] == "Audit record: head 7"
