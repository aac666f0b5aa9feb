"""Tests that the API's own description holds together."""

from pathlib import Path

from django.core.management import call_command


def test_the_description_of_the_api_warns_of_nothing(tmp_path: Path) -> None:
    """Two schemas of one name, for one: the second would replace the first."""
    call_command("spectacular", file=str(tmp_path / "openapi.yaml"), fail_on_warn=True)
