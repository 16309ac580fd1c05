"""The ALTTEXT setting: every key, its default and what it does; read at call time, so `override_settings` works."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from django.conf import settings


def _key(default: Any, text: str) -> Any:
    if isinstance(default, list | dict):
        return field(default_factory=lambda: type(default)(default), metadata={"help": text})
    return field(default=default, metadata={"help": text})


@dataclass(frozen=True)
class Conf:
    """One field a key of the ALTTEXT dict; `metadata["help"]` is the line in the README."""

    ADAPTERS: list[str] = _key(
        ["alttext.contrib.imagefields.adapter.ImageFieldsAdapter"], "Dotted paths of the CMS adapters in use."
    )
    IMAGE_FIELDS: list[dict[str, Any]] = _key(
        [], "For the imagefields adapter: one dict a model, naming its image, alt and context attributes."
    )
    CAPTIONER: str = _key(
        "starter",
        "`starter`, `starter-page` (words of the page narrow what was seen), `starter-lm` (a trained language model "
        "picks the wording), `vlm:/path/config.json`, `remote:/path/config.json`, `native:/folder`, `canned`, or the "
        "dotted path `package.module:Class` of your own.",
    )
    SAFETY_CLASSIFIER: str = _key(
        "",
        "`package.module:Class` that looks at each picture first; none is shipped, see docs/captioner.md.",
    )
    AUTOMATIC: bool = _key(True, "Ask for a suggestion when an image without alt text is saved or found by a scan.")
    WAKE: str = _key("", "`celery` sends a wake-up to Celery workers; empty: the embedded worker polls the table.")
    POLL_SECONDS: float = _key(0.5, "Pause of the embedded worker when no job is due.")
    LEASE_SECONDS: float = _key(60.0, "A job whose worker died starts again after this time.")
    DEADLINE_SECONDS: float = _key(120.0, "A captioner that gives no answer within this time is killed.")
    MAX_ATTEMPTS: int = _key(3, "Starts that may end without an answer before a job is DEAD.")
    MAX_OPEN_JOBS_PER_USER: int = _key(200, "Open jobs one person may have asked for; the next request is refused.")
    MAX_IMAGE_MEGAPIXELS: float = _key(40.0, "Pictures with more pixels are refused before they are decoded.")
    MAX_IMAGE_MEGABYTES: float = _key(20.0, "Files above this size are refused before they are opened.")
    HEIC: bool = _key(False, "Read HEIC files; needs pillow-heif 1.8.1 or later.")
    WINDOW_DAYS: int = _key(28, "The last text a person commits within this time after the suggestion counts.")
    MIN_AUTHORS: int = _key(5, "Intervals and per-group figures appear from this number of authors.")
    SUGGESTION_DISPLAY: str = _key(
        "prefilled", "How authors meet a text: `prefilled` in the box, `beside` it, or `after` they have written."
    )
    DISPLAY_SHARES: dict[str, float] = _key(
        {}, "Shares of items met otherwise, `{'after': 0.05, 'blank': 0.05}`; `blank` is never shown: a control."
    )
    CLAIM_SECONDS: float = _key(900.0, "An image that an author has open is served to nobody else for this time.")
    LATER_SECONDS: float = _key(86_400.0, "An image put off with “Not now” is not served to that author for this time.")
    RULES_OFF: list[str] = _key([], "Ids of lint rules that this site does without, see docs/rules.md.")
    PAGE_SIZE: int = _key(25, "Placements on one page of the queue.")


def get(name: str) -> Any:
    """The value of the key `name` of ALTTEXT, or its default.  :raises AttributeError: no such key."""
    default = getattr(Conf(), name)
    return _given().get(name, default)


def _given() -> dict[str, Any]:
    given = getattr(settings, "ALTTEXT", {})
    return given if isinstance(given, dict) else {}


def unknown_keys() -> list[str]:
    """Keys of ALTTEXT that mean nothing, sorted; each is a check error."""
    known = {item.name for item in fields(Conf)}
    return sorted(set(_given()) - known)


def wrong_values() -> list[str]:
    """What is wrong with the values of ALTTEXT, one sentence each."""
    if not isinstance(getattr(settings, "ALTTEXT", {}), dict):
        return ["ALTTEXT is no dict."]
    found = []
    for name, default in vars(Conf()).items():
        value = _given().get(name, default)
        kinds: tuple[type, ...] = (int, float) if type(default) in (int, float) else (type(default),)
        if type(default) is int:
            kinds = (int,)
        if not isinstance(value, kinds) or (isinstance(value, bool) and type(default) is not bool):
            found.append(f'ALTTEXT["{name}"] is {value!r}; it has to be of type {kinds[-1].__name__}.')
        elif isinstance(value, int | float) and not isinstance(value, bool) and value <= 0:
            found.append(f'ALTTEXT["{name}"] is {value!r}; it has to be above 0.')
    ways = {"prefilled", "beside", "after", "blank"}
    if (display := _given().get("SUGGESTION_DISPLAY", "prefilled")) not in ways - {"blank"}:
        found.append(f'ALTTEXT["SUGGESTION_DISPLAY"] is {display!r}; it has to be "prefilled", "beside" or "after".')
    shares = _given().get("DISPLAY_SHARES", {})
    if isinstance(shares, dict) and not (
        set(shares) <= ways
        and all(isinstance(share, int | float) and 0 <= share <= 1 for share in shares.values())
        and sum(shares.values()) <= 1
    ):
        found.append(
            f'ALTTEXT["DISPLAY_SHARES"] is {shares!r}; it maps ways of display to shares that sum to 1 at most.'
        )
    if _given().get("WAKE", "") not in ("", "celery"):
        found.append(f'ALTTEXT["WAKE"] is {_given()["WAKE"]!r}; it has to be "celery" or empty.')
    return found


def table() -> list[tuple[str, str, str]]:
    """Rows (key, default, meaning) for the README."""
    defaults = Conf()
    return [(item.name, repr(getattr(defaults, item.name)), item.metadata["help"]) for item in fields(Conf)]
