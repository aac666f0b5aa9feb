"""Writes a restore program beside each backup. It needs no portal: it is a program of its own.

The program is `restore_backup.py` of this folder with `restore_files.py` in it, and with the
backup's place and the metastore's address filled in; it is written before anything is moved.
"""

import pkgutil
import re

from lifecycle.backup.domain.layout import SCRIPT
from portal.connectors.filesystem import FileSystem
from portal.lake.errors import DataSafetyError, StaleState
from portal.lake.paths import LakePath

_SOURCE, _FILES = "restore_backup.py", "restore_files.py"
_IMPORT = re.compile(r"^from lifecycle\.backup\.jobs\.restore_files import \(.*?^\)\n", re.M | re.S)
_FUTURE = "from __future__ import annotations\n"


def restore_program(*, backup: LakePath, metastore: str) -> str:
    """Return the text of the program that restores `backup`: one file, without our packages.

    Raises:
        DataSafetyError: `act.script`, the program is not installed with the jobs.
    """
    files = _installed(_FILES).partition(_FUTURE)[2]
    text = _IMPORT.sub(lambda _: files, _installed(_SOURCE), count=1)
    for name, value in (("BACKUP", str(backup)), ("METASTORE", metastore)):
        text = text.replace(f'\n{name} = ""\n', f"\n{name} = {value!a}\n", 1)
    return text


def _installed(name: str) -> str:
    source = pkgutil.get_data(__package__, name)
    if source is None:
        raise DataSafetyError(
            "act.script",
            f"{name} is missing beside the jobs. Nothing is dropped without it; install it.",
        )
    return source.decode()


def leave_program(fs: FileSystem, fence: LakePath, *, backup: LakePath, metastore: str) -> None:
    """Write the program into the fence of a drop; left already, it stays as it is."""
    text = restore_program(backup=backup, metastore=metastore)
    try:
        fs.write_new(fence.child(SCRIPT), text.encode())
    except StaleState as error:
        if error.code != "fs.exists":
            raise
