"""Writes one alt text into Wagtail, in a person's request: as a draft of the page, or into the image's description.

Never behind an open editor: Wagtail's editor would refuse its owner's next autosave.
"""

from __future__ import annotations

import copy
from typing import Any

from django.contrib.contenttypes.models import ContentType
from django.db import transaction
from wagtail.admin.models import EditingSession
from wagtail.admin.utils import get_user_display_name
from wagtail.fields import StreamField
from wagtail.images import get_image_model
from wagtail.locks import ScheduledForPublishLock, WorkflowLock
from wagtail.log_actions import log
from wagtail.models import AbstractPage, Page, RevisionMixin

from alttext.adapters import Alt, ChangedElsewhere, NotThere, Refused, TextDoesNotFit
from alttext.contrib.wagtail import access, markup, places, shapes, signals, walk
from alttext.contrib.wagtail.places import Found, Sight

DRAFT = "Saved as a draft of the page; it shows once the page is published."
SNIPPET_DRAFT = "Saved as a draft; it shows once the entry is published."
SHARED = "This text belongs to the image in the library and shows wherever the image has no text of its own."
CHANGED = "The alternative text was changed in Wagtail in the meantime."


@transaction.atomic
def apply(key: str, *, alt: Alt, expected: Alt, by: Any) -> str:
    """Write `alt`; raises as `alttext.adapters.Adapter.apply` says. Returns where the text went, as a sentence."""
    if (pk := places.image_pk_of(key)) is not None:
        _describe(pk, key=key, alt=alt, expected=expected, by=by)
        return ""
    found = _locked(key)
    if found.picture.kept == walk.DESCRIPTION:
        if not access.may_edit(by, found.document.row):
            raise Refused("You may not edit this page.")
        _describe(places.keys.text_of(found.image.pk), key=key, alt=alt, expected=expected, by=by)
        return SHARED
    _refuse(found.document.row, by=by)
    _compare(found.alt, expected, found.picture)
    old = copy.deepcopy(found.document.data)
    _change(found, alt)
    return _save(found, old, by=by)


def _locked(key: str) -> Found:
    """The use as it is under a lock of its page or snippet.  :raises NotThere: it is gone."""
    row = places.document_of(key).row
    base = Page if isinstance(row, AbstractPage) else type(row)
    if not base._default_manager.select_for_update(of=("self",)).filter(pk=row.pk).exists():
        raise NotThere(places.GONE)
    return Sight([places.document_of(key)]).one(key)


def _refuse(row: Any, *, by: Any) -> None:
    """:raises Refused: `by` may not write there now."""
    thing = "page" if isinstance(row, AbstractPage) else "entry"
    if not access.may_edit(by, row):
        raise Refused(f"You may not edit this {thing}.")
    lock = row.get_lock() if hasattr(row, "get_lock") else None
    if lock is not None and lock.for_user(by):
        raise Refused(_why_locked(lock, row, thing))
    if session := open_editor(row):
        name = get_user_display_name(session.user)
        who = "You have" if session.user_id == by.pk else f"{name} has"
        raise Refused(f"{who} this {thing} open in an editor. Paste the text there, or save here once it is closed.")


def _why_locked(lock: Any, row: Any, thing: str) -> str:
    if isinstance(lock, WorkflowLock):
        return f"This {thing} is with a reviewer. Ask for it back, or save once the review is over."
    if isinstance(lock, ScheduledForPublishLock):
        return f"This {thing} is scheduled for publishing. Cancel the schedule in Wagtail first, then save here."
    if row.locked_by is not None:
        return (
            f"This {thing} is locked by {get_user_display_name(row.locked_by)}. Ask them to unlock it, then save here."
        )
    return f"This {thing} is locked. Unlock it in Wagtail first, then save here."


def open_editor(row: Any) -> EditingSession | None:
    """Who has it open in Wagtail's editor, as Wagtail itself tells other editors; the latest seen."""
    model = Page if isinstance(row, AbstractPage) else type(row)
    sessions = EditingSession.objects.available().filter(
        content_type=ContentType.objects.get_for_model(model), object_id=str(row.pk)
    )
    return sessions.select_related("user").order_by("-last_seen_at").first()


def _compare(current: Alt, expected: Alt, picture: walk.Picture | None) -> None:
    """:raises ChangedElsewhere: something else stands there."""
    marks = picture is not None and (picture.kept in (walk.BLOCK, walk.EMBED) or picture.decorative is not None)
    if current != (expected if marks else Alt(text=expected.text)):
        raise ChangedElsewhere(CHANGED)


def _change(found: Found, alt: Alt) -> None:
    """Put `alt` into the data of the document, where only this image's text changes."""
    picture, text = found.picture, "" if alt.decorative else alt.text
    slot = picture.slot
    assert slot is not None
    if picture.limit is not None and len(text) > picture.limit:
        raise TextDoesNotFit(picture.limit)
    if picture.kept == walk.EMBED:
        assert picture.embed is not None
        kept = "" if alt.decorative else (alt.text or None)  # an empty attribute is Wagtail's "decorative"
        slot.value = markup.rewritten(slot.value, picture.embed, kept)
    elif picture.kept == walk.BLOCK:
        before = slot.value if isinstance(slot.value, dict) else {"image": slot.value}
        slot.value = before | {"decorative": alt.decorative, "alt_text": text}
    else:
        slot.value = text
        if picture.decorative is not None:
            picture.decorative.value = alt.decorative


def _save(found: Found, old: dict[str, Any], *, by: Any) -> str:
    document, row = found.document, found.document.row
    editable = row.get_latest_revision_as_object() if isinstance(row, RevisionMixin) else row
    names = _put(editable, old, document.data)
    with signals.ignored(found.key):
        if isinstance(editable, RevisionMixin):
            # not cleaned: a draft may be unfinished, and the editor saves it like that as well
            editable.save_revision(user=by, log_action=True, clean=False)
            if hasattr(editable, "has_unpublished_changes"):
                return DRAFT if document.is_page else SNIPPET_DRAFT
        editable.save(update_fields=names)
        if not isinstance(editable, RevisionMixin):
            log(instance=editable, action="wagtail.edit", user=by, content_changed=True)
    return ""


def _put(row: Any, old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Set on `row` what differs; returns the names of its fields.

    Streams are set in any case: items without an id keep those that they were read with, and so keep their keys.
    """
    names = []
    for item in shapes.own_fields(type(row)):
        if item.name in new and (old[item.name] != new[item.name] or isinstance(item, StreamField)):
            _set(row, item.name, new[item.name])
            names.append(item.name)
    for relation in shapes.child_relations(type(row)):
        name = relation.get_accessor_name()
        if old.get(name) != new.get(name):
            children = list(getattr(row, name).all())
            known = {child.pk: child for child in children if child.pk is not None}
            for index, (before, after) in enumerate(zip(old[name], new[name], strict=True)):
                if before != after:
                    _put(known.get(after["pk"]) or children[index], before, after)
            getattr(row, name).set(children)
            names.append(name)
    return names


def _set(row: Any, name: str, value: Any) -> None:
    field = row._meta.get_field(name)
    setattr(row, name, field.to_python(value) if isinstance(field, StreamField) else value)


def _describe(pk: str, *, key: str, alt: Alt, expected: Alt, by: Any) -> None:
    """Write the description of an image in the library, which has no way to say "decorative"."""
    model: Any = get_image_model()
    places.library_image(pk)
    image = model._default_manager.select_for_update(of=("self",)).get(pk=pk)
    if not access.may_edit(by, image):
        raise Refused("You may not edit this image in the library. Ask somebody who may.")
    _compare(Alt(text=image.description or ""), expected, None)
    text = "" if alt.decorative else alt.text
    limit = model._meta.get_field("description").max_length
    if limit is not None and len(text) > limit:
        raise TextDoesNotFit(limit)
    image.description = text
    with signals.ignored(key):
        image.save(update_fields=["description"])
    log(instance=image, action="wagtail.edit", user=by, content_changed=True)
