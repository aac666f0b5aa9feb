"""A small model of one metastore and of front ends with caches, as facts/refresh tells of them.

It imports nothing of the product: tests compare what the product claims with what it shows.
"""

from dataclasses import dataclass, field


class MissingPartitionError(Exception):
    """A refresh named a partition that the metastore has not; the whole statement fails."""


@dataclass
class ModelMetastore:
    """The truth: the version of each partition that is there."""

    versions: dict[str, int] = field(default_factory=dict)
    clock: int = 0

    def write(self, name: str) -> None:
        self.clock += 1
        self.versions[name] = self.clock

    def drop(self, name: str) -> None:
        self.versions.pop(name, None)

    def copy(self) -> "ModelMetastore":
        """What it is now."""
        return ModelMetastore(dict(self.versions), self.clock)


@dataclass
class ModelFe:
    """One front end's caches: the list of names (None = not loaded) and what each partition was."""

    old: bool
    names: set[str] | None = None
    versions: dict[str, int] = field(default_factory=dict)

    def copy(self) -> "ModelFe":
        """What it is now, to be asked without being changed."""
        names = None if self.names is None else set(self.names)
        return ModelFe(self.old, names, dict(self.versions))

    def restart(self) -> None:
        self.names, self.versions = None, {}

    def refresh_table(self, metastore: ModelMetastore) -> None:
        self.names = set(metastore.versions)
        if not self.old:
            for name in list(self.versions):
                if name in metastore.versions:
                    self.versions[name] = metastore.versions[name]
                else:
                    del self.versions[name]

    def refresh_partitions(self, metastore: ModelMetastore, names: tuple[str, ...]) -> None:
        if set(names) - metastore.versions.keys():
            raise MissingPartitionError(names)
        for name in names:
            self.versions[name] = metastore.versions[name]
        if not self.old:
            self.names = set(metastore.versions)

    def query(self, metastore: ModelMetastore) -> dict[str, int]:
        """Answer from the caches, loading what is not there; returns the version of each seen."""
        if self.names is None:
            self.names = set(metastore.versions)
        for name in self.names - self.versions.keys():
            if name in metastore.versions:
                self.versions[name] = metastore.versions[name]
        return {name: self.versions[name] for name in self.names if name in self.versions}
