"""The provider's site: Django OAuth Toolkit with a log-in form, on SQLite, served till killed."""

import json
import secrets
import sys
from pathlib import Path
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from django.conf import settings

from stack.process import LOOPBACK

_LOGIN = """<form method="post">{% csrf_token %}{{ form }}
<input type="hidden" name="next" value="{{ next }}"><button>Log in</button></form>"""


def configure(directory: Path, port: int, key: str) -> None:
    """Set the site up; nothing of the portal's settings is read."""
    settings.configure(
        SECRET_KEY=secrets.token_urlsafe(48),
        ALLOWED_HOSTS=["*"],
        USE_TZ=True,
        ROOT_URLCONF="stack.servers.oidc_urls",
        LOGIN_URL="/accounts/login/",
        INSTALLED_APPS=[
            "django.contrib.auth",
            "django.contrib.contenttypes",
            "django.contrib.sessions",
            "oauth2_provider",
        ],
        MIDDLEWARE=[
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.middleware.common.CommonMiddleware",
            "django.middleware.csrf.CsrfViewMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
        ],
        DATABASES={
            "default": {
                "ENGINE": "django.db.backends.sqlite3",
                "NAME": directory / "site.sqlite3",
                "OPTIONS": {"timeout": 20},
            }
        },
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
        TEMPLATES=[
            {
                "BACKEND": "django.template.backends.django.DjangoTemplates",
                "OPTIONS": {
                    "context_processors": ["django.template.context_processors.request"],
                    "loaders": [
                        (
                            "django.template.loaders.locmem.Loader",
                            {"registration/login.html": _LOGIN},
                        ),
                        "django.template.loaders.app_directories.Loader",
                    ],
                },
            }
        ],
        OAUTH2_PROVIDER={
            "OIDC_ENABLED": True,
            "OIDC_ISS_ENDPOINT": f"http://{LOOPBACK}:{port}",
            "OIDC_RSA_PRIVATE_KEY": key,
            "OIDC_RP_INITIATED_LOGOUT_ENABLED": True,
            "OAUTH2_VALIDATOR_CLASS": "stack.servers.oidc_claims.Validator",
            "PKCE_REQUIRED": True,
            "SCOPES": {name: name for name in ("openid", "profile", "email", "groups")},
        },
    )


def seed(data: dict[str, Any]) -> None:
    """Make the people, their groups and the one client."""
    from django.contrib.auth.models import Group, User
    from oauth2_provider.models import get_application_model

    for username, groups in data["people"].items():
        user = User.objects.create_user(
            username, f"{username}@example.com", data["password"], first_name=username.title()
        )
        user.groups.set([Group.objects.get_or_create(name=name)[0] for name in groups])
    get_application_model().objects.create(
        client_id=data["client_id"],
        client_secret=data["client_secret"],
        client_type="confidential",
        authorization_grant_type="authorization-code",
        redirect_uris=data["redirect_uri"],
        post_logout_redirect_uris=data["signed_out_uri"],
        skip_authorization=True,
        algorithm="RS256",
        name="Lakewarden",
    )


class _Quiet(WSGIRequestHandler):
    """Answers without asking the resolver for names."""

    def address_string(self) -> str:
        return str(self.client_address[0])


def main() -> None:
    """Migrate, seed, serve until killed."""
    import django
    from django.core.management import call_command
    from django.core.wsgi import get_wsgi_application
    from jwcrypto.jwk import JWK

    directory = Path(sys.argv[1])
    data = json.loads((directory / "seed.json").read_text(encoding="utf-8"))
    key = JWK.generate(kty="RSA", size=2048).export_to_pem(private_key=True, password=None)
    configure(directory, data["port"], key.decode())
    django.setup()
    call_command("migrate", verbosity=0)
    seed(data)
    server = WSGIServer((LOOPBACK, data["port"]), _Quiet)
    server.set_app(get_wsgi_application())
    server.serve_forever()


if __name__ == "__main__":
    main()
