"""Words about persons that a picture cannot prove: origin, age, mood; and names. English and German patterns only.

Man, woman, boy and girl are no findings: many texts that people write hold them, and no rule can tell whether the page
knows. What the page itself says is never a finding.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

PEOPLE = {
    "en": r"m[ae]n|wom[ae]n|persons?|people|couples?|lad(?:y|ies)|gentlem[ae]n|guys?|famil(?:y|ies)|adults?|males?"
    r"|females?",
    "de": r"Mann|Männern?|Frau(?:en)?|Person(?:en)?|Menschen?|Leuten?|Paar|Familien?|Herr(?:en)?|Damen?",
}
CHILDREN = {"en": "boys?|girls?|child(?:ren)?|kids?", "de": "Jungen?|Mädchen|Kind(?:ern?)?"}  # the word tells the age
ORIGIN = {
    "en": r"(?:white|black|brown|african[- ]american|afro-?\w+|african|(?:south|east|southeast)?[ -]?asian|caucasian"
    r"|hispanic|latin[oax]|latinx|arab(?:ic)?|middle[- ]eastern|indian|chinese|japanese|korean|jewish|muslim"
    r"|native american|indigenous|biracial|mixed[- ]race|dark-skinned|light-skinned)",
    "de": r"(?:weiß|schwarz|dunkelhäutig|hellhäutig|asiatisch|afrikanisch|arabisch|türkisch|indisch|chinesisch"
    r"|jüdisch|muslimisch|indigen)e[rsnm]?",
}
AGE = {
    "en": r"(?:young|younger|old|older|elderly|middle-aged|aged|teenage|adolescent)",
    "de": r"(?:jung|jünger|alt|älter|betagt|jugendlich|mittelalt)e[rsnm]?",
}
MOOD = {
    "en": r"(?:happy|sad|angry|joyful|cheerful|worried|anxious|depressed|upset|scared|frightened|proud|excited|bored"
    r"|frustrated|nervous|stressed|confident|lonely)",
    "de": r"(?:glücklich|fröhlich|traurig|wütend|zornig|besorgt|ängstlich|stolz|begeistert|gelangweilt|nervös|gestresst"
    r"|einsam)",
}
LOOKS = {"en": r"(?:looks?|looking|appears?|appearing|seems?|feels?|feeling)(?: to be| very| quite)?"} | {
    "de": r"(?:wirk(?:t|en)|schein(?:t|en)|sieh(?:t|)|sehen|schau(?:t|en))(?: sehr| recht)?"
}


def _pattern(language: str) -> re.Pattern[str]:
    """Up to one word may stand between the attribute and the person: "young Asian woman", "old bearded man"."""
    mood_end = "" if language == "en" else "(?:e[rsnm]?)?"
    between = r"(?:,? [\w-]{1,20})?,? "
    anybody = f"(?-i:{PEOPLE[language]}|{CHILDREN[language]})"  # "Chinese People’s Congress" is no person
    return re.compile(
        rf"\b(?P<attribute>{ORIGIN[language]}|{MOOD[language]}{mood_end}){between}{anybody}\b(?!['’])"
        rf"|\b(?P<age>{AGE[language]}){between}(?-i:{PEOPLE[language]})\b(?!['’])"
        rf"|\b{LOOKS[language]} (?P<mood>{MOOD[language]})\b",
        re.I,
    )


ATTRIBUTES = {language: _pattern(language) for language in PEOPLE}

GIVEN = (
    "Alexander Alice Amanda Amy Andrea Andreas Andrew Angela Anna Anne Anthony Antonio Arthur Barbara Benjamin Bernd "
    "Beth Birgit Brian Carl Carlos Carol Caroline Catherine Charles Charlotte Chris Christian Christina Christine "
    "Christoph Christopher Claudia Daniel David Deborah Dennis Diana Donald Dorothy Edward Elena Elizabeth Emily Emma "
    "Eric Erik Eva Florian Franz Francis Frank Frederick Friedrich Gabriel Gary George Gerald Gerhard Giovanni Greta "
    "Hans Harold Heinrich Helen Helga Henry Herbert Hillary Horst Ingrid Isaac Isabella Jack Jacob James Jan Jane "
    "Janet Jason Jean Jeff Jeffrey Jennifer Jessica Jim Joan Joe Johann Johannes John Jonathan Jose José Joseph "
    "Joshua Juan Julia Julie Jürgen Karen Karl Katharina Katherine Kathleen Kenneth Kevin Klaus Larry Laura Lauren "
    "Leon Leonardo Linda Lisa Louis Luis Maria Marie Marcus Margaret Mark Markus Martha Martin Mary Matthew Matthias "
    "Maya Michael Michelle Miguel Monika Nancy Natalie Nicholas Nicole Oliver Olivia Oskar Pablo Pamela Patricia "
    "Patrick Paul Paula Pedro Peter Petra Philip Rachel Ralph Raymond Rebecca Richard Robert Ronald Rosa Roger Ruth "
    "Ryan Sabine Samantha Samuel Sandra Sara Sarah Scott Sebastian Sharon Simon Sophia Sophie Stefan Stephanie "
    "Stephen Steve Steven Susan Susanne Teresa Theodor Theresa Thomas Timothy Ursula Ulrich Victor Vincent Walter "
    "Werner William Wilhelm Wolfgang Zoe"
)
TITLES = ("Mr", "Mrs", "Ms", "Dr", "Prof", "Professor", "President", "Senator", "Herr", "Frau")
TITLE_WORDS = frozenset(title.lower() for title in TITLES) | {"van", "von"}
TITLED = rf"(?:{'|'.join(TITLES)})\.? "
FAMILIAR = rf"(?:{'|'.join(GIVEN.split())}) (?:[A-Z]\. )?(?:(?:van|von|de|da|la|der|del) ){{0,2}}"
NAME = re.compile(rf"\b(?:{TITLED}|{FAMILIAR})[A-Z][\w’'-]+(?: [A-Z][\w’'-]+){{0,2}}")


def attributes(text: str, *, language: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """Words about origin, age or mood of a person, each with its span."""
    if pattern := ATTRIBUTES.get(language):
        for match in pattern.finditer(text):
            group = match.lastgroup or 0
            yield match[group], match.span(group)


def names(text: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """What looks like a person's name, each with its span: a title or a common given name, and a word in capitals."""
    for match in NAME.finditer(text):
        yield match[0], match.span()
