"""The three accounts of the demonstration. Their passwords are their names: never for a public site."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission


@dataclass(frozen=True)
class Account:
    """A demonstration account; permissions as "app.codename"."""

    name: str
    may: str
    permissions: tuple[str, ...] = ()
    is_admin: bool = False


ACCOUNTS = (
    Account("author", "write alternative texts", ("demo.change_illustration",)),
    Account("lead", "write them, and see the dashboards", ("demo.change_illustration", "alttext.view_dashboards")),
    Account("admin", "do everything", is_admin=True),
)


def create_missing() -> int:
    """Create those accounts that are not there, and leave the others as they are; gives how many were created."""
    taken = set(get_user_model().objects.values_list("username", flat=True))
    missing = [account for account in ACCOUNTS if account.name not in taken]
    for account in missing:
        _create(account)
    return len(missing)


def _create(account: Account) -> None:
    user = get_user_model().objects.create_user(
        account.name, password=account.name, is_staff=account.is_admin, is_superuser=account.is_admin
    )
    for permission in account.permissions:
        app, codename = permission.split(".")
        user.user_permissions.add(Permission.objects.get(content_type__app_label=app, codename=codename))
