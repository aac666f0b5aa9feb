"""Checks that templates say one thing in the singular: `1 table`, and `2 tables`."""

import re

from tests.architecture.source import page_texts

NOUNS = (
    "alarms|approvals|batches|clusters|columns|commits|databases|days|events|files|groups|items|mails"
    "|partitions|paths|plans|requests|rows|rules|runs|snapshots|statements|tables|tasks"
)
COUNTED = re.compile(
    rf"{{{{ (?!about\.title)[\w.]+(?:\|length)?(?:\|count)? }}}}(?: more)? (?:{NOUNS})\b"
)


def test_templates_say_one_thing_in_the_singular() -> None:
    found = [f"{name}: {hit}" for name, text in page_texts() for hit in COUNTED.findall(text)]
    assert found == [], "use |pluralize"
