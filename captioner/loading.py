"""A name becomes a captioner. Heavy imports happen here, when a name asks for them, never at import."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator
from typing import Any

from captioner.types import Captioner, CaptionError, CaptionerUnavailable

NAMES = {
    "canned": "captioner.architectures.canned:Canned",
    "starter": "captioner.architectures.starter:Starter",
    "starter-lm": "captioner.architectures.starter_lm:StarterLM",
    "starter-page": "captioner.architectures.starter_page:StarterPage",
}
EXTRAS = {
    "starter": "starter",
    "starter-page": "starter,page",
    "starter-lm": "starter,lm",
    "native": "starter,lm",
    "vlm": "starter,lm",
    "remote": "starter,page",
}
SCREENED = ("starter", "starter-lm", "starter-page")  # take a safety classifier
CONFIGURED = {  # "prefix:place" -> a function that takes the place
    "native": ("captioner.architectures.large:load", "native:/folder/of/a/checkpoint"),
    "vlm": ("captioner.architectures.assembly:load_vlm", "vlm:/path/config.json"),
    "remote": ("captioner.architectures.assembly:load_remote", "remote:/path/config.json"),
}


class UnknownCaptioner(CaptionError):
    """No captioner has that name."""


def load_captioner(name: str, *, safety: str = "") -> Captioner:
    """The captioner called `name`, ready to describe.

    A name of `NAMES`; a prefix of `CONFIGURED` with a place ("vlm:/etc/alttext/vlm.json"); or a dotted
    "package.module:Class" of a site's own.

    :param safety: "package.module:Class" of a classifier that looks before anything is described. For the starters; the
        configured captioners name theirs in their file, others look after themselves.
    :raises UnknownCaptioner: it is none of these, or cannot be imported.
    :raises CaptionerUnavailable: the classifier cannot be had; it is never left out silently.
    :raises CaptionError: its configuration does not fit; the message names the key.
    :raises WeightsMissing: its weights are not on this machine.
    """
    prefix, _, place = name.partition(":")
    if prefix in CONFIGURED:
        target, example = CONFIGURED[prefix]
        if not place.strip():
            raise UnknownCaptioner(f"The captioner {name!r} lacks its place; write it like {example}.")
        with _extras(name):
            configured: Captioner = _import(name, target)(place)
        return configured
    found = _import(name, NAMES.get(name, name))
    if not callable(getattr(found, "load", None)):
        raise UnknownCaptioner(f"The captioner {name!r} has no load().")
    with _extras(name):
        captioner: Captioner = found.load(safety=safety) if safety and name in SCREENED else found.load()
    return captioner


@contextlib.contextmanager
def _extras(name: str) -> Iterator[None]:
    """A package that is absent is told with the extras that bring it."""
    try:
        yield
    except (ImportError, CaptionerUnavailable) as error:
        if not isinstance(error, ImportError) and not isinstance(error.__cause__, ImportError):
            raise
        raise CaptionerUnavailable(f"The captioner {name!r} lacks a package: {error}. {_remedy(name)}") from error


def _remedy(name: str) -> str:
    extras = EXTRAS.get(name.partition(":")[0])
    return f'pip install "django-alttext-workbench[{extras}]" brings it.' if extras else "Install what it imports."


def _import(name: str, target: str) -> Any:
    module_name, _, attribute = target.partition(":")
    if not module_name or module_name.startswith(".") or not attribute:
        known = ", ".join([*sorted(NAMES), *(example for _, example in CONFIGURED.values())])
        raise UnknownCaptioner(f"No captioner is called {name!r}. Known: {known}, or package.module:Class.")
    try:
        return getattr(importlib.import_module(module_name), attribute)
    except (ImportError, AttributeError) as error:
        remedy = f" {_remedy(name)}" if isinstance(error, ImportError) and name.partition(":")[0] in EXTRAS else ""
        raise UnknownCaptioner(f"The captioner {name!r} cannot be imported: {error}.{remedy}") from error
