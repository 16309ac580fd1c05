"""Hand-made sights: a sure photo with boxes and lines, a chart, an empty detector."""

from captioner.types import Box, Detection, Kind, Sight, TextLine

PHOTO = {"photo": 0.97, "chart": 0.03}
CHART = {"photo": 0.02, "chart": 0.98}


def photo(*labels: str, lines: tuple[str, ...] = (), score: float = 0.8, kinds=PHOTO, share: float = 0.02) -> Sight:
    """A photo in which a detector found each label once, side by side, and OCR read each line."""
    boxes = tuple(
        Detection(label, score, Box(0.1 * place, 0.3, 0.1 * place + 0.09, 0.9)) for place, label in enumerate(labels)
    )
    read = tuple(
        TextLine(text, 0.98, Box(0.1, 0.05 * place, 0.6, 0.05 * place + 0.04)) for place, text in enumerate(lines)
    )
    return Sight(800, 600, kinds=kinds, detections=boxes, lines=read, text_share=share)


def chart(*lines: str) -> Sight:
    return photo(lines=lines, kinds=CHART, share=0.2)


assert Kind.PHOTO in PHOTO
assert Kind.CHART in CHART
