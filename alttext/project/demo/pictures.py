"""The pictures of the demonstration: photographs that scikit-image packages, and three that are drawn here.

Nothing is downloaded. What is drawn has the same bytes on every run with the same library versions.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from importlib import resources
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

OWN = "Drawn for this demonstration; CC0."
VISITORS = {2019: 41.2, 2020: 12.6, 2021: 18.9, 2022: 33.5, 2023: 39.8, 2024: 44.1, 2025: 47.3}  # thousands; invented

INK, GREY, LINE, PALE, BLUE = "#1c2733", "#5b6774", "#c3cad2", "#f2f4f7", "#1f5fa8"


@dataclass(frozen=True)
class Picture:
    """A file of the site: its name, where it comes from, and how to get its bytes."""

    file_name: str
    credit: str
    read: Callable[[], bytes]


def packaged(file_name: str, credit: str) -> Picture:
    """A picture out of scikit-image's wheel."""
    return Picture(file_name, f"{credit} From the sample data of scikit-image.", partial(_packaged_bytes, file_name))


def _packaged_bytes(file_name: str) -> bytes:
    return (resources.files("skimage.data") / file_name).read_bytes()


@cache
def ornament() -> bytes:
    """A wave line between two dots; says nothing."""
    image = Image.new("RGBA", (600, 48), (0, 0, 0, 0))
    draw = ImageDraw.Draw(image)
    for left in range(60, 540, 40):
        draw.arc((left, 12, left + 20, 36), 180, 360, fill=BLUE, width=4)
        draw.arc((left + 20, 12, left + 40, 36), 0, 180, fill=BLUE, width=4)
    for left in (24, 564):
        draw.ellipse((left, 18, left + 12, 30), fill=BLUE)
    return _png(image)


@cache
def visitors_chart() -> bytes:
    """Bars of `VISITORS`, with title and axis labels."""
    from matplotlib.figure import Figure  # half a second to import, and needed by this picture only

    figure = Figure(figsize=(8, 5), dpi=100, layout="constrained")
    axes = figure.subplots()
    axes.bar([str(year) for year in VISITORS], list(VISITORS.values()), color=BLUE)
    axes.set_title("Visitors to the Harbour Museum", fontsize=16)
    axes.set_xlabel("Year", fontsize=13)
    axes.set_ylabel("Visitors (thousands)", fontsize=13)
    axes.spines[["top", "right"]].set_visible(False)
    written = io.BytesIO()
    figure.savefig(written, format="png", metadata={"Software": None})
    return written.getvalue()


@cache
def settings_window() -> bytes:
    """A settings window, 1000 x 700, as a program for tickets might show it."""
    image = Image.new("RGB", (1000, 700), "#9fb3c4")
    draw = ImageDraw.Draw(image)
    draw.rounded_rectangle((40, 36, 960, 664), radius=10, fill="white", outline=GREY)
    draw.rounded_rectangle((40, 36, 960, 86), radius=10, fill=INK, corners=(True, True, False, False))
    draw.text((64, 49), "Harbour Tickets – Settings", font=_font(20), fill="white")
    draw.line((922, 54, 936, 68), fill="white", width=2)
    draw.line((936, 54, 922, 68), fill="white", width=2)
    _draw_sidebar(draw)
    _draw_form(draw)
    return _png(image)


def _draw_sidebar(draw: ImageDraw.ImageDraw) -> None:
    draw.rounded_rectangle((41, 87, 270, 663), radius=9, fill=PALE, corners=(False, False, False, True))
    draw.rectangle((41, 148, 270, 196), fill=BLUE)
    for row, label in enumerate(("Account", "Reminders", "Payment", "Printing", "About")):
        draw.text((68, 109 + 52 * row), label, font=_font(19), fill="white" if label == "Reminders" else INK)


def _draw_form(draw: ImageDraw.ImageDraw) -> None:
    draw.text((306, 112), "Reminders", font=_font(28, bold=True), fill=INK)
    _draw_checkbox(draw, 180, "Send me a reminder before each visit", ticked=True)
    _draw_checkbox(draw, 230, "Also send a text message", ticked=False)
    _draw_field(draw, 296, "Hours before the visit", "24", width=120)
    _draw_field(draw, 396, "E-mail address", "visitor@example.org", width=420)
    draw.text((306, 500), "Reminders are free. You can change this at any time.", font=_font(17), fill=GREY)
    _draw_button(draw, (620, 586, 750, 634), "Cancel", fill="white", ink=INK)
    _draw_button(draw, (770, 586, 930, 634), "Save changes", fill=BLUE, ink="white")


def _draw_checkbox(draw: ImageDraw.ImageDraw, top: int, label: str, *, ticked: bool) -> None:
    draw.rounded_rectangle((306, top, 330, top + 24), radius=4, fill=BLUE if ticked else "white", outline=GREY, width=2)
    if ticked:
        draw.line([(311, top + 12), (316, top + 18), (326, top + 6)], fill="white", width=3)
    draw.text((344, top), label, font=_font(19), fill=INK)


def _draw_field(draw: ImageDraw.ImageDraw, top: int, label: str, value: str, *, width: int) -> None:
    draw.text((306, top), label, font=_font(17), fill=GREY)
    draw.rounded_rectangle((306, top + 28, 306 + width, top + 72), radius=5, outline=LINE, width=2)
    draw.text((320, top + 38), value, font=_font(19), fill=INK)


def _draw_button(draw: ImageDraw.ImageDraw, box: tuple[int, int, int, int], label: str, *, fill: str, ink: str) -> None:
    draw.rounded_rectangle(box, radius=6, fill=fill, outline=GREY)
    middle = ((box[0] + box[2]) / 2, (box[1] + box[3]) / 2)
    draw.text(middle, label, font=_font(18), fill=ink, anchor="mm")


def _font(size_px: int, *, bold: bool = False) -> ImageFont.FreeTypeFont:
    """DejaVu Sans, which matplotlib packages."""
    import matplotlib as mpl

    name = "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"
    # the basic layout engine: raqm is not everywhere, and would move letters by a pixel
    return ImageFont.truetype(
        Path(mpl.get_data_path()) / "fonts" / "ttf" / name, size_px, layout_engine=ImageFont.Layout.BASIC
    )


def _png(image: Image.Image) -> bytes:
    written = io.BytesIO()
    image.save(written, format="PNG")
    return written.getvalue()


PICTURES = {
    "astronaut": packaged("astronaut.png", "Photograph: NASA Great Images database; public domain."),
    "brick": packaged("brick.png", "Photograph: CC0Textures (Bricks25), cropped and turned; CC0."),
    "camera": packaged("camera.png", "Photograph: Lav Varshney; CC0."),
    "chelsea": packaged("chelsea.png", "Photograph: Stefan van der Walt; CC0."),
    "clock_motion": packaged("clock_motion.png", "Photograph: Stefan van der Walt; public domain."),
    "coffee": packaged("coffee.png", "Photograph: Rachel Michetti, courtesy of Pikolo Espresso Bar; CC0."),
    "coins": packaged("coins.png", "Photograph: Brooklyn Museum Collection; no known copyright restrictions."),
    "horse": packaged("horse.png", "Drawing: Andreas Preuss (marauder), openclipart; CC0."),
    "hubble_deep_field": packaged("hubble_deep_field.jpg", "Photograph: NASA, HubbleSite; public domain."),
    "moon": packaged("moon.png", "Surface of the moon; origin not stated there."),
    "motorcycle_left": packaged(
        "motorcycle_left.png",
        "Photograph: Middlebury 2014 stereo benchmark (D. Scharstein, H. Hirschmüller, Y. Kitajima, G. Krathwohl,"
        " N. Nešić, X. Wang, P. Westling).",
    ),
    "page": packaged("page.png", "Scanned page; origin not stated there."),
    "retina": packaged("retina.jpg", "Photograph: Mikael Häggström, Wikimedia Commons; CC0."),
    "rocket": packaged("rocket.jpg", "Photograph: SpaceX; released into the public domain."),
    "ornament": Picture("wave.png", "", ornament),
    "visitors_chart": Picture("visitors-2019-2025.png", OWN, visitors_chart),
    "settings_window": Picture("reminders-window.png", OWN, settings_window),
}
