"""Finds the person by whose rights a command of the shell acts."""

from django.core.management.base import CommandError

from portal.access.models import User


def user_named(username: str) -> User:
    """Return a person by user name.

    Raises:
        CommandError: there is none.
    """
    try:
        return User.objects.get(username=username)
    except User.DoesNotExist as error:
        raise CommandError(f"There is no user {username}.") from error
