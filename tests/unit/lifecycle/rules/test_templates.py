"""Path templates: where an owner may live."""

import pytest

from lifecycle.rules.domain.templates import Template, template_for
from portal.lake.errors import RuleViolation
from portal.lake.paths import LakePath


@pytest.mark.parametrize(
    ("template", "owner", "location", "holds"),
    [
        ("/user/{owner}", "alice", "/user/alice/sales.db", True),
        ("/user/{owner}", "alice", "/user/alice", False),
        ("/user/{owner}", "alice", "/user/alice2/sales.db", False),
        ("/user/{owner}", "", "/user/x", False),
        ("/user/{owner}", "..", "/x", False),
        ("/user/{owner}", "a/b", "/user/a/b/c", False),
        ("/lake/{owner}/hive", "bob", "/lake/bob/hive/db", True),
        ("/lake/u-{owner}", "bob", "/lake/u-bob/db", True),
        ("/warehouse", "", "/warehouse/sales.db", True),
        ("/warehouse", "anyone", "/warehouse", False),
        ("hdfs://nn1/user/{owner}", "alice", "/user/alice/x", False),
        ("file:///x/lake/user/{owner}", "alice", "file:/x/lake/user/alice/x", True),
    ],
)
def test_a_template_holds_what_lies_strictly_below_it(
    template: str, owner: str, location: str, holds: bool
) -> None:
    assert Template.parse(template).holds(LakePath.parse(location), owner) is holds


@pytest.mark.parametrize("text", ["/user/{db}", "/user/{owner", "user/{owner}", "/user/../{owner}"])
def test_a_template_that_means_nothing_is_refused(text: str) -> None:
    with pytest.raises(RuleViolation):
        Template.parse(text)


@pytest.mark.parametrize("owner", ["", ".", "..", "a/b"])
def test_an_owner_that_is_no_directory_name_has_no_place(owner: str) -> None:
    assert Template.parse("/user/{owner}").place_for(owner) is None
    assert Template.parse("/warehouse").place_for(owner) == LakePath.parse("/warehouse")


def test_the_first_matching_pattern_decides() -> None:
    ods = Template.parse("/ods", pattern="ods_*")
    rest = Template.parse("/user/{owner}")
    assert template_for("ods_sales", [ods, rest]) is ods
    assert template_for("sales", [ods, rest]) is rest
    with pytest.raises(RuleViolation) as caught:
        template_for("sales", [ods])
    assert caught.value.code == "template.missing"
