"""One file through the gates, in order: open, size, shape, frames, verify, choose a frame, decode, derive.

Only for the child that `sandbox` starts: it sets limits that are global to the process and decodes hostile bytes.
Knows formats and limits, nothing of pipes, processes or pages.
"""

from __future__ import annotations

import io
import struct
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from PIL import (
    AvifImagePlugin,
    GifImagePlugin,  # noqa: F401  (imported so that a confined child need not look for it)
    Image,
    JpegImagePlugin,  # noqa: F401
    MpoImagePlugin,  # noqa: F401
    PngImagePlugin,  # noqa: F401
    TiffImagePlugin,  # noqa: F401
    UnidentifiedImageError,
    WebPImagePlugin,  # noqa: F401
)

from captioner.prepare import frames, hashes, pixels
from captioner.prepare.formats import HEIC
from captioner.prepare.intake import ACCEPT, Intake, Limits, Refused, refusal

BOMBS = (Image.DecompressionBombError, Image.DecompressionBombWarning)
# What Pillow raises for damaged files: a flipped byte gives SyntaxError, a bomb in a text chunk ValueError.
DAMAGE = (OSError, SyntaxError, ValueError, EOFError, KeyError, IndexError, TypeError, OverflowError, struct.error)
EXIF_ORIENTATION = 0x0112
T = TypeVar("T")

AvifImagePlugin.DEFAULT_MAX_THREADS = 1  # a child that may start no processes may start no threads either


def look_at(data: bytes, format_name: str, flags: tuple[str, ...], limits: Limits) -> Intake:
    """Everything about one file that needs a decoder. `content_hash` is left to the caller.

    :raises MemoryError: the ceiling of this process was reached; the process should be replaced.
    """
    Image.MAX_IMAGE_PIXELS = limits.max_pixels  # beyond it Pillow warns, beyond twice it raises; both end here
    known: dict[str, Any] = {"format": format_name, "flags": flags}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            return _examine(data, format_name, limits, known)
    except Refused as refused:
        return refusal(refused, limits, **known)


def _examine(data: bytes, format_name: str, limits: Limits, known: dict[str, Any]) -> Intake:
    image = _guarded(data, format_name, _open)
    _check_shape(image.size, limits)
    count = frames.count(image, data, most=limits.max_frame_pixels // (image.width * image.height))
    if image.width * image.height * count > limits.max_frame_pixels:
        raise Refused("pixels", reads="frames")
    known["flags"] += _frame_flags(format_name, count)
    known["width_px"], known["height_px"] = image.size
    if min(image.size) < limits.smallest_side_px:
        raise Refused("tiny", found=f"{image.width} x {image.height}")
    if format_name in ("JPEG", "PNG"):
        _guarded(data, format_name, lambda *_: image.verify())
        image = _guarded(data, format_name, _open)  # a verified object is spent

    looked = range(min(count, limits.max_frames_looked_at) if format_name in frames.ANIMATED else 1)
    flat, number = _guarded(data, format_name, lambda *_: _first_with_content(image, looked))
    orientation = _orientation(image)  # after the pixels: a PNG may hold its EXIF behind them
    if orientation >= 5:
        known["width_px"], known["height_px"] = known["height_px"], known["width_px"]
    picture, profile = pixels.finish(flat, profile=image.info.get("icc_profile"), orientation=orientation)
    known["evidence"] = flat.seen | {"frame": number, "frames": count, "profile": profile, "orientation": orientation}
    known["small"], known["large"] = (pixels.as_jpeg(picture, most) for most in (pixels.SMALL_PX, pixels.LARGE_PX))
    if flat.span <= pixels.BLANK_RANGE:
        raise Refused("blank" if flat.visible else "transparent")
    return Intake(ACCEPT, perceptual_hash=hashes.perceptual_hash(picture), **known)


def _open(data: bytes, format_name: str) -> Image.Image:
    if format_name == HEIC:
        _register_heif()
    return Image.open(io.BytesIO(data), formats=[format_name])  # "JPEG" gives MPO files too


def _register_heif() -> None:
    try:
        import pillow_heif
    except ImportError as error:
        raise Refused("not_allowed", found="A HEIC picture") from error
    pillow_heif.options.DECODE_THREADS = 1
    pillow_heif.register_heif_opener(thumbnails=False)


def _guarded(data: bytes, format_name: str, step: Callable[[bytes, str], T]) -> T:
    """Run one step of decoding.  :raises Refused: the bytes are damaged, or far more than they seem."""
    try:
        return step(data, format_name)
    except BOMBS as error:
        raise Refused("pixels") from error
    except UnidentifiedImageError as error:
        raise Refused("truncated" if _ends_early(data) else "unreadable") from error
    except DAMAGE as error:
        short = isinstance(error, EOFError) or "truncated" in str(error).lower() or _ends_early(data)
        raise Refused("truncated" if short else "corrupt") from error


def _ends_early(data: bytes) -> bool:
    """A RIFF container (WebP) names its length."""
    return data[:4] == b"RIFF" and len(data) < int.from_bytes(data[4:8], "little") + 8


def _check_shape(size: tuple[int, int], limits: Limits) -> None:
    short, long = sorted(size)
    if short < 1:
        raise Refused("corrupt")
    if short * long > limits.max_pixels:
        raise Refused("pixels")
    if long > limits.max_side_px or long > short * limits.max_ratio:
        raise Refused("aspect")


def _frame_flags(format_name: str, count: int) -> tuple[str, ...]:
    if count > 1 and format_name == "TIFF":
        return ("multi_page",)
    return ("animated",) if count > 1 and format_name in frames.ANIMATED else ()


def _orientation(image: Image.Image) -> int:
    """1..8, where 1 is upright. Broken EXIF and unknown values count as 1; Pillow turns TIFF upright by itself."""
    if image.format == "TIFF":
        return 1
    value = 1
    with suppress(*DAMAGE):
        value = image.getexif().get(EXIF_ORIENTATION, 1)
    return value if value in range(1, 9) else 1


def _first_with_content(image: Image.Image, looked: range) -> tuple[pixels.Flat, int]:
    """The first frame that is not one colour, and its number; the best of them where all are."""
    best, number = None, 0
    for frame in looked:
        try:
            image.seek(frame)
        except EOFError:
            break
        if image.format in ("JPEG", "MPO"):
            image.draft(image.mode, pixels.draft_size(image.size))
        image.load()
        flat = pixels.flatten(image, keep=len(looked) > 1)
        if best is None or flat.span > best.span or (flat.visible and not best.visible):
            best, number = flat, frame
        if best.span > pixels.BLANK_RANGE:
            break
    if best is None:
        raise EOFError
    return best, number
