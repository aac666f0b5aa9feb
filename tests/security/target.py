"""The people of the attacked world, and a client of each."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from tests.component.lifecycle.plan_world import World

# Who they are in the world: alice owns sales.orders, dora administers its database, anna asked for
# the plan and the rule, bert is another admin.
PEOPLE = {
    "nobody": "",
    "owner": "alice",
    "dba": "dora",
    "stranger": "eve",
    "operator": "otto",
    "requester": "anna",
    "admin": "bert",
}


@dataclass(frozen=True)
class Target:
    """The world and the values that stand in its addresses and forms."""

    world: World
    values: Mapping[str, Any]
    sessions: dict[str, str] = field(default_factory=dict)

    def said(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return a body with the values that it names by @, within lists too."""
        return {key: self._said(value) for key, value in body.items()}

    def _said(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._said(one) for one in value]
        return str(self.values[value[1:]]) if str(value).startswith("@") else value

    def client(self, who: str, **options: Any) -> Client:
        """Return a client of one of PEOPLE (`nobody` is not signed in).

        A person's session lasts as long as no answer ends it: signing in takes as long as a page.
        """
        client = Client(raise_request_exception=False, **options)
        if PEOPLE[who]:
            if not Session.objects.filter(pk=self.sessions.get(who, "")).exists():
                self.sessions[who] = self._signed_in(PEOPLE[who])
            client.cookies[settings.SESSION_COOKIE_NAME] = self.sessions[who]
        return client

    def _signed_in(self, name: str) -> str:
        client = Client()
        client.force_login(self.world.person(name))
        session = client.session
        session["lw_authenticated_at"] = timezone.now().timestamp()
        session.save()
        return str(session.session_key)
