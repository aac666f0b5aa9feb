"""Tests that Home says how far the demo's played days are, and says nothing elsewhere."""

from pathlib import Path
from typing import Any

import pytest

from stack.demo_days import Progress
from tests.component.conftest import People
from tests.component.portal.ui.test_home_pictures import client_of

pytestmark = pytest.mark.usefixtures("lake")


def home(people: People) -> str:
    return client_of(people.admin).get("/").content.decode()


def test_home_says_which_day_the_demo_plays(people: People, settings: Any, tmp_path: Path) -> None:
    settings.LAKEWARDEN_DEMO_PROGRESS = str(tmp_path / "played.json")
    assert "The demo is playing" not in home(people)
    progress = Progress(tmp_path / "played.json", n_days=9)
    progress.begin(1, days_ago=8)
    assert "The demo is playing day 1 of 9." in home(people)
    progress.done()
    progress.begin(2, days_ago=7)
    assert "The demo is playing day 2 of 9, about a minute left." in home(people)
    progress.end()
    assert "The demo is playing" not in home(people)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"day": 1}'])
def test_a_file_that_is_none_says_nothing(
    people: People, settings: Any, tmp_path: Path, text: str
) -> None:
    path = tmp_path / "played.json"
    path.write_text(text)
    settings.LAKEWARDEN_DEMO_PROGRESS = str(path)
    assert "The demo is playing" not in home(people)


def test_a_real_portal_plays_no_days(people: People, settings: Any) -> None:
    settings.LAKEWARDEN_DEMO_PROGRESS = ""
    assert "The demo is playing" not in home(people)
