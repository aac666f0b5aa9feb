"""A lake whose partitions have parameters that can be changed, one call after the other."""

from pathlib import Path
from typing import Any

from pymetastore.hive_metastore import ttypes

from portal.connectors.metastore_db import DDL_TIME
from portal.lake.names import PartitionName
from tests.component.quality.hook_world import KEYS, LEAVES, HookLake

ODD = "dt=ü%27 %22%25/hour=`"


class FlagLake(HookLake):
    """Partitions with parameters; a call that changes some may fail, or be written over at once."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.names["sales"] = [*LEAVES, ODD]
        self.parameters: dict[str, dict[str, str]] = {}
        self.made_at: dict[str, int] = {}
        self.changed_at: dict[str, int] = {}
        self.calls: list[list[str]] = []
        self.n_calls_that_work = 1_000
        self.is_overtaken = False

    def get_partitions_by_names(self, db: str, name: str, names: list[str]) -> list[Any]:
        self.asked.append(f"{len(names)} partitions")
        return [
            ttypes.Partition(
                values=PartitionName.parse(one).metastore_values,
                parameters={
                    "note": "stays",
                    DDL_TIME: str(self.changed_at.get(one, 1)),
                    **self.parameters.get(one, {}),
                },
                createTime=self.made_at.get(one, 0),
            )
            for one in names
            if one in self.names[name]
        ]

    def alter_partitions_with_environment_context(
        self, db: str, name: str, partitions: list[Any], context: Any
    ) -> None:
        assert context.properties == {"DO_NOT_UPDATE_STATS": "true"}
        if len(self.calls) >= self.n_calls_that_work:
            raise ttypes.MetaException("it is broken")
        changed = {
            str(PartitionName.stored(KEYS[name], one.values)): {
                key: value for key, value in one.parameters.items() if key != DDL_TIME
            }
            for one in partitions
        }
        self.parameters |= {} if self.is_overtaken else changed
        self.calls.append(list(changed))

    def flags(self) -> dict[str, str | None]:
        """What the flag of each changed partition says; all else of it must have stayed."""
        assert all(one.get("note") == "stays" for one in self.parameters.values())
        return {name: one.get("commit") for name, one in self.parameters.items()}
