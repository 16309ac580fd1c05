"""Alternative text and "decorative" as fields of a plugin form, with the workbench's panel beside them.

`Panel` is for plugins with a column of their own for the text, `AltText` for those that keep it elsewhere: it reads and
writes through a store. What an author typed is never dropped: two texts that differ are an error, not a choice of ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from django import forms as django_forms
from django.core.exceptions import ValidationError
from django.forms.forms import DeclarativeFieldsMetaclass
from django.forms.widgets import Script
from django.template.loader import render_to_string
from django.urls import NoReverseMatch, reverse

from alttext import edits, forms, rules
from alttext.adapters import Alt
from alttext.contrib.djangocms import keys
from alttext.contrib.djangocms.stores import Attributes, Store

KEY = "alttext_key"  # name of a hidden input; no field, as nobody could put an error in it right
BLANK = "This is only white space. Write a text, or tick “Decorative”; leave the box empty to decide later."


@dataclass(frozen=True, slots=True)
class Seat:
    """Where the plugin of a form stands, or will stand.

    :ivar key: of the saved plugin; empty while it is being added.
    :ivar new_key_url: address that gives the key of an image that was just chosen; empty: none to be had.
    :ivar file: number of the image that is saved.
    """

    placeholder: int = 0
    language: str = ""
    plugin_type: str = ""
    key: str = ""
    new_key_url: str = ""
    file: int | None = None


class AltTextarea(django_forms.Textarea):
    """A box for the text, a counter of what readers take as characters, and the panel.

    :ivar seat: set by the form, as are the other two.
    """

    seat = Seat()
    image_id = ""
    decorative_id = ""
    new_key = ""

    @property
    def media(self) -> django_forms.Media:
        """The panel's script needs htmx; the modules run after it."""
        scripts: list[Any] = [
            "alttext/vendor/htmx.min.js",
            Script("alttext/field.js", type="module"),
            Script("alttext/djangocms.js", type="module"),
        ]
        return django_forms.Media(css={"all": ["alttext/field.css", "alttext/djangocms.css"]}, js=scripts)

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> Any:
        """By the project's template loaders: those of form widgets would not find an override in a project."""
        language = {"lang": self.seat.language} if self.seat.language else {}
        attrs = {"rows": 3, "dir": "auto", **language, **(attrs or {})}
        box_id = attrs.get("id", f"id_{name}")
        described = f"{attrs.get('aria-describedby', '')} {box_id}_about".strip()
        context = {
            "box": super().render(name, value, {**attrs, "aria-describedby": described}, renderer),
            "box_id": box_id,
            "count": len(edits.graphemes(value or "")),
            "aim": rules.AIM,
            "seat": self.seat,
            "key_name": KEY,
            "new_key": self.new_key,
            "image_id": self.image_id,
            "decorative_id": self.decorative_id,
            "saved_url": panel_url(self.seat.key),
            "panel_url": panel_url(self.new_key or self.seat.key),
        }
        return render_to_string("alttext/djangocms/alt_text.html", context)


def panel_url(key: str) -> str:
    """Address of the panel; empty without a key, or where the project has no routes of the workbench."""
    try:
        return reverse("alttext:field", args=[keys.NAME, key]) if key else ""
    except NoReverseMatch:
        return ""


class Panel(metaclass=DeclarativeFieldsMetaclass):
    """Mix-in for a plugin form with a field for the text: adds the panel to it.

    :cvar alt_field: name of the form field that holds the text; so are the other two.
    """

    alt_field: ClassVar[str] = "alt_text"
    decorative_field: ClassVar[str] = "decorative"
    image_field: ClassVar[str] = "image"
    seat: ClassVar[Seat] = Seat()  # the plugin sets it on the form class of each request

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields.get(self.alt_field)  # type: ignore[attr-defined]
        if field is None:
            return
        if not isinstance(field.widget, AltTextarea):
            field.widget = AltTextarea(attrs={name: field.widget.attrs[name] for name in field.widget.attrs})
        widget = field.widget
        widget.seat, widget.new_key = self.seat, self.posted_key
        widget.image_id = self._id_of(self.image_field)
        widget.decorative_id = self._id_of(self.decorative_field)

    @property
    def posted_key(self) -> str:
        """The key that the image had while this form was open, if it is one for this very place."""
        given = str(self.data.get(KEY, ""))  # type: ignore[attr-defined]
        try:
            key = keys.parse(given)
        except keys.NoKey:
            return ""
        here = (self.seat.placeholder, self.seat.language, self.seat.plugin_type)
        fits = isinstance(key, keys.NewKey) and (key.placeholder, key.language, key.kind) == here
        return given if fits else ""

    @property
    def new_key(self) -> str:
        """`posted_key`, if it is about the image that the valid form names."""
        given = self.posted_key
        image = self._chosen_image()
        key = keys.parse(given) if given else None
        return given if isinstance(key, keys.NewKey) and image is not None and key.file == image else ""

    def _chosen_image(self) -> int | None:
        for data in (getattr(self, "cleaned_data", {}), getattr(self.instance, "config", None) or {}):  # type: ignore[attr-defined]
            found = data.get(self.image_field)
            if isinstance(found, dict):
                found = found.get("pk")
            if found is not None:
                return getattr(found, "pk", found)
        return None

    def _id_of(self, name: str) -> str:
        return self[name].auto_id if name in self.fields else ""  # type: ignore[attr-defined, index]


class AltText(Panel):
    """Mix-in for a plugin form whose plugin keeps the text where `store` says, not in a field of the form.

    A text typed into the HTML attributes of the plugin is taken over.
    """

    alt_field = "alttext_text"
    decorative_field = "alttext_decorative"
    image_field = "picture"
    store: ClassVar[Store] = Attributes()

    alttext_text = django_forms.CharField(
        label="Alternative text",
        required=False,
        strip=False,  # the text is stored as it was typed
        widget=AltTextarea,
    )
    alttext_decorative = django_forms.BooleanField(
        label="Decorative: screen readers skip it",
        required=False,
        help_text="The image says nothing that this page needs. The text above is then not used.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.alt = self.store.read(self.instance)  # type: ignore[attr-defined]
        initial: dict[str, Any] = self.initial  # type: ignore[attr-defined]
        initial.setdefault("alttext_text", self.alt.text)
        initial.setdefault("alttext_decorative", self.alt.decorative)
        if isinstance(initial.get("attributes"), dict):
            initial["attributes"] = _without_first(initial["attributes"], "alt")

    def clean_alttext_text(self) -> str:
        """Any text that a reader can use."""
        text: str = self.cleaned_data["alttext_text"].replace("\r\n", "\n")  # type: ignore[attr-defined]
        if text != self.alt.text:  # a text that stands there already keeps nobody from saving the rest
            refuse_unreadable(text)
        return text

    def clean(self) -> Any:
        """Takes an alt out of the HTML attributes; `_post_clean` puts the decided one where it belongs."""
        super().clean()  # type: ignore[misc]
        data: dict[str, Any] = self.cleaned_data  # type: ignore[attr-defined]
        beside = _values(data.get("attributes"), "alt")
        if beside and isinstance(self.store, Attributes):
            data["attributes"] = {name: value for name, value in data["attributes"].items() if name.lower() != "alt"}
        else:
            beside = []  # of another element of the plugin
        self.alt = self._decided(beside)
        return data

    def _decided(self, beside: list[str]) -> Alt:
        """The fields say it; where they are empty, what stands in the attributes.

        A form of a few fields, as the CMS makes for editing in place, has none of ours: then all stays as it is.
        """
        data: dict[str, Any] = self.cleaned_data  # type: ignore[attr-defined]
        shown = any(self.add_prefix(name) in self.data for name in ("alttext_text", "alttext_decorative"))  # type: ignore[attr-defined]
        if data.get("alttext_decorative"):
            said = Alt(decorative=True)
        elif data.get("alttext_text"):
            said = Alt(text=data["alttext_text"])
        elif beside:
            said = Alt(text=beside[0], decorative=beside[0] == "")
            self._refuse(said.text)
        else:
            said = Alt() if shown else self.alt
        others = [text for text in beside if text and text != said.text]
        if others and "alttext_text" in data:
            self.add_error(  # type: ignore[attr-defined]
                "alttext_text",
                f"There is another alternative text in the attributes: “{others[0]}”. Keep one: copy it here or leave "
                "it out there.",
            )
        return said

    def _refuse(self, text: str) -> None:
        try:
            refuse_unreadable(text)
        except ValidationError as error:
            self.add_error("alttext_text", error)  # type: ignore[attr-defined]

    def _post_clean(self) -> None:
        super()._post_clean()  # type: ignore[misc]
        if not self.errors:  # type: ignore[attr-defined]
            self.store.write(self.instance, self.alt)  # type: ignore[attr-defined]


def refuse_unreadable(text: str) -> None:
    """:raises ValidationError: no reader could use the text."""
    if text and not edits.normalise(text):
        raise ValidationError(BLANK)
    if len(text) > forms.MOST_CHARS:
        raise ValidationError(f"That is more than {forms.MOST_CHARS} characters. Move the rest to the page itself.")
    for finding in rules.check(rules.Subject(text)):
        if finding.level == rules.ERROR:
            raise ValidationError(f"{finding.message} {finding.repair}")


def with_alt_text(form: type, *, store: Store, image_field: str) -> type:
    """`form`, a plugin's form, with `AltText`; a form that has it already is left as it is."""
    if issubclass(form, Panel):
        return form
    # entangled forms look for their Meta in the class itself, and lose the model without one
    body = {"store": store, "image_field": image_field, "__module__": __name__}
    if hasattr(form, "Meta"):
        body["Meta"] = type("Meta", (form.Meta,), {})
    metaclass: Any = type(form)
    made: type = metaclass(form.__name__, (AltText, form), body)
    return made


def _values(given: Any, wanted: str) -> list[str]:
    """Texts under all spellings of an attribute's name; browsers know one."""
    if not isinstance(given, dict):
        return []
    return [str(value) for name, value in given.items() if str(name).lower() == wanted]


def _without_first(given: dict[str, Any], wanted: str) -> dict[str, Any]:
    """Without the spelling that is shown in the field of its own; a second one stays to be seen."""
    names = sorted((name for name in given if str(name).lower() == wanted), key=lambda name: name != wanted)
    return {name: value for name, value in given.items() if name not in names[:1]}
