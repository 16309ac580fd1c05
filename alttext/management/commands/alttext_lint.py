"""Look at the texts of a whole site, or at rendered pages, with the lint rules. Reads only; exit code 1 for CI."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from argparse import ArgumentParser, ArgumentTypeError, BooleanOptionalAction
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import groupby, islice
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import urljoin, urlsplit

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.http.request import validate_host
from django.test import Client

from alttext import adapters, exports, roles, rules
from alttext.models import Placement

CHUNK_PLACES = 500
PROGRESS_SECONDS = 2.0
MOST_REDIRECTS = 5
TAG_CHARS = 300
COLUMNS = ("level", "rule", "where", "line", "image", "place", "text", "message", "repair", "key")
NEVER = "never"


class NotRendered(Exception):
    """A page could not be looked at; the message says why. `fault`: the site failed, rather than kept it private."""

    def __init__(self, reason: str, *, fault: bool) -> None:
        super().__init__(reason)
        self.fault = fault


@dataclass(frozen=True, slots=True)
class Row:
    """One finding and where it is.

    :ivar where: address of the page, or name of the file.
    :ivar line: of a rendered page; None for a text.
    """

    level: str
    rule: str
    where: str
    line: int | None
    image: str
    place: str
    text: str
    message: str
    repair: str
    key: str


class Command(BaseCommand):
    help = (
        "Check the alternative texts that stand in the CMS, and with --pages the markup of the pages they stand on, "
        "rendered in this process for an anonymous visitor. Nothing is written. Exit code 1 at errors."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--places", action="store_true", help="the texts of all places (default)")
        what.add_argument("--html", nargs="+", type=Path, metavar="FILE", help="rendered pages in files")
        what.add_argument(
            "--url-list", type=Path, metavar="FILE", help="pages of this site, one path or address a line"
        )
        parser.add_argument("--pages", action="store_true", help="with --places: the pages as well, each once")
        parser.add_argument("--adapter", metavar="NAME", help="only this adapter, e.g. djangocms or wagtail")
        parser.add_argument("--limit", type=_above_zero, metavar="N", help="look at no more than N places or pages")
        parser.add_argument("--level", choices=rules.LEVELS, default=rules.WARN, help="the lowest level that is told")
        parser.add_argument("--rule", action="append", metavar="ID", help="only this rule; can be given again")
        parser.add_argument(
            "--fail-on",
            choices=[*rules.LEVELS, NEVER],
            default=rules.ERROR,
            help="the lowest level that gives exit code 1",
        )
        parser.add_argument(
            "--csv", type=Path, metavar="FILE", help="write the findings there instead, for a spreadsheet"
        )
        parser.add_argument("--json", action="store_true", help="one JSON object a line")
        parser.add_argument(
            "--progress", action=BooleanOptionalAction, help="tell on stderr how far it is (default: on a terminal)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        self.looked_at: Counter[str] = Counter()
        self.levels: Counter[str] = Counter()
        self.told = time.monotonic()
        self.speaks = sys.stderr.isatty() if options["progress"] is None else options["progress"]
        if options["pages"] and (options["html"] or options["url_list"]):
            raise CommandError("--pages goes with --places only.")
        if unknown := sorted(set(options["rule"] or ()) - set(rules.RULES)):
            raise CommandError(f"No rule is called {unknown[0]!r}; there are: {', '.join(sorted(rules.RULES))}.")
        if off := sorted(rules.switched_off()):
            self.stderr.write(f"Switched off on this site: {', '.join(off)}")
        self.off = rules.switched_off() | (set(rules.RULES) - set(options["rule"]) if options["rule"] else set())
        self._write(self._chosen(self._rows(options), options["level"]), options)
        self._sum_up(options["fail_on"])

    def _rows(self, options: dict[str, Any]) -> Iterator[Row]:
        if options["html"]:
            return self._files(islice(options["html"], options["limit"]))
        if options["url_list"]:
            return self._addresses(_listed(options["url_list"]), options["limit"])
        return self._places(options["adapter"], options["limit"], with_pages=options["pages"])

    def _chosen(self, rows: Iterable[Row], level: str) -> Iterator[Row]:
        """Rows of that level or above; all are counted."""
        wanted = rules.LEVELS[: rules.LEVELS.index(level) + 1]
        for row in rows:
            self.levels[row.level] += 1
            if row.level in wanted:
                yield row

    def _places(self, name: str | None, limit: int | None, *, with_pages: bool) -> Iterator[Row]:
        """Of each place the text, in the words around it; of each page the markup, once. One chunk in memory."""
        rendered: set[int] = set()  # hashes of addresses: small, also for a site of a hundred thousand pages
        for adapter in self._adapters(name):
            places = islice(adapter.places(), limit)
            while chunk := list(islice(places, CHUNK_PLACES)):
                chosen = _chosen_roles(adapter.name, [place.key for place in chunk])
                for address, group in groupby(chunk, key=lambda place: place.page_url):
                    on_page = list(group)
                    for place in on_page:
                        yield from self._text(place, chosen.get(place.key, ""))
                    if with_pages and address and hash(address) not in rendered:
                        rendered.add(hash(address))
                        yield from self._page(address, decorative=_only_decorative(on_page))

    def _adapters(self, name: str | None) -> list[adapters.Adapter]:
        found = adapters.all_adapters()
        if name and name not in [adapter.name for adapter in found]:
            known = ", ".join(adapter.name for adapter in found) or "none"
            raise CommandError(f"No adapter is called {name!r}; there are: {known}.")
        return [adapter for adapter in found if name in (None, adapter.name)]

    def _text(self, place: adapters.Place, chosen_role: str) -> Iterator[Row]:
        self._count("texts")
        if not place.alt.text and not place.alt.decorative:
            self.looked_at["without a text yet"] += 1
        role = roles.propose(linked=bool(place.context.link_target), declared=chosen_role or place.role)
        subject = rules.Subject.in_place(
            place.alt.text, words=place.context, language=place.language, role=role, image_name=place.image_name
        )
        for item in rules.check(subject, off=self.off):
            yield Row(
                item.level, item.rule, place.page_url or place.page_title, None, place.image_name, place.key,
                place.alt.text, item.message, item.repair, item.key,
            )  # fmt: skip

    def _addresses(self, addresses: Iterable[str], limit: int | None) -> Iterator[Row]:
        for address in islice(addresses, limit):
            yield from self._page(address)

    def _page(self, address: str, *, decorative: Iterable[str] = ()) -> Iterator[Row]:
        try:
            source = rendered_page(address)
        except NotRendered as error:
            self.looked_at["pages that failed" if error.fault else "pages not public"] += 1
            self.stderr.write(f"{address}: {error}")
            return
        yield from self._markup(source, address, decorative=frozenset(decorative))

    def _files(self, files: Iterable[Path]) -> Iterator[Row]:
        for file in files:
            try:
                with file.open(encoding="utf-8", errors="replace", newline="") as opened:
                    source = opened.read(rules.MOST_CHARS + 1)
            except OSError as error:
                raise CommandError(f"{file}: {error.strerror}") from error
            yield from self._markup(source, str(file))

    def _markup(self, source: str, where: str, *, decorative: frozenset[str] = frozenset()) -> Iterator[Row]:
        self._count("pages")
        page = rules.Page(source, decorative=decorative)
        if page.cut:
            self.looked_at["pages looked at in part"] += 1
            self.stderr.write(f"{where}: too long; only its beginning was looked at")
        for item in rules.markup.findings_of(page, off=self.off):
            tag = source[slice(*item.span)][:TAG_CHARS] if item.span else ""
            line = page.line_of(item.span[0]) if item.span else None
            yield Row(item.level, item.rule, where, line, "", "", tag, item.message, item.repair, item.key)

    def _write(self, rows: Iterable[Row], options: dict[str, Any]) -> None:
        try:
            with contextlib.ExitStack() as opened:
                if options["csv"]:
                    file: TextIO = opened.enter_context(options["csv"].open("w", encoding="utf-8", newline=""))
                    file.writelines(exports.csv_lines(COLUMNS, (asdict(row).values() for row in rows)))
                elif options["json"]:
                    for row in rows:
                        self.stdout.write(json.dumps(asdict(row), ensure_ascii=True))
                else:
                    for row in rows:
                        self.stdout.write(_sentence(row))
        except OSError as error:
            raise CommandError(f"{error.filename or options['csv']}: {error.strerror}") from error

    def _count(self, what: str) -> None:
        self.looked_at[what] += 1
        now = time.monotonic()
        if self.speaks and now - self.told >= PROGRESS_SECONDS:
            self.told = now
            self.stderr.write(f"{self._seen()} so far; {self._found()}")

    def _seen(self) -> str:
        return ", ".join(f"{count} {what}" for what, count in self.looked_at.items()) or "nothing to look at"

    def _found(self) -> str:
        return ", ".join(f"{self.levels[level]} {level}" for level in rules.LEVELS)

    def _sum_up(self, fail_on: str) -> None:
        self.stderr.write(f"{self._seen()}; {self._found()}")
        if self.looked_at["pages that failed"]:
            raise CommandError(f"{self.looked_at['pages that failed']} pages could not be rendered.")
        failing = () if fail_on == NEVER else rules.LEVELS[: rules.LEVELS.index(fail_on) + 1]
        if number := sum(self.levels[level] for level in failing):
            raise CommandError(f"{number} findings of the level {fail_on} or above.")


def rendered_page(address: str) -> str:
    """The HTML that an anonymous visitor gets, rendered in this process; no network is used.

    :raises NotRendered: it is of another site, private, no HTML, or broken.
    """
    client = Client(raise_request_exception=False, headers={"accept": "text/html"})
    for _ in range(MOST_REDIRECTS):
        try:
            parts = urlsplit(address)
            host = parts.netloc or _own_host()
        except ValueError as error:
            raise NotRendered("no address", fault=True) from error
        if parts.scheme not in ("", "http", "https") or not validate_host(_without_port(host), _allowed()):
            raise NotRendered("is not of this site", fault=False)
        secure = parts.scheme == "https" or settings.SECURE_SSL_REDIRECT
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        answer = client.get(path, headers={"host": host}, secure=secure)
        if answer.status_code not in (301, 302, 303, 307, 308):
            return _html_of(answer)
        address = urljoin(f"{'https' if secure else 'http'}://{host}{path}", answer.headers.get("Location", ""))
        if urlsplit(address).path == urlsplit(str(settings.LOGIN_URL)).path:
            raise NotRendered("asks for a login", fault=False)
    raise NotRendered(f"leads on more than {MOST_REDIRECTS} times", fault=True)


def _html_of(answer: Any) -> str:
    if answer.status_code != 200:
        raise NotRendered(f"answers with {answer.status_code}", fault=answer.status_code >= 500)
    if "html" not in answer.headers.get("Content-Type", ""):
        raise NotRendered("is no HTML page", fault=False)
    try:
        taken, length = [], 0
        for piece in answer.streaming_content if answer.streaming else [answer.content]:
            taken.append(piece)
            length += len(piece)
            if length > 4 * rules.MOST_CHARS:
                break
    finally:
        answer.close()
    return b"".join(taken).decode(answer.charset or "utf-8", errors="replace")


def _allowed() -> list[str]:
    """Hosts of this site, as Django takes them while DEBUG is on and none are named."""
    return list(settings.ALLOWED_HOSTS) or ["localhost", "127.0.0.1", "[::1]"]


def _own_host() -> str:
    """A host that the site answers to."""
    named = [host.lstrip(".") for host in _allowed() if host != "*"]
    return named[0] if named else "localhost"


def _without_port(host: str) -> str:
    return host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host


def _only_decorative(places: list[adapters.Place]) -> set[str]:
    """Addresses of images that are decorative wherever they stand on this page."""
    told = {place.image_url for place in places if not place.alt.decorative}
    return {place.image_url for place in places if place.alt.decorative and place.image_url} - told


def _chosen_roles(adapter: str, keys: list[str]) -> dict[str, str]:
    """Roles that people chose in the workbench, for one chunk of places."""
    rows = Placement.objects.filter(adapter=adapter, key__in=keys).exclude(chosen_role="")
    return dict(rows.values_list("key", "chosen_role"))


def _listed(file: Path) -> Iterator[str]:
    """Lines of a file, without empty ones and those that begin with #."""
    try:
        with file.open(encoding="utf-8-sig") as lines:
            for line in lines:
                if line.strip() and not line.lstrip().startswith("#"):
                    yield line.strip()
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{file}: {getattr(error, 'strerror', None) or 'is no text in UTF-8'}") from error


def _sentence(row: Row) -> str:
    """One finding in one line; line breaks in a text must not look like another finding."""
    line = f":{row.line}" if row.line else ""
    what = json.dumps(row.text[:80], ensure_ascii=False)
    image = f" {row.image}:" if row.image else ""
    return f"{row.level.upper():5} {row.rule} {row.where}{line}:{image} {row.message} {what}"


def _above_zero(given: str) -> int:
    if not given.isdigit() or int(given) < 1:
        raise ArgumentTypeError(f"{given!r} is no number above 0")
    return int(given)
