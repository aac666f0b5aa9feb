"""Turns HDFS's refusal for a lack of permission into words with a next step."""

import re

_WRAPPED = re.compile(r'^RPCError\("[\w.$]*AccessControlException", "(?P<said>.*?)(?:"\))?$', re.S)
_RIGHT = re.compile(
    r'user=(?P<user>[^,\s]+), access=(?P<right>\w+), inode="(?P<path>.*)":[^:"]+:[^:"]+:[-d]'
)
_OWNER = re.compile(r"user=(?P<user>\S+) is not the owner of inode=(?P<path>.+)")
_SUPERUSER = re.compile(r"uperuser privilege is required|on-super user cannot change owner")


def told(said: str) -> str:
    """Return an answer of the NameNode without the library's wrapping, and what to do about it."""
    wrapped = _WRAPPED.match(said)
    plain = wrapped["said"].replace('\\"', '"').rstrip(". ") if wrapped else said
    step = _next_step(plain)
    return f"{plain}. {step}" if step else plain


def _next_step(said: str) -> str:
    if found := _RIGHT.search(said):
        user, path = found["user"], found["path"]
        return (
            f"Give {user} the right {found['right']} on {path}, by a group or by `hdfs dfs "
            f"-setfacl -m user:{user}:rwx '{path}'`, and try again."
        )
    if found := _OWNER.search(said):
        return (
            f"Only the owner of {found['path'].strip()} or a superuser may do it: let an "
            "administrator of HDFS do it."
        )
    if _SUPERUSER.search(said):
        return "Only a superuser of HDFS may do it: let an administrator of HDFS do it."
    return ""
