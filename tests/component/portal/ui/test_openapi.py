"""Tests that the API's own description holds together."""

from pathlib import Path

from django.core.management import call_command

from portal.ui.api.schema import operations


def test_the_description_of_the_api_warns_of_nothing(tmp_path: Path) -> None:
    """Two schemas of one name, for one: the second would replace the first."""
    call_command("spectacular", file=str(tmp_path / "openapi.yaml"), fail_on_warn=True)


def test_every_operation_of_the_page_stands_under_a_heading() -> None:
    groups = operations()
    assert all(groups), "a group without a name"
    paths = [one.path for one in groups["Reports of engines and jobs"]]
    assert "/api/readiness/" in paths
    assert not any(path.startswith("/api/v1/") for path in paths)
