"""Old texts, private images and odd markup in django CMS: what a save must neither claim, show nor break on."""

from __future__ import annotations

import pytest
from cms.utils.urlutils import admin_reverse
from django.urls import reverse
from django.utils import timezone

from alttext.contrib.djangocms import places
from alttext.contrib.djangocms.keys import new_key
from alttext.models import Decision, Job, Placement
from tests.contrib.djangocms import desk, stage

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def root():
    desk.forget_types()
    return stage.user("root", superuser=True)


def save_another_caption(client, plugin, image, root):
    """Only the caption is new; gives the errors of the form."""
    client.force_login(root)
    address = desk.edit_url(plugin)
    form = client.get(address).context["adminform"].form
    sent = {name: form[name].value() or "" for name in form.fields if name not in ("attributes", "link_attributes")}
    sent |= {"picture": image.pk, "caption_text": "Only the caption is new"}
    answer = client.post(address, {name: value for name, value in sent.items() if value is not False})
    return answer.context["adminform"].form.errors if "adminform" in (answer.context or {}) else {}


def test_a_text_that_no_scan_has_seen_is_not_the_act_of_who_saves_the_form(client, root):
    image = stage.library_image()
    plugin = stage.photo(stage.slot(stage.page(root)), image, attributes={"alt": "By a colleague, years ago"})
    Placement.objects.all().delete()
    assert save_another_caption(client, plugin, image, root) == {}
    assert not Decision.objects.exists()
    assert type(plugin).objects.get(pk=plugin.pk).attributes["alt"] == "By a colleague, years ago"


def test_an_odd_text_that_stands_there_keeps_nobody_from_saving_the_rest(client, root):
    image = stage.library_image()
    plugin = stage.photo(stage.slot(stage.page(root)), image, attributes={"alt": "From a word processor\ufeff"})
    assert save_another_caption(client, plugin, image, root) == {}
    assert type(plugin).objects.get(pk=plugin.pk).caption_text == "Only the caption is new"


def test_a_private_image_is_not_reached_by_a_key_of_ones_own_making(client, root, monkeypatch):
    from filer import settings as filer_settings

    monkeypatch.setattr(filer_settings, "FILER_ENABLE_PERMISSIONS", True)
    editor = stage.user("editor", *stage.RIGHTS, *stage.PLUGINS)
    slot, image = stage.slot(stage.page(root)), stage.library_image()
    image.is_public, image.owner = False, root
    image.save()
    client.force_login(editor)
    wanted = {"placeholder": slot.pk, "language": "en", "position": 1, "plugin_type": "PicturePlugin", "file": image.pk}
    assert client.get(admin_reverse("alttext_new_key"), wanted, follow=True).status_code in (403, 404)
    other = image.pk + 1
    at = timezone.now()
    given = new_key(
        placeholder_id=slot.pk, language="en", position=1, plugin_type="PicturePlugin", file_id=other, at=at
    )
    forged = given.replace(f":{other}:", f":{image.pk}:")
    client.post(reverse("alttext:field-ask", args=["djangocms", forged]))
    client.post(reverse("alttext:field-ask", args=["djangocms", forged.rpartition(":")[0]]))
    assert not Job.objects.exists()
    assert not Placement.objects.filter(key__startswith="new:").exists()


def test_an_image_left_over_inside_a_child_plugin_shifts_no_other(root):
    left_over, real = stage.library_image(), stage.library_image()
    plugin = stage.text(stage.slot(stage.page(root)), "<p>x</p>")
    image = '<img data-cms-src="filer.image:{}" src="/x.png" alt="">'
    body = f'<cms-plugin id="999">{image.format(left_over.pk)}</cms-plugin><p>{image.format(real.pk)}</p>'
    type(plugin).objects.filter(pk=plugin.pk).update(body=body)
    assert [f".text:{real.pk}:" in place.key for place in places.of_pages()] == [True]
