"""Nothing goes from one file system to another: both are named, and nothing is asked of either."""

import pytest

from portal.connectors.file_status import FileSystem
from portal.connectors.hdfs_filesystem import HdfsFileSystem
from portal.connectors.local_filesystem import LocalFileSystem
from portal.connectors.name_services.crossing import check_one_service, crossing
from portal.lake.errors import RuleViolation
from portal.lake.paths import LakePath

HERE = LakePath.parse("hdfs://lake/user/ann/sales/t")
THERE = LakePath.parse("hdfs://archive:8020/user/ann/sales/t")


def test_both_services_and_the_next_step_are_named() -> None:
    assert crossing(HERE, HERE.parent) == ""
    said = crossing(HERE, THERE)
    assert "hdfs://lake," in said
    assert "hdfs://archive:8020," in said
    assert "distcp" in said


@pytest.mark.parametrize(
    "fs",
    [
        # Nobody listens there: whoever asked would get another error.
        HdfsFileSystem("127.0.0.1:1", settings={"dfs.client.failover.max.attempts": "1"}),
        LocalFileSystem(),
    ],
    ids=["hdfs", "local"],
)
def test_a_rename_to_another_file_system_is_refused_before_anything_is_asked(
    fs: FileSystem,
) -> None:
    for source, target in ((HERE, THERE), (THERE, HERE), (HERE, LakePath.parse("file:///a"))):
        with pytest.raises(RuleViolation) as error:
            fs.rename(source, target)
        assert error.value.code == "fs.other_service"
    check_one_service(HERE, HERE.child("below"))
