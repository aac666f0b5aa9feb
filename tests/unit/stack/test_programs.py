"""Tests programs of the demo: commands of the portal share a process, failures are named."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from stack.errors import StackError
from stack.programs import Programs


@pytest.fixture
def programs(tmp_path: Path) -> Iterator[Programs]:
    (tmp_path / "logs").mkdir()
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "portal.settings.test",
        "LAKEWARDEN_VAR": str(tmp_path),
    }
    with Programs(environment) as made:
        yield made


def log_of(programs: Programs) -> str:
    return (Path(programs.environment["LAKEWARDEN_VAR"]) / "logs" / "set-up.log").read_text()


def test_a_failed_command_is_named_with_its_words_and_the_next_one_runs(programs: Programs) -> None:
    with pytest.raises(StackError, match=r"daily_cycle --now never failed .*\n.*No lake is set"):
        programs.portal("daily_cycle", "--now", "never")
    with pytest.raises(StackError, match="Unknown command: 'no_such'"):
        programs.portal("no_such")
    programs.portal("diffsettings", "--output", "unified")
    assert "DJANGO_SETTINGS_MODULE" not in log_of(programs)
    assert "LAKEWARDEN_BEAT_SECONDS" in log_of(programs)


def test_a_process_that_ends_amid_a_command_is_a_failure(programs: Programs) -> None:
    with pytest.raises(StackError, match=r"shell -c .* failed"):
        programs.portal("shell", "-c", "import os; print('begun', flush=True); os._exit(0)")
    assert "begun" in log_of(programs)
    programs.portal("diffsettings")


def test_a_program_that_fails_is_named(programs: Programs) -> None:
    programs.run("-c", "print('* seen')")
    with pytest.raises(StackError, match=r"sys.exit\('gone'\) failed .*\ngone"):
        programs.run("-c", "import sys; sys.exit('gone')")


STAYS = """
import sys
from stack.say import END
for number, line in enumerate(sys.stdin, start=1):
    print(f"{number}: {line.strip()}")
    print(f"{END}{int(line.strip() == 'ill')}", flush=True)
    if line.strip() == "last":
        break
"""


def test_a_program_that_stays_takes_one_line_after_the_other(programs: Programs) -> None:
    stays = ("-c", STAYS)
    programs.tell(stays, "ask", named=("readers",))
    programs.tell(stays, "again", named=("readers",))
    assert "1: ask\n2: again\n" in log_of(programs)
    with pytest.raises(StackError, match=r"readers failed .*\n3: ill"):
        programs.tell(stays, "ill", named=("readers",))
    programs.tell(stays, "last", named=("readers",))
    programs._staying[stays].wait()
    programs.tell(stays, "anew", named=("readers",))
    assert log_of(programs).endswith("4: last\n1: anew\n")
