"""The door: what needs no decoder, names and claims, derivatives, and the records for the command line."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import os

import pytest
from PIL import Image

from captioner.prepare import images
from tests.captioner.prepare.pictures import encoded, opened, png, red_corners, scene, with_orientation

JPEG = encoded(scene(), "JPEG")
STRICT = dataclasses.replace(images.EMBEDDED, refuse_mismatch=True)


def test_an_empty_file_is_refused():
    assert images.take_in(b"", name="a.jpg").words == "REJECT:empty"


def test_a_file_over_the_size_limit_is_refused_and_one_at_the_limit_is_not():
    filled = JPEG + bytes(images.EMBEDDED.max_bytes - len(JPEG))
    assert images.take_in(filled, name="a.jpg").words == "ACCEPT"
    answer = images.take_in(filled + b"\0", name="a.jpg")
    assert answer.words == "REJECT:too_big"
    assert "20 MB" in answer.detail


@pytest.mark.parametrize(
    ("width", "height", "words"),
    [
        (10_000, 1, "REJECT:aspect"),
        (1, 10_000, "REJECT:aspect"),
        (2020, 20, "REJECT:aspect"),
        (2000, 20, "ABSTAIN"),  # 100 : 1 is still allowed; it is one colour
        (20_001, 300, "REJECT:aspect"),
        (20_000, 200, "ABSTAIN"),
        (7, 200, "ABSTAIN"),
        (6400, 6400, "REJECT:pixels"),  # 40.96 MP, limit 40
    ],
)
def test_shapes_are_judged_by_side_ratio_and_area(width, height, words):
    rows = bytes(height * ((width + 7) // 8 + 1))
    assert images.take_in(png(width, height, bits=1, colour=0, pixels=rows)).words == words


@pytest.mark.parametrize(
    ("name", "content_type", "lenient", "strict"),
    [
        ("a.jpg", "", "ACCEPT", "ACCEPT"),
        ("A.JPEG", "image/jpeg; charset=binary", "ACCEPT", "ACCEPT"),
        ("a.jfif", "application/octet-stream", "ACCEPT", "ACCEPT"),
        ("", "", "ACCEPT", "ACCEPT"),
        ("Portrait of Dr. Smith", "", "ACCEPT", "ACCEPT"),
        ("a.png", "", "ACCEPT:type_mismatch", "REJECT:type_mismatch"),
        ("a.jpg", "image/png", "ACCEPT:type_mismatch", "REJECT:type_mismatch"),
        ("a.jpg", "text/html", "ACCEPT:type_mismatch", "REJECT:type_mismatch"),
        ("a.jpg.svg", "", "REJECT:not_allowed", "REJECT:not_allowed"),
        ("shell.php", "image/jpeg", "REJECT:not_allowed", "REJECT:not_allowed"),
        ("a.heic", "", "REJECT:not_allowed", "REJECT:not_allowed"),
        ("C:\\photos.old\\me.jpg", "", "ACCEPT", "ACCEPT"),
        ("../../etc/passwd\0.jpg", "", "ACCEPT", "ACCEPT"),
        ("<img src=x onerror=alert(1)>.jpg", "", "ACCEPT", "ACCEPT"),
    ],
)
def test_the_name_and_the_claimed_type_are_held_against_the_content(name, content_type, lenient, strict):
    assert images.take_in(JPEG, name=name, content_type=content_type).words == lenient
    assert images.take_in(JPEG, name=name, content_type=content_type, limits=STRICT).words == strict


def test_an_answer_holds_the_hash_of_the_original_and_survives_json():
    answer = images.take_in(JPEG, name="a.jpg")
    assert answer.content_hash == hashlib.sha256(JPEG).hexdigest()
    assert len(answer.perceptual_hash) == 16
    told = json.loads(json.dumps(answer.as_json()))
    assert told["words"] == "ACCEPT"
    assert (told["format"], told["width_px"], told["height_px"]) == ("JPEG", 320, 200)
    assert "small" not in told
    assert "large" not in told


def test_the_perceptual_hash_does_not_depend_on_how_the_camera_was_held():
    picture = scene().resize((400, 250))
    turned = encoded(picture.transpose(Image.Transpose.ROTATE_90), "PNG", exif=with_orientation(6))
    assert images.take_in(turned).perceptual_hash == images.take_in(encoded(picture, "PNG")).perceptual_hash


def test_the_format_of_the_answer_is_the_real_one():
    assert images.take_in(encoded(scene(), "WEBP"), name="a.png").format == "WEBP"


def test_our_own_derivative_is_opened_as_it_is():
    answer = images.take_in(encoded(scene(4000, 3000), "PNG"))
    for data, longest in ((answer.large, 1536), (answer.small, 512)):
        picture = images.open_derivative(data)
        assert picture.mode == "RGB"
        assert max(picture.size) == longest
        assert picture.tobytes() == opened(data).tobytes()


def test_foreign_bytes_are_opened_through_the_intake():
    turned = encoded(scene(), "JPEG", exif=with_orientation(6), quality=95)
    assert red_corners(images.open_derivative(turned)) == ["top-right"]
    assert images.open_derivative(encoded(scene(2000, 1000), "PNG")).size == (1536, 768)
    with pytest.raises(images.ImageUnreadable, match="damaged|ends before|No picture"):
        images.open_derivative(JPEG[: len(JPEG) // 2])
    with pytest.raises(images.ImageUnreadable):
        images.open_derivative(b"")


def test_foreign_jpegs_are_not_decoded_in_this_process(monkeypatch):
    """Only the build of our own derivatives is: baseline, three colours, small, no metadata."""
    foreign = [
        encoded(scene(), "JPEG", progressive=True),
        encoded(scene(), "JPEG", exif=with_orientation(3)),
        encoded(scene(), "JPEG", comment=b"hello"),
        encoded(scene().convert("CMYK"), "JPEG"),
        encoded(scene().convert("L"), "JPEG"),
        encoded(scene(1600, 100), "JPEG"),
        encoded(scene(), "GIF"),
    ]
    sent = []
    answer = images.take_in(JPEG)
    monkeypatch.setattr(images, "take_in", lambda data: sent.append(data) or answer)
    for data in foreign:
        images.open_derivative(data)
    assert sent == foreign


def test_inspecting_files_gives_one_record_each_and_no_traceback(tmp_path):
    (tmp_path / "photo.png").write_bytes(JPEG)
    (tmp_path / "pages.tif").write_bytes(encoded(scene(), "TIFF", save_all=True, append_images=[scene()]))
    (tmp_path / "drawing.svg").write_bytes(b"<svg/>")
    (tmp_path / "dot.gif").write_bytes(encoded(Image.new("P", (1, 1)), "GIF"))
    with (tmp_path / "big.jpg").open("wb") as file:
        file.truncate(5_000_000_000)  # sparse: reading it would take the memory
    os.mkfifo(tmp_path / "pipe.jpg")
    names = [
        "photo.png",
        "pages.tif",
        "drawing.svg",
        "dot.gif",
        "big.jpg",
        "pipe.jpg",
        "absent.jpg",
        "bad\0name.jpg",
        ".",
    ]
    records = images.inspect_files([tmp_path / name for name in names])
    assert [record["outcome"] for record in records] == [
        "ACCEPT:type_mismatch",
        "ACCEPT:multi_page",
        "REJECT:not_allowed",
        "ABSTAIN",
        "REJECT:too_big",
        "REJECT:unreadable",
        "REJECT:unreadable",
        "REJECT:unreadable",
        "REJECT:unreadable",
    ]
    assert [set(record) for record in records] == [{"file", "outcome", "detail", "flags"}] * len(names)
    assert all(record["detail"] for record in records[2:])
    assert "no file" in records[6]["detail"]
    assert "folder" in records[8]["detail"]
    json.dumps(records)


def test_a_large_photograph_is_scaled_down_and_keeps_its_size_on_record():
    answer = images.take_in(encoded(scene(6000, 4000), "JPEG", quality=95), name="a.jpg")
    assert (answer.width_px, answer.height_px) == (6000, 4000)
    assert opened(answer.large).size == (1536, 1024)
    assert opened(answer.small).size == (512, 341)
    assert red_corners(opened(answer.small)) == ["top-left"]


def test_small_pictures_are_not_enlarged():
    answer = images.take_in(encoded(scene(60, 40), "PNG"))
    assert Image.open(io.BytesIO(answer.large)).size == (60, 40)
