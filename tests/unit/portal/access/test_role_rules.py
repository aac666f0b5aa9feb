"""Tests which roles count on a lake: those on it and those on all lakes, and no others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.access.roles.domain import (
    ADMIN,
    ALL_LAKES,
    OPERATOR,
    ROLES,
    STAFF,
    RoleGrant,
    check_lake,
    lakes_with,
    read_grant,
    read_grants,
    roles_on,
)
from portal.lake.errors import RuleViolation

LAKES = ("archive", "main")
GRANTS = st.frozensets(
    st.builds(RoleGrant, st.sampled_from(sorted(ROLES)), st.sampled_from(("", *LAKES, "gone")))
)


def test_a_role_on_one_lake_counts_there_and_nowhere_else() -> None:
    grants = {RoleGrant(ADMIN, "main")}
    assert roles_on(grants, "main") == {ADMIN}
    assert roles_on(grants, "archive") == frozenset()
    assert roles_on(grants, ALL_LAKES) == frozenset(), "what has no lake needs it on all"


@given(GRANTS, st.sampled_from(LAKES))
def test_a_role_on_all_lakes_counts_on_each(grants: frozenset[RoleGrant], lake: str) -> None:
    assert roles_on(grants, ALL_LAKES) <= roles_on(grants, lake)


@given(GRANTS, st.sampled_from(LAKES))
def test_what_another_lake_gives_changes_nothing_here(
    grants: frozenset[RoleGrant], lake: str
) -> None:
    here = frozenset(one for one in grants if one.lake in ("", lake))
    assert roles_on(grants, lake) == roles_on(here, lake)


@given(GRANTS, st.sampled_from(("", *LAKES)))
def test_the_lakes_of_a_role_are_those_on_which_it_counts(
    grants: frozenset[RoleGrant], lake: str
) -> None:
    lakes = lakes_with(grants, STAFF)
    counts = bool(roles_on(grants, lake) & STAFF)
    assert counts == (lakes is None or lake in lakes)


@given(st.builds(RoleGrant, st.sampled_from(sorted(ROLES)), st.sampled_from(("", *LAKES))))
def test_a_role_is_read_as_it_is_written(grant: RoleGrant) -> None:
    assert read_grant(str(grant)) == grant
    assert read_grants([f" {grant} "], lakes=LAKES) == {grant}


@pytest.mark.parametrize("text", ["", "king", "admin@", "@main", "Admin", "owner", "king@main"])
def test_what_is_no_role_is_refused_with_what_is_one(text: str) -> None:
    with pytest.raises(RuleViolation, match="Give admin or operator") as refused:
        read_grant(text)
    assert refused.value.code == "person.role"


@pytest.mark.parametrize(
    ("lakes", "said"), [(LAKES, r"There is: archive, main\."), ((), "None is set up yet")]
)
def test_an_unknown_lake_is_refused_with_the_next_step(lakes: tuple[str, ...], said: str) -> None:
    with pytest.raises(RuleViolation, match=f"{said}.*lakes.json") as refused:
        check_lake(RoleGrant(OPERATOR, "mainn"), lakes=lakes)
    assert refused.value.code == "person.lake"
    check_lake(RoleGrant(OPERATOR), lakes=lakes)
