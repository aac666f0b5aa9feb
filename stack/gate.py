"""Runs the gates, then every tier of tests, and counts what ran.

Two jobs run side by side, the longest first. They often wait for servers, so one that only computes
runs behind them with what they leave of the cores; a third one of their kind would make what has to
happen within seconds too late.
"""

import os
import re
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from xml.etree import ElementTree

from stack.cluster_assets import fetch_clusters, fetch_quick_clusters
from stack.errors import StackError
from stack.kubernetes_assets import fetch_kubernetes
from stack.places import REPO
from stack.say import console
from stack.trino_assets import fetch_trino

_BIN = Path(sys.executable).parent
TEST_SETTINGS = {"DJANGO_SETTINGS_MODULE": "portal.settings.test"}
_QUICK_CLUSTERS = (
    *("tests/clusters/test_alert_rules.py", "tests/clusters/deploy/test_deploy_files.py"),
    *("tests/clusters/kerberos/test_clients.py", "tests/clusters/kerberos/test_failures.py"),
    *("tests/clusters/kerberos/test_guard.py", "tests/clusters/kerberos/test_check_lake.py"),
    *("tests/clusters/kerberos/test_scan.py", "tests/clusters/kerberos/test_drop_and_restore.py"),
    "tests/clusters/availability/test_failover.py",
)
"""What of the tier `clusters` takes less than three minutes in all, on a machine of its own."""
TIERS: Mapping[str, Sequence[str]] = {
    "unit": ("tests/unit", "tests/architecture"),
    "component": ("tests/component",),
    "integration": ("tests/integration",),
    "security": ("tests/security",),
    "faults": ("tests/faults",),
    "browser": ("tests/browser",),
    "quick-clusters": _QUICK_CLUSTERS,
}
_NEEDS_MORE = {"trino": ("tests/trino",), "clusters": ("tests/clusters",)}
_LONG = ("-m", "long", "tests", "--ignore=tests/trino", "--ignore=tests/clusters")
OPT_IN: Mapping[str, Sequence[str]] = {**_NEEDS_MORE, "long": _LONG}
"""Tiers that run only where they are named: they need much, or take long (ADR 0048)."""
PREPARATIONS: Mapping[str, Callable[[], object]] = {
    "trino": fetch_trino,
    "clusters": fetch_clusters,
    "quick-clusters": fetch_quick_clusters,
    "clusters-kubernetes": fetch_kubernetes,
}
"""What must be fetched before a tier or one of its jobs; one that fails is the tier's failure."""
Gate = tuple[str, Sequence[str], Mapping[str, str]]
Job = tuple[str, str, Sequence[str]]
"""A tier, the name of the job's report, and what pytest is told to run."""
_APART = "tests/integration/optimizer"
_SECURED = ("tests/clusters/kerberos", "tests/clusters/whole")
_BUILT = ("tests/clusters/kubernetes",)
PARTS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "integration": {
        "integration": ("tests/integration", f"--ignore={_APART}"),
        "integration-optimizer": (_APART,),
    },
    "clusters": {
        "clusters": ("tests/clusters", *(f"--ignore={folder}" for folder in (*_SECURED, *_BUILT))),
        "clusters-secured": _SECURED,
        "clusters-kubernetes": _BUILT,
    },
}
"""The jobs of a tier that takes longer than the others, each with servers of its own."""
_IN_FRONT = (
    *("integration-optimizer", "integration", "component", "browser", "faults"),
    "quick-clusters",
    *("clusters-secured", "clusters"),
)
"""Two of these run at once, in this order: the longest first."""
N_IN_FRONT = 2
_YIELDING = ("nice", "-n", "19")
_LONG_GATES = {"types"}
"""They run behind the jobs too, the last of all."""
_NO_TESTS = 5
"""pytest's code where nothing was chosen."""


@dataclass(frozen=True, slots=True)
class Count:
    """What one tier (or the gates) came to."""

    name: str
    n_passed: int
    n_failed: int
    seconds: float


def gates() -> Sequence[Gate]:
    """Return each gate's title, command and settings."""
    python = sys.executable
    deploy = {
        "DJANGO_SETTINGS_MODULE": "portal.settings.production",
        "LAKEWARDEN_SECRET_KEY_FILE": str(_throw_away_key()),
        "LAKEWARDEN_BASE_URL": "https://portal.example.com",
    }
    templates = [*sorted(str(path) for path in REPO.glob("*/templates")), "templates"]
    check = [python, "manage.py", "check", "--deploy", "--fail-level", "WARNING"]
    return (
        ("format", [str(_BIN / "ruff"), "format", "--check", "."], {}),
        ("lint", [str(_BIN / "ruff"), "check", "."], {}),
        ("types", [str(_BIN / "mypy")], TEST_SETTINGS),
        ("imports", [str(_BIN / "lint-imports")], {}),
        ("templates", [str(_BIN / "djlint"), *templates, "--lint", "--quiet"], {}),
        ("migrations", [python, "manage.py", "makemigrations", "--check"], TEST_SETTINGS),
        ("deploy check", check, deploy),
        ("spelling", [str(_BIN / "codespell")], {}),
    )


def _throw_away_key() -> Path:
    path = REPO / "var" / "test" / "secret_key"
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        path.write_text(os.urandom(48).hex(), encoding="ascii")
        path.chmod(0o600)
    return path


def run_quietly(gate: Gate) -> bool:
    """Run one gate and say how it ended, with its words where it failed; True where it holds."""
    title, command, settings = gate
    started = time.monotonic()
    done = subprocess.run(
        command,
        check=False,
        cwd=REPO,
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
    )
    seconds = f"[dim]{time.monotonic() - started:.1f} s[/]"
    if done.returncode == 0:
        console.print(f"[green]✓[/] {title} {seconds}")
        return True
    console.print(f"[red]✗ {title}[/] {seconds}")
    console.print((done.stdout + done.stderr)[-6000:], markup=False, soft_wrap=True)
    return False


def run_gates(chosen: Sequence[Gate]) -> Count:
    """Run some gates, also after one has failed; shows the words of those that fail."""
    began = time.monotonic()
    with ThreadPoolExecutor(max_workers=2) as pool:
        held = list(pool.map(run_quietly, chosen))
    n_failed = held.count(False)
    return Count("gates", len(held) - n_failed, n_failed, time.monotonic() - began)


def jobs(tiers: Sequence[str]) -> list[Job]:
    """Return the jobs of the wanted tiers in their order; each folder is in one of them."""
    found: list[Job] = []
    for tier in tiers:
        parts = PARTS.get(tier, {tier: {**TIERS, **OPT_IN}[tier]})
        found += [(tier, name, words) for name, words in parts.items()]
    place = {name: number for number, name in enumerate(_IN_FRONT)}
    return sorted(found, key=lambda job: place.get(job[1], len(place)))


def run_job(job: Job, *, arguments: Sequence[str], quiet: bool) -> Count:
    """Run one job under pytest.

    A quiet one writes to `var/test/<name>.log` and shows it when it has ended, so that the words
    of several jobs do not mix.
    """
    started = time.monotonic()
    tier, name, words = job
    if name != tier and not prepared(name):
        return Count(tier, 0, 1, time.monotonic() - started)
    report = _log(name).with_suffix(".xml")
    report.parent.mkdir(parents=True, exist_ok=True)
    report.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", "-q", "-m", "not long", f"--junitxml={report}"]
    if quiet and name not in _IN_FRONT:
        command = [*_YIELDING, *command]
    status = _pytest([*command, *arguments, *words], log=_log(name), quiet=quiet)
    n_passed, n_failed = read_report(report)
    if status not in {0, _NO_TESTS} and n_failed == 0:
        console.print(f"[red]pytest ended with code {status} in {name}.[/]")
        n_failed = 1
    return Count(tier, n_passed, n_failed, time.monotonic() - started)


def in_sum(tier: str, counts: Sequence[Count]) -> Count:
    """Return what a tier's jobs came to; a tier without tests counts as one failure."""
    own = [count for count in counts if count.name == tier]
    n_passed, n_failed = sum(one.n_passed for one in own), sum(one.n_failed for one in own)
    if n_passed + n_failed == 0:
        console.print(f"[red]The tier {tier} ran no test.[/]")
        n_failed = 1
    return Count(tier, n_passed, n_failed, sum(one.seconds for one in own))


def _log(name: str) -> Path:
    return REPO / "var" / "test" / f"{name}.log"


def _pytest(command: Sequence[str], *, log: Path, quiet: bool) -> int:
    name, environment = log.stem, {**os.environ, **TEST_SETTINGS}
    if not quiet:
        console.rule(name)
        return subprocess.run(command, check=False, cwd=REPO, env=environment).returncode
    console.print(f"{name} has begun; its words come when it ends ({log.relative_to(REPO)})")
    with log.open("wb") as kept:
        done = subprocess.run(
            command, check=False, cwd=REPO, env=environment, stdout=kept, stderr=subprocess.STDOUT
        )
    console.rule(name)
    console.print(log.read_text("utf-8", errors="replace"), markup=False, highlight=False)
    return done.returncode


def read_report(report: Path) -> tuple[int, int]:
    """Count passed and failed tests of a JUnit report; skipped ones count as failed here.

    Nothing is skipped in this project, so a skip is a test that did not do its work.
    """
    if not report.exists():
        return 0, 0
    n_passed = n_failed = 0
    for case in ElementTree.parse(report).iter("testcase"):  # noqa: S314  (pytest wrote it)
        if any(case.find(word) is not None for word in ("failure", "error", "skipped")):
            n_failed += 1
        else:
            n_passed += 1
    return n_passed, n_failed


def tests_of(area: str) -> list[str]:
    """Return the test files in an area's or capability's folders, and those that import it.

    Opt-in tiers are left out: they run only where they are named.
    """
    imports = re.compile(rf"^\s*(from|import) {re.escape(area.replace('/', '.'))}\b", re.MULTILINE)
    opt_in = [REPO / folder for folder in chain(*_NEEDS_MORE.values())]
    found = [
        path
        for path in sorted(REPO.glob("tests/**/test_*.py"))
        if not any(path.is_relative_to(folder) for folder in opt_in)
    ]
    return [
        str(path.relative_to(REPO))
        for path in found
        if f"/{area}/" in str(path.relative_to(REPO / "tests"))
        or imports.search(path.read_text("utf-8"))
    ]


def prepared(name: str) -> bool:
    """Fetch what a tier or a job needs; False, with the reason said, where that fails."""
    if name not in PREPARATIONS:
        return True
    console.print(f"{name}: fetching what it needs (once, it may take minutes)")
    try:
        PREPARATIONS[name]()
    except StackError as error:
        console.print(f"[red]{name} cannot start.[/]")
        console.print(str(error), markup=False)
        return False
    return True


def _run_tiers(wanted: Sequence[str], *, arguments: Sequence[str]) -> list[Count]:
    """Run gates and tiers; the quick gates come before everything."""
    found = jobs([name for name in wanted if name != "gates" and prepared(name)])
    run = partial(run_job, arguments=arguments, quiet=len(found) > 1)
    front = deque(partial(run, job) for job in found if job[1] in _IN_FRONT)
    behind = deque(partial(run, job) for job in found if job[1] not in _IN_FRONT)
    counts: list[Count] = []
    if "gates" in wanted:
        every = gates()
        counts.append(run_gates([gate for gate in every if gate[0] not in _LONG_GATES]))
        behind.append(partial(run_gates, [gate for gate in every if gate[0] in _LONG_GATES]))
    lanes = [(front, behind)] * N_IN_FRONT + [(behind,)]
    with ThreadPoolExecutor(max_workers=len(lanes)) as pool:
        for done in pool.map(_drained, lanes):
            counts += done
    return [in_sum(name, counts) for name in wanted]


def _drained(queues: Sequence[deque[Callable[[], Count]]]) -> list[Count]:
    """Run what is left in the queues, one after the other; others take from them too."""
    counts = []
    for queue in queues:
        while True:
            try:
                job = queue.popleft()
            except IndexError:
                break
            counts.append(job())
    return counts


def run_gate(arguments: Sequence[str]) -> int:
    """Run the gates and all tiers, or only those named; what pytest needs may follow `--`."""
    names, _, extra = " ".join(arguments).partition("--")
    wanted = names.split() or ["gates", *TIERS]
    unknown = [name for name in wanted if name not in {"gates", *TIERS, *OPT_IN}]
    if unknown:
        files = {area: tests_of(area) for area in wanted}
        if all(files.values()):
            command = [sys.executable, "-m", "pytest", "-q", *extra.split()]
            return _pytest([*command, *chain(*files.values())], log=_log("area"), quiet=False)
        lost = ", ".join(area for area, found in files.items() if not found)
        every = ", ".join(["gates", *TIERS, *OPT_IN])
        console.print(f"No tests of {lost}. Name areas, or tiers: {every}.")
        return 2
    counts = _run_tiers(wanted, arguments=extra.split())
    console.rule("summary")
    for count in counts:
        n_run = count.n_passed + count.n_failed
        console.print(f"{count.name}: {n_run} run, {count.n_failed} failed, {count.seconds:.0f} s")
    n_passed = sum(count.n_passed for count in counts)
    n_failed = sum(count.n_failed for count in counts)
    print(f"{n_passed} passed, {n_failed} failed", flush=True)
    return 1 if n_failed else 0
