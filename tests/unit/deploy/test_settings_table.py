"""Tests that docs/deploy.md names every setting of the site, and no other."""

import re

from tests.unit.deploy.units import ROOT

READ = (ROOT / "portal" / "settings", ROOT / "portal" / "serving.py")
_READING = re.compile(r"(?:environ|environment|listed)\W[^\"]{0,12}\"(LAKEWARDEN_[A-Z_]+)\"")
_TLS = re.compile(r"\": \"(LAKEWARDEN_[A-Z_]+)\"")


def read_settings() -> set[str]:
    """Return every variable that the settings read."""
    found: set[str] = set()
    for place in READ:
        for file in [place] if place.is_file() else place.glob("*.py"):
            text = file.read_text(encoding="utf-8")
            found |= set(_READING.findall(text)) | set(_TLS.findall(text))
    return found


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
