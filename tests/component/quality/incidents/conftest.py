"""A metastore whose tables have checks, and thereby incidents."""

from tests.component.quality.freshness.conftest import hive

__all__ = ["hive"]
