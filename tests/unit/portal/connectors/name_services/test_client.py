"""A call to a name service ends, and what its silence leads to."""

import threading
from typing import Any, cast

import hdfs_native
import pytest

from portal.connectors.name_services.client import NameServiceClient


class _NameNodes:
    """A client of which only the second one answers."""

    def __init__(self, n: int, silence: threading.Event) -> None:
        self.n, self._silence = n, silence

    def get_file_info(self, path: str) -> str:
        if self.n == 0:
            self._silence.wait(30)
        return f"{path} of {self.n}"

    def list_status(self, path: str) -> Any:
        yield from (path, path)

    def rename(self, source: str, target: str, *, overwrite: bool) -> None:
        raise FileNotFoundError(f"{source} {target} {overwrite}")

    def mkdirs(self, path: str) -> None:
        raise TimeoutError(path)


def _client() -> NameServiceClient:
    silence = threading.Event()
    return NameServiceClient(
        lambda n: cast("hdfs_native.Client", _NameNodes(n, silence)),
        deadline_seconds=0.2,
    )


def test_silence_ends_a_call_and_another_name_node_is_asked_first() -> None:
    client = _client()
    with pytest.raises(TimeoutError, match="no answer within"):
        client.get_file_info("/a")
    assert client.get_file_info("/a") == "/a of 1"


def test_answers_and_errors_are_the_library_s_own() -> None:
    client = _client()
    assert list(map(str, client.list_status("/a"))) == ["/a", "/a"]
    with pytest.raises(FileNotFoundError, match="/a /b False"):
        client.rename("/a", "/b", overwrite=False)


def test_an_error_of_the_library_is_not_taken_for_silence() -> None:
    client = _client()
    with pytest.raises(TimeoutError, match=r"^/a$"):
        client.mkdirs("/a")
    assert client._n == 0
