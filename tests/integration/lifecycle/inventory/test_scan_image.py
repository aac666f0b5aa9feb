"""A scan with a dump of the name node's image gives the same answer as one that walks.

Local files with a dump in the same form, and a real NameNode's image through the real viewer.
"""

import dataclasses
import os
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from lifecycle.inventory.jobs.image import NamespaceImage, open_image
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import ExternalFailure
from portal.lake.paths import LakePath
from stack.places import JARS
from stack.stack import Stack
from tests.support.scan_lake import NOW, ScanLake, days_ago
from tests.support.scan_spark import scan_here

pytestmark = pytest.mark.spark
POLICY = {"LEVEL": "1", "TTL": "30"}
# Not the clock that won: both may lie in the same minute.
SAME = ("cls", "rule", "detail", "n_files", "n_bytes", "missing", "location")
Rows = dict[str, dict[str, Any]]


class ImageLake:
    """Tables whose directories are old, fresh, deep, read, empty, gone and oddly named."""

    def __init__(self, config: LakeConfig, root: LakePath, spark: SparkSession) -> None:
        self.config, self.spark = config, spark
        self.lake = ScanLake(config, root)
        sales = self.lake.database("sales", owner="alice")
        flat = str(sales.child("flat"))
        self.lake.table("sales", "flat", owner="alice", location=flat, keys=(), parameters=POLICY)
        self.lake.data(flat, age=90, files=("a", "b/c"))
        place = str(sales.child("visits"))
        self.table = self.lake.table(
            "sales", "visits", owner="alice", location=place, parameters=POLICY
        )
        for value, ddl_age, age in [
            ("old", 100, 100),
            ("fresh-ddl", 3, 100),
            ("fresh-files", 100, 3),
            ("soon", 25, 25),
            ("ünï %=x\ty", 90, 90),
        ]:
            self.lake.data(self.lake.partition(self.table, value, ddl_age=ddl_age), age=age)
        self.read = self.lake.partition(self.table, "read", ddl_age=90)
        self.lake.data(self.read, age=90, read_age=2)
        self.deep = self.lake.partition(self.table, "deep", ddl_age=90)
        self.lake.data(self.deep, age=90, files=("a/b/c", "a/d", "e"))
        self.lake.data(self.lake.partition(self.table, "empty", ddl_age=90), age=90, files=())
        self.lake.remove(self.lake.partition(self.table, "gone"))

    def scanned(self, image: Path | None = None) -> tuple[Rows, str | None]:
        """Scan, with a dump or without; returns the rows by name, and as of when the image is."""
        config = dataclasses.replace(
            self.config, namespace_image="" if image is None else f"file://{image}"
        )
        template = f"{self.lake.root}/user/{{owner}}"
        done = scan_here(self.spark, config, {"template": template})
        rows = {f"{row['tbl']} {row['part_name']}": row for row in done.rows("items")}
        return rows, done.result["image_as_of"]

    def write_below(self, *names: str) -> None:
        """Change a file some way below the deep directory, whose own time stays as it is."""
        path = self.config.path(self.deep).child(*names)
        now = int(time.time())
        self.lake.set_times(path, changed=now, read=now)


def same(walked: Rows, imaged: Rows) -> None:
    """Every row alike; a time may be later by less than a minute."""
    assert walked.keys() == imaged.keys()
    for name, row in walked.items():
        other = imaged[name]
        assert [row[key] for key in SAME] == [other[key] for key in SAME], name
        for clock in ("mtime_ms", "atime_ms"):
            assert (row[clock] is None) == (other[clock] is None), (name, clock)
            assert -60_000 < (other[clock] or 0) - (row[clock] or 0) < 60_000, (name, clock)
        assert (other["mtime_ms"] or 0) >= (row["mtime_ms"] or 0), name


def minute(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, tz=UTC):%Y-%m-%d %H:%M}"


def dump(root: Path, target: Path, *, late: float = 0) -> Path:
    """Write local files as the viewer of images would; `late` shifts every time, in seconds."""

    def lines() -> Iterator[str]:
        yield "\t".join(["Path", *["x"] * 11])
        for folder, _, files in os.walk(root):
            for path in (Path(folder), *(Path(folder) / name for name in files)):
                found, is_dir = path.stat(), path.is_dir()
                read = "1970-01-01 00:00" if is_dir else minute(found.st_atime + late)
                size = 0 if is_dir else found.st_size
                mode = "drwxr-xr-x" if is_dir else "-rw-r--r--"
                changed = minute(found.st_mtime + late)
                fields = (path, 1, changed, read, 0, 0, size, 0, 0, mode, "alice", "users")
                yield "\t".join(map(str, fields))

    target.write_text("".join(f"{line}\n" for line in lines()), encoding="utf-8")
    return target


@pytest.fixture
def local(embedded_stack: Stack, spark: SparkSession) -> ImageLake:
    config = embedded_stack.config()
    return ImageLake(config, config.path(embedded_stack.lake_root).child("image lake"), spark)


@pytest.mark.long
def test_a_dump_gives_the_same_rows_and_what_changed_since_is_walked(
    local: ImageLake, tmp_path: Path
) -> None:
    root = Path(local.lake.root.path)
    walked, as_of = local.scanned()
    assert as_of is None
    assert walked["visits dt=deep"]["cls"] == "CLEAN_NOW"
    image = dump(root, tmp_path / "image.tsv")
    imaged, as_of = local.scanned(image)
    assert as_of is not None
    same(walked, imaged)

    # Below an unchanged directory the image speaks, which shows that nothing was walked there; a
    # directory that changed itself is walked.
    late = dump(root, tmp_path / "late.tsv", late=3600)
    local.write_below("a", "d")
    local.lake.fs.write_new(local.config.path(local.read).child("new"), b"1")
    imaged, _ = local.scanned(image)
    assert imaged["visits dt=deep"]["cls"] == "CLEAN_NOW"
    assert imaged["visits dt=read"]["cls"] == "NOT_NOW"
    # So is everything where the image was written in another time zone.
    walked, _ = local.scanned()
    assert walked["visits dt=deep"]["cls"] == "NOT_NOW"
    same(walked, local.scanned(late)[0])


def test_a_dump_that_cannot_be_used_is_said(
    embedded_stack: Stack, spark: SparkSession, tmp_path: Path
) -> None:
    def opened(image: Path) -> NamespaceImage | str:
        config = dataclasses.replace(embedded_stack.config(), namespace_image=f"file://{image}")
        return open_image(spark, config, now=NOW)

    (tmp_path / "lake").mkdir()
    os.utime(tmp_path / "lake", (days_ago(3), days_ago(3)))
    old = dump(tmp_path / "lake", tmp_path / "old.tsv")
    assert "too old to be used" in str(opened(old))
    empty = tmp_path / "empty.tsv"
    empty.write_text("no image\n", encoding="utf-8")
    assert "has no line of" in str(opened(empty))
    with pytest.raises(ExternalFailure, match=r"nowhere\.tsv cannot be read"):
        opened(tmp_path / "nowhere.tsv")
    assert open_image(spark, embedded_stack.config(), now=NOW) == ""


@pytest.mark.rows("N11")
def test_a_real_image_gives_the_same_rows(
    full_stack: Stack, spark: SparkSession, tmp_path: Path
) -> None:
    config = full_stack.config()
    lake = ImageLake(config, config.path(f"/tmp/image {time.time_ns()}"), spark)
    walked, _ = lake.scanned()
    image = real_dump(full_stack, spark, tmp_path)
    imaged, as_of = lake.scanned(image)
    assert as_of is not None
    same(walked, imaged)
    lake.write_below("a", "d")
    assert lake.scanned(image)[0]["visits dt=deep"]["cls"] == "CLEAN_NOW", "it was not walked"


def real_dump(stack: Stack, spark: SparkSession, folder: Path) -> Path:
    """Save the NameNode's namespace, fetch its image and let the offline viewer write it out."""
    assert stack.hdfs is not None
    jvm: Any = spark.sparkContext._jvm
    files = jvm.org.apache.hadoop.fs.FileSystem.get(
        jvm.java.net.URI(stack.hdfs.uri), spark.sparkContext._jsc.hadoopConfiguration()
    )
    actions = jvm.org.apache.hadoop.hdfs.protocol.HdfsConstants.SafeModeAction
    files.setSafeMode(actions.SAFEMODE_ENTER)
    files.saveNamespace()
    files.setSafeMode(actions.SAFEMODE_LEAVE)
    image, target = folder / "fsimage", folder / "image.tsv"
    address = f"http://127.0.0.1:{stack.hdfs.http_port}/imagetransfer?getimage=1&txid=latest"
    with urllib.request.urlopen(address, timeout=60) as answer:
        image.write_bytes(answer.read())
    viewer = "org.apache.hadoop.hdfs.tools.offlineImageViewer.OfflineImageViewerPB"
    program = ["java", "-cp", f"{stack.hdfs.conf}:{JARS / 'hdfs'}/*", viewer]
    subprocess.run(
        [*program, "-p", "Delimited", "-i", str(image), "-o", str(target)],
        env={**os.environ, "TZ": "UTC"},
        check=True,
        capture_output=True,
        timeout=120,
    )
    return target
