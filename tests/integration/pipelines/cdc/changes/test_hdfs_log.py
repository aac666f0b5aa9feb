"""A changelog of files keeps its promises on a real HDFS as well."""

import getpass
import uuid
from collections.abc import Callable

import pytest

from pipelines.cdc.changes.connectors.directory_log import DirectoryLog
from portal.connectors.hdfs_filesystem import HdfsFileSystem
from portal.lake.paths import LakePath
from stack.stack import Stack
from tests.support.changelog_cases import CASES, Open


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_hdfs_keeps_the_promise(case: Callable[[Open], None], full_stack: Stack) -> None:
    root = LakePath.parse(f"{full_stack.lake_root}/changelogs/{uuid.uuid4().hex[:8]}")
    files = HdfsFileSystem(root.authority, user=getpass.getuser(), acls=False)
    case(lambda: DirectoryLog(files, root))
