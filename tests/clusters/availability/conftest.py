"""The lake of this tier: both NameNodes alive and the first one active before each test."""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from pyspark.sql import SparkSession

from portal.connectors.hdfs_filesystem import HdfsFileSystem
from portal.lake.paths import LakePath
from stack.ha_stack import HaStack
from stack.servers.ha_hdfs import HaHdfs
from tests.support.scan_spark import local_session


@pytest.fixture(scope="session")
def available(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HaStack]:
    """A running lake on a name service with two NameNodes, and a second service beside it."""
    with HaStack.available(tmp_path_factory.mktemp("available")) as stack:
        yield stack


@pytest.fixture
def ha(available: HaStack) -> HaHdfs:
    """The name service as it was in the beginning, whatever an earlier test did to it."""
    available.ha.mend()
    return available.ha


@pytest.fixture
def session(available: HaStack, ha: HaHdfs) -> Iterator[SparkSession]:
    """A session of Spark in this process that knows the name service."""
    spark = local_session().newSession()
    hadoop = spark.sparkContext._jsc.hadoopConfiguration()
    properties = available.config().hadoop_conf
    for name, value in properties.items():
        hadoop.set(name, value)
    yield spark
    for name in properties:
        hadoop.unset(name)


@dataclass
class Place:
    """A fresh directory with `source` in it, and a client of its own."""

    fs: HdfsFileSystem
    base: LakePath

    @property
    def source(self) -> LakePath:
        """A directory."""
        return self.base.child("source")

    @property
    def target(self) -> LakePath:
        """Where nothing is."""
        return self.base.child("target")


@pytest.fixture
def place(ha: HaHdfs) -> Place:
    """A fresh directory on the name service."""
    # The test's own value makes it another client than those of earlier tests.
    name = uuid.uuid4().hex
    fs = HdfsFileSystem(
        "lake", user="lakewarden", settings={**ha.client_properties(), "test.name": name}
    )
    base = LakePath("hdfs", "lake", f"/tmp/{name}")
    fs.make_directories(base, mode=0o700)
    fs.make_directory(base.child("source"), mode=0o755)
    return Place(fs, base)
