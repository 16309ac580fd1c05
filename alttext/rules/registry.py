"""What a lint rule is, what it gets to see and what it says; the register of all rules. Knows no single rule.

Which of them are switched off for this site is read from the settings at call time; nothing else of the site is known.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

from alttext import conf, edits
from alttext.roles import Role

INFO, WARN, ERROR = "info", "warn", "error"
LEVELS = (ERROR, WARN, INFO)
# the form and the database refuse these texts anyway, so a site cannot do without their message
ALWAYS_ON = frozenset({"alt-blank", "text-control"})
REPAIRS = 5  # repairs in a row until a text is free of its rule; then none is offered


class Words(Protocol):
    """The words around one use of an image: a `Context` of an adapter, or a snapshot of the workbench."""

    @property
    def title(self) -> str: ...
    @property
    def headings(self) -> Any: ...
    @property
    def before(self) -> str: ...
    @property
    def after(self) -> str: ...
    @property
    def caption(self) -> str: ...
    @property
    def link_target(self) -> str: ...
    @property
    def link_label(self) -> str: ...
    @property
    def link_text_visible(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Subject:
    """A text and what is known about its place.

    :ivar adjacent: caption, headings and text blocks right beside the image.
    :ivar around: all words of the page that are known; empty: not known, and nothing is said about what they lack.
    """

    text: str
    language: str = "en"
    role: str = Role.UNKNOWN
    image_name: str = ""
    title: str = ""
    adjacent: tuple[str, ...] = ()
    link_label: str = ""
    link_target: str = ""
    around: str = ""

    @classmethod
    def in_place(cls, text: str, *, words: Words, language: str, role: str, image_name: str = "") -> Subject:
        """The text among the words around its image."""
        beside = [words.caption, *list(words.headings)[-1:], *words.before.splitlines()[-1:]]
        beside += words.after.splitlines()[:1]
        if words.link_text_visible:
            beside.append(words.link_label)
        around = [words.title, *words.headings, words.before, words.after, words.caption, words.link_label]
        return cls(
            text=text,
            language=language,
            role=role,
            image_name=image_name,
            title=words.title,
            adjacent=tuple(block for block in beside if block.strip()),
            link_label=words.link_label,
            link_target=words.link_target,
            around="\n".join(block for block in around if block.strip()),
        )

    @property
    def lang(self) -> str:
        """The primary subtag, lower case."""
        return re.split("[-_]", self.language)[0].lower()

    @property
    def plain(self) -> str:
        """N(text), the form that most rules look at."""
        return edits.normalise(self.text)


@dataclass(frozen=True, slots=True)
class Finding:
    """What one rule says about one text, or one place in a page.

    :ivar span: start and end in code points of the text or the page's source, or None for the whole of it.
    :ivar decide: how an author can tell whether it matters here.
    :ivar repair: what to do about it; `repaired` is the text after it, where that is mechanical.
    :ivar about: the words, or the tag, that it is about.
    """

    rule: str
    level: str
    message: str
    decide: str
    repair: str
    span: tuple[int, int] | None = None
    repaired: str | None = None
    about: str = ""

    @property
    def key(self) -> str:
        """What a dismissal is stored by: the rule and the normalised words it is about. Other words: another key."""
        words = edits.normalise(self.about).casefold()
        return f"{self.rule}:{hashlib.sha256(words.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


@dataclass(frozen=True, slots=True)
class Hit:
    """A finding's own part: what the rule found this time."""

    message: str
    span: tuple[int, int] | None = None
    repaired: str | None = None
    level: str = ""


LookAtText = Callable[[Subject], Iterator[Hit]]
LookAtPage = Callable[[Any], Iterator[Hit]]


@dataclass(slots=True)
class Rule:
    """A registered rule.

    :ivar checklist: the numbers of checklist T that it looks after.
    :ivar title: what it finds, in a few words.
    :ivar on_text: yields hits in a text; None for a rule about markup only.
    :ivar on_page: yields hits in a page; None for a rule about texts only.
    """

    id: str
    level: str
    checklist: str
    title: str
    decide: str
    repair: str
    on_text: LookAtText | None = None
    on_page: LookAtPage | None = None


RULES: dict[str, Rule] = {}


def text_rule(
    id: str, level: str, *, checklist: str, title: str, decide: str, repair: str
) -> Callable[[LookAtText], LookAtText]:
    """Register a function that yields hits for a subject."""

    def register(look: LookAtText) -> LookAtText:
        RULES[id] = Rule(id, level, checklist, title, decide, repair, on_text=look)
        return look

    return register


def page_rule(
    id: str, level: str, *, checklist: str, title: str, decide: str, repair: str
) -> Callable[[LookAtPage], LookAtPage]:
    """Register a function that yields hits for a page; a rule that texts have as well keeps its words for both."""

    def register(look: LookAtPage) -> LookAtPage:
        if id in RULES:
            assert RULES[id].level == level, id
            RULES[id].on_page = look
        else:
            RULES[id] = Rule(id, level, checklist, title, decide, repair, on_page=look)
        return look

    return register


def switched_off() -> frozenset[str]:
    """Rules that this site does without: ALTTEXT["RULES_OFF"], less those that cannot be switched off."""
    return frozenset(_given()) - ALWAYS_ON


def wrongly_off() -> list[str]:
    """Entries of ALTTEXT["RULES_OFF"] that name no rule, or one that stays on."""
    return [name for name in _given() if name in ALWAYS_ON or name not in RULES]


def _given() -> list[str]:
    """Entries of the setting; none where it is no list, which a system check tells."""
    found = conf.get("RULES_OFF")
    return [str(name) for name in found] if isinstance(found, list | tuple | set | frozenset) else []


def check(subject: Subject, *, off: Collection[str] | None = None) -> list[Finding]:
    """All findings, errors first. An empty text has none: whether a text is missing is told by the record.

    :param off: ids of rules to leave out; None: those of the settings.
    """
    if not subject.text:
        return []
    off = switched_off() if off is None else off
    blank = not subject.plain
    chosen = [rule for rule in RULES.values() if (rule.id == "alt-blank") == blank and rule.id not in off]
    found = [finding for rule in chosen if rule.on_text for finding in _of_text(rule, rule.on_text, subject)]
    return in_order(found)


def _of_text(rule: Rule, look: LookAtText, subject: Subject) -> Iterator[Finding]:
    for hit in look(subject):
        repaired = _free_of(look, subject, hit)
        about = subject.text[slice(*hit.span)] if hit.span else subject.text
        yield finding(rule, hit, about=about, repaired=repaired)


def _free_of(look: LookAtText, subject: Subject, hit: Hit) -> str | None:
    """The repaired text, if the rule finds nothing in it any more."""
    text = hit.repaired
    for _ in range(REPAIRS):
        if not text or not edits.normalise(text):
            return None
        again = next(iter(look(replace(subject, text=text))), None)
        if again is None:
            return text
        text = again.repaired
    return None


def finding(rule: Rule, hit: Hit, *, about: str, repaired: str | None = None) -> Finding:
    """A hit in the words of its rule."""
    level = hit.level or rule.level
    return Finding(rule.id, level, hit.message, rule.decide, rule.repair, hit.span, repaired=repaired, about=about)


def in_order(found: Iterable[Finding]) -> list[Finding]:
    """Errors first, otherwise as found; no two have one key."""
    seen: Counter[str] = Counter()
    kept = []
    for item in found:
        seen[item.key] += 1
        number = seen[item.key]
        kept.append(item if number == 1 else replace(item, about=f"{item.about} #{number}"))
    return sorted(kept, key=lambda item: LEVELS.index(item.level))
