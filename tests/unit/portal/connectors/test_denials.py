"""What HDFS says when an account lacks a permission becomes words with a next step."""

import pytest

from portal.connectors.reach.denials import told

_DENIED = 'user=steward, access=WRITE, inode="/user/etl/db":etl:analysts:drwxr-x---'


@pytest.mark.parametrize("end", ['")', ""])
def test_a_lacking_right_names_account_right_path_and_next_step(end: str) -> None:
    escaped = _DENIED.replace('"', '\\"')
    said = told(
        f'RPCError("org.apache.hadoop.security.AccessControlException", "Permission denied: '
        f"{escaped}{end}"
    )
    assert said == (
        f"Permission denied: {_DENIED}. Give steward the right WRITE on /user/etl/db, by a group "
        "or by `hdfs dfs -setfacl -m user:steward:rwx '/user/etl/db'`, and try again."
    )


@pytest.mark.parametrize(
    ("answer", "step"),
    [
        (
            "Permission denied. user=steward is not the owner of inode=/user/etl",
            "Only the owner of /user/etl or a superuser may do it: let an administrator of HDFS "
            "do it.",
        ),
        (
            "User steward is not a super user (non-super user cannot change owner).",
            "Only a superuser of HDFS may do it: let an administrator of HDFS do it.",
        ),
    ],
)
def test_what_only_owners_or_superusers_may_says_so(answer: str, step: str) -> None:
    name = "org.apache.hadoop.security.AccessControlException"
    said = told(f'RPCError("{name}", "{answer}")')
    assert said.endswith(step)
    assert said.startswith(answer.rstrip("."))
    assert "RPCError" not in said


def test_other_answers_stay_as_they_are() -> None:
    for said in ("Name node is in safe mode.", 'RPCError("java.io.IOException", "no")', ""):
        assert told(said) == said
