"""Makes and seals the quarantine directories of a run's approved lists, and opens them by list."""

from dataclasses import dataclass

from optimizer.iceberg.maintenance.domain.quarantine import (
    MANIFEST,
    HeldFile,
    QuarantinePlace,
    read_manifest,
)
from optimizer.models import RemovalPlan
from portal.access.lakes import get_lake
from portal.connectors.filesystem import FileSystem, open_file_system
from portal.lake.errors import NotVisible, StaleState
from portal.lake.paths import LakePath
from portal.safety.fence import DIRECTORY_MODE, move_directory

QUARANTINE_OF = "quarantine_of"


@dataclass(frozen=True, slots=True)
class OpenedQuarantine:
    """The quarantine of one list with its file system."""

    fs: FileSystem
    place: QuarantinePlace
    digest: str

    @classmethod
    def of(cls, plan: RemovalPlan) -> "OpenedQuarantine":
        """Open the quarantine of a list; nothing is made.

        Raises:
            RuleViolation: its table lies on an object store, or its location is no plain path.
        """
        place = _place(plan)
        config = get_lake(plan.subject.lake)
        return cls(open_file_system(place.table, config=config, acls=False), place, plan.digest)

    def make(self) -> None:
        """Make the directory into which the run moves files; twice is no error."""
        self.fs.make_directories(self.place.open, mode=DIRECTORY_MODE)

    def seal(self) -> bool:
        """Take the directory from the run; False where there is none. A late rename then fails."""
        if self.fs.status(self.place.open) is None:
            return self.fs.status(self.place.held) is not None
        move_directory(self.fs, self.place.open, self.place.held)
        return True

    def files(self, directory: LakePath) -> list[HeldFile]:
        """Return the files of the list that lie in a directory, in the order of the list.

        Raises:
            StaleState: `quarantine.changed`; NotVisible: the directory or its manifest is gone.
        """
        _, listed = read_manifest(self.fs.read(directory.child(MANIFEST)), digest=self.digest)
        names = set(self.fs.names(directory))
        return [one for one in listed if one.name in names]

    def clear(self, directory: LakePath) -> None:
        """Remove an empty quarantine with its manifest, and the directory above where empty.

        Raises:
            StaleState: `fs.not_empty`, something else lies there.
        """
        self.fs.remove_file(directory.child(MANIFEST))
        self.fs.remove_empty_directory(directory)
        try:
            self.fs.remove_empty_directory(directory.parent)
        except StaleState as error:
            if error.code != "fs.not_empty":
                raise

    def is_empty(self, directory: LakePath) -> bool:
        """Return whether nothing but a manifest lies in a directory."""
        try:
            return not set(self.fs.names(directory)) - {MANIFEST}
        except NotVisible:
            return True


def quarantine_make(plan: RemovalPlan) -> None:
    """Make the directory into which a run moves the files of a list; twice is no error.

    Its place is kept with the list: the table may be moved before the run ends.
    """
    table = plan.table
    location = "" if table is None else table.location
    place = QuarantinePlace(get_lake(plan.subject.lake).path(location), str(plan.pk))
    plan.facts = {**plan.facts, QUARANTINE_OF: str(place.table)}
    plan.save(update_fields=["facts"])
    OpenedQuarantine.of(plan).make()


def quarantine_directory(plan: RemovalPlan) -> str:
    """Return where the run moves the files of a list; empty where none was made."""
    return str(_place(plan).open) if QUARANTINE_OF in plan.facts else ""


def _place(plan: RemovalPlan) -> QuarantinePlace:
    where = get_lake(plan.subject.lake).path(str(plan.facts.get(QUARANTINE_OF, "")))
    return QuarantinePlace(where, str(plan.pk))
