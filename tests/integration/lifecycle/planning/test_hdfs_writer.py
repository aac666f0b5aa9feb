"""An acting job's files on HDFS are written by its JVM, with the promises of the native client."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from lifecycle.planning.jobs.hdfs_writer import with_quick_writes
from portal.connectors.file_status import FileSystem
from portal.connectors.filesystem import open_file_system
from portal.lake.errors import ExternalFailure, PortalError, StaleState
from portal.lake.paths import LakePath
from portal.spark.job import JobContext
from portal.spark.spool import Spool
from stack.stack import Stack
from tests.support.plan_story import LAKE
from tests.support.scan_lake import NOW

pytestmark = pytest.mark.spark


@pytest.fixture
def job(full_stack: Stack, spark: SparkSession) -> JobContext:
    config = full_stack.config(LAKE)
    return JobContext("run", 1, config, {}, NOW, Spool.for_run(config, "run", 1), spark)


@pytest.fixture
def place(full_stack: Stack, job: JobContext) -> Iterator[LakePath]:
    made = job.config.path(f"{full_stack.lake_root}/written")
    fs = open_file_system(made, config=job.config)
    fs.make_directories(made, mode=0o700)
    yield made
    for status in fs.children(made):
        fs.remove_file(status.path)
    fs.remove_empty_directory(made)


def quick(job: JobContext, place: LakePath) -> FileSystem:
    return with_quick_writes(job, open_file_system(place, config=job.config), place)


@pytest.mark.parametrize("data", [b"", b"{}", bytes(range(256)) * 4096])
def test_a_file_is_whole_closed_and_private(job: JobContext, place: LakePath, data: bytes) -> None:
    fs, path = quick(job, place), place.child("intent.1.json")
    fs.write_new(path, data)
    assert fs.read(path) == data
    status = fs.status(path)
    assert status is not None
    # Whoever reads it later is the lake's user, as is who moves the data.
    assert (status.mode, status.size, status.owner) == (0o600, len(data), owner_of(job, place))
    assert [one.path for one in fs.children(place)] == [path]


def owner_of(job: JobContext, place: LakePath) -> str:
    status = open_file_system(place, config=job.config).status(place)
    assert status is not None
    return status.owner


def test_a_file_that_is_there_stays(job: JobContext, place: LakePath) -> None:
    fs, path = quick(job, place), place.child("done.1.json")
    fs.write_new(path, b"first")
    with pytest.raises(StaleState) as caught:
        fs.write_new(path, b"second")
    assert caught.value.code == "fs.exists"
    assert fs.read(path) == b"first"
    assert [one.path for one in fs.children(place)] == [path]


def test_a_fence_that_has_gone_is_not_made_again(job: JobContext, place: LakePath) -> None:
    gone = place.child("gone")
    with pytest.raises(StaleState) as caught:
        quick(job, place).write_new(gone.child("intent.1.json"), b"{}")
    assert caught.value.code == "fs.parent_missing"
    assert open_file_system(gone, config=job.config).status(gone) is None


def test_a_jvm_that_has_gone_is_said(
    job: JobContext, place: LakePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone() -> None:
        raise ExternalFailure(
            "spark.jvm_gone", "The driver's JVM has gone.", service="spark", retryable=False
        )

    fs = quick(job, place)
    monkeypatch.setattr("py4j.java_gateway.GatewayClient.send_command", _broken)
    monkeypatch.setattr(job, "check_jvm", gone)
    with pytest.raises(PortalError) as caught:
        fs.write_new(place.child("intent.1.json"), b"{}")
    assert caught.value.code == "spark.jvm_gone"


def _broken(*_given: object, **_named: object) -> str:
    from py4j.protocol import Py4JNetworkError

    raise Py4JNetworkError("Answer from Java side is empty")
