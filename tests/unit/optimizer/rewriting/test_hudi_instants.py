"""The newest commit of a Hudi table by the names in its timeline."""

from optimizer.rewriting.domain.hudi_instants import newest_instant


def test_only_completed_commits_count() -> None:
    names = [
        "20261128110000000_20261128110003000.commit",
        "20261128120000000_20261128120003000.deltacommit",
        "20261128123000000_20261128123003000.replacecommit",
        "20261128130000000.deltacommit.requested",
        "20261128130000000.deltacommit.inflight",
        "20261128140000000_20261128140003000.clean",
        "history",
        ".20261128150000000_20261128150003000.commit.crc",
    ]
    assert newest_instant(names) == 20261128123000000
    assert newest_instant(names[3:]) is None
    assert newest_instant([]) is None
