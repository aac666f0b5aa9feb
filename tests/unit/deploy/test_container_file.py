"""Tests the container file by reading it: sources, accounts, and that no secret is in an image."""

import re

import pytest

from tests.unit.deploy.units import ROOT

FILE = ROOT / "deploy" / "container" / "Containerfile"
TEXT = FILE.read_text(encoding="utf-8").replace("\\\n", " ")
DEPLOY = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8").replace("\\\n", " ")
LINES = [line.split() for line in TEXT.splitlines() if line and not line.startswith("#")]
STAGES = TEXT.split("\nFROM ")[1:]


def words(name: str) -> list[list[str]]:
    return [line[1:] for line in LINES if line[0] == name]


@pytest.mark.parametrize("copied", words("COPY"), ids=" ".join)
def test_what_is_copied_exists(copied: list[str]) -> None:
    if copied[0] == "--from=build":
        # Made in the first stage by the commands of docs/deploy.md, in the place of the sources.
        assert copied[1].startswith("/opt/lakewarden/")
        return
    assert all((ROOT / source).exists() for source in copied[:-1])


def test_every_package_of_the_product_is_in_the_image() -> None:
    copied = {one[0] for one in words("COPY")}
    packages = {init.parent.name for init in ROOT.glob("*/apps.py")} | {"portal"}
    assert packages - copied == set()
    assert {"manage.py", "static", "templates"} <= copied


def test_images_are_pinned_and_run_without_root() -> None:
    (base,) = [one[0].partition("=")[2] for one in words("ARG")]
    assert re.fullmatch(r"\S+:bookworm-\d{8}-slim", base)
    for stage in STAGES[1:]:
        (*_, last) = re.findall(r"^USER (\S+)", stage, re.MULTILINE)
        assert last == "10001:10001"


def test_no_secret_and_no_state_is_copied_into_an_image() -> None:
    ignored = (ROOT / ".containerignore").read_text(encoding="utf-8").split()
    assert {".git", ".venv", "var", "tests"} <= set(ignored)
    assert not re.search(r"(PASSWORD|SECRET|TOKEN)\w*=(?!requirements\.lock)", TEXT)


def test_the_web_image_has_no_java_and_is_asked_whether_it_lives() -> None:
    web, worker = STAGES[1], STAGES[2]
    assert "openjdk" not in web
    assert "openjdk-17-jre-headless" in worker
    assert "healthcheck.py" in web
    assert "/livez" in (FILE.parent / "healthcheck.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("text", [TEXT, DEPLOY], ids=["container", "host"])
def test_files_of_pages_are_collected_by_the_settings_that_list_their_hashes(text: str) -> None:
    (command,) = re.findall(r".*manage\.py collectstatic.*", text)
    assert "DJANGO_SETTINGS_MODULE=portal.settings.production" in command
