"""The adapter for images in plain Django models. Which models and attributes: `setting`. Knows no job and no decision.

A place is one image field of one row; its key is "app.model:pk:field", for UUID keys with 32 hex digits.
"""

from __future__ import annotations

import logging
import posixpath
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import SuspiciousFileOperation, ValidationError
from django.core.files.storage import FileSystemStorage
from django.db import DatabaseError, IntegrityError, models, router, transaction
from django.db.models import Q, Value
from django.db.models.functions import Cast, Concat, Replace
from django.urls import NoReverseMatch
from django.utils.module_loading import import_string

from alttext import plain
from alttext.adapters import Alt, ChangedElsewhere, Context, NotThere, Place, Refused, TextDoesNotFit
from alttext.contrib.imagefields import entries, setting, signals
from alttext.contrib.imagefields.entries import NAME, Entry, key_of
from alttext.roles import Role

CHUNK_ROWS = 500
log = logging.getLogger("alttext.imagefields")


class ImageFieldsAdapter:
    """The models of ALTTEXT["IMAGE_FIELDS"].

    Without a `decorative` field the choice "decorative" is written as an empty text and cannot be read back: places
    then say `stores_decorative=False`, and their `alt.decorative` is always False.
    """

    name = NAME

    @staticmethod
    def connect() -> None:
        """Listen for saved and deleted rows of the configured models; can be called again."""
        signals.connect()

    @staticmethod
    def problems() -> list[str]:
        """What is wrong with ALTTEXT["IMAGE_FIELDS"], one sentence each."""
        return setting.problems()

    def places(self) -> Iterator[Place]:
        """All rows that have an image file, by entry and primary key; one query an entry.

        :raises WrongEntry: the setting is not usable.
        """
        for entry in entries.all_entries():
            rows = _rows(entry).select_related(*entry.related()).order_by("pk")
            page = list(rows[:CHUNK_ROWS])
            while page:  # no open cursor: on SQLite it would keep writers of this connection out
                yield from _places(entry, page)
                full = len(page) == CHUNK_ROWS
                page = list(rows.filter(pk__gt=page[-1].pk)[:CHUNK_ROWS]) if full else []

    def place(self, key: str) -> Place:
        """One use.  :raises NotThere: it is gone, or the key is malformed."""
        entry, pk = _parse(key)
        return _place(entry, _row(entry, pk, key, _rows(entry).select_related(*entry.related())))

    def read_image(self, key: str) -> bytes:
        """The original bytes, through the field's storage.  :raises NotThere: the row or its file is gone."""
        entry, pk = _parse(key)
        file = getattr(_row(entry, pk, key, _rows(entry)), entry.image)
        try:
            with file.storage.open(file.name, "rb") as opened:
                return opened.read()
        except OSError as error:
            raise NotThere(f"The image file {_base_name(file.name)} cannot be read from the site's storage.") from error

    def editable(self, user: Any) -> Q:
        """Condition on Placement: rows of models that `user` has the change permission for, narrowed by `editable`."""
        if not user.is_active:
            return Q(pk__in=[])
        if user.is_superuser:
            return Q(adapter=NAME)
        conditions = [found for entry in entries.all_entries() if (found := _editable(entry, user)) is not None]
        if not conditions:
            return Q(pk__in=[])
        allowed = conditions[0]
        for condition in conditions[1:]:
            allowed |= condition
        return Q(adapter=NAME) & allowed

    def apply(self, key: str, *, alt: Alt, expected: Alt, by: Any) -> str:
        """Write `alt`, if `expected` still stands there; the row is locked in between where the database can.

        :raises ChangedElsewhere: something else stands there.
        :raises NotThere: the row is gone.
        :raises TextDoesNotFit: the column is too narrow.
        :raises Refused: the model does not save it.
        """
        entry, pk = _parse(key)
        database = router.db_for_write(entry.model_class())
        with transaction.atomic(using=database):
            row = _row(entry, pk, key, _rows(entry).using(database).select_for_update(of=("self",)))
            if not entry.decorative:  # the column can only say "no text"; the choice is kept by the workbench
                expected = Alt(text=expected.text)
            if _alt(entry, row) != expected:
                raise ChangedElsewhere("The alternative text was changed on the site in the meantime.")
            _write(entry, row, alt, database)
        return ""


def _rows(entry: Entry) -> models.QuerySet:
    """Rows of the entry that have an image file."""
    found = entry.model_class()._default_manager.filter(**entry.filter)
    return found.exclude(**{entry.image: ""}).exclude(**{f"{entry.image}__isnull": True})


def _parse(key: str) -> tuple[Entry, str]:
    """Entry and primary key as text; the latter may hold colons.  :raises NotThere: no entry has such keys."""
    scope, _, rest = key.partition(":")
    pk, _, image = rest.rpartition(":")
    for entry in entries.all_entries():
        if pk and (entry.scope, entry.image) == (scope, image):
            return entry, pk
    raise NotThere(f"{key!r} names no image field of this site.")


def _row(entry: Entry, pk: str, key: str, rows: models.QuerySet) -> models.Model:
    try:
        row = rows.filter(pk=entry.model_class()._meta.pk.to_python(pk)).first()
    except (ValidationError, ValueError, OverflowError):
        row = None
    except OSError as error:  # a model with width_field opens the file while it is loaded
        raise NotThere("The image file of this row cannot be read from the site's storage.") from error
    if row is None or key_of(entry, row) != key:  # "007" finds row 7, but a place has one key only
        raise NotThere("This use of an image is no longer on the site.")
    return row


def _places(entry: Entry, rows: Iterable[models.Model]) -> Iterator[Place]:
    """The places of `rows`; a row whose attributes raise is logged and left out, or it would end the scan."""
    for row in rows:
        try:
            place = _place(entry, row)
        except DatabaseError:
            raise
        except Exception:
            log.exception("row %s of %s", row.pk, entry.scope)
            continue
        yield place


def _place(entry: Entry, row: models.Model) -> Place:
    title = plain.text(entry.value(row, "title")) or str(row)
    file = getattr(row, entry.image)
    return Place(
        key=key_of(entry, row),
        scope=entry.scope,
        page_title=title,
        page_url=_page_url(entry, row),
        image_name=_base_name(file.name),
        image_url=_image_url(file),
        language=str(entry.value(row, "language") or settings.LANGUAGE_CODE),
        alt=_alt(entry, row),
        context=_context(entry, row, title),
        role=_role(entry.value(row, "role")),
        stores_decorative=bool(entry.decorative),
        kind=entry.scope,
        fingerprint=_fingerprint(file),
    )


def _context(entry: Entry, row: models.Model, title: str) -> Context:
    headings = entry.value(row, "headings") or ()
    lines: Iterable[Any] = plain.text(headings).splitlines() if isinstance(headings, str) else headings
    return Context(
        title=title,
        headings=tuple(heading for line in lines if (heading := plain.text(line))),
        before=plain.text(entry.value(row, "before")),
        after=plain.text(entry.value(row, "after")),
        caption=plain.text(entry.value(row, "caption")),
        link_target=str(entry.value(row, "link_target") or ""),
        link_label=plain.text(entry.value(row, "link_label")),
        link_text_visible=bool(entry.value(row, "link_text_visible")),
    )


def _alt(entry: Entry, row: models.Model) -> Alt:
    """What a reader gets: a decorative image has no text, whatever the column still holds."""
    if entry.decorative and getattr(row, entry.decorative):
        return Alt(decorative=True)
    return Alt(text=getattr(row, entry.alt) or "")


def _role(value: Any) -> str:
    """A known role, else empty: what a site's editors typed must not stop a scan."""
    return str(value) if value in set(Role) - {Role.UNKNOWN} else ""


def _page_url(entry: Entry, row: models.Model) -> str:
    try:
        if entry.url:
            return str(entry.value(row, "url") or "")
        get_absolute_url = getattr(row, "get_absolute_url", None)
        return str(get_absolute_url()) if get_absolute_url else ""
    except NoReverseMatch:
        return ""


def _image_url(file: Any) -> str:
    try:
        return str(file.url)
    except (NotImplementedError, ValueError):  # a private storage, or one without a base address
        return ""


def _fingerprint(file: Any) -> str:
    """Number, size and times of a local file; empty for a storage that is asked over a network."""
    if not isinstance(file.storage, FileSystemStorage):
        return ""
    try:
        seen = Path(file.path).stat()
    except (OSError, ValueError, SuspiciousFileOperation):  # read_image says it
        return ""
    return f"{seen.st_ino}:{seen.st_size}:{seen.st_mtime_ns}:{seen.st_ctime_ns}"


def _base_name(name: str) -> str:
    return posixpath.basename(name.replace("\\", "/"))


def _editable(entry: Entry, user: Any) -> Q | None:
    """Condition for one entry; None: nothing."""
    options = entry.model_class()._meta
    if not user.has_perm(f"{options.app_label}.change_{options.model_name}"):
        return None
    # the scope alone would let through the other image fields of the model
    here = Q(scope=entry.scope, key__endswith=f":{entry.image}")
    return here & Q(key__in=_keys(entry, import_string(entry.editable)(user))) if entry.editable else here


def _keys(entry: Entry, rows: models.QuerySet) -> models.QuerySet:
    """The keys of `rows` as a subquery; what `key_of` makes of a row, in SQL."""
    text = models.TextField()
    pk: models.Func = Cast("pk", text)
    if isinstance(entry.model_class()._meta.pk, models.UUIDField):
        pk = Replace(pk, Value("-", text), Value("", text), output_field=text)  # PostgreSQL casts with hyphens
    key = Concat(Value(f"{entry.scope}:", text), pk, Value(f":{entry.image}", text), output_field=text)
    return rows.order_by().values_list(key, flat=True)


def _write(entry: Entry, row: models.Model, alt: Alt, database: str) -> None:
    text = "" if alt.decorative else alt.text
    limit = getattr(row._meta.get_field(entry.alt), "max_length", None)
    if limit is not None and len(text) > limit:
        raise TextDoesNotFit(limit)
    setattr(row, entry.alt, text)
    names = [entry.alt]
    if entry.decorative:
        setattr(row, entry.decorative, alt.decorative)
        names.append(entry.decorative)
    names += [column.name for column in row._meta.concrete_fields if getattr(column, "auto_now", False)]
    try:
        with signals.ignored(row), transaction.atomic(using=database):
            row.save(using=database, update_fields=names)
    except ValidationError as error:
        raise Refused(" ".join(error.messages)) from error
    except IntegrityError as error:
        raise Refused("The site does not take this text: it breaks a rule of its own.") from error
