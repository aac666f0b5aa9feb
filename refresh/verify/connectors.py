"""Lists the directories of a table's partitions. One listing each, nothing below.

Hidden files do not count, as for a front end; of subdirectories only their time does.
"""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

from portal.connectors.file_status import FileSystem
from portal.connectors.filesystem import open_file_system
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import NotVisible
from portal.lake.paths import LakePath
from refresh.verify.domain.sweeping import Stamp

_AT_ONCE = 4
_HIDDEN = ("_", ".")


def stamps_of(locations: Mapping[str, str], *, config: LakeConfig) -> dict[str, Stamp]:
    """Return the stamp of each location; a directory that is not there holds nothing.

    Raises:
        ExternalFailure: a directory could not be listed; then nothing of the table is known.
        RuleViolation: a location is none, or lies where the portal reads nothing.
    """
    paths = {name: config.path(text) for name, text in locations.items()}
    systems = {
        (path.scheme, path.authority): open_file_system(path, config=config, acls=False)
        for path in paths.values()
    }

    def stamp(path: LakePath) -> Stamp:
        return _stamp(path, systems[path.scheme, path.authority])

    if not paths:
        return {}
    with ThreadPoolExecutor(min(_AT_ONCE, len(paths))) as pool:
        return dict(zip(paths, pool.map(stamp, paths.values()), strict=True))


def _stamp(path: LakePath, file_system: FileSystem) -> Stamp:
    try:
        listed = file_system.children(path)
    except NotVisible:
        return Stamp()
    shown = [one for one in listed if not one.path.name.startswith(_HIDDEN)]
    files = [one for one in shown if not one.is_dir]
    return Stamp(
        n_files=len(files),
        n_bytes=sum(one.size for one in files),
        newest_ms=max((one.mtime_ms for one in shown), default=0),
    )
