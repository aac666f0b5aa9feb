"""A token made from a shell: the secret alone on standard output, everything else in words."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from portal.access.scopes import Scope, register_scope
from portal.people.models import ApiToken
from portal.people.tokens import token_of
from tests.component.conftest import People

register_scope(Scope("refresh", "Tell what a job has written."))
pytestmark = pytest.mark.usefixtures("lake")


def run(**options: object) -> tuple[str, str]:
    out, err = StringIO(), StringIO()
    said = {"user": "olga", "name": "nightly load", "scope": ["refresh"], **options}
    call_command("token_make", **said, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def test_the_secret_alone_is_printed(people: People) -> None:
    out, err = run(days=30)
    secret = out.removesuffix("\n")
    assert "\n" not in secret
    found = token_of(secret, address="", now=timezone.now())
    assert found == ApiToken.objects.get()
    assert (found.owner, found.made_by, found.scopes) == (people.owner, "manage.py", ["refresh"])
    assert (found.expires_at - found.made_at).days == 30
    assert secret not in err
    assert str(found.public_id) in err


def test_the_secret_is_kept_in_a_file_for_its_owner_alone(people: People, tmp_path: Path) -> None:
    place = tmp_path / "secret"
    place.touch(mode=0o644)
    out, _ = run(file=place)
    assert out == ""
    assert token_of(place.read_text("ascii").strip(), address="", now=timezone.now())
    assert place.stat().st_mode & 0o777 == 0o600


def test_a_file_that_cannot_be_made_leaves_no_token(people: People, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="No such file or directory"):
        run(file=tmp_path / "no such folder" / "secret")
    assert not ApiToken.objects.exists()


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"user": "nobody"}, "token.owner"),
        ({"name": "a\nb"}, "token.name"),
        ({"scope": ["approve"]}, "token.scope_unknown"),
        ({"days": 0}, "token.days"),
        ({"days": 367}, "token.days"),
    ],
)
def test_a_wrong_wish_is_refused_in_words(
    people: People, wrong: dict[str, object], code: str
) -> None:
    with pytest.raises(CommandError, match=code):
        run(**wrong)
    assert not ApiToken.objects.exists()
