"""Tests that docs/deploy.md names every setting of the site, and no other."""

import ast
import re
from collections.abc import Iterator

from tests.unit.deploy.units import ROOT

READ = (ROOT / "portal" / "settings", ROOT / "portal" / "serving.py")
_VARIABLE = re.compile(r"LAKEWARDEN_[A-Z_]+")


def read_settings() -> set[str]:
    """Return every variable that the settings read."""
    files = [
        file for place in READ for file in ([place] if place.is_file() else place.glob("*.py"))
    ]
    return {name for file in files for name in variables(file.read_text(encoding="utf-8"))}


def variables(source: str) -> Iterator[str]:
    """Yield each text that is a variable's name, wherever it stands: some are constants first."""
    for node in ast.walk(ast.parse(source)):
        text = node.value if isinstance(node, ast.Constant) else None
        if isinstance(text, str) and _VARIABLE.fullmatch(text):
            yield text


def test_a_variable_that_is_read_through_a_constant_is_found() -> None:
    source = 'NAME = "LAKEWARDEN_A"\nfound = os.environ.get(NAME, "LAKEWARDEN_ b")\n'
    assert list(variables(source)) == ["LAKEWARDEN_A"]


def test_every_setting_is_in_the_table() -> None:
    guide = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
    table = guide.partition("## Settings")[2].partition("## TLS")[0]
    rows = "\n".join(line.split("|")[1] for line in table.splitlines() if line.startswith("|"))
    told = set(re.findall(r"`(LAKEWARDEN_[A-Z_]+)`", rows))
    assert len(told) > 70
    assert told == read_settings()


def test_examples_of_environment_files_have_settings_that_exist() -> None:
    for file in (ROOT / "deploy" / "environment").glob("*.env"):
        names = re.findall(r"^(LAKEWARDEN_\w+)=", file.read_text(encoding="utf-8"), re.MULTILINE)
        assert set(names) <= read_settings(), file
        assert not [name for name in names if name.endswith("_PASSWORD")], file
