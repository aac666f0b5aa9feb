"""A token made from a shell: the secret alone on standard output, everything else in words."""

from io import StringIO

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
