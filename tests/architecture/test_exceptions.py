"""Every exception to a rule stands in the open: counted, and with its reason on the line."""

import ast
import re
import subprocess

from tests.architecture.source import PRODUCT, ROOT, modules

# A number may fall, never rise unseen: whoever raises one of them does it here, in review.
MOST_TYPE_IGNORES = 40
MOST_NOQA = 64
TYPE_IGNORE = re.compile(r"(?m)#\s*type:\s*ignore(?P<code>\[[\w,\- ]+\])?(?P<reason>.*)$")
NOQA = re.compile(r"(?m)#\s*noqa(?P<code>:\s*[A-Z]+\d+(?:,\s*[A-Z]+\d+)*)?(?P<reason>.*)$")
MIN_REASON = 8
# The only places that may catch everything: the outer doors, and why each is one.
OUTER_DOORS = {
    "optimizer/proxy/jobs/rewriting.py": "no rewriter may cost a client its query",
    "pipelines/incremental/jobs/transforms.py": "a company's function fails its layer, not the run",
    "portal/approvals/waiting.py": "a kind that breaks must not empty everybody's inbox",
    "portal/connectors/hdfs_filesystem.py": "the library's errors have no base class; translated",
    "portal/events/services.py": "one subscriber's fault parks a table, the log goes on",
    "portal/health.py": "a check that breaks is the answer",
    "portal/runs/kinds/hooks.py": "every brake is pulled before the first error is shown",
    "portal/runs/execution/polling.py": "a beat that breaks must not hide the end of a run",
    "portal/runs/execution/takeover.py": "a run that breaks keeps no other from being taken over",
    "portal/runs/execution/steps.py": "a run ends with its error, whatever it was",
    "portal/search/selectors/everything.py": "a source that breaks does not hide the others",
    "portal/connectors/name_services/client.py": "hands every error on to the thread that waits",
    "portal/spark/entry.py": "a job ends with a manifest, whatever happened",
    "portal/spark/job.py": "a gateway that is gone raises anything; translated",
    "refresh/core/connectors/front_end.py": "the driver's errors have no base class; translated",
    "refresh/worker/services/worker.py": "an unexpected error costs a table one turn",
    "tasks/schedule.py": "a tick or kind that breaks must not keep the others from their turn",
    "tasks/supervise.py": "a kind that breaks must not keep other runs from being polled",
    "tasks/each_lake.py": "an unexpected error costs a lake one turn",
    "tasks/loops.py": "an unexpected error costs a loop one turn",
}
# What we wrote ourselves below static/: everything else is unpacked at set-up and never committed.
OWN_STATIC = (".css", ".js", ".svg", ".ico")
MOST_STATIC_BYTES = 60_000


def excused(pattern: re.Pattern[str]) -> list[tuple[str, str | None, str]]:
    """Find the comments that switch a checker off: where, which rule, and the reason given."""
    return [
        (f"{module.name}:{number}", match["code"], match["reason"].strip(" -#—:"))
        for module in modules()
        if module.name != "tests/architecture/test_exceptions.py" and pattern.search(module.text)
        for number, line in enumerate(module.lines, 1)
        if (match := pattern.search(line))
    ]


def test_every_type_ignore_names_its_code_and_reason() -> None:
    found = excused(TYPE_IGNORE)
    assert [where for where, code, why in found if not code or len(why) < MIN_REASON] == []
    assert len(found) <= MOST_TYPE_IGNORES


def test_every_noqa_names_its_rule_and_reason() -> None:
    found = excused(NOQA)
    assert [where for where, code, why in found if not code or len(why) < MIN_REASON] == []
    assert len(found) <= MOST_NOQA


def test_no_test_is_skipped_or_expected_to_fail() -> None:
    strays = [
        f"{module.name}:{node.lineno}"
        for module in modules("tests")
        for node in module.nodes(ast.Attribute)
        if node.attr in {"skip", "skipif", "xfail"}
    ]
    assert strays == []


def test_no_test_mocks_our_own_code() -> None:
    strays = [
        (module.name, name)
        for module in modules("tests")
        for name in module.imports
        if name.startswith(("unittest.mock", "pytest_mock"))
    ]
    assert strays == []


def test_only_the_outer_doors_catch_everything() -> None:
    doors = {
        module.name
        for module in modules(*PRODUCT)
        for node in module.nodes(ast.ExceptHandler)
        if catches_everything(node)
    }
    assert doors - OUTER_DOORS.keys() == set()
    assert OUTER_DOORS.keys() - doors == set(), "no longer a door: take it off the list"


def catches_everything(handler: ast.ExceptHandler) -> bool:
    """Whether a handler swallows any error: one that ends by raising it again only cleans up."""
    last = handler.body[-1]
    if isinstance(last, ast.Raise) and last.exc is None:
        return False
    if handler.type is None:
        return True
    return any(
        isinstance(node, ast.Name) and node.id in {"Exception", "BaseException"}
        for node in ast.walk(handler.type)
    )


def test_no_third_party_asset_is_committed() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "static", "templates"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split("\0")
    strays = [
        name
        for name in filter(None, listed)
        if ".min." in name
        or "/vendor/" in name
        or (name.startswith("static/") and not name.endswith(OWN_STATIC))
        or ((ROOT / name).is_file() and (ROOT / name).stat().st_size > MOST_STATIC_BYTES)
    ]
    assert strays == []
