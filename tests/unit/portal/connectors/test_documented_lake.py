"""The whole lakes.json of docs/operations.md is one that the portal accepts."""

import json
from pathlib import Path

from portal.connectors.lake_config import load_lakes
from portal.spark.masters.settings import is_deployed, is_yarn
from tests.support.documented_lake import documented_lake


def test_the_documented_lake_is_accepted(tmp_path: Path) -> None:
    file = tmp_path / "lakes.json"
    file.write_text(json.dumps({"main": documented_lake()}), encoding="utf-8")
    config = load_lakes(file)["main"]
    assert is_yarn(config)
    assert is_deployed(config)
    assert config.kerberos is not None
    assert {config.aliases[f"master{n}.example.com:8020"] for n in (1, 2)} == {"lake"}
