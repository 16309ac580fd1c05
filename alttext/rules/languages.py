"""Which language a text is in: a vote of small words, and of scripts. Eight languages of Latin script; knows no rule.

No statistics of letters and no model: alternative texts are short, full of names, and a wrong warning costs more than a
missed one. Languages whose small words are not listed are only told apart by script.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

# words that carry a sentence; no nouns, and no word that is a common name
SMALL_WORDS = {
    "en": "the a an and of in on at to with for from by is are was were has have it its this that these there his her "
    "their who which behind beside under over into onto next near between while as or not shows showing",
    "de": "der die das den dem des ein eine einen einem einer eines und in im am an auf mit von vom zu zum zur bei für "
    "aus ist sind war wird werden hat haben sich nicht über unter vor hinter neben zwischen als auch oder es sie er "
    "zeigt ihre seine",
    "fr": "le la les un une des du de et dans sur avec pour par en au aux est sont ce cette ces qui que sous devant "
    "derrière entre à ou il elle son sa ses leur leurs ne pas montre",
    "es": "el la los las un una unos unas del de y en con por para al es son está están que se su sus sobre bajo entre "
    "detrás delante junto o no muestra lo",
    "it": "il lo la i gli le un uno una di del della dei delle e in con per su da dal dalla al alla nel nella sul "
    "sulla è sono che si tra sotto sopra davanti dietro o non mostra",
    "nl": "de het een en van in op met voor naar bij uit aan is zijn was wordt worden heeft dat die deze dit onder "
    "boven achter naast tussen ook of niet hij zij toont",
    "pt": "o a os as um uma uns umas do da dos das de e em no na nos nas com por para ao à é são está estão que se "
    "seu sua sobre sob entre atrás ou não mostra",
    "pl": "i w we na z ze do od po za pod nad przed przy obok między jest są był była które który która się nie oraz "
    "dla o u to ten ta przez jego jej",
}
VOTERS = {name: frozenset(words.split()) for name, words in SMALL_WORDS.items()}
SHARED = Counter(word for words in VOTERS.values() for word in words)

QUOTED = re.compile(r"[\"“„«][^\"“”„«»]{0,400}[\"”“»]|(?<!\w)['‘‚][^'‘’‚]{0,400}['’‘](?!\w)")
WORD = re.compile(r"(?<![^\s(\[“„«\"'‘’-])[^\W\d_]+(?![^\s.,;:!?)\]”“»\"'’-])")  # not a piece of an address or an id
LEAST_VOTES = 1.5  # a word that k languages have counts 1/k: two words of one language, one of them its own
LEAST_LEAD = 3.0
OTHER_SCRIPTS = {
    "CYRILLIC": {"ru", "uk", "bg", "sr", "mk", "be", "kk", "ky", "mn", "tg"},
    "GREEK": {"el"},
    "HEBREW": {"he", "yi"},
    "ARABIC": {"ar", "fa", "ur", "ps", "ku", "ug", "sd", "ckb"},
    "HANGUL": {"ko"},
    "HIRAGANA": {"ja"},
    "KATAKANA": {"ja"},
    "CJK": {"zh", "ja", "ko", "yue", "wuu"},
    "THAI": {"th"},
    "DEVANAGARI": {"hi", "mr", "ne", "sa"},
    "GEORGIAN": {"ka"},
    "ARMENIAN": {"hy"},
}
NAMES = {"en": "English", "de": "German", "fr": "French", "es": "Spanish", "it": "Italian", "nl": "Dutch"} | {
    "pt": "Portuguese",
    "pl": "Polish",
}


def unquoted(text: str) -> str:
    """The text with blanks for what stands in quotation marks: those words are of the image, not of the author."""
    return QUOTED.sub(lambda match: " " * len(match[0]), text)


def votes(text: str) -> dict[str, float]:
    """Votes for each language, from distinct words that are not quoted."""
    words = {word for word in WORD.findall(unquoted(text).casefold()) if word in SHARED}
    return {name: sum(1 / SHARED[word] for word in words & own) for name, own in VOTERS.items()}


def other_than(text: str, language: str) -> str:
    """The language or script that the text is in instead of `language`, a primary subtag; empty if it may be it."""
    script = _script(text)
    if script and language not in OTHER_SCRIPTS[script]:
        return f"{script.capitalize()} script" if script != "CJK" else "Chinese or Japanese script"
    found = votes(text)
    best = max(found, key=lambda name: found[name])
    in_other_script = any(language in users for users in OTHER_SCRIPTS.values())
    if script or found[best] < LEAST_VOTES or best == language or (language not in VOTERS and not in_other_script):
        return ""
    return NAMES[best] if found[best] >= LEAST_LEAD * found.get(language, 0.0) else ""


def _script(text: str) -> str:
    """The script of more than half of the letters, if it is not Latin and one of those listed."""
    letters = [char for char in text[:1000] if char.isalpha()]
    scripts = Counter(unicodedata.name(char, "").split(" ")[0] for char in letters if char > "\u0250")
    if not scripts:
        return ""
    script, count = scripts.most_common(1)[0]
    return script if script in OTHER_SCRIPTS and 2 * count > len(letters) else ""
