"""What an image is for in its place: the W3C WAI decision tree of 2024-01-15, asked in order, first match wins.

A role belongs to a placement, never to a file. Decorative is never the answer here: only a person may say so.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Role(StrEnum):
    """Values are those of the captioner's Role."""

    UNKNOWN = "unknown"
    INFORMATIVE = "informative"
    FUNCTIONAL = "functional"
    TEXT = "text"
    COMPLEX = "complex"
    DECORATIVE = "decorative"


LABELS = {
    Role.UNKNOWN: "Not known yet",
    Role.INFORMATIVE: "Informative: adds something to the page",
    Role.FUNCTIONAL: "Functional: the image is a link or a button",
    Role.TEXT: "Text: the image shows words",
    Role.COMPLEX: "Complex: a chart, map or diagram",
    Role.DECORATIVE: "Decorative: needs no text",
}


@dataclass(frozen=True, slots=True)
class Question:
    """One step of the tree; `yes` and `no` name the next question or an end."""

    text: str
    help: str
    yes: str
    no: str


@dataclass(frozen=True, slots=True)
class End:
    """What the answers lead to, and why. A decorative image is still for the person to mark."""

    role: Role
    why: str


TREE: dict[str, Question | End] = {
    "text": Question(
        "Does the image contain words?",
        "Letters on a sign in the background do not count; words that a reader should get do.",
        yes="text-nearby",
        no="link",
    ),
    "text-nearby": Question(
        "Do the same words stand on the page next to it?", "Then a text would only repeat them.", yes="said", no="look"
    ),
    "look": Question(
        "Are the words there for their look only?", "An ornament made of letters, for one.", yes="ornament", no="acts"
    ),
    "acts": Question("Does the image do something, as an icon or a button?", "", yes="link", no="is-text"),
    "link": Question(
        "Is the image the only content of a link or a button?",
        "Without it nobody could tell where the link leads, or what the button does.",
        yes="is-functional",
        no="adds",
    ),
    "adds": Question(
        "Does the image add something to the page?",
        "If it were gone, would a reader miss information?",
        yes="complicated",
        no="ornament",
    ),
    "complicated": Question(
        "Is it a chart, a map or a diagram?",
        "Or another thing that takes a paragraph to say.",
        yes="is-complex",
        no="said-already",
    ),
    "said-already": Question(
        "Does the text next to it say the same already?", "A caption does not always.", yes="said", no="is-informative"
    ),
    "is-text": End(Role.TEXT, "The words of the image are the alternative text."),
    "is-functional": End(Role.FUNCTIONAL, "The text says where the link leads or what the button does."),
    "is-complex": End(Role.COMPLEX, "The text says shortly what it is, and where the long description stands."),
    "is-informative": End(Role.INFORMATIVE, "The text says in a sentence what the image adds."),
    "said": End(Role.DECORATIVE, "The page says it already: hearing it twice helps nobody."),
    "ornament": End(Role.DECORATIVE, "There is nothing to be missed by who does not see it."),
}
FIRST = "text"


def ask(answers: str) -> Question | End:
    """Where a string of answers, "y" and "n", leads in the tree; answers after the end are left out.

    Source: https://www.w3.org/WAI/tutorials/images/decision-tree/, text of 2024-01-15.
    """
    step = TREE[FIRST]
    for answer in answers:
        if isinstance(step, End):
            break
        step = TREE[step.yes if answer == "y" else step.no]
    return step


def propose(*, linked: bool, declared: str = "") -> Role:
    """The role that the markup alone can tell: what the site declared, else functional for the content of a link."""
    if declared:
        return Role(declared)
    return Role.FUNCTIONAL if linked else Role.UNKNOWN
