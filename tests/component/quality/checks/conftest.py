"""A metastore whose partitions have flags, for tables with checks."""

from tests.component.quality.freshness.conftest import hive

__all__ = ["hive"]
