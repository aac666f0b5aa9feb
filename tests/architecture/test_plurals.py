"""Checks that templates say one thing in the singular: `1 table`, and `2 tables`."""

import re

from tests.architecture.source import ROOT

NOUNS = (
    "alarms|approvals|batches|clusters|columns|commits|databases|days|events|files|groups|items|mails"
    "|partitions|paths|plans|requests|rows|rules|runs|snapshots|statements|tables|tasks"
)
COUNTED = re.compile(
    rf"{{{{ (?!about\.title)[\w.]+(?:\|length)?(?:\|count)? }}}}(?: more)? (?:{NOUNS})\b"
)


def test_templates_say_one_thing_in_the_singular() -> None:
    folders = [ROOT / "templates", *ROOT.glob("*/templates")]
    found = [
        f"{path.relative_to(ROOT)}: {hit}"
        for folder in folders
        for kind in ("html", "txt")
        for path in sorted(folder.rglob(f"*.{kind}"))
        for hit in COUNTED.findall(path.read_text(encoding="utf-8"))
    ]
    assert found == [], "use |pluralize"
