"""Tell which pages, templates and plugins drop or double alternative texts, and which images have none. Reads only."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections import Counter
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand

from alttext.contrib.djangocms import checking
from alttext.contrib.djangocms.checking import Found, Looked


class Command(BaseCommand):
    help = (
        "Render the newest version of each page's plugins through the site's templates, and list images whose alt text "
        "is doubled, missing, dropped or undecided. Changes no content. Exit status 1 if there is anything to do."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON document instead of lines")
        parser.add_argument(
            "--template-only", action="store_true", help="only what templates do wrong, no images without a text"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        looked = Looked()
        found = list(checking.look(template_only=options["template_only"], looked=looked))
        open_ones = [problem for problem in found if not problem.repaired]
        if options["json"]:
            self._as_json(found, looked, to_do=len(open_ones))
        else:
            self._as_lines(found, looked, to_do=len(open_ones))
        if open_ones:
            sys.exit(1)

    def _as_json(self, found: list[Found], looked: Looked, *, to_do: int) -> None:
        problems = [
            {**asdict(problem), "problem": problem.problem.name, "says": str(problem.problem)} for problem in found
        ]
        document = {"pages": looked.pages, "images": looked.images, "to_do": to_do, "problems": problems}
        self.stdout.write(json.dumps(document, indent=2, ensure_ascii=False))

    def _as_lines(self, found: list[Found], looked: Looked, *, to_do: int) -> None:
        where = ""
        for problem in found:
            here = f"{problem.page_title} [{problem.language}, {problem.state}] {problem.page_url}"
            if here != where:
                self.stdout.write(f"\n{here}")
                where = here
            self.stdout.write(f"  {_line(problem)}")
        for (name, template), count in sorted(_by_template(found).items()):
            self.stdout.write(f"\n{count} × {template}: {checking.Problem[name]}")
        repaired = len(found) - to_do
        self.stdout.write(
            f"\n{looked.images} images on {looked.pages} pages looked at: {to_do} to do, "
            f"{repaired} put right by the plugin processor."
        )


def _line(problem: Found) -> str:
    place = f"{problem.image or 'an image'} in {problem.slot}, {problem.plugin_type} {problem.plugin_id}"
    more = [f"printed: {problem.printed}"] if problem.printed else []
    more += [f"stored: {problem.stored!r}"] if problem.stored is not None else []
    more += [problem.detail] if problem.detail else []
    more += ["put right by the plugin processor"] if problem.repaired else []
    return f"{place}: {problem.problem}" + (f" ({'; '.join(more)})" if more else "")


def _by_template(found: list[Found]) -> Counter[tuple[str, str]]:
    return Counter((problem.problem.name, problem.template) for problem in found if problem.template)
