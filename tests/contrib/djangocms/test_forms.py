"""The plugin forms: two fields of our own, no second alt, nothing typed is lost, and what a save passes on."""

from __future__ import annotations

import pytest
from cms.api import add_plugin
from cms.plugin_pool import plugin_pool
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from alttext.contrib.djangocms import cms_plugins, editing, forms
from alttext.models import Decision, Placement
from tests.contrib.djangocms.desk import add_url, draft, edit_url, editor, library_image, publish, saved

pytestmark = pytest.mark.django_db
PICTURE = {"template": "default", "use_responsive_image": "inherit", "use_automatic_scaling": "on"}
IMAGE = {
    "template": "default",
    "use_responsive_image": "inherit",
    "margin_devices": ["xs", "sm", "md", "lg", "xl", "xxl"],
}


@pytest.fixture
def user(db):
    return editor()


@pytest.fixture
def client(user):
    signed_in = Client()
    signed_in.force_login(user)
    return signed_in


@pytest.fixture
def content(user):
    return draft(user)


def attributes(**given):
    """HTML attributes as their widget posts them."""
    return {"attributes_key[attributes]": list(given), "attributes_value[attributes]": list(given.values())}


def posted(plugin_type, image, **given):
    base = PICTURE if plugin_type == "PicturePlugin" else IMAGE
    name = "carousel_image" if plugin_type == "CarouselSlidePlugin" else "picture"
    return {**base, name: image.pk, **given}


def stored(plugin):
    return plugin.attributes if plugin.plugin_type == "PicturePlugin" else plugin.config["attributes"]


KINDS = pytest.mark.parametrize("kind", ["PicturePlugin", "ImagePlugin"])


@KINDS
@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ({"alttext_text": "A red boat"}, {"alt": "A red boat"}),
        ({"alttext_text": " A red boat. "}, {"alt": " A red boat. "}),
        ({"alttext_text": "Ein „Boot“ & <b>mehr</b> 🚢"}, {"alt": "Ein „Boot“ & <b>mehr</b> 🚢"}),
        ({"alttext_decorative": "on"}, {"alt": ""}),
        ({"alttext_decorative": "on", "alttext_text": "A red boat"}, {"alt": ""}),
        ({}, {}),
        ({"alttext_text": ""}, {}),
        (attributes(alt="Typed beside"), {"alt": "Typed beside"}),
        (attributes(Alt="Typed beside"), {"alt": "Typed beside"}),
        (attributes(alt=""), {"alt": ""}),
        ({**attributes(alt="The same"), "alttext_text": "The same"}, {"alt": "The same"}),
        ({**attributes(title="Ahoy"), "alttext_text": "A boat"}, {"alt": "A boat", "title": "Ahoy"}),
    ],
)
def test_what_was_decided_is_stored_and_nothing_else(client, content, kind, typed, expected):
    answer = client.post(add_url(content, kind), posted(kind, library_image(), **typed))
    assert stored(saved(answer, kind)) == expected


@KINDS
@pytest.mark.parametrize("alt", ["A human text", "", None])
def test_the_form_shows_what_is_stored_and_saving_it_unchanged_changes_nothing(client, content, kind, alt):
    before = {"class": "wide"} if alt is None else {"class": "wide", "alt": alt}
    plugin = saved(client.post(add_url(content, kind), posted(kind, library_image(), **attributes(**before))), kind)
    assert stored(plugin) == before
    form = client.get(edit_url(plugin)).context["adminform"].form
    assert form["alttext_text"].value() == (alt or "")
    assert form["alttext_decorative"].value() is (alt == "")
    shown = form["attributes"].value()
    assert shown == {"class": "wide"}
    again = {**attributes(**shown), "alttext_text": form["alttext_text"].value()}
    if form["alttext_decorative"].value():
        again["alttext_decorative"] = "on"
    image = getattr(plugin, "picture_id", None) or plugin.config["picture"]["pk"]
    answer = client.post(edit_url(plugin), {**posted(kind, library_image(), **again), "picture": image})
    assert stored(saved(answer, kind)) == before


@KINDS
def test_a_text_can_be_taken_out_again(client, content, kind):
    image = library_image()
    plugin = saved(client.post(add_url(content, kind), posted(kind, image, alttext_text="A boat")), kind)
    plugin = saved(client.post(edit_url(plugin), posted(kind, image, alttext_text="")), kind)
    assert stored(plugin) == {}


@KINDS
def test_two_texts_that_differ_are_an_error_and_both_are_still_there(client, content, kind):
    answer = client.post(
        add_url(content, kind), posted(kind, library_image(), **attributes(alt="One text"), alttext_text="Another")
    )
    form = answer.context["adminform"].form
    assert "One text" in form.errors["alttext_text"][0]
    page = answer.content.decode()
    assert "Another</textarea>" in page
    assert 'value="One text"' in page


@KINDS
@pytest.mark.parametrize("text", ["   ", "\u00a0", "\u200b", "A \u202eboat", "x" * 10_001])
def test_a_text_that_no_reader_can_use_is_refused_and_kept(client, content, kind, text):
    answer = client.post(add_url(content, kind), posted(kind, library_image(), alttext_text=text))
    form = answer.context["adminform"].form
    assert form.errors["alttext_text"]
    assert form["alttext_text"].value() == text


@KINDS
def test_an_error_elsewhere_keeps_every_word(client, content, kind):
    given = {**posted(kind, library_image(), alttext_text="A long text", alttext_decorative="on"), "width": "wide"}
    answer = client.post(add_url(content, kind), given)
    page = answer.content.decode()
    assert answer.context["adminform"].form.errors["width"]
    assert "A long text</textarea>" in page
    assert answer.context["adminform"].form["alttext_decorative"].value() is True


def test_a_stored_text_survives_where_attributes_are_no_field_of_the_form(client, content, monkeypatch):
    image = library_image()
    given = posted("ImagePlugin", image, alttext_text="A boat", **attributes(title="Ahoy"))
    plugin = saved(client.post(add_url(content, "ImagePlugin"), given), "ImagePlugin")
    monkeypatch.setattr("djangocms_frontend.common.attributes.SHOW_ADVANCED_SETTINGS", False)
    form = client.get(edit_url(plugin)).context["adminform"].form
    assert "attributes" not in form.fields
    assert form["alttext_text"].value() == "A boat"
    again = saved(client.post(edit_url(plugin), posted("ImagePlugin", image, alttext_text="A red boat")), "ImagePlugin")
    assert again.config["attributes"] == {"alt": "A red boat", "title": "Ahoy"}


@KINDS
@pytest.mark.parametrize("alt", ["A human text", ""])
def test_a_form_that_has_none_of_our_fields_leaves_the_text_alone(client, content, kind, alt):
    image = library_image()
    plugin = saved(client.post(add_url(content, kind), posted(kind, image, **attributes(alt=alt))), kind)
    assert stored(saved(client.post(edit_url(plugin), posted(kind, image)), kind)) == {"alt": alt}


@KINDS
def test_a_text_in_the_attributes_that_no_reader_can_use_is_refused_as_well(client, content, kind):
    answer = client.post(add_url(content, kind), posted(kind, library_image(), **attributes(alt="\u00a0")))
    assert answer.context["adminform"].form.errors["alttext_text"]


def test_a_slide_has_a_text_of_its_own_for_this_use(client, content):
    show = add_plugin(content, "CarouselPlugin", "en")
    show.initialize_from_form().save()
    image = library_image(default="Default")
    url = add_url(content, "CarouselSlidePlugin", position=2, parent=show)
    given = posted("CarouselSlidePlugin", image, alttext_text="A boat on this slide", tag_type="div")
    plugin = saved(client.post(url, given), "CarouselSlidePlugin")
    assert plugin.config["carousel_image_alt"] == "A boat on this slide"
    given = posted("CarouselSlidePlugin", image, alttext_decorative="on", tag_type="div")
    plugin = saved(client.post(edit_url(plugin), given), "CarouselSlidePlugin")
    assert plugin.config["carousel_image_alt"] == ""
    form = client.get(edit_url(plugin)).context["adminform"].form
    assert form["alttext_decorative"].value() is True


@pytest.mark.parametrize("kind", ["PicturePlugin", "ImagePlugin", "CarouselSlidePlugin"])
def test_the_text_stands_right_after_the_image_and_speaks_the_language_of_the_page(client, user, kind):
    content = draft(user, language="de")
    answer = client.get(add_url(content, kind, language="de"))
    rows = [name for line in answer.context["adminform"].fieldsets[0][1]["fields"] for name in (
        [line] if isinstance(line, str) else line)]  # fmt: skip
    image = "carousel_image" if kind == "CarouselSlidePlugin" else "external_picture"
    assert rows[rows.index(image) + 1 :][:2] == ["alttext_text", "alttext_decorative"]
    assert 'lang="de"' in answer.content.decode().split('id="id_alttext_text"')[0].rsplit("<textarea", 1)[1]


# ---- the panel ------------------------------------------------------------------------------------------------------


def test_the_form_of_a_saved_plugin_has_the_panel_of_its_placement(client, content):
    plugin = saved(client.post(add_url(content, "PicturePlugin"), posted("PicturePlugin", library_image())))
    page = client.get(edit_url(plugin)).content.decode()
    assert f'data-alttext-url="{forms.panel_url(editing.key_of(plugin))}"' in page
    assert 'data-alttext-field="id_alttext_text"' in page
    assert page.count("alttext/field.js") == 1
    assert page.index("htmx.min.js") < page.index("alttext/field.js")


def new_key(client, content, image, **given):
    query = {"placeholder": content.pk, "language": "en", "position": 1, "plugin_type": "PicturePlugin",
             "file": image.pk, **given}  # fmt: skip
    # where addresses carry the language, Django tries one before it says 404
    return client.get(reverse("admin:alttext_new_key"), query, follow=True)


def test_an_image_that_was_just_chosen_has_a_key_and_a_panel(client, content):
    answer = new_key(client, content, library_image())
    key = answer.json()["key"]
    assert key.startswith("new:")
    assert answer.json()["url"] == reverse("alttext:field", args=["djangocms", key])
    assert client.get(answer.json()["url"], headers={"HX-Request": "true"}).status_code == 200


@pytest.mark.parametrize(
    "wrong",
    [{"placeholder": 999_999}, {"placeholder": "x"}, {"file": 999_999}, {"file": "-1"}, {"file": "١"}, {"position": ""},
     {"plugin_type": "NoPlugin"}, {"language": "e n"}, {"language": ""}, {"placeholder": "9" * 30}],
)  # fmt: skip
def test_there_is_no_key_for_what_is_not_there(client, content, wrong):
    assert new_key(client, content, library_image(), **wrong).status_code == 404


def test_there_is_no_key_for_an_image_that_is_private_and_somebody_elses(client, content):
    image = library_image(owner=editor("owner"))
    image.is_public = False
    image.save()
    assert new_key(client, content, image).status_code == 404


def test_there_is_no_key_for_who_may_not_change_the_page(content, user):
    image = library_image()
    stranger = Client()
    assert "login" in new_key(stranger, content, image).redirect_chain[0][0]
    stranger.force_login(editor("reader", without=["change_page"]))
    assert new_key(stranger, content, image).status_code == 404
    publish(content.source.page, user)
    author = Client()
    author.force_login(user)
    assert new_key(author, content, image).status_code == 404


def key_for(content, image, **given):
    given = {"placeholder_id": content.pk, "language": "en", "position": 1, "plugin_type": "PicturePlugin",
             "file_id": image.pk, "at": timezone.now(), **given}  # fmt: skip
    return editing.new_key(**given)


def test_after_an_error_the_form_still_has_the_panel_of_the_image_just_chosen(client, content):
    image = library_image()
    key = key_for(content, image)
    given = {**posted("PicturePlugin", image), "width": "wide", "alttext_key": key}
    page = client.post(add_url(content, "PicturePlugin"), given).content.decode()
    assert f'data-alttext-url="{forms.panel_url(key)}"' in page
    assert f'value="{key}"' in page


@pytest.mark.parametrize("wrong", ["other image", "other placeholder", "other plugin", "saved place", "nonsense", "\0"])
def test_a_key_of_another_place_is_not_believed(client, content, user, wrong, monkeypatch):
    image, other = library_image(), library_image()
    elsewhere = draft(user, title="Elsewhere")
    key = {
        "other image": key_for(content, other),
        "other placeholder": key_for(elsewhere, image),
        "other plugin": key_for(content, image, plugin_type="ImagePlugin"),
        "saved place": f"file:{other.pk}",
        "nonsense": "<script>",
        "\0": "\0",
    }[wrong]
    passed_on = []
    monkeypatch.setattr(editing, "after_save", lambda plugin, **given: passed_on.append(given["new_key"]))
    saved(client.post(add_url(content, "PicturePlugin"), {**posted("PicturePlugin", image), "alttext_key": key}))
    assert passed_on == [""]


@pytest.mark.parametrize("kind", ["PicturePlugin", "ImagePlugin"])
def test_what_was_suggested_in_the_add_form_goes_along_and_the_saved_text_counts_as_edited(
    client, content, user, kind, suggest, adapter_of
):
    image = library_image()
    key = new_key(client, content, image, plugin_type=kind).json()["key"]
    from alttext.operations import placements

    about_to_be, _ = placements.refresh(adapter_of(), adapter_of().place(key), at=timezone.now())
    suggest(about_to_be, "A red boat at a quay", when=timezone.now())
    given = posted(kind, image, alttext_text="A red boat at the old quay", alttext_key=key)
    plugin = saved(client.post(add_url(content, kind), given), kind)
    placement = Placement.objects.get(key=editing.key_of(plugin))
    assert placement.pk == about_to_be.pk
    decision = placement.decisions.get()
    assert (decision.act, decision.outcome, decision.by) == (Decision.Act.SAVE, "EDITED", user)
    assert decision.final_text == "A red boat at the old quay"
    assert not Placement.objects.filter(key__startswith="new:").exists()


@pytest.fixture
def adapter_of():
    from alttext.contrib.djangocms.adapter import DjangoCMSAdapter

    return DjangoCMSAdapter


def test_a_picture_marked_as_decorative_is_a_decision(client, content, user):
    plugin = saved(
        client.post(
            add_url(content, "PicturePlugin"), posted("PicturePlugin", library_image(), alttext_decorative="on")
        )
    )
    decision = Placement.objects.get(key=editing.key_of(plugin)).decisions.get()
    assert (decision.act, decision.final_decorative, decision.by) == (Decision.Act.DECORATIVE, True, user)


def test_a_broken_workbench_does_not_keep_an_author_from_saving(client, content, monkeypatch):
    monkeypatch.setattr("alttext.contrib.djangocms.editing.keys_of", lambda plugin: 1 / 0)
    plugin = saved(
        client.post(add_url(content, "PicturePlugin"), posted("PicturePlugin", library_image(), alttext_text="A"))
    )
    assert plugin.attributes == {"alt": "A"}


# ---- other people's plugins -----------------------------------------------------------------------------------------


def test_a_plugin_of_the_site_with_a_column_for_the_text_gets_the_panel(client, content):
    page = client.get(add_url(content, "IllustrationPlugin")).content.decode()
    assert 'data-alttext-field="id_alt_text"' in page
    assert 'data-alttext-image="id_image"' in page
    assert 'data-alttext-decorative="id_decorative"' in page
    image = library_image()
    given = {"image": image.pk, "alt_text": "A boat", "caption": "The Aurora"}
    plugin = saved(client.post(add_url(content, "IllustrationPlugin"), given), "IllustrationPlugin")
    assert (plugin.alt_text, plugin.decorative, plugin.caption) == ("A boat", False, "The Aurora")
    assert Placement.objects.get(key=editing.key_of(plugin)).decisions.get().final_text == "A boat"


@pytest.fixture
def pool():
    """Put back whatever was registered."""
    before = dict(plugin_pool.plugins)
    yield plugin_pool
    plugin_pool.plugins = before
    plugin_pool._clear_cached()


def test_a_class_that_another_package_registered_is_built_upon(pool):
    from djangocms_picture.cms_plugins import PicturePlugin as Stock

    theirs = type("PicturePlugin", (Stock,), {"name": "Their image", "__module__": "theirs"})
    pool.unregister_plugin(pool.plugins["PicturePlugin"])
    pool.register_plugin(theirs)
    ours = cms_plugins.take_over("PicturePlugin", *cms_plugins.STOCK["PicturePlugin"])
    assert pool.plugins["PicturePlugin"] is ours
    assert issubclass(ours, theirs)
    assert ours.name == "Their image"
    assert cms_plugins.take_over("PicturePlugin", *cms_plugins.STOCK["PicturePlugin"]) is ours


def test_a_class_without_such_an_image_is_left_alone(pool):
    from cms.plugin_base import CMSPluginBase

    theirs = type("PicturePlugin", (CMSPluginBase,), {"render_plugin": False, "__module__": "theirs"})
    pool.unregister_plugin(pool.plugins["PicturePlugin"])
    pool.register_plugin(theirs)
    assert cms_plugins.take_over("PicturePlugin", *cms_plugins.STOCK["PicturePlugin"]) is theirs


def test_a_package_that_is_not_installed_is_not_asked_for():
    assert cms_plugins.take_over("VideoPlugin", "djangocms_video", *cms_plugins.STOCK["PicturePlugin"][1:]) is None


@pytest.mark.slow
def test_the_forms_can_be_switched_off(tmp_path):
    import os
    import subprocess
    import sys

    (tmp_path / "plain.py").write_text(
        "from alttext.project.profiles.djangocms import *\nALTTEXT_DJANGOCMS_FORMS = False\n"
    )
    code = (
        "import django; django.setup()\nfrom cms.plugin_pool import plugin_pool\nplugin_pool.discover_plugins()\n"
        "print(plugin_pool.plugins['PicturePlugin'].__module__, plugin_pool.plugins['ImagePlugin'].__module__)"
    )
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "plain", "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["djangocms_picture.cms_plugins", "djangocms_frontend.contrib.image.cms_plugins"]


# ---- the library ----------------------------------------------------------------------------------------------------


def test_the_form_of_a_library_image_has_the_panel_of_its_default_text(client, user):
    image = library_image(default="A boat", owner=user)
    page = client.get(reverse("admin:filer_image_change", args=[image.pk])).content.decode()
    assert f'data-alttext-url="{forms.panel_url(f"file:{image.pk}")}"' in page
    assert 'data-alttext-field="id_default_alt_text"' in page
    assert "A boat</textarea>" in page


def test_a_default_text_that_a_person_wrote_in_the_library_is_that_persons_act(client, user):
    image = library_image(owner=user)
    url = reverse("admin:filer_image_change", args=[image.pk])
    form = client.get(url).context["adminform"].form
    given = {name: form[name].value() or "" for name in form.fields if name != "file"}
    assert client.post(url, {**given, "default_alt_text": "A boat"}).status_code == 302
    image.refresh_from_db()
    assert image.default_alt_text == "A boat"
    decision = Placement.objects.get(key=f"file:{image.pk}").decisions.get()
    assert (decision.final_text, decision.by) == ("A boat", user)
    assert client.post(url, {**given, "default_alt_text": "x" * 300}).status_code == 200  # 255 fit; still on the form
