"""A model's answer -> the bare text in it: no markdown, no label, no quotes; a refusal becomes nothing.

Pure strings, shared by all backends. Nothing here knows whether a text is true: that is the gate's work. What the
picture shows in words ("Sorry, we're closed") must survive, so a pattern counts only where a person would not write it
as alt text.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

import regex

from captioner.prepare import pagewords

VERSION = "1"

MOST_CHARS = 2000  # what is longer is no alt text, and some patterns below cost the square of the length
REFUSAL_CHARS = 300  # a refusal shows in its first sentences
THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)|^.*?</think(?:ing)?>", re.S | re.I)
FENCED = re.compile(r"```[\w+-]*[ \t]*\n?(.*?)(?:```|\Z)", re.S)
ALT = re.compile(r"""^\s*(?:<img\b[^>]*?\b)?alt\s*=\s*(?:"([^"]*)"|'([^']*)')[^>]*>?\s*$""", re.S | re.I)
KEYS = ("alt_text", "alt", "altText", "alternative_text", "caption", "description", "text")
EMPHASIS = re.compile(r"(\*\*|__|~~|(?<![\w*])\*|(?<![\w_])_|`)(?=[^\s*_`~])(.{1,300}?)(?<=\S)\1(?!\w)", re.S)
LINK = re.compile(r"!?\[([^\]]*)\]\([^()\s]*\)")
LINE_MARK = re.compile(r"^\s*(?:#{1,6}\s+|>\s+|[-*•]\s+)")
OPTION = re.compile(
    r"^\s*(?:[-*•#]+\s*)?[*_]*(?:option|version|variante?|opción|opzione|optie|opção)\s+(?:1|one"
    r"|a)\b[*_]*[^\n:.)]{0,40}[.):]+[*_]*\s*",
    re.I,
)
CLOSING = re.compile(
    r"(?:let me know|i hope|feel free|would you like|is there anything|if you(?:'d| would| need| want)|note:"
    r"|explanation:"
    r"|this (?:alt(?:ernative)?[\s-]text|description|caption)\b|sag(?:en sie)? mir|ich hoffe|n['’]hésitez pas"
    r"|laat me weten)",
    re.I,
)
LABELS = (
    r"alt(?:ernat(?:iv)?e?)?[\s_-]*text|alt|image (?:description|caption)|caption|description|(?:the )?answer|output"
    r"|alternativ[\s-]*text|bild(?:beschreibung|unterschrift)|beschreibung"
    r"|texte alternatif|description(?: de l['’]image)?|légende"
    r"|texto alternativo|descripción(?: de la imagen)?|testo alternativo|descrizione(?: dell['’]immagine)?"
    r"|alternatieve tekst|afbeelding(?:sbeschrijving)?|beschrijving|descrição(?: da imagem)?"
)
LABEL = re.compile(rf"^\s*(?:{LABELS})\s*(?:\([^()]{{1,30}}\)\s*)?[:：]\s*", re.I)
YES = r"(?:sure|certainly|of course|okay|ok|gerne?|natürlich|bien sûr|claro|certo|natuurlijk)(?: thing)?[!,.]"
OPENING = re.compile(
    rf"^\s*(?:(?:{YES}\s*)?(?:here(?:'s|’s| is| are)|hier ist|voici|aquí (?:está|tienes)|ecco|hier is|aqui está)\b"
    rf"[^\n:]{{0,120}}(?:{LABELS})[^\n:]{{0,60}}[:：]|{YES}[^\n:]{{0,120}}[:：]\s*\n|{YES}(?=\s))\s*",
    re.I,
)
QUOTES = {'"': '"', "'": "'", "“": "”", "„": "“", "«": "»", "»": "«", "‘": "’", "‚": "‘", "`": "`", "「": "」"}
HELP = r"(?:help|assist)(?: you)?(?: (?:with|by|in|to)\b|[.,!]|$)"
SEE = (
    r"(?:see|view|access|open|describe|identify|recogni[sz]e|provide|process|analy[sz]e|comply|fulfill?"
    r"|generate|create|write)"
)
REFUSALS = (
    r"(?:i(?:'|’)?m |i am )?(?:(?:so |very )?sorry|i apologi[sz]e|apologies"
    r"|unfortunately)[,.]?(?: but)?[,.]? (?:i|as an)\b.*",
    rf"i (?:can(?:not|(?:'|’)?t| not)|won(?:'|’)t|will not|do not|don(?:'|’)t|could not|couldn(?:'"
    rf"|’)t) (?:{HELP}|{SEE}\b).*",
    r"i(?:'|’)?(?: a)?m (?:not able|unable|not allowed|not permitted|just an? |an? (?:ai|language))\b.*",
    r"as an? (?:ai|artificial intelligence|large language|language|text[- ]based)\b.*",
    r"(?:there (?:is|was) )?no image (?:is |was |has been |were )?(?:provided|attached|uploaded|visible"
    r"|available|given)\b.*",
    r"(?:please|could you|can you) (?:provide|upload|attach|share|send|resend)\b.*\b(?:image|picture|photo)\b.*",
    r"(?:n/?a|none|null|no (?:alt text|description|caption)(?: available| needed)?)[.!]?",
    r"(?:es tut mir leid|tut mir leid|leider|entschuldigung|sorry)[,.]?(?: aber)? (?:ich|das|da|als|dabei"
    r"|bei)\b.*\b(?:nicht|kein\w*)\b.*",
    r"(?:ich|dabei|das) kann (?:ich )?\b.*\bnicht (?:helfen|beschreiben|identifizieren|sehen|erkennen"
    r"|beantworten)\b.*",
    r"als (?:ki|künstliche|sprachmodell)\b.*",
    r"(?:je suis )?désolée?[,.]?(?: mais)? (?:je|en tant)\b.*|je ne (?:peux|suis) pas (?:en mesure|vous aider"
    r"|décrire|identifier|voir|aider|fournir)\b.*",
    r"lo siento[,.]?(?: pero)? (?:no|como)\b.*|no puedo (?:ayudar|describir|identificar|ver|proporcionar"
    r"|asistir)\w*\b.*",
    r"mi dispiace[,.]?(?: ma)? (?:non|come)\b.*|non posso (?:aiutar|descrivere|identificare|vedere|fornire"
    r"|assister)\w*\b.*",
    r"(?:het spijt me|sorry)[,.]?(?: maar)? (?:ik|als)\b.*|ik kan [^.]{0,40}\b(?:niet"
    r"|geen)\b[^.]{0,40}\b(?:helpen|beschrijven|identificeren|zien)\b.*",
    r"(?:desculpe|sinto muito|lamento)[,.]?(?: mas)? (?:eu |não|como)\b.*|(?:eu )?não (?:posso"
    r"|consigo) (?:ajudar|descrever|identificar|ver|fornecer)\w*\b.*",
)
REFUSAL = re.compile("|".join(f"(?:{pattern})" for pattern in REFUSALS), re.I | re.S)

STOP_WORDS = {  # frequent words that carry no subject; a word shared by n languages counts 1/n
    "en": "the a an of and in on with at is are to for from by his her their its two three that which this "
    "under over near "
    "next behind standing sitting holding wearing",
    "de": "der die das ein eine einen einem einer und mit auf im am in ist sind von vor zu zum zur den dem des "
    "für nicht "
    "neben unter über hinter bei aus zwei drei auch sich steht sitzt",
    "fr": "le la les un une des du de et dans sur avec est sont au aux en pour par qui que deux trois devant "
    "derrière sous "
    "près ses sa son",
    "es": "el la los las un una unos unas de del y en con es son al por para que se su sus dos tres sobre junto frente",
    "it": "il lo la i gli le un uno una di del della dei delle dello e in con è sono al alla per che si su sul "
    "sulla nel "
    "nella due tre da dal davanti accanto",
    "nl": "de het een en van in op met is zijn te voor aan bij uit naar die dat twee drie onder naast achter "
    "staat zit er "
    "wordt door",
    "pt": "o a os as um uma uns umas de do da dos das e em no na nos nas com é são ao à por para que se seu sua "
    "dois duas "
    "três sobre ao",
}
LANGUAGES = tuple(STOP_WORDS)
_WORDS = {language: frozenset(words.split()) for language, words in STOP_WORDS.items()}
_WEIGHTS = {word: 1 / sum(word in words for words in _WORDS.values()) for words in _WORDS.values() for word in words}
CLEAR_LEAD = 0.9  # about one word that only the other language has; measured on nothing: a hint, not a verdict


@dataclass(frozen=True, slots=True)
class Answer:
    """`text` is empty where nothing was said; `refused` tells that the model declined or said that it saw nothing."""

    text: str
    refused: bool = False


def clean(raw: str) -> Answer:
    """The alt text inside a model's answer, on one line."""
    text = THOUGHT.sub("", raw[:MOST_CHARS]).strip()
    text = _from_markup(_from_json(_unfenced(text)))
    text = _first_said(text)
    text = pagewords.clean(_unquoted(_unlabelled(text)))
    return Answer("", refused=True) if is_refusal(text) else Answer(text)


def is_refusal(text: str) -> bool:
    """Whether the whole of `text` declines, apologises for not seeing, or says that there is nothing to say."""
    return REFUSAL.fullmatch(text.strip()[:REFUSAL_CHARS]) is not None


def cut_to_sentence(text: str) -> str:
    """`text` up to its last sentence end, for an answer that ran into its limit; unchanged where it has none."""
    whole = regex.match(r"(?s)^.*[.!?。！？…](?=[\s\"”»’)]|$)", text)
    return whole.group().strip() if whole else text


def language_of(text: str) -> str | None:
    """The likeliest of `LANGUAGES` by its stop words; None where they do not tell."""
    scores = _scores(text)
    first, second = sorted(scores.values(), reverse=True)[:2]
    return max(scores, key=lambda language: scores[language]) if first - second >= CLEAR_LEAD / 2 else None


def is_other_language(text: str, language: str) -> bool:
    """Whether `text` is clearly not in `language` (BCP 47). False where that cannot be told cheaply."""
    primary = language.lower().replace("_", "-").partition("-")[0]
    if primary not in _WORDS:
        return False
    letters = len(regex.findall(r"\p{L}", text))
    if letters and len(regex.findall(r"\p{Latin}", text)) * 2 < letters:
        return True
    scores = _scores(text)
    return max(scores.values()) - scores[primary] >= CLEAR_LEAD


def _scores(text: str) -> dict[str, float]:
    said = set(pagewords.words(text))
    return {language: sum(_WEIGHTS[word] for word in said & words) for language, words in _WORDS.items()}


def _unfenced(text: str) -> str:
    fenced = FENCED.search(text)
    return fenced.group(1).strip() if fenced else text


def _from_json(text: str) -> str:
    if not text.startswith(("{", "[")):
        return text
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return text
    content = content[0] if isinstance(content, list) and content else content
    if isinstance(content, dict):
        content = next((content[key] for key in KEYS if isinstance(content.get(key), str)), "")
    return content if isinstance(content, str) else ""


def _from_markup(text: str) -> str:
    found = ALT.match(text)
    return next((part for part in found.groups() if part is not None), "") if found else text


def _first_said(text: str) -> str:
    """Without what was said about the text: headings over it, remarks under it, the options after the first."""
    option = OPTION.search(text) if OPTION.match(text) else None
    blocks = re.split(r"\n\s*\n", text[option.end() :].strip() if option else text)
    blocks = [block for block in blocks if block.strip() and not _is_frame(block)]
    blocks = blocks[:1] + [block for block in blocks[1:] if not CLOSING.match(_plain(block.strip()))]
    lines = [line for block in blocks for line in block.splitlines() if not _is_frame(line)]
    lines = lines[:1] if option else lines
    return LINK.sub(r"\1", _plain("\n".join(LINE_MARK.sub("", line) for line in lines)))


def _is_frame(block: str) -> bool:
    bare = _plain(LINE_MARK.sub("", block)).strip()
    if not bare.endswith((":", "：")) and not block.lstrip().startswith(("#", "*", "_")):
        return False
    return not LABEL.sub("", OPENING.sub("", bare if bare.endswith((":", "：")) else f"{bare}:")).strip()


def _plain(text: str) -> str:
    return EMPHASIS.sub(r"\2", EMPHASIS.sub(r"\2", text))


def _unlabelled(text: str) -> str:
    return LABEL.sub("", OPENING.sub("", text))


def _unquoted(text: str) -> str:
    """Without one pair of quotation marks around the whole; marks around a part of it stay."""
    text = text.strip()
    inside = text[1:-1]
    if len(text) > 1 and QUOTES.get(text[0]) == text[-1] and text[0] not in inside and text[-1] not in inside:
        return inside.strip()
    return text
