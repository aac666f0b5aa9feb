"""Tests API tokens: they open requests only where a view names their scope."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, include, path
from django.utils import timezone
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.access.models import User
from portal.access.scopes import Scope, register_scope
from portal.people.models import ApiToken
from portal.people.token_rules import TokenParams
from portal.people.tokens import token_end, token_make
from portal.ui.frame.context import person
from tests.component.conftest import People

register_scope(Scope("refresh", "Tell what a job has written."))
register_scope(Scope("other", "Something else."))
TOLD = "/api/v1/told/"


class Told(APIView):
    """An address for programs."""

    token_scope = "refresh"

    @extend_schema(request=None, responses={200: None})
    def get(self, request: Request) -> Response:
        """Say as whom one came."""
        return Response({"who": person(request).username})

    @extend_schema(request=None, responses={200: None})
    def post(self, request: Request) -> Response:
        """Take what was told."""
        return Response({"who": person(request).username, "told": request.data})


urlpatterns: list[URLPattern | URLResolver] = [
    path("api/v1/told/", Told.as_view()),
    path("", include("portal.urls")),
]
pytestmark = [pytest.mark.urls(__name__), pytest.mark.usefixtures("lake")]


def secret_of(user: User, *scopes: str, days_ago: int = 0, n_days: int = 9) -> str:
    wish = TokenParams("job", scopes or ("refresh",), n_days)
    made = token_make(user.username, wish, user=user, now=timezone.now() - timedelta(days=days_ago))
    return made.secret


def bearer(secret: str, *, scheme: str = "Bearer") -> dict[str, str]:
    return {"Authorization": f"{scheme} {secret}"}


def get(where: str, secret: str, client: Client | None = None) -> Any:
    return (client or Client()).get(where, headers=bearer(secret))


def test_a_token_opens_the_address_of_its_scope_as_its_owner(people: People) -> None:
    secret = secret_of(people.owner)
    assert get(TOLD, secret).json() == {"who": "olga"}
    assert Client().get(TOLD, headers=bearer(secret, scheme="bearer")).status_code == 200
    assert ApiToken.objects.get().last_used_at is not None
    answer = Client(enforce_csrf_checks=True).post(
        TOLD, {"table": "a.b"}, content_type="application/json", headers=bearer(secret)
    )
    assert answer.json() == {"who": "olga", "told": {"table": "a.b"}}, "no CSRF token is needed"
    assert "sessionid" not in answer.cookies


def test_the_same_address_is_open_to_a_session_with_its_csrf_token(people: People) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(people.owner)
    assert client.get(TOLD).status_code == 200
    assert client.post(TOLD, {}, content_type="application/json").status_code == 403


def test_whatever_is_wrong_with_a_token_is_said_in_the_same_words(people: People) -> None:
    good, ended = secret_of(people.owner), secret_of(people.owner)
    token_end(ApiToken.objects.latest("pk").public_id, user=people.owner, now=timezone.now())
    left = secret_of(people.stranger)
    User.objects.filter(username="stan").update(is_active=False)
    expired = secret_of(people.owner, days_ago=10)
    odd = ("", " ", "lw_", good + "x", f"{good} {good}", "é", "a" * 5_000, good[3:])
    said = set()
    for secret in (ended, left, expired, *odd):
        answer = get(TOLD, secret)
        assert answer.status_code == 401, secret
        assert answer["WWW-Authenticate"] == "Bearer"
        said.add(answer.content)
    assert len(said) == 1
    body = answer.json()
    assert body["code"] == "token.refused"
    assert body["message"].endswith("wrong, ended or expired.")
    assert body["next_step"]
    assert get(TOLD, good).status_code == 200


def test_a_token_without_the_scope_is_told_which_one_it_needs(people: People) -> None:
    answer = get(TOLD, secret_of(people.owner, "other"))
    assert answer.status_code == 403
    body = answer.json()
    assert (body["code"], body["fields"]) == ("token.scope", {"scope": "refresh"})
    assert get(TOLD, secret_of(people.owner, "other", "refresh")).status_code == 200


@pytest.mark.parametrize("where", ["/api/v1/runs/", "/api/v1/audit/", "/api/v1/people/"])
def test_no_other_address_takes_a_token_or_looks_at_it(people: People, where: str) -> None:
    for secret in (secret_of(people.admin), "lw_wrong"):
        answer = get(where, secret)
        assert answer.status_code == 403
        assert answer.json()["code"] == "token.not_here"
    assert ApiToken.objects.get().last_used_at is None
    client = Client()
    client.force_login(people.admin)
    assert client.get(where).status_code == 200
    assert get(where, "lw_wrong", client).status_code == 403, "nor beside a session"


def test_pages_take_no_token(people: People) -> None:
    answer = get("/runs/", secret_of(people.admin))
    assert answer.status_code == 302
    assert answer["Location"].startswith("/login/")


def test_a_session_does_not_mend_a_bad_token_nor_lend_its_name_to_a_good_one(
    people: People,
) -> None:
    client = Client()
    client.force_login(people.admin)
    assert get(TOLD, "lw_wrong", client).status_code == 401
    assert get(TOLD, secret_of(people.owner), client).json() == {"who": "olga"}


def test_a_token_elsewhere_than_in_the_header_is_none(people: People) -> None:
    secret = secret_of(people.owner)
    for name in ("token", "access_token", "Authorization", "key"):
        answer = Client().get(TOLD, {name: secret})
        assert answer.status_code == 401, name
        assert secret not in answer.content.decode()
    for scheme in ("Basic", "Token", ""):
        assert Client().get(TOLD, headers=bearer(secret, scheme=scheme)).status_code == 401
    client = Client()
    client.cookies["Authorization"] = secret
    assert client.get(TOLD).status_code == 401
    assert ApiToken.objects.get().last_used_at is None


def test_who_sends_nothing_is_asked_for_a_token_only_where_one_is_taken(db: None) -> None:
    answer = Client().get(TOLD)
    assert (answer.status_code, answer["WWW-Authenticate"]) == (401, "Bearer")
    answer = Client().get("/api/v1/runs/")
    assert (answer.status_code, answer.has_header("WWW-Authenticate")) == (403, False)


def test_the_rights_are_those_of_the_owner_now(people: People) -> None:
    secret = secret_of(people.admin)
    people.admin.groups.clear()
    assert get(TOLD, secret).status_code == 200
    User.objects.filter(pk=people.admin.pk).update(is_active=False)
    assert get(TOLD, secret).status_code == 401


def test_the_schema_names_tokens_where_they_are_taken() -> None:
    generator: Any = SchemaGenerator
    document = generator(patterns=urlpatterns).get_schema(request=None, public=True)
    scheme = document["components"]["securitySchemes"]["apiToken"]
    assert (scheme["type"], scheme["scheme"]) == ("http", "bearer")
    assert "refresh" in scheme["description"]
    paths = document["paths"]
    assert paths[TOLD]["post"]["security"] == [{"apiToken": []}, {"cookieAuth": []}]
    assert paths["/api/v1/runs/"]["get"]["security"] == [{"cookieAuth": []}]
