"""What stands beside a backup so that it can be restored without the portal? A program of its own.

The program is `restore_backup.py` of this folder, with the backup's place and the metastore's
address filled in; it is written before anything is moved.
"""

import json
import pkgutil

from portal.act.layout import SCRIPT
from portal.connectors.filesystem import FileSystem
from portal.lake.errors import DataSafetyError, StaleState
from portal.lake.paths import LakePath

_SOURCE = "restore_backup.py"


def restore_program(*, backup: LakePath, metastore: str) -> str:
    """Give the text of the program that restores `backup`.

    Raises:
        DataSafetyError: `act.script`, the program is not installed with the jobs.
    """
    source = pkgutil.get_data("lifecycle.jobs", _SOURCE)
    if source is None:
        raise DataSafetyError(
            "act.script",
            f"{_SOURCE} is missing beside the jobs. Nothing is dropped without it; install it.",
        )
    text = source.decode()
    for name, value in (("BACKUP", str(backup)), ("METASTORE", metastore)):
        text = text.replace(f'\n{name} = ""\n', f"\n{name} = {json.dumps(value)}\n", 1)
    return text


def leave_program(fs: FileSystem, fence: LakePath, *, backup: LakePath, metastore: str) -> None:
    """Write the program into the fence of a drop; left already, it stays as it is."""
    text = restore_program(backup=backup, metastore=metastore)
    try:
        fs.write_new(fence.child(SCRIPT), text.encode())
    except StaleState as error:
        if error.code != "fs.exists":
            raise
