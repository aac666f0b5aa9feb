"""The benchmark of file indexes meets its goals at a small size, and finds every matching line."""

import pytest

from bench import index
from bench.index_lines import LINES_A_FILE, QUESTIONS, files


def test_the_lines_are_the_same_for_a_seed() -> None:
    (once,), (again,) = files(1), files(1)
    assert once == again
    assert len(once) == LINES_A_FILE
    assert any("quasar" in line for line in once)


def test_bitmaps_and_text_meet_their_goals_at_a_small_size(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert index.main(["--part", "bitmap", "--part", "text", "--files", "1"]) == 0
    printed = capsys.readouterr().out
    assert "MISSED" not in printed
    assert all(question.name in printed for question in QUESTIONS)


def test_a_figure_beyond_its_goal_and_noise_is_missed() -> None:
    assert index.Cell("x", 1.2, 1.0, 0.25).is_met
    missed = index.Cell("x", 1.3, 1.0, 0.25)
    assert not missed.is_met
    assert str(missed).endswith("MISSED")
