"""Codes and states in words for authors: why there is no suggestion, what a mark means, what a role is for.

Strings in, strings out. Knows no table and no request; codes it has never heard of are shown as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from alttext.roles import Role


@dataclass(frozen=True, slots=True)
class Explanation:
    """What happened, and what the author can do about it."""

    what: str
    can_do: str


REASONS = {
    "declared_decorative": Explanation(
        "A person marked this image as decorative, so nothing was asked for.",
        "If it does tell readers something, write a text and save it.",
    ),
    "image_refused": Explanation(
        "There is nothing in the file to describe: it is blank, fully transparent, or too small to make out.",
        "Check that this is the right file. If it is only a spacer or an ornament, mark it as decorative.",
    ),
    "safety_refused": Explanation(
        "The image may show something that software must not describe, such as a test, a private person or distress.",
        "Look at it yourself and write only what readers of this page need. Of a test, name its purpose only.",
    ),
    "language_unsupported": Explanation(
        "The captioner does not write in the language of this page.",
        "Write the text in the language of the page. What was seen is listed below where there is anything.",
    ),
    "object_unsupported": Explanation(
        "Nothing in the image was recognised surely enough to be named.",
        "Say who or what it shows. Guesses that were not sure enough are listed below as unverified.",
    ),
    "samples_disagree": Explanation(
        "Several attempts at a text contradicted each other.",
        "Look at what they disagreed on, and write what is really there.",
    ),
    "image_not_used": Explanation(
        "The text would have been the same without looking at the image, so it was withheld.",
        "Write what the image itself adds to the page.",
    ),
    "copied_from_page": Explanation(
        "The text only repeated what the page says already.",
        "Say what the image adds. If it adds nothing, mark it as decorative.",
    ),
    "text_unverified": Explanation(
        "Words in the image, or the title and labels of a chart, could not be read surely.",
        "Copy the words from the image, unless they also stand beside it on the page.",
    ),
    "name_unverified": Explanation(
        "A name could be needed, and software must not guess who or what place is shown.",
        "Write the name yourself if you know it from the source of the image.",
    ),
    "value_unverified": Explanation(
        "The image shows numbers, and a wrong number would mislead readers.",
        "Say what kind of chart it is and its main message, and where the data can be read as text.",
    ),
    "generic_text": Explanation(
        "All that could be said is what kind of image it is, which helps no reader.",
        "Say what matters about it on this page.",
    ),
    "score_below_threshold": Explanation(
        "A text was found, but its evidence was weaker than what has been shown to be reliable.",
        "Use the evidence below as a hint, and write what you can see.",
    ),
    "not_calibrated": Explanation(
        "For this kind of image or language it is not known how reliable the captioner is, so it stays silent.",
        "Write the text yourself.",
    ),
    "already_said": Explanation(
        "The visible words beside the image say the same already.",
        "Reading it twice would be tiresome. If the image adds nothing more, mark it as decorative; a chart or a map "
        "still needs a short text that names it.",
    ),
}
UNKNOWN_REASON = Explanation("The captioner gave no text.", "You can write the text yourself.")

FLAGS = {
    "instruction_in_page": "The page holds words that read like instructions to software. They were not followed.",
    "instruction_in_image": "The image holds words that read like instructions to software. They were not followed.",
    "control_characters_in_page": "The page holds invisible control characters. Words may not be in the order you see.",
    "copied_from_page": "Most of this text stands on the page already.",
    "markup": "The text holds markup, which readers would hear as it stands.",
    "url": "The text holds a web address.",
    "email": "The text holds an e-mail address.",
    "phone": "The text holds what looks like a phone number.",
    "animated": "The file is animated: only its first frame was looked at.",
    "multipage": "The file has several pages: only the first was looked at.",
}

SOURCES = {
    "detector": "found by the object detector",
    "tags": "named by the image classifier",
    "detector+tags": "found by the object detector, named by the image classifier",
    "ocr": "read in the image",
    "link": "taken from the link",
    "kind": "kind of image",
    "page": "stands on the page",
    "pixels": "measured in the pixels",
}

MISSING = {
    "detector": "the object detector",
    "tags": "the image classifier",
    "kind": "the classifier of image kinds",
    "ocr": "the reader of words in images",
}


@dataclass(frozen=True, slots=True)
class RoleHelp:
    """W3C's advice for one role, and what to ask oneself when writing."""

    advice: str
    prompts: tuple[str, ...]


ROLE_HELP = {
    Role.UNKNOWN: RoleHelp(
        "Describe what the image adds to this page. If you took it away, what would readers miss?",
        (
            "Subject: who or what is it?",
            "Action: what is happening?",
            "Setting: where and when, if it matters here?",
            "Text: which words are in the image?",
        ),
    ),
    Role.INFORMATIVE: RoleHelp(
        "Briefly convey the meaning or content that the image adds; the most important thing first.",
        (
            "Subject: who or what is it?",
            "Action: what is happening?",
            "Setting: where and when, if it matters here?",
            "Text: which words are in the image?",
        ),
    ),
    Role.FUNCTIONAL: RoleHelp(
        "Say where the link leads or what the button does, not what the image looks like: “Print this page”, not"
        " “printer”.",
        ("Destination: where does the link lead?", "Action: what happens when it is pressed?"),
    ),
    Role.TEXT: RoleHelp(
        "The words in the image belong in the text, in the order they are read, unless they also stand beside it.",
        ("Words: what does the image say, word for word?", "Purpose: what is it, a sign, a notice, a logo?"),
    ),
    Role.COMPLEX: RoleHelp(
        "Say briefly what it is and its main message, and where the details can be read as text on the page.",
        (
            "Kind: a bar chart, a map, a diagram of what?",
            "Message: what is the one thing to take from it?",
            "Details: where on the page are the values or steps as text?",
        ),
    ),
    Role.DECORATIVE: RoleHelp("It needs no text: screen readers skip it.", ()),
}

KINDS = {"chart": Role.COMPLEX, "diagram": Role.COMPLEX, "map": Role.COMPLEX, "text": Role.TEXT}

STATES = {
    "OPEN": "No text yet",
    "WAITING": "Waiting for a suggestion",
    "OFFERED": "Suggestion ready",
    "ABSTAINED": "No suggestion, with a reason",
    "FAILED": "Image could not be processed",
    "DONE": "Done",
    "HUMAN": "Text from the site",
    "GONE": "No longer on the page",
}

FILTERS = {
    "todo": "To do",
    "offered": "Suggestion ready",
    "abstained": "No suggestion",
    "failed": "Not processed",
    "waiting": "Waiting",
    "stale": "Changed since",
    "done": "Done",
    "all": "All",
}

EMPTY = {
    "todo": "Nothing is left to do: every image you may edit has a text, or is marked as decorative.",
    "offered": "No suggestion is waiting for you.",
    "abstained": "There is no image that the captioner was silent about.",
    "failed": "No image failed.",
    "waiting": "No image is waiting for a suggestion.",
    "stale": "No decided image or its page has changed.",
    "done": "No text has been decided yet.",
    "all": "There are no images that you may edit.",
}

FATES = {
    "PENDING": "Offered, undecided",
    "ABSTAINED": "No text, with a reason",
    "AS_IS": "Used as offered",
    "EDITED": "Used after edits",
    "REPLACED": "Replaced by another text",
    "DECORATIVE": "Marked decorative instead",
    "REJECTED": "Rejected",
    "SUPERSEDED": "Overtaken by a newer one",
    "EXPIRED": "Its time ran out without a decision",
}

SHORTCUTS = (
    ("Control+Enter", "Save the text and go on to the next image"),
    ("Alt+Shift+S", "Save the text and stay"),
    ("Alt+Shift+E", "Go to the text box"),
    ("Alt+Shift+Y", "Put the suggestion into the text box"),
    ("Alt+Shift+X", "Reject the suggestion"),
    ("Alt+Shift+D", "Mark the image as decorative"),
    ("Alt+Shift+U", "Undo the last decision on this image"),
    ("Alt+Shift+G", "Get a suggestion, or another one"),
    ("Alt+Shift+K", "Not now: put the image off and go on to the next one"),
    ("Alt+Shift+Q", "Go to the queue"),
)


@dataclass(frozen=True, slots=True)
class BulkWords:
    """How an act on several images is called, as in "5 suggestions accepted".  :ivar item: what happens to one."""

    title: str
    button: str
    noun: str
    done: str
    item: str


BULK = {
    "accept": BulkWords(
        "Accept suggestions", "Accept the ticked suggestions", "suggestion", "accepted", "This text will be saved:"
    ),
    "reject": BulkWords(
        "Reject suggestions", "Reject the ticked suggestions", "suggestion", "rejected", "This will be dismissed:"
    ),
    "decorative": BulkWords(
        "Mark as decorative", "Mark the ticked images", "image", "marked as decorative", "Screen readers will skip it."
    ),
}


def reason(code: str) -> Explanation:
    """Why a captioner stayed silent."""
    return REASONS.get(code, UNKNOWN_REASON)


def flag(code: str) -> str:
    """What a mark beside a suggestion warns of."""
    return FLAGS.get(code, f"Marked by the captioner: {code.replace('_', ' ')}.")


def role_help(role: str, *, kind: str = "") -> RoleHelp:
    """Advice for `role`; where that is not known, for what such a kind of image usually is."""
    known = Role(role) if role in set(Role) else Role.UNKNOWN
    return ROLE_HELP[KINDS.get(kind, known) if known is Role.UNKNOWN else known]


@dataclass(frozen=True, slots=True)
class Seen:
    """One thing seen: a phrase, where it comes from in words, and a score of that source's own scale, or None."""

    phrase: str
    source: str
    score: float | None


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence beside a suggestion, fit to be shown. Every field may be empty."""

    support: tuple[Seen, ...] = ()
    unverified: tuple[Seen, ...] = ()
    lines: tuple[str, ...] = ()
    kind: str = ""
    missing: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.support or self.unverified or self.lines or self.kind or self.missing)


def evidence(data: Any) -> Evidence:
    """Read what a captioner stored. It may be another product's, so nothing of its shape is relied on."""
    if not isinstance(data, Mapping):
        return Evidence()
    kinds = {name: share for name, share in _mapping(data.get("kinds")).items() if isinstance(share, int | float)}
    lines = (line.get("text") if isinstance(line, Mapping) else line for line in _list(data.get("lines")))
    return Evidence(
        support=_seen(data.get("support")),
        unverified=_seen(data.get("unverified")),
        lines=tuple(line for line in lines if isinstance(line, str) and line.strip()),
        kind=str(max(kinds, key=lambda name: kinds[name])) if kinds else "",
        missing=tuple(MISSING.get(name, name) for name in _list(data.get("missing")) if isinstance(name, str)),
    )


def _seen(value: Any) -> tuple[Seen, ...]:
    found = []
    for item in _list(value):
        item = item if isinstance(item, Mapping) else {"phrase": item}
        phrase = item.get("phrase") or item.get("concept") or item.get("label")
        score = item.get("score")
        if isinstance(phrase, str) and phrase.strip():
            source = str(item.get("source") or "")
            known = SOURCES.get(source, source)
            found.append(Seen(phrase, known, float(score) if isinstance(score, int | float) else None))
    return tuple(found)


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
