"""Files of the corpus's kinds that are not in it: each row a format, a mode or a damage of its own."""

from __future__ import annotations

import gzip
import io
import itertools
import os
import random
import struct
import zlib

import pytest
from PIL import Image, ImageCms, ImageDraw, features

from captioner.prepare import images
from tests.captioner.prepare.pictures import (
    chunk,
    encoded,
    mean,
    opened,
    png,
    red_corners,
    scene,
    spread,
    with_orientation,
)

BLANKS = [Image.new("RGB", (320, 200), (250, 250, 250 - shade)) for shade in range(4)]


def taken(data: bytes, name: str = "", **options) -> images.Intake:
    return images.take_in(data, name=name, **options)


# ---- frames


def test_an_animated_png_with_a_blank_start_shows_a_later_frame():
    data = encoded(BLANKS[0], "PNG", save_all=True, append_images=[*BLANKS[1:], scene()], duration=50)
    answer = taken(data, "a.png")
    assert (answer.words, answer.evidence["frame"]) == ("ACCEPT:animated", 4)
    assert red_corners(opened(answer.large)) == ["top-left"]


@pytest.mark.parametrize("format_name", ["GIF", "PNG", "WEBP", "AVIF"])
def test_an_animation_of_blank_frames_has_nothing_to_describe(format_name):
    answer = taken(encoded(BLANKS[0], format_name, save_all=True, append_images=BLANKS[1:], duration=50))
    assert (answer.words, answer.code) == ("ABSTAIN", "blank")


def test_a_picture_behind_more_than_ten_blank_frames_is_not_looked_for():
    frames = [BLANKS[number % 4] for number in range(1, 10)]
    last_seen = encoded(BLANKS[0], "GIF", save_all=True, append_images=[*frames[:8], scene()], duration=50)
    too_late = encoded(BLANKS[0], "GIF", save_all=True, append_images=[*frames, scene()], duration=50)
    assert taken(last_seen).evidence["frame"] == 9
    assert taken(too_late).words == "ABSTAIN"


def test_the_frames_an_animated_png_claims_count_against_the_limit():
    claim = chunk(b"acTL", struct.pack(">II", 100_000, 0))
    answer = taken(png(100, 100, pixels=bytes(100 * 301), extra=claim))
    assert answer.words == "REJECT:pixels"
    assert "frames" in answer.detail


def test_pages_of_a_tiff_count_against_the_limit_whatever_their_number():
    page = encoded(Image.new("1", (6000, 6000)), "TIFF", compression="group4")
    assert taken(page).words == "ABSTAIN"
    pages = encoded(Image.new("1", (6000, 6000)), "TIFF", compression="group4", save_all=True,
                    append_images=[Image.new("1", (6000, 6000))] * 7)  # fmt: skip
    assert taken(pages).words == "REJECT:pixels"


def test_a_tiff_whose_pages_form_a_ring_is_read_once():
    data = bytearray(encoded(scene(), "TIFF", save_all=True, append_images=[scene()]))
    (first,) = struct.unpack_from("<I", data, 4)
    (entries,) = struct.unpack_from("<H", data, first)
    struct.pack_into("<I", data, first + 2 + entries * 12, first)
    assert taken(bytes(data), "a.tif").outcome == "ACCEPT"


# ---- colour, depth, transparency


def test_a_white_logo_on_transparency_gets_a_dark_ground():
    logo = Image.new("RGBA", (320, 120), (255, 255, 255, 0))
    ImageDraw.Draw(logo).rectangle((40, 30, 280, 90), fill=(255, 255, 255, 255))
    answer = taken(encoded(logo, "PNG"))
    assert (answer.words, answer.evidence["ground"]) == ("ACCEPT", "dark")
    picture = opened(answer.large)
    assert spread(picture) > 60
    assert picture.getpixel((2, 2)) == pytest.approx((64, 64, 64), abs=3)


@pytest.mark.parametrize("format_name", ["PNG", "WEBP", "AVIF", "TIFF", "GIF"])
def test_full_transparency_has_nothing_to_describe_even_over_colours(format_name):
    hidden = scene().convert("RGBA")
    hidden.putalpha(0)
    options = {"lossless": True, "exact": True} if format_name == "WEBP" else {}
    answer = taken(encoded(hidden, format_name, **options))
    assert (answer.words, answer.code) == ("ABSTAIN", "transparent")


def test_a_palette_with_every_entry_transparent_has_nothing_to_describe():
    answer = taken(encoded(scene().quantize(8), "PNG", transparency=bytes(8)))
    assert (answer.words, answer.code) == ("ABSTAIN", "transparent")


def test_grey_with_one_transparent_value_is_put_on_a_ground():
    data = png(64, 64, colour=0, pixels=(b"\0" + bytes([0] * 32 + [90] * 32)) * 64, extra=chunk(b"tRNS", b"\0\0"))
    answer = taken(data)
    assert (answer.words, answer.evidence["ground"]) == ("ACCEPT", "white")
    assert opened(answer.large).getpixel((5, 5)) == pytest.approx((255, 255, 255), abs=6)


def test_sixteen_bit_colour_keeps_its_colours():
    row = b"\0" + struct.pack(">3H", 65535, 0, 0) * 40 + struct.pack(">3H", 0, 0, 65535) * 40
    answer = taken(png(80, 60, bits=16, pixels=row * 60))
    picture = opened(answer.large)
    assert answer.words == "ACCEPT"
    assert picture.getpixel((10, 30)) == pytest.approx((255, 0, 0), abs=6)
    assert picture.getpixel((70, 30)) == pytest.approx((0, 0, 255), abs=6)


def test_sixteen_bit_colour_with_a_transparent_colour_is_read():
    row = b"\0" + struct.pack(">3H", 65535, 300, 0) * 40 + struct.pack(">3H", 0, 0, 65535) * 40
    assert taken(
        png(80, 60, bits=16, pixels=row * 60, extra=chunk(b"tRNS", struct.pack(">3H", 65535, 300, 0)))
    ).accepted


def test_a_twelve_bit_scan_in_sixteen_bits_is_stretched_to_full_contrast():
    """Values 1000..1255 of 65535 would all be 3 or 4 after a plain division by 256."""
    ramp = Image.new("I;16", (256, 64))
    ramp.putdata([1000 + x for _ in range(64) for x in range(256)])
    for format_name in ("PNG", "TIFF"):
        picture = opened(taken(encoded(ramp, format_name)).large)
        assert mean(picture) == pytest.approx(127.5, abs=6)
        assert spread(picture) == pytest.approx(74, abs=6)


def test_noise_of_a_few_levels_in_sixteen_bits_is_one_colour():
    flat = Image.new("I;16", (64, 64))
    flat.putdata([30_000 + number % 5 for number in range(64 * 64)])
    assert taken(encoded(flat, "PNG")).code == "blank"


@pytest.mark.parametrize("holes", [(), (float("nan"),), (float("nan"), float("inf"))])
def test_a_tiff_of_floats_is_stretched_whatever_lies_between_the_numbers(holes):
    ramp = Image.new("F", (256, 64))
    values = [x / 255 for _ in range(64) for x in range(256)]
    values[: len(holes)] = holes
    ramp.putdata(values)
    answer = taken(encoded(ramp, "TIFF"), "a.tif")
    assert answer.words == "ACCEPT"
    assert mean(opened(answer.large)) == pytest.approx(127.5, abs=6)


def test_a_large_sixteen_bit_picture_is_stretched_alike_in_all_strips():
    """6,000 px a side go through strips; a ramp from top to bottom shows any seam."""
    ramp = (
        Image.linear_gradient("L").resize((300, 5400)).convert("I").point(lambda value: value * 200 + 0).convert("I;16")
    )
    picture = opened(taken(encoded(ramp, "PNG")).large).convert("L")
    column = [picture.getpixel((picture.width // 2, y)) for y in range(picture.height)]
    assert (column[0], column[-1]) == (pytest.approx(0, abs=4), pytest.approx(255, abs=4))
    assert max(abs(after - before) for before, after in itertools.pairwise(column)) <= 4


def test_a_large_palette_picture_keeps_its_transparency_in_all_strips():
    picture = scene(3200, 4800).quantize(16)
    red = picture.getpixel((0, 0))
    answer = taken(encoded(picture, "PNG", transparency=red))
    large = opened(answer.large)
    assert red_corners(large) == []
    assert large.getpixel((20, 20)) == pytest.approx((255, 255, 255), abs=3)
    assert large.getpixel((20, 1500)) == pytest.approx((30, 120, 200), abs=8)


@pytest.mark.parametrize("options", [{}, {"progressive": True}])
def test_inverted_cmyk_as_adobe_writes_it_keeps_its_colours(options):
    """Pillow writes the Adobe marker and inverted inks, as Photoshop does."""
    data = encoded(scene().convert("CMYK"), "JPEG", quality=95, **options)
    assert b"Adobe" in data
    assert red_corners(opened(taken(data).large)) == ["top-left"]


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "PA", "RGB", "RGBA", "CMYK", "YCbCr", "LAB", "I", "I;16", "F"])
def test_a_tiff_of_any_mode_is_read(mode):
    source = scene()
    if mode == "LAB":
        image = ImageCms.profileToProfile(
            source, ImageCms.createProfile("sRGB"), ImageCms.createProfile("LAB"), outputMode="LAB"
        )
    elif mode == "PA":
        image = source.quantize(16).convert("PA")
    elif mode == "I;16":
        image = source.convert("L").convert("I").convert("I;16")
    else:
        image = source.convert(mode)
    answer = taken(encoded(image, "TIFF"), "a.tif")
    assert answer.words == "ACCEPT"
    assert spread(opened(answer.large)) > 8  # 9.0 in the source: red, green and blue are about equally bright
    if mode in ("P", "PA", "RGB", "RGBA", "CMYK", "YCbCr", "LAB"):
        assert red_corners(opened(answer.large)) == ["top-left"]


def test_a_profile_that_swaps_colours_is_followed_and_one_of_another_space_is_not():
    """Linear light: value 64 of 255 in it is 137 in sRGB (IEC 61966-2-1)."""
    grey = Image.new("RGB", (64, 64), (64, 64, 64))
    grey.paste((255, 255, 255), (32, 0, 64, 64))
    linear = ImageCms.ImageCmsProfile(io.BytesIO(_linear_profile())).tobytes()
    answer = taken(encoded(grey, "PNG", icc_profile=linear))
    assert answer.evidence["profile"] == "applied"
    assert opened(answer.large).getpixel((5, 5))[0] == pytest.approx(137, abs=4)
    answer = taken(encoded(grey.convert("L"), "PNG", icc_profile=linear))
    assert answer.evidence["profile"] == "ignored"
    assert opened(answer.large).getpixel((5, 5))[0] == pytest.approx(64, abs=3)


@pytest.mark.parametrize("format_name", ["JPEG", "PNG", "WEBP", "TIFF", "AVIF"])
def test_orientation_is_followed_once_in_every_format(format_name):
    answer = taken(encoded(scene(), format_name, exif=with_orientation(6)))
    assert (answer.width_px, answer.height_px) == (200, 320)
    assert red_corners(opened(answer.large)) == ["top-right"]


def test_all_eight_orientations_equal_what_pillow_does():
    from PIL import ImageOps

    for value in range(1, 9):
        data = encoded(scene(), "PNG", exif=with_orientation(value))
        upright = ImageOps.exif_transpose(Image.open(io.BytesIO(data)))
        assert opened(taken(data).large).size == upright.size
        assert red_corners(opened(taken(data).large)) == red_corners(upright)


@pytest.mark.parametrize("value", [0, 9, 65535])
def test_an_orientation_that_does_not_exist_is_ignored(value):
    assert red_corners(opened(taken(encoded(scene(), "PNG", exif=with_orientation(value))).large)) == ["top-left"]


def test_an_interlaced_png_is_read():
    rows = scene(64, 64).convert("L").tobytes()
    passes = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
    lines = b"".join(
        b"\0" + bytes(rows[y * 64 + x] for x in range(left, 64, across))
        for left, top, across, down in passes
        for y in range(top, 64, down)
    )
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", 64, 64, 8, 0, 0, 0, 1))
    data = b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")
    answer = taken(data)
    assert answer.words == "ACCEPT"
    assert opened(answer.large).getpixel((3, 3))[0] == pytest.approx(rows[3 * 64 + 3], abs=6)


# ---- what is refused


@pytest.mark.parametrize(
    "name", ["a.ico", "a.psd", "a.bmp", "a.svg", "a.svgz", "a.pdf", "a.eps", "a.jp2", "a.tga", "a.html"]
)
def test_extensions_off_the_list_are_refused_before_anything_is_opened(name):
    assert taken(encoded(scene(), "PNG"), name).words == "REJECT:not_allowed"


FOREIGN = {
    "an icon": lambda: encoded(scene(64, 64), "ICO"),
    "a Photoshop file": lambda: b"8BPS\0\1" + bytes(6) + struct.pack(">HIIHH", 3, 20, 20, 8, 3) + bytes(2000),
    "a BMP": lambda: encoded(scene(), "BMP"),
    "a PPM": lambda: encoded(scene(), "PPM"),
    "a TGA": lambda: encoded(scene(), "TGA"),
    "a PCX": lambda: encoded(scene(), "PCX"),
    "a DDS": lambda: encoded(scene(), "DDS"),
    "an SGI": lambda: encoded(scene(), "SGI"),
    "an icon set": lambda: encoded(scene(128, 128), "ICNS"),
    "a compressed drawing": lambda: gzip.compress(b"<svg/>", mtime=0),
    "a drawing behind an XML head": lambda: b"\xef\xbb\xbf<?xml version='1.0'?>\n<!-- x -->\n<svg/>",
    "a drawing in UTF-16": lambda: "<svg xmlns='http://www.w3.org/2000/svg'/>".encode("utf-16"),
    "a video": lambda: b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom" + bytes(500),
    "a HEIC": lambda: b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + bytes(500),
    "a sound": lambda: b"RIFF\x24\0\0\0WAVEfmt " + bytes(30),
    "a program": lambda: b"\x7fELF" + bytes(200),
    "JavaScript": lambda: b"alert(1)//",
    "zeros": lambda: bytes(5000),
    "noise": lambda: random.Random(1).randbytes(5000),
}


@pytest.mark.parametrize("kind", FOREIGN)
@pytest.mark.parametrize("name", ["a.jpg", "a.png", ""])
def test_what_is_no_picture_of_ours_is_refused_under_any_name(kind, name):
    assert taken(FOREIGN[kind](), name).words in ("REJECT:not_allowed", "REJECT:unreadable")


MAGIC = [
    b"\xff\xd8\xff\xe0\0\x10JFIF\0",
    b"\x89PNG\r\n\x1a\n",
    b"GIF89a",
    b"RIFF\xff\xff\0\0WEBPVP8 ",
    b"II*\0\x08\0\0\0",
    b"MM\0+\0\x08\0\0",
    b"\0\0\0\x1cftypavif\0\0\0\0avifmif1",
]


@pytest.mark.parametrize("magic", MAGIC)
@pytest.mark.parametrize("seed", range(3))
def test_noise_behind_a_true_header_is_refused_as_damaged(magic, seed):
    answer = taken(magic + random.Random(seed).randbytes(4000))
    assert answer.words in ("REJECT:unreadable", "REJECT:truncated", "REJECT:corrupt", "REJECT:pixels", "REJECT:aspect")


@pytest.mark.parametrize("format_name", ["JPEG", "PNG", "GIF", "WEBP", "AVIF", "TIFF"])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_file_cut_short_is_refused(format_name, share):
    noise = Image.frombytes("RGB", (300, 200), random.Random(2).randbytes(180_000))
    data = encoded(noise, format_name)
    answer = taken(data[: int(len(data) * share)], f"a.{format_name.lower()}")
    assert answer.words in ("REJECT:unreadable", "REJECT:truncated", "REJECT:corrupt")
    assert answer.detail


def test_a_webp_cut_short_says_so():
    data = encoded(scene(800, 600), "WEBP")
    assert taken(data[: len(data) // 2]).code == "truncated"


def test_a_tiff_that_claims_huge_sides_is_refused_before_decoding():
    data = bytearray(encoded(scene(), "TIFF"))
    (at,) = struct.unpack_from("<I", data, 4)
    (entries,) = struct.unpack_from("<H", data, at)
    for number in range(entries):
        tag, kind = struct.unpack_from("<HH", data, at + 2 + number * 12)
        if tag in (256, 257):
            struct.pack_into("<I" if kind == 4 else "<H", data, at + 2 + number * 12 + 8, 60_000)
    assert taken(bytes(data)).words == "REJECT:pixels"


@pytest.mark.parametrize("size", [(65535, 65535), (1, 65535), (65535, 1), (0, 0)])
def test_a_jpeg_that_claims_other_sides_is_refused(size):
    data = bytearray(encoded(scene(), "JPEG"))
    at = data.index(b"\xff\xc0") + 5
    struct.pack_into(">HH", data, at, size[1], size[0])
    assert taken(bytes(data)).outcome == "REJECT"


def test_a_gif_frame_larger_than_its_screen_counts_with_its_own_size():
    data = bytearray(encoded(scene(), "GIF"))
    at = data.index(b"\x2c" + struct.pack("<HHHH", 0, 0, 320, 200))
    struct.pack_into("<HH", data, at + 5, 65535, 65535)
    assert taken(bytes(data)).outcome == "REJECT"


@pytest.mark.parametrize("kind", [b"zTXt", b"iTXt", b"iCCP"])
def test_a_bomb_in_a_compressed_chunk_does_no_harm(kind):
    packed = zlib.compress(bytes(60_000_000), 9)
    between = b"key\0\1\0\0\0" if kind == b"iTXt" else b"key\0\0"
    noise = random.Random(3).randbytes(100 * 301)
    answer = taken(png(100, 100, pixels=_filtered(noise, 301), extra=chunk(kind, between + packed)))
    assert answer.words in ("REJECT:corrupt", "REJECT:truncated", "ACCEPT")


def test_text_in_every_metadata_container_stays_behind():
    secret = "Jane Doe, 52.52 N"
    exif = Image.Exif()
    exif[0x013B] = secret
    packet = f"<x:xmpmeta xmlns:x='adobe:ns:meta/'><creator>{secret}</creator></x:xmpmeta>".encode()
    from PIL.PngImagePlugin import PngInfo

    note = PngInfo()
    note.add_text("Comment", secret)
    note.add_itxt("XML:com.adobe.xmp", packet.decode())
    for data in (
        encoded(scene(), "JPEG", exif=exif, xmp=packet, comment=secret.encode()),
        encoded(scene(), "PNG", exif=exif, pnginfo=note),
        encoded(scene(), "WEBP", exif=exif, xmp=packet),
        encoded(scene(), "GIF", comment=secret.encode()),
        encoded(scene(), "TIFF", exif=exif, description=secret),
        encoded(scene(), "AVIF", exif=exif, xmp=packet),
    ):
        assert b"Jane" in data
        answer = taken(data)
        assert answer.accepted
        assert b"Jane" not in answer.small + answer.large + repr(answer.as_json()).encode()


def test_avif_is_part_of_this_pillow():
    assert features.check("avif")


def test_a_sandboxed_decoder_can_not_write_files(tmp_path):
    before = set(os.listdir(tmp_path))
    taken(encoded(scene(), "TIFF", compression="jpeg"))
    assert set(os.listdir(tmp_path)) == before


def _filtered(noise: bytes, row: int) -> bytes:
    """Noise as PNG rows: the first byte of each is filter 0."""
    return b"".join(b"\0" + noise[at + 1 : at + row] for at in range(0, len(noise), row))


def _linear_profile() -> bytes:
    """An sRGB profile whose three curves are straight lines (ICC.1: type 'curv' with no entries)."""
    data = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    (count,) = struct.unpack_from(">I", data, 128)
    for number in range(count):
        name, at, _ = struct.unpack_from(">4sII", data, 132 + number * 12)
        if name in (b"rTRC", b"gTRC", b"bTRC"):
            data[at : at + 12] = b"curv" + bytes(8)
            struct.pack_into(">I", data, 132 + number * 12 + 8, 12)
    return bytes(data)
