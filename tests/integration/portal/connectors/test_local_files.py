"""Local files written by Spark have the permissions asked for, whoever sets them."""

import stat
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755, 0o751, 0o426, 0o1777])
def test_permissions_are_those_asked_for(spark: SparkSession, tmp_path: Path, mode: int) -> None:
    jvm: Any = spark.sparkContext._jvm
    hadoop = jvm.org.apache.hadoop.fs
    files = hadoop.FileSystem.get(
        jvm.java.net.URI("file:///"), spark.sparkContext._jsc.hadoopConfiguration()
    )
    assert files.getClass().getName() == "lakewarden.files.LocalFiles"
    wanted = hadoop.permission.FsPermission(jvm.Short.parseShort(str(mode)))
    folder, file = tmp_path / "folder", tmp_path / "folder" / "a b%3D"
    folder.mkdir()
    files.create(hadoop.Path("file", None, str(file))).close()
    for path in (file, folder):
        files.setPermission(hadoop.Path("file", None, str(path)), wanted)
        assert mode_of(path) == mode


def test_a_file_that_is_not_there_is_an_error(spark: SparkSession, tmp_path: Path) -> None:
    jvm: Any = spark.sparkContext._jvm
    hadoop = jvm.org.apache.hadoop.fs
    files = hadoop.FileSystem.getLocal(spark.sparkContext._jsc.hadoopConfiguration())
    wanted = hadoop.permission.FsPermission(jvm.Short.parseShort("384"))
    with pytest.raises(Exception, match="NoSuchFile"):
        files.setPermission(hadoop.Path("file", None, str(tmp_path / "none")), wanted)
