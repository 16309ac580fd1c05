"""Writing an alt text into the CMS, in a person's request: into the draft of a page, never into what is published.

A published page gets a new draft, as the editor's own "New draft" does. Only the columns that hold the text are saved.
"""

from __future__ import annotations

from typing import Any

from cms.models import Page, PageContent
from django.db import models, router, transaction
from django.utils import timezone

from alttext.adapters import Alt, ChangedElsewhere, NotThere, Refused, TextDoesNotFit
from alttext.contrib.djangocms import library, places, rights, signals
from alttext.contrib.djangocms.keys import FileKey, PageKey
from alttext.contrib.djangocms.pages import is_versioned
from alttext.contrib.djangocms.places import Spot

IN_NEW_DRAFT = "Saved in a new draft of the page; it shows once the page is published."
IN_DRAFT = "Saved in the draft of the page; it shows once the page is published."
LIMIT = "default_alt_text"


def to_page(key: PageKey, *, alt: Alt, expected: Alt, by: Any) -> str:
    """Write into a page. Raises as `Adapter.apply` does; returns where the text went."""
    with transaction.atomic(using=router.db_for_write(PageContent)):
        # one writer a page: two would each make a draft, and the second archives the first
        page = Page.objects.select_for_update(of=("self",)).filter(pk=key.page).first()
        if page is None:
            raise NotThere("This page is no longer there.")
        spot = places.spot(key)
        _allow(spot, by)
        if _differs(spot, expected):
            raise ChangedElsewhere("The alternative text was changed on the page in the meantime.")
        note = ""
        if is_versioned():
            spot, note = _in_draft(spot, by)
        _write(spot, alt, expected)
        _touch(spot)
    return note


def to_library(key: FileKey, *, alt: Alt, expected: Alt, by: Any) -> str:
    """Write the default text of an image. Raises as `Adapter.apply` does."""
    if not rights.may_change_file(by, key.file):
        raise Refused("You may not change this image in the library. Ask somebody who may.")
    model = library.image_model()
    with transaction.atomic(using=router.db_for_write(model)):
        row = model._base_manager.select_for_update(of=("self",)).filter(pk=key.file).first()
        if row is None:
            raise NotThere("This image is no longer in the library.")
        if (row.default_alt_text or "") != expected.text:  # type: ignore[attr-defined]
            raise ChangedElsewhere("The default text was changed in the library in the meantime.")
        limit = model._meta.get_field(LIMIT).max_length  # type: ignore[union-attr]
        if limit is not None and len(alt.text) > limit:
            raise TextDoesNotFit(limit)
        row.default_alt_text = alt.text  # type: ignore[attr-defined]
        with signals.ignored():
            row.save(update_fields=[LIMIT, "modified_at"])
    return ""


def _allow(spot: Spot, by: Any) -> None:
    """:raises Refused: the CMS does not let this person write here; the message tells what to do."""
    if not rights.may_change_plugins(by, spot.plugin.plugin_type):
        raise Refused(
            f'You may not change plugins of the kind "{spot.plugin.get_plugin_name()}" on this site. '
            "Ask an administrator for that permission, or somebody who has it to save the text."
        )
    if not spot.slot.content.page.has_change_permission(by):
        raise Refused("You may not change this page. Ask somebody who may to save the text.")
    if is_versioned():
        _allow_version(spot, by)
    elif not spot.slot.placeholder.check_source(by):
        raise Refused("The site does not let this page be changed now. Open the page in the editor to see why.")


def _allow_version(spot: Spot, by: Any) -> None:
    from djangocms_versioning.conf import LOCK_VERSIONS

    version = _version(spot.slot.content)
    if LOCK_VERSIONS and spot.slot.is_draft and not version.is_unlocked_for_user(by):
        raise Refused(
            f"{version.locked_by} is working on the draft of this page and has locked it. "
            "Save again once the draft is published or unlocked; an administrator can unlock it."
        )
    if spot.slot.is_draft:
        if not spot.slot.placeholder.check_source(by):
            raise Refused("The site does not let this draft be changed now. Open the page in the editor to see why.")
    elif not (reason := version.check_edit_redirect.as_bool(by)):
        raise Refused(f"No new draft of this page can be made: {reason}. Open the page in the editor.")


def _in_draft(spot: Spot, by: Any) -> tuple[Spot, str]:
    """The same image in the draft of the page, which is made if there is none.  :raises NotThere: it is not in it."""
    if spot.slot.is_draft:
        return spot, IN_DRAFT
    version = _version(spot.slot.content)
    with signals.ignored():  # the same images with the same texts: nothing to tell
        version.copy(by)
    return places.spot(spot.key), IN_NEW_DRAFT


def _version(content: PageContent) -> Any:
    from djangocms_versioning.models import Version

    return Version.objects.select_related("locked_by").get_for_content(content)


def _write(spot: Spot, alt: Alt, expected: Alt) -> None:
    """Lock the row, compare once more, and save the columns that hold the text."""
    model, store = type(spot.plugin), spot.holding.store
    row = model._default_manager.select_for_update(of=("self",)).filter(pk=spot.plugin.pk).first()
    if row is None:
        raise NotThere("This use of an image is no longer on the page.")
    if store.read(row) != store.read(spot.plugin):
        raise ChangedElsewhere("The alternative text was changed on the page in the meantime.")
    columns = store.write(row, alt)
    with signals.ignored():
        # not the model's own save: that of a rich text cleans, hyphenates and rewrites the whole body
        models.Model.save(row, update_fields=[*columns, "changed_date"])


def _differs(spot: Spot, expected: Alt) -> bool:
    standing = spot.holding.store.read(spot.plugin)
    if not spot.holding.store.knows_decorative:  # it can only say "no text"; the choice is kept by the workbench
        return standing.text != expected.text
    return standing != expected


def _touch(spot: Spot) -> None:
    """What an edit in the CMS does besides: the version's date, and the caches once others can see the text."""
    content, placeholder = spot.slot.content, spot.slot.placeholder
    if is_versioned():
        version = _version(content)
        version.modified = timezone.now()
        version.save(update_fields=["modified"])

    def clear() -> None:
        placeholder.clear_cache(content.language, site_id=content.page.site_id)
        content.page.clear_cache(content.language)

    transaction.on_commit(clear, using=router.db_for_write(PageContent), robust=True)
