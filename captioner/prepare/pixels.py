"""From pixels of any mode to a small upright RGB picture: 8 bits, alpha on a ground, colour profile, orientation.

Works in strips where a picture is large, so that no second copy at full size is ever made. Knows no files and no
limits; runs in the child that `sandbox` starts.
"""

from __future__ import annotations

import io
import math
from dataclasses import dataclass
from typing import Any, cast

from PIL import Image, ImageCms, ImageStat

LARGE_PX, SMALL_PX = 1536, 512  # text lane; plain lane and screen
GAP = 1.5  # shrink by whole numbers down to this multiple of the target, then resample properly
STRIP_ROWS = 256
WHITE, DARK = 255, 64
LIGHT = 160  # mean brightness of the opaque part above which a white ground would swallow it
BLANK_RANGE = 8  # levels; a picture that spans no more is one colour, with noise
QUALITY = 90

WIDE = ("I", "F", "I;16", "I;16L", "I;16B", "I;16N")
UPRIGHT = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
PROFILE_SPACES = {"RGB": "RGB", "L": "GRAY", "CMYK": "CMYK", "LAB": "Lab"}


@dataclass(frozen=True, slots=True)
class Flat:
    """A reduced picture without alpha. `seen` is evidence; `visible` False where every pixel was transparent."""

    image: Image.Image
    visible: bool
    seen: dict[str, Any]

    @property
    def span(self) -> int:
        """Largest difference between two pixels in one channel, 0..255."""
        ranges = self.image.getextrema()
        pairs = cast("tuple[tuple[int, int], ...]", ranges if isinstance(ranges[0], tuple) else (ranges,))
        return max(high - low for low, high in pairs)


def flatten(image: Image.Image, *, keep: bool = False) -> Flat:
    """Reduce a loaded image to about 1536 px a side, 8 bits a channel, alpha on a ground.

    `keep`: the image will move on to another frame, and the result must not move with it.
    """
    stretch = _stretch(image)
    small, visible, ground = _on_ground(_reduce(image, stretch))
    if keep and small is image:
        small = image.copy()
    seen: dict[str, Any] = {"mode": image.mode, "alpha": bool(ground)}
    if ground:
        seen["ground"] = ground
    if stretch:
        seen["stretch"] = list(stretch)
    return Flat(small, visible, seen)


def finish(flat: Flat, *, profile: bytes | None, orientation: int) -> tuple[Image.Image, str]:
    """(upright RGB of at most 1536 px a side, "applied" | "ignored" | "none" for the colour profile).

    The picture is made anew from raw pixels: no text, position, profile or comment of the source survives.
    """
    image = fit(flat.image, LARGE_PX)
    state = "none"
    if profile:
        image, state = (image, "ignored") if "stretch" in flat.seen else _in_srgb(image, profile)
    image = image if image.mode == "RGB" else image.convert("RGB")
    if orientation in UPRIGHT:
        image = image.transpose(UPRIGHT[orientation])
    return Image.frombytes("RGB", image.size, image.tobytes()), state


def fit(image: Image.Image, most_px: int) -> Image.Image:
    """The image with no side over `most_px`; never enlarged."""
    longest = max(image.size)
    if longest <= most_px:
        return image
    width, height = (max(1, round(side * most_px / longest)) for side in image.size)
    return image.resize((width, height), Image.Resampling.LANCZOS)


def as_jpeg(image: Image.Image, most_px: int) -> bytes:
    """JPEG bytes; full colour resolution, since thin red letters vanish without it."""
    buffer = io.BytesIO()
    fit(image, most_px).save(buffer, "JPEG", quality=QUALITY, subsampling="4:4:4")
    return buffer.getvalue()


def draft_size(size: tuple[int, int]) -> tuple[int, int]:
    """The size a JPEG decoder may shrink to while it decodes: still `GAP` times what is needed."""
    share = min(1.0, GAP * LARGE_PX / max(size))
    return max(1, int(size[0] * share)), max(1, int(size[1] * share))


def _stretch(image: Image.Image) -> tuple[float, float] | None:
    """(lowest, highest) value of a picture with more than 8 bits; a plain conversion would turn it white or black."""
    if image.mode not in WIDE:
        return None
    low, high = cast("tuple[float, float]", image.getextrema())
    if not (math.isfinite(low) and math.isfinite(high)):
        finite = [value for value in _sample(image) if math.isfinite(value)]
        low, high = (min(finite), max(finite)) if finite else (0.0, 0.0)
    return low, high


def _sample(image: Image.Image) -> list[float]:
    """About half a million pixels at most: enough for a range, little enough for a Python loop."""
    small = image.copy()
    small.thumbnail((700, 700), Image.Resampling.NEAREST)
    return list(cast("Any", small.get_flattened_data()))


def _reduce(image: Image.Image, stretch: tuple[float, float] | None) -> Image.Image:
    factor = int(max(image.size) / (GAP * LARGE_PX))
    if factor <= 1:
        return _eight_bit(image, stretch)
    width, height = image.size
    rows = factor * max(1, STRIP_ROWS // factor)  # a multiple of the factor, or strips would not meet
    whole: Image.Image | None = None
    for top in range(0, height, rows):
        strip = _eight_bit(image.crop((0, top, width, min(height, top + rows))), stretch).reduce(factor)
        if whole is None:
            whole = Image.new(strip.mode, (math.ceil(width / factor), math.ceil(height / factor)))
        whole.paste(strip, (0, top // factor))
    assert whole is not None
    return whole


def _eight_bit(image: Image.Image, stretch: tuple[float, float] | None) -> Image.Image:
    """L, RGB, RGBA, CMYK, YCbCr or LAB; the image itself where it is one of these already."""
    if stretch:
        low, high = stretch
        flat = high - low <= (0 if image.mode == "F" else BLANK_RANGE)  # a few levels of noise stay noise
        scale = 0.0 if flat else 255 / (high - low)
        wide = image if image.mode in ("I", "F") else image.convert("I")
        return wide.point(lambda value: value * scale + (0.5 - low * scale)).convert("L")
    if image.has_transparency_data:
        if image.mode == "RGBA":
            return image  # a needless conversion would be a second copy at full size
        return (image.convert("LA") if image.mode == "La" else image).convert("RGBA")
    if image.mode in ("L", "RGB", "CMYK", "YCbCr", "LAB"):
        return image
    return image.convert("L" if image.mode == "1" else "RGB")


def _on_ground(image: Image.Image) -> tuple[Image.Image, bool, str]:
    """(image without alpha, whether anything was visible, "white" | "dark" or "" where nothing shone through)."""
    if image.mode != "RGBA":
        return image, True, ""
    alpha = image.getchannel("A")
    low, high = cast("tuple[int, int]", alpha.getextrema())
    if low == 255:
        return image.convert("RGB"), True, ""
    ground = DARK if high and _brightness(image, alpha) >= LIGHT else WHITE
    flat = Image.new("RGB", image.size, (ground, ground, ground))
    flat.paste(image, mask=alpha)
    return flat, high > 0, "dark" if ground == DARK else "white"


def _brightness(image: Image.Image, alpha: Image.Image) -> float:
    """Mean brightness of what is at least half opaque, 0..255; of all that shows where nothing is."""
    solid = alpha.point(lambda value: 255 if value > 127 else 0)
    mask = solid if solid.getbbox() else alpha.point(lambda value: 255 if value else 0)
    return ImageStat.Stat(image.convert("L"), mask).mean[0]


def _in_srgb(image: Image.Image, profile: bytes) -> tuple[Image.Image, str]:
    """Convert where the profile speaks about this kind of pixels; files with the wrong one are common."""
    try:
        source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        if source.profile.xcolor_space.strip() != PROFILE_SPACES.get(image.mode):
            return image, "ignored"
        target = ImageCms.createProfile("sRGB")
        done = ImageCms.profileToProfile(image, source, target, outputMode="RGB")
    except (ImageCms.PyCMSError, OSError, ValueError, TypeError):
        return image, "ignored"
    return (done, "applied") if done is not None else (image, "ignored")
