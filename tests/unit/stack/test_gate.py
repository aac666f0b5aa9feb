"""The jobs of the gate: every test file is in one of them, and a tier without tests fails."""

from collections.abc import Callable, Mapping, Sequence

import pytest

from stack import gate
from stack.errors import StackError
from stack.gate import OPT_IN, TIERS, Count, in_sum, jobs
from stack.places import REPO


def _files(words: tuple[str, ...]) -> list[str]:
    left_out = [word.removeprefix("--ignore=") for word in words if word.startswith("--")]
    return [
        str(path)
        for word in words
        if not word.startswith("--")
        for path in REPO.glob(f"{word}/**/test_*.py")
        if not any(path.is_relative_to(REPO / folder) for folder in left_out)
    ]


def test_every_test_file_is_run_by_one_job() -> None:
    every = [name for name in [*TIERS, "trino", "clusters"] if name != "quick-clusters"]
    run = [path for _, _, words in jobs(every) for path in _files(tuple(words))]
    assert sorted(run) == sorted(map(str, REPO.glob("tests/**/test_*.py")))


def test_the_quick_tests_of_clusters_are_some_of_the_tier() -> None:
    quick = {REPO / path for path in TIERS["quick-clusters"]}
    assert quick < set(REPO.glob("tests/clusters/**/test_*.py"))


def test_jobs_of_one_tier_have_reports_of_their_own_and_the_longest_begins() -> None:
    found = jobs(["unit", "security", "component", "integration"])
    assert [name for _, name, _ in found] == [
        *("integration-optimizer", "integration", "component"),
        *("unit", "security"),
    ]
    assert {tier for tier, _, _ in found} == {"unit", "security", "component", "integration"}


def test_gates_run_beside_tiers_and_every_job_runs_once(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []

    def job(one: gate.Job, **_how: object) -> Count:
        ran.append(one[1])
        return Count(one[0], 1, 0, 0.0)

    def some_gates(chosen: Sequence[gate.Gate]) -> Count:
        ran.extend(title for title, _, _ in chosen)
        return Count("gates", len(chosen), 0, 0.0)

    monkeypatch.setattr(gate, "run_job", job)
    monkeypatch.setattr(gate, "run_gates", some_gates)
    assert gate.run_gate([]) == 0
    assert sorted(ran) == sorted(
        [*(title for title, _, _ in gate.gates()), *(name for _, name, _ in jobs([*TIERS]))]
    )


def test_a_tier_is_the_sum_of_its_jobs() -> None:
    counts = [
        Count("integration", 3, 0, 2.0),
        Count("unit", 9, 0, 1.0),
        Count("integration", 4, 1, 3.0),
    ]
    assert in_sum("integration", counts) == Count("integration", 7, 1, 5.0)


def test_a_tier_without_tests_counts_as_one_failure() -> None:
    assert in_sum("unit", [Count("unit", 0, 0, 1.0)]) == Count("unit", 0, 1, 1.0)
    assert in_sum("unit", [Count("unit", 1, 0, 1.0), Count("unit", 0, 0, 1.0)]).n_failed == 0


def test_an_opt_in_tier_runs_only_where_it_is_named() -> None:
    assert not set(OPT_IN) & set(TIERS)
    assert [name for _, name, _ in jobs(["trino"])] == ["trino"]
    assert [name for _, name, _ in jobs(["clusters"])] == [
        *("clusters-secured", "clusters", "clusters-kubernetes")
    ]
    assert "tests/unit/optimizer/pruning/test_queries.py" in gate.tests_of("optimizer/pruning")
    assert not any(path.startswith("tests/trino/") for path in gate.tests_of("optimizer/pruning"))


def test_a_tier_that_cannot_be_prepared_fails_without_running(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail() -> None:
        raise StackError("no Java")

    nothing: Mapping[str, Callable[[], object]] = {"trino": fail}
    monkeypatch.setattr(gate, "PREPARATIONS", nothing)
    assert gate.run_gate(["trino"]) == 1


def test_a_job_that_cannot_be_prepared_fails_its_tier_without_running(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail() -> None:
        raise StackError("no Go")

    monkeypatch.setattr(gate, "PREPARATIONS", {"clusters-kubernetes": fail})
    job: gate.Job = ("clusters", "clusters-kubernetes", ("tests/none",))
    done = gate.run_job(job, arguments=[], quiet=True)
    assert (done.name, done.n_passed, done.n_failed) == ("clusters", 0, 1)
