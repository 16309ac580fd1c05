"""What the rules look for, by language: placeholders, openings, talk about the text itself. Patterns only, no logic."""

from __future__ import annotations

import re

# "" is for every language; English is looked at in every language too, as file managers and tools write it
PLACEHOLDERS = {
    "": "img; alt; alt text; alternative text; n/a; na; tbd; todo; xxx; spacer; null; undefined; none; default;"
    "untitled",
    "en": "image; photo; photograph; picture; pic; graphic; icon; logo; figure; illustration; drawing; screenshot;"
    "thumbnail; banner; avatar; placeholder; description; caption; diagram; chart; map; button; link; photo of;"
    "image of; picture of",
    "de": "bild; foto; fotografie; grafik; abbildung; symbol; zeichnung; bildschirmfoto; platzhalter; beschreibung;"
    "diagramm; karte; schaltfläche; unbenannt; ohne titel; bild von; foto von",
    "fr": "image; photo; photographie; dessin; graphique; icône; illustration; figure; capture d'écran; vignette;"
    "sans titre",
    "es": "imagen; foto; fotografía; dibujo; gráfico; icono; ilustración; figura; captura de pantalla; miniatura;"
    "sin título",
    "pl": "obraz; obrazek; zdjęcie; fotografia; rysunek; ikona; grafika; ilustracja; wykres; mapa; zrzut ekranu;"
    "bez tytułu",
    "it": "immagine; foto; fotografia; disegno; grafico; icona; illustrazione; figura; schermata; senza titolo",
    "nl": "afbeelding; foto; plaatje; tekening; grafiek; pictogram; illustratie; figuur; schermafbeelding; naamloos",
    "pt": "imagem; foto; fotografia; desenho; gráfico; ícone; ilustração; figura; captura de tela; sem título",
}

ARTICLE = re.compile(r"^(?:an?|the|this|ein|eine|der|die|das|une?|le|la|el|il|lo|het|een|uma?|o) ")

# group 1 is the medium; "screenshot", "map" and "painting" are left out: texts judged good begin so
PREFIXES = {
    "en": r"(?:(?:this|here) is |this shows )?(?:an?|the)? ?(image|photo(?:graph)?|picture|pic|graphic|icon)"
    r" (?:of|showing|shows|that shows|depicting|depicts)",
    "de": r"(?:ein|eine|das|die)? ?(bild|foto|fotografie|grafik|abbildung|symbol)"
    r" (?:von|vom|eines|einer|des|der|mit|zeigt)",
    "fr": r"(?:une?|la|le|l['’])? ?(image|photo(?:graphie)?|illustration|icône)"
    r" (?:de|du|des|d['’]|montrant|qui montre)",
    "es": r"(?:una?|la|el)? ?(imagen|foto(?:grafía)?|icono) (?:de|del|que muestra)",
    "pl": r"(obraz(?:ek)?|zdjęcie|fotografia|ikona|grafika) (?:przedstawia\w*|pokazuj\w*|z)",
    "it": r"(?:una?|la|l['’])? ?(immagine|foto(?:grafia)?|icona) (?:di|del|della|che mostra)",
    "nl": r"(?:een|de)? ?(afbeelding|foto|plaatje|pictogram) (?:van|met)",
    "pt": r"(?:uma?|a|o)? ?(imagem|foto(?:grafia)?|ícone) (?:de|do|da|que mostra)",
}

OPENINGS = {  # at a word boundary; an apostrophe is one as well
    language: re.compile(rf"{pattern}(?:\b|(?<=['’]))\s*", re.I) for language, pattern in PREFIXES.items()
}

# a whole opening up to its colon: what follows it is the text
PREAMBLES = (
    r"(?:(?:sure|certainly|of course)[,!:.]+ )?here(?:['’]s| is| are) (?:an?|the|your|some) "
    r"(?:\w+[ -]){0,3}(?:alt\w*|caption|description)[^:.\n]{0,60}(?::|$)",
    r"(?:alt(?:ernative)?[ -]?text|caption|image description|description):",
    r"hier ist (?:ein|eine|der|die) (?:\w+ ){0,2}(?:alt|bild|alternativ)[^:.\n]{0,60}(?::|$)",
    r"(?:alternativtext|alt-text):",
    r"voici (?:un|le) texte[^:.\n]{0,60}(?::|$)|texte alternatif ?:",
    r"aquí (?:está|tienes) (?:un|el|la) (?:texto|descripción)[^:.\n]{0,60}(?::|$)|texto alternativo ?:",
    r"(?:oto )?tekst alternatywny[^:.\n]{0,60}:",
    r"testo alternativo ?:|alternatieve tekst ?:",
)
REFUSALS = (
    r"i(?:['’]?| a)m sorry,? (?:but )?i",
    r"i (?:can['’]?t|cannot|can not|am unable to) (?:see|view|describe|help|assist|provide|identify)",
    r"as an ai\b",
    r"(?:sure|certainly|of course)[,!:] (?:here|this)",
    r"(?:es )?tut mir leid,|(?:leider )?kann ich (?:das|dieses|die|den|hier)\b|als (?:eine? )?ki\b",
    r"(?:je suis )?désolée?, (?:mais )?je|en tant qu['’]ia\b",
    r"lo siento, (?:pero )?no puedo|como (?:modelo de )?ia\b",
    r"przepraszam, (?:ale )?nie mogę|jako (?:model )?ai\b",
    r"mi dispiace, (?:ma )?non posso|het spijt me, (?:maar )?ik|desculpe, (?:mas )?não posso",
)
DISCLOSURES = (
    r"ai[- ]generated(?: (?:alt text|description|caption|image))?",
    r"generated (?:by|with|using) (?:an? )?(?:ai|artificial intelligence)",
    r"(?:mit |von |durch )?(?:einer )?ki[- ](?:generiert|erzeugt|erstellt)|(?:von|mit|durch) (?:einer )?ki erzeugt",
    r"(?:description )?automatically generated(?: description)?",  # as an office suite fills in
    r"automatisch (?:generierte|erstellte) beschreibung|beschreibung automatisch (?:generiert|erstellt)",
    r"description générée automatiquement|descripción generada automáticamente",
    r"généré par (?:l['’]|une )?ia",
    r"generado por (?:una )?ia",
    r"wygenerowan\w+ przez (?:ai|si)",
)

# words that say nothing about where a link leads
SMALL = (
    "a an and at by for from go in of on or our read more the this to up us with www click here index "
    "das dem den der des die ein eine für im in mit und von zu zum zur hier klicken mehr "
    "au aux de des du en et la le les l un une pour plus el los las y con para por más do na po się z"
)


def placeholders(language: str) -> frozenset[str]:
    """Casefolded texts that fit any image."""
    lists = (PLACEHOLDERS.get(name, "") for name in {"", "en", language})
    return frozenset(item.strip() for row in lists for item in row.split(";") if item.strip())


PREAMBLE = re.compile(rf"^(?:{'|'.join(PREAMBLES)})\s*", re.I)
REFUSAL = re.compile(rf"^(?:{'|'.join(REFUSALS)})", re.I)
DISCLOSURE = re.compile(
    rf"^[(\[]?(?:{'|'.join(DISCLOSURES)})[)\].:]*(?:\s+|$)|[\s(\[–—-](?:{'|'.join(DISCLOSURES)})[.)\]]*$", re.I
)
