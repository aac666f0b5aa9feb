"""Give the demo's people their log-ins. Run as a program with the portal's environment."""

import django

django.setup()

from django.contrib.auth.models import Group  # noqa: E402  (only after django.setup)

from portal.access.models import User  # noqa: E402  (as above)
from stack.people import ADMINS, DEMO_PASSWORD, OPERATORS, directory  # noqa: E402  (as above)


def make_people() -> None:
    """Make a user for every person of the directory; twice changes nothing."""
    groups = {
        "admin": (Group.objects.get_or_create(name="admin")[0], ADMINS),
        "operator": (Group.objects.get_or_create(name="operator")[0], OPERATORS),
    }
    for username, entry in directory()["people"].items():
        first, _, last = entry["name"].partition(" ")
        user, _ = User.objects.get_or_create(
            username=username,
            defaults={"email": entry["email"], "first_name": first, "last_name": last},
        )
        user.set_password(DEMO_PASSWORD)
        user.save()
        for group, members in groups.values():
            if username in members:
                user.groups.add(group)


if __name__ == "__main__":
    make_people()
