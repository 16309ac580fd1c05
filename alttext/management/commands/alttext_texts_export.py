"""Write the texts that one person may edit to a file for a spreadsheet or a translation tool."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError

from alttext import exchange


class Command(BaseCommand):
    help = "Export the texts that a person may edit, as CSV or XLIFF 1.2. alttext_texts_import takes the file back."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--user", required=True, metavar="NAME", help="what this person may edit is exported")
        parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="written anew if it is there")
        parser.add_argument("--format", choices=["csv", "xliff"], default="csv")
        parser.add_argument("--language", default="", metavar="CODE", help="this language only; XLIFF needs it")
        parser.add_argument(
            "--source", default="", metavar="CODE", help="XLIFF: to translate from; default: the site's"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        user = acting_person(options["user"])
        language = options["language"]
        if options["format"] == "xliff" and not language:
            raise CommandError("Name the language of the file with --language.")
        try:
            if options["format"] == "xliff":
                found = exchange.xliff(
                    user=user, language=language, source_language=options["source"] or settings.LANGUAGE_CODE
                )
                options["out"].write_bytes(found.data)
                told = f"{found.units} texts, {found.left_out} images left out that have no text to translate from"
            else:
                with options["out"].open("w", encoding="utf-8", newline="") as file:
                    number = sum(
                        bool(file.write(line))
                        for line in exchange.sheet_lines(exchange.rows(user=user, language=language))
                    )
                told = f"{number - 2} rows"  # less the byte order mark and the names of the columns
        except OSError as error:
            raise CommandError(f"{options['out']}: {error.strerror}") from error
        self.stdout.write(f"{told}, written to {options['out']}")


def acting_person(name: str) -> Any:
    """The account that a file is written for, or brought by.  :raises CommandError: there is none, or not active."""
    model = get_user_model()
    user = model._default_manager.filter(**{model.USERNAME_FIELD: name}).first()
    if user is None or not user.is_active:
        raise CommandError(f"There is no active account called {name!r}.")
    return user
