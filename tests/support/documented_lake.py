"""The lake of a secured cluster that docs/operations.md shows as a whole lakes.json."""

import json
import textwrap
from pathlib import Path
from typing import Any

BOOK = Path(__file__).resolve().parents[2] / "docs" / "operations.md"


def documented_lake() -> dict[str, Any]:
    """Return its entry."""
    section = BOOK.read_text(encoding="utf-8").partition("## A secured cluster, step by step\n")[2]
    block = section.partition("```json\n")[2].partition("```")[0]
    lakes: dict[str, dict[str, Any]] = json.loads(textwrap.dedent(block))
    return lakes["main"]
