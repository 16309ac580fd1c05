"""Texts out and back: a file that was not changed changes nothing, every grapheme survives, nothing is overwritten."""

from __future__ import annotations

import csv
import html
import io
import re
import time
from xml.etree import ElementTree

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from alttext import exchange, exports
from alttext.models import Decision, Placement
from alttext.operations import decisions, desk
from tests.alttext.test_views import url
from tests.conftest import picture

pytestmark = pytest.mark.django_db
ODD = [
    "=1+1",
    "+1",
    "-",
    "@home",
    "'=quoted",
    "\tTab",
    'He said "Stop."; twice',
    "Two\nlines",
    "A bare\rreturn",
    "comma, semicolon; tab\there",
    "صورة قارب في الميناء",
    "👩‍👩‍👧 family",
    "naïve cafe\u0301",
    "<b>&amp;</b> ]]>",
    " spaces around ",
    "一只狗。",
    "00123",
    "null",
    "'",
]


def body(answer):
    return b"".join(answer.streaming_content) if answer.streaming else answer.content


def download(client, **params):
    return body(client.get(url("exchange-csv", **params)))


def table(data):
    """Rows of a sheet as dicts, cells as a person would see them."""
    return exports.read_csv(data.decode("utf-8-sig"))


def written(rows, *, encoding="utf-8-sig", delimiter=",", quoting=csv.QUOTE_MINIMAL):
    """Rows as a spreadsheet saves them; cells that it would compute keep their apostrophe."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, quoting=quoting)
    writer.writerow(rows[0])
    writer.writerows([[exports.neutralise(cell) for cell in row.values()] for row in rows])
    return out.getvalue().encode(encoding)


def upload(client, data, name="texts.csv"):
    return client.post(url("exchange-preview"), {"file": SimpleUploadedFile(name, data)})


def save(client, preview):
    """Press the button of the preview."""
    found = re.search(r'name="plan" value="([^"]+)"', preview.text)
    return client.post(url("exchange-import"), {"plan": html.unescape(found[1]) if found else ""})


def words(page):
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", page.text)))


def changed(data, placement, **cells):
    """The sheet with other cells in the row of `placement`."""
    rows = table(data)
    for row in rows:
        if row["id"] == str(placement.pk):
            row.update(cells)
    return written(rows)


@pytest.fixture
def signed_in(client, author):
    client.force_login(author)
    return client


class TestTheSheet:
    def test_it_has_one_row_for_each_image_with_all_that_a_person_needs(self, signed_in, make_placement, suggest):
        offered, decorative = make_placement(title="Harbour", language="de"), make_placement(decorative=True)
        suggest(offered, "Eine rote Fähre", when=timezone.now(), flags=["url"])
        first, second = table(download(signed_in))
        assert tuple(first) == exchange.COLUMNS
        assert first["id"] == str(offered.pk)
        assert (first["adapter"], first["key"]) == ("imagefields", offered.key)
        assert (first["page_title"], first["page_url"]) == ("Harbour", offered.page_url)
        assert (first["image"], first["language"], first["role"]) == (offered.image_name, "de", offered.role)
        assert (first["state"], first["text"], first["decorative"]) == ("Suggestion ready", "", "no")
        assert first["suggestion"] == "Eine rote Fähre"
        assert "web address" in first["look_twice"]
        assert (second["id"], second["decorative"]) == (str(decorative.pk), "yes")

    def test_it_is_a_file_that_spreadsheets_read_as_utf_8(self, signed_in, make_placement):
        make_placement()
        answer = signed_in.get(url("exchange-csv"))
        assert answer["Content-Type"] == "text/csv; charset=utf-8"
        assert re.fullmatch(r'attachment; filename="alttext-[\d-]+\.csv"', answer["Content-Disposition"])
        assert "no-store" in answer["Cache-Control"]
        assert body(answer).startswith(b"\xef\xbb\xbf")

    @pytest.mark.parametrize("display", ["after", "blank"])
    def test_a_hidden_suggestion_is_not_in_it(self, signed_in, make_placement, suggest, settings, display):
        settings.ALTTEXT = {**settings.ALTTEXT, "DISPLAY_SHARES": {display: 1.0}}
        suggest(make_placement(), "A secret ferry", when=timezone.now(), flags=["url"])
        assert b"secret ferry" not in (data := download(signed_in))
        assert table(data)[0]["look_twice"] == ""

    def test_it_holds_only_what_the_person_may_edit(self, client, outsider, make_placement):
        make_placement()
        client.force_login(outsider)
        assert table(download(client)) == []

    def test_it_can_be_narrowed(self, signed_in, make_placement):
        make_placement(language="de", alt_text="Text")
        english = make_placement(language="en")
        make_placement(language="en", alt_text="Text")
        assert [row["id"] for row in table(download(signed_in, language="en", state="todo"))] == [str(english.pk)]

    def test_its_queries_do_not_grow_with_the_rows(
        self, signed_in, make_placement, suggest, django_assert_max_num_queries
    ):
        for _ in range(8):
            suggest(make_placement(), "A red ferry")
        with django_assert_max_num_queries(7):
            assert len(table(download(signed_in))) == 8


class TestTheRoundTrip:
    @pytest.fixture
    def odd(self, make_placement, illustration_of):
        return [make_placement(alt_text=text) for text in ODD]

    def test_a_file_that_was_not_changed_changes_nothing(self, signed_in, odd, make_placement):
        make_placement()
        make_placement(decorative=True)
        before = list(Placement.objects.order_by("pk").values())
        page = upload(signed_in, download(signed_in))
        assert "0 changes in texts.csv" in page.text
        assert f"{len(odd) + 2} rows change nothing." in words(page)
        assert "Cannot be used" not in page.text
        assert 'name="plan"' not in page.text
        assert list(Placement.objects.order_by("pk").values()) == before

    @pytest.mark.parametrize(
        ("encoding", "delimiter", "quoting"),
        [
            ("utf-8", ",", csv.QUOTE_MINIMAL),
            ("utf-8-sig", ";", csv.QUOTE_MINIMAL),
            ("utf-16", "\t", csv.QUOTE_MINIMAL),
            ("utf-8-sig", ",", csv.QUOTE_ALL),
        ],
    )
    def test_nor_does_it_after_a_spreadsheet_saved_it_in_its_own_way(
        self, signed_in, odd, encoding, delimiter, quoting
    ):
        rows = table(download(signed_in))
        page = upload(signed_in, written(rows, encoding=encoding, delimiter=delimiter, quoting=quoting))
        assert f"{len(ODD)} rows change nothing." in words(page)

    def test_nor_with_other_line_ends_a_separator_line_and_more_columns(self, signed_in, make_placement):
        make_placement(alt_text="Two\nlines")
        rows = [{**row, "my notes": "x"} for row in table(download(signed_in))]
        data = b"\xef\xbb\xbfsep=;\r\n" + written(rows, delimiter=";", encoding="utf-8").replace(
            b"Two\nlines", b"Two\r\nlines"
        )
        assert "1 row changes nothing." in words(upload(signed_in, data))

    def test_every_odd_text_comes_back_to_the_character(self, signed_in, odd, illustration_of):
        """Each text moves one row down, so all are changes; what the page saves is what the file says."""
        data, texts = download(signed_in), [*ODD[1:], ODD[0]]
        rows = table(data)
        for row, text in zip(rows, texts, strict=True):
            row["text"] = text
        lines = exchange.read(written(rows))
        assert [line.text for line in lines] == texts
        page = save(signed_in, upload(signed_in, written(rows)))
        assert f"{len(ODD)} texts saved" in page.text
        assert [illustration_of(row).alt_text for row in odd] == texts


class TestImporting:
    def test_a_changed_text_is_a_recorded_act_of_the_person(
        self, signed_in, author, make_placement, suggest, illustration_of
    ):
        placement = make_placement()
        suggest(placement, "A red ferry", when=timezone.now())
        preview = upload(signed_in, changed(download(signed_in), placement, text="A red ferry at the quay"))
        assert "1 change in texts.csv" in preview.text
        assert "Nothing is saved yet." in preview.text
        assert not Decision.objects.exists()
        assert illustration_of(placement).alt_text == ""
        page = save(signed_in, preview)
        assert '<h1 tabindex="-1" autofocus>1 text saved</h1>' in page.text
        decision = Decision.objects.get()
        assert (decision.by, decision.act, decision.outcome) == (author, "SAVE", "EDITED")
        assert illustration_of(placement).alt_text == "A red ferry at the quay"

    def test_yes_in_decorative_marks_it_and_undo_all_takes_it_back(self, signed_in, make_placement, illustration_of):
        placement = make_placement(alt_text="A line")
        page = save(signed_in, upload(signed_in, changed(download(signed_in), placement, text="", decorative="YES ")))
        assert illustration_of(placement).decorative
        made = re.findall(r'name="made" value="([^"]+)"', page.text)
        again = signed_in.post(url("bulk-undo"), {"made": made})
        assert "1 act taken back" in again.text
        row = illustration_of(placement)
        assert (row.alt_text, row.decorative) == ("A line", False)

    def test_a_text_takes_the_mark_off(self, signed_in, make_placement, illustration_of):
        placement = make_placement(decorative=True)
        save(signed_in, upload(signed_in, changed(download(signed_in), placement, text="A quay", decorative="no")))
        row = illustration_of(placement)
        assert (row.alt_text, row.decorative) == ("A quay", False)

    def test_sent_twice_it_saves_nothing_twice(self, signed_in, make_placement):
        placement = make_placement()
        preview = upload(signed_in, changed(download(signed_in), placement, text="A quay"))
        for _ in range(2):
            assert "1 text saved" in save(signed_in, preview).text
        assert Decision.objects.count() == 1

    def test_the_same_file_again_changes_nothing(self, signed_in, make_placement):
        placement = make_placement()
        data = changed(download(signed_in), placement, text="A quay")
        save(signed_in, upload(signed_in, data))
        assert "1 row changes nothing." in words(upload(signed_in, data))

    def test_findings_stand_beside_the_text(self, signed_in, make_placement):
        placement = make_placement()
        page = upload(signed_in, changed(download(signed_in), placement, text="image of a quay"))
        assert "The text begins with" in page.text

    def test_what_somebody_else_has_open_is_told(self, signed_in, make_placement, other_author):
        placement = make_placement()
        desk.claim(placement=placement, by=other_author, at=timezone.now())
        page = upload(signed_in, changed(download(signed_in), placement, text="A quay"))
        assert f"{other_author.get_username()} has it open." in page.text

    def test_more_changes_than_one_request_takes_come_in_turns(self, signed_in, make_placement, monkeypatch):
        from alttext.views import exchange as views

        monkeypatch.setattr(views, "MOST_CHANGES", 2)
        placements = [make_placement() for _ in range(3)]
        data = download(signed_in)
        for number, placement in enumerate(placements):
            data = changed(data, placement, text=f"Quay {number}")
        preview = upload(signed_in, data)
        assert "Upload the file again for the other 1." in preview.text
        assert "2 texts saved" in save(signed_in, preview).text
        assert "1 text saved" in save(signed_in, upload(signed_in, data)).text


class TestWhatIsRefused:
    def refused(self, client, data):
        page = upload(client, data)
        assert page.status_code == 200
        assert 'name="plan"' not in page.text
        assert "Cannot be used: 1" in page.text
        return words(page)

    @pytest.mark.parametrize("who", ["other_author", "author"])
    def test_a_text_saved_since_and_both_are_shown(self, signed_in, make_placement, request, who, illustration_of):
        placement = make_placement(alt_text="As it was")
        data = changed(download(signed_in), placement, text="From the file")
        by = request.getfixturevalue(who)
        decisions.save_text(placement=placement, text="Newer", seen=decisions.seen(placement), by=by, at=timezone.now())
        page = self.refused(signed_in, data)
        assert "Line 2" in page
        assert "Another text was saved since the file was made. Now Newer In the file From the file" in page
        assert illustration_of(placement).alt_text == "Newer"

    def test_a_row_that_was_not_touched_is_no_refusal_whatever_was_saved_since(self, signed_in, make_placement, author):
        placement = make_placement(alt_text="As it was")
        data = download(signed_in)
        decisions.save_text(
            placement=placement, text="Newer", seen=decisions.seen(placement), by=author, at=timezone.now()
        )
        assert "1 row changes nothing." in words(upload(signed_in, data))

    def test_an_image_that_was_replaced_since(self, signed_in, make_placement, illustration_of, adapter, at):
        from django.core.files.base import ContentFile

        from alttext.operations import placements

        placement = make_placement()
        data = changed(download(signed_in), placement, text="From the file")
        row = illustration_of(placement)
        row.image.save("other.png", ContentFile(picture()))
        placements.refresh(adapter, adapter.place(placement.key), at=at)
        assert "The image was replaced since the file was made." in self.refused(signed_in, data)

    def test_a_text_that_was_saved_between_preview_and_button(self, signed_in, author, make_placement, illustration_of):
        placement = make_placement()
        preview = upload(signed_in, changed(download(signed_in), placement, text="From the file"))
        decisions.save_text(
            placement=placement, text="Newer", seen=decisions.seen(placement), by=author, at=timezone.now()
        )
        page = words(save(signed_in, preview))
        assert "0 texts saved, 1 skipped" in page
        assert "Stands there now Newer Not saved From the file" in page
        assert illustration_of(placement).alt_text == "Newer"

    def test_a_text_that_was_changed_in_the_cms_between_preview_and_button(
        self, signed_in, make_placement, illustration_of
    ):
        placement = make_placement()
        preview = upload(signed_in, changed(download(signed_in), placement, text="From the file"))
        row = illustration_of(placement)
        type(row).objects.filter(pk=row.pk).update(alt_text="Typed in the CMS")
        assert "Typed in the CMS" in save(signed_in, preview).text
        assert illustration_of(placement).alt_text == "Typed in the CMS"

    def test_a_draft_of_ones_own(self, signed_in, author, make_placement):
        placement = make_placement()
        desk.keep_draft(placement=placement, text="Half", seen=decisions.seen(placement), by=author, at=timezone.now())
        data = changed(download(signed_in), placement, text="From the file")
        assert "You have a draft of your own" in self.refused(signed_in, data)

    @pytest.mark.parametrize(
        ("cells", "said"),
        [
            ({"text": "", "decorative": "no"}, "An empty text is not saved."),
            ({"text": "\u200b\u00a0"}, "An empty text is not saved."),
            ({"text": "A quay", "decorative": "yes"}, "A decorative image has no text"),
            ({"text": "A quay", "decorative": "ja"}, "Write yes or no."),
            ({"text": "A \u202e quay"}, "In the file"),
            ({"text": "x" * 10_001}, "more than 10000 characters"),
            ({"text": "A quay", "seen": ""}, "The mark “seen” is missing or damaged."),
            ({"text": "A quay", "seen": "x" * 300}, "The mark “seen” is missing or damaged."),
            ({"text": "A quay", "id": "999999"}, "There is no image of this number that you may edit."),
            ({"text": "A quay", "id": "9" * 40}, "which is no number of an image"),
            ({"text": "A quay", "id": "-1"}, "which is no number of an image"),
            ({"text": "A quay", "id": ""}, "which is no number of an image"),
        ],
    )
    def test_a_row_that_will_not_do(self, signed_in, make_placement, cells, said):
        placement = make_placement(alt_text="As it was")
        page = self.refused(signed_in, changed(download(signed_in), placement, **cells))
        assert said in page
        assert "Line 2" in page

    def test_the_token_of_another_row(self, signed_in, make_placement):
        first, second = make_placement(), make_placement()
        data = download(signed_in)
        other = table(data)[1]["seen"]
        page = upload(signed_in, changed(data, first, text="A quay", seen=other))
        assert "belongs to another image" in page.text
        assert second.decisions.count() == 0

    def test_an_image_that_stands_there_twice(self, signed_in, make_placement):
        placement = make_placement()
        rows = table(changed(download(signed_in), placement, text="First"))
        page = upload(signed_in, written([rows[0], {**rows[0], "text": "Second"}]))
        assert "first in line 2" in page.text
        assert "1 text saved" in save(signed_in, page).text
        assert placement.decisions.get().final_text == "First"

    def test_rows_of_another_person_are_told_like_unknown_ones(self, client, author, outsider, make_placement):
        placement = make_placement(title="Secret page")
        client.force_login(author)
        data = changed(download(client), placement, text="A quay")
        client.force_login(outsider)
        page = self.refused(client, data)
        assert "There is no image of this number that you may edit." in page
        assert "Secret page" not in page

    def test_permission_lost_before_the_button(self, signed_in, author, make_placement):
        placement = make_placement()
        preview = upload(signed_in, changed(download(signed_in), placement, text="A quay"))
        author.user_permissions.clear()
        assert "you may no longer edit it" in save(signed_in, preview).text
        assert not Decision.objects.exists()

    @pytest.mark.parametrize("packed", ["", "x", "eyJ1c2VyIjoxfQ:x:y"])
    def test_a_plan_that_was_not_shown(self, signed_in, packed):
        answer = signed_in.post(url("exchange-import"), {"plan": packed})
        assert answer.url == url("exchange")
        assert "Nothing was saved" in signed_in.get(answer.url).text

    def test_a_plan_that_was_shown_to_somebody_else(self, client, author, other_author, make_placement):
        placement = make_placement()
        client.force_login(author)
        preview = upload(client, changed(download(client), placement, text="A quay"))
        client.force_login(other_author)
        assert save(client, preview).status_code == 302
        assert not Decision.objects.exists()


HEAD = "id,text,decorative,seen\r\n"


class TestFilesThatCannotBeRead:
    @pytest.mark.parametrize(
        ("data", "said"),
        [
            (b"", "The file is empty."),
            (b"\r\n\r\n", "The file is empty."),
            (b"\xef\xbb\xbf", "The file is empty."),
            (b"name,alt\r\n1,2\r\n", "The first line lacks id, text, decorative, seen."),
            (b"id,text,text,decorative,seen\r\n", "The column text stands there twice."),
            ((HEAD + "1,Käse,no,x\r\n").encode("latin-1"), "Line 2: the file is not in UTF-8 or UTF-16"),
            (b"\xff\xfea", "The file is not in UTF-8 or UTF-16"),
            ((HEAD + '1,a,no,x\r\n2,"never closed,no,x\r\n3,b,no,x\r\n').encode(), "Line 3: the row cannot be read"),
            ((HEAD + '1,"a"b,no,x\r\n').encode(), "Line 2: the row cannot be read"),
            ((HEAD + "1," + "x" * 140_000 + ",no,x\r\n").encode(), "Line 2: the row cannot be read"),
            (b"PK\x03\x04\x00\x00\x00binary", "The file is not text."),
            (b"<", "Line 1, column 1: this is no well-formed XML"),
            (b"<html></html>", "This is no XLIFF 1.2 file."),
            (b'<?xml version="1.0" encoding="klingon"?><x/>', "XML"),
            (b"\x89PNG\r\n\x1a\n", "Line 1: the file is not in UTF-8 or UTF-16"),
        ],
    )
    def test_it_says_in_words_where_and_why(self, signed_in, data, said):
        page = upload(signed_in, data)
        assert page.status_code == 422
        assert said in words(page)
        assert 'aria-invalid="true" autofocus' in page.text

    def test_a_row_with_too_few_or_too_many_cells_is_told_and_the_others_are_read(self, signed_in):
        data = (HEAD + "1,a\r\n2,b,no,x,more\r\n3,c,no,x\r\n").encode()
        assert [bool(line.problem) for line in exchange.read(data)] == [True, True, False]
        assert [line.number for line in exchange.read(data)] == [2, 3, 4]

    def test_the_line_is_the_one_of_the_file_after_texts_with_line_ends(self):
        lines = exchange.read((HEAD + '1,"two\nlines",no,x\r\n\r\n2,b,no,x\r\n').encode())
        assert [(line.id, line.number) for line in lines] == [("1", 2), ("2", 5)]

    def test_no_file(self, signed_in):
        page = signed_in.post(url("exchange-preview"))
        assert page.status_code == 422
        assert "Choose a file first." in page.text

    def test_a_file_that_is_too_large(self, signed_in, monkeypatch):
        monkeypatch.setattr(exchange, "MOST_BYTES", 1000)
        assert "The file is larger than" in upload(signed_in, b"x" * 1001).text

    def test_a_file_with_too_many_rows(self):
        data = (HEAD + "1,a,no,x\r\n" * (exchange.MOST_ROWS + 1)).encode()
        with pytest.raises(exchange.Unreadable, match="more than 5000 rows"):
            exchange.read(data)

    def test_the_largest_file_is_read_in_a_second_or_two(self, author):
        data = (HEAD + "".join(f"{number},Text {number},no,x\r\n" for number in range(exchange.MOST_ROWS))).encode()
        started = time.process_time()
        found = exchange.plan(exchange.read(data), user=author, at=timezone.now())
        assert len(found.refusals) == exchange.MOST_ROWS
        assert time.process_time() - started < 5

    @pytest.mark.parametrize(
        "doctype",
        [
            '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;">]>',
            '<!DOCTYPE x SYSTEM "file:///etc/passwd">',
            '<!DOCTYPE x [<!ENTITY % p SYSTEM "http://127.0.0.1:9/x.dtd"> %p;]>',
            "<!DOCTYPE xliff>",
        ],
    )
    @pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
    def test_a_document_type_is_refused_before_any_entity_is_read(self, signed_in, doctype, encoding):
        data = f"{doctype}<x>&c;</x>".encode(encoding)
        page = upload(signed_in, data, "texts.xlf")
        assert page.status_code == 422
        assert "document type declaration" in page.text

    def test_a_deep_tree_is_no_harm(self, signed_in):
        assert upload(signed_in, b"<x>" * 100_000 + b"</x>" * 100_000).status_code == 422


X = "{urn:oasis:names:tc:xliff:document:1.2}"


def xliff(client, language="de", source="en"):
    return body(client.get(url("exchange-xliff", language=language, source=source)))


def translated(data, translate):
    """The file as a translation tool leaves it: `translate(source, old target)` is the new target."""
    ElementTree.register_namespace("", X[1:-1])
    root = ElementTree.fromstring(data)
    for unit in root.iter(f"{X}trans-unit"):
        target = unit.find(f"{X}target")
        target.text = translate(unit.find(f"{X}source").text, target.text or "")
    return ElementTree.tostring(root, encoding="utf-8").replace(b"\r", b"&#13;")


class TestXliff:
    @pytest.fixture
    def pair(self, make_placement):
        """The same image on an English page with a text, and on a German one without."""
        data = picture()
        return make_placement(data=data, alt_text="A red ferry"), make_placement(data=data, language="de")

    def test_the_source_is_what_the_image_is_called_in_the_source_language(self, signed_in, pair):
        root = ElementTree.fromstring(xliff(signed_in))
        assert root.get("version") == "1.2"
        assert root.find(f"{X}file").attrib == {
            "original": "alttext", "datatype": "plaintext", "source-language": "en", "target-language": "de",
        }  # fmt: skip
        (unit,) = root.iter(f"{X}trans-unit")
        assert unit.get("id") == str(pair[1].pk)
        assert unit.find(f"{X}source").text == "A red ferry"
        assert not unit.find(f"{X}target").text
        assert pair[1].page_title in unit.find(f"{X}note").text

    def test_a_translation_is_saved_as_an_act_of_the_person(self, signed_in, author, pair, illustration_of):
        data = translated(xliff(signed_in), lambda source, old: "Eine rote Fähre")
        preview = upload(signed_in, data, "de.xlf")
        assert "1 change in de.xlf" in preview.text
        assert not Decision.objects.exists()
        assert "1 text saved" in save(signed_in, preview).text
        assert illustration_of(pair[1]).alt_text == "Eine rote Fähre"
        assert Decision.objects.get().by == author

    def test_a_file_that_was_not_changed_changes_nothing(self, signed_in, make_placement):
        for text in ODD:
            make_placement(alt_text=text, language="de")
        data = xliff(signed_in, "de", "de")
        assert len(list(ElementTree.fromstring(data).iter(f"{X}trans-unit"))) == len(ODD)
        page = upload(signed_in, data)
        assert f"{len(ODD)} rows change nothing." in words(page)
        lines = exchange.read(translated(data, lambda source, old: source))
        assert [line.text for line in lines] == ODD

    def test_units_without_a_translation_say_nothing(self, signed_in, pair):
        page = upload(signed_in, xliff(signed_in))
        assert "0 changes" in page.text
        assert "0 rows change nothing" in words(page)

    def test_a_copy_of_the_source_is_pointed_out(self, signed_in, pair):
        page = upload(signed_in, translated(xliff(signed_in), lambda source, old: source))
        assert "the same as the text that it was translated from" in page.text

    def test_marks_are_taken_as_words_and_codes_are_refused(self, signed_in, pair):
        data = translated(xliff(signed_in), lambda source, old: "@@")
        marked = data.replace(b"@@", b'Eine <mrk mtype="seg">rote</mrk> <![CDATA[F<hre]]>')
        assert [line.text for line in exchange.read(marked)] == ["Eine rote F<hre"]
        page = upload(signed_in, data.replace(b"@@", b'Eine <ph id="1">&lt;br&gt;</ph>'))
        assert "inline codes" in page.text
        assert 'name="plan"' not in page.text

    def test_what_was_saved_since_is_refused_with_its_line(self, signed_in, pair, other_author):
        data = translated(xliff(signed_in), lambda source, old: "Eine rote Fähre")
        decisions.save_text(
            placement=pair[1], text="Schiff", seen=decisions.seen(pair[1]), by=other_author, at=timezone.now()
        )
        page = words(upload(signed_in, data))
        assert re.search(r"Line \d+, .*Another text was saved since", page)
        assert "Now Schiff In the file Eine rote Fähre" in page

    def test_decorative_images_and_those_without_a_source_are_left_out(self, signed_in, author, make_placement):
        make_placement(language="de")
        make_placement(language="de", decorative=True)
        found = exchange.xliff(user=author, language="de", source_language="en")
        assert (found.units, found.left_out) == (0, 1)

    def test_signs_that_xml_cannot_hold_leave_a_text_out_and_stay_out_of_names(self, author, make_placement):
        make_placement(language="de", alt_text="A \x0b tab")
        fine = make_placement(language="de", alt_text="A quay")
        Placement.objects.filter(pk=fine.pk).update(page_title="Page \x0b one")
        found = exchange.xliff(user=author, language="de", source_language="de")
        assert (found.units, found.left_out) == (1, 1)
        assert exchange.read(found.data)[0].text == "A quay"

    def test_a_text_on_a_page_that_one_may_not_edit_is_no_source(self, client, outsider, pair):
        client.force_login(outsider)
        assert client.get(url("exchange-xliff", language="de", source="en")).status_code == 302

    @pytest.mark.parametrize("query", ["", "language=xx&source=en", "language=de", "language=%00&source=en"])
    def test_languages_that_mean_nothing_lead_back(self, signed_in, pair, query):
        answer = signed_in.get(f"{url('exchange-xliff')}?{query}", follow=True)
        assert "Choose both languages from the lists." in answer.text


class TestThePage:
    def test_the_queue_links_to_it_and_it_links_back(self, signed_in, make_placement):
        make_placement()
        assert f'href="{url("exchange")}"' in signed_in.get(url("queue")).text
        page = signed_in.get(url("exchange"))
        assert f'href="{url("queue")}"' in page.text
        assert "script-src 'self';" in page["Content-Security-Policy"]

    @pytest.mark.parametrize("name", ["exchange", "exchange-csv", "exchange-xliff"])
    def test_looking_needs_a_sign_in(self, client, name):
        assert "/accounts/login/" in client.get(url(name)).url

    @pytest.mark.parametrize("name", ["exchange-preview", "exchange-import"])
    def test_acts_need_a_sign_in_the_secret_and_a_post(self, client, author, name):
        assert "/accounts/login/" in client.post(url(name)).url
        client.force_login(author)
        assert client.get(url(name)).status_code == 405
        strict = Client(enforce_csrf_checks=True)
        strict.force_login(author)
        assert strict.post(url(name)).status_code == 403

    @pytest.mark.parametrize(
        ("role", "allowed"), [("author", True), ("lead", True), ("admin", True), ("outsider", False)]
    )
    def test_permissions(self, client, author, make_user, make_placement, role, allowed):
        placement = make_placement()
        client.force_login(author)
        data = changed(download(client), placement, text="A quay")
        client.force_login(make_user(role))
        assert len(table(download(client))) == allowed
        preview = upload(client, data)
        assert ("1 change in" in preview.text) == allowed
        save(client, preview)
        assert Decision.objects.count() == allowed


class TestTheCommands:
    def export(self, author, tmp_path, capsys, *more, name="texts.csv"):
        call_command("alttext_texts_export", "--user", author.get_username(), "--out", str(tmp_path / name), *more)
        return tmp_path / name, capsys.readouterr().out

    def test_out_edited_and_back_as_acts_of_the_named_person(
        self, author, make_placement, tmp_path, capsys, illustration_of
    ):
        placement, other = make_placement(), make_placement(alt_text="Stays")
        file, told = self.export(author, tmp_path, capsys)
        assert told.startswith("2 rows, written to ")
        file.write_bytes(changed(file.read_bytes(), placement, text="A quay"))
        call_command("alttext_texts_import", str(file), "--user", author.get_username(), "--dry-run")
        assert "'' -> 'A quay'" in (told := capsys.readouterr().out)
        assert "1 would be saved, 1 unchanged, 0 refused" in told
        assert not Decision.objects.exists()
        call_command("alttext_texts_import", str(file), "--user", author.get_username())
        assert "1 saved, 1 unchanged, 0 refused" in capsys.readouterr().out
        assert Decision.objects.get().by == author
        assert [illustration_of(row).alt_text for row in (placement, other)] == ["A quay", "Stays"]

    def test_refused_rows_are_told_and_end_in_an_error(self, author, other_author, make_placement, tmp_path, capsys):
        placement = make_placement()
        file, _ = self.export(author, tmp_path, capsys)
        file.write_bytes(changed(file.read_bytes(), placement, text="From the file"))
        decisions.save_text(
            placement=placement, text="Theirs", seen=decisions.seen(placement), by=other_author, at=timezone.now()
        )
        with pytest.raises(CommandError, match="1 rows were refused"):
            call_command("alttext_texts_import", str(file), "--user", author.get_username())
        told = capsys.readouterr().err
        assert "line 2" in told
        assert "now: 'Theirs'" in told
        assert "in the file: 'From the file'" in told

    def test_xliff(self, author, make_placement, tmp_path, capsys):
        make_placement(language="de", alt_text="Kai")
        file, told = self.export(
            author, tmp_path, capsys, "--format", "xliff", "--language", "de", "--source", "de", name="de.xlf"
        )
        assert told.startswith("1 texts, 0 images left out")
        file.write_bytes(translated(file.read_bytes(), lambda source, old: "Ein Kai"))
        call_command("alttext_texts_import", str(file), "--user", author.get_username())
        assert Decision.objects.get().final_text == "Ein Kai"

    @pytest.mark.parametrize(
        ("command", "said"),
        [
            (["alttext_texts_export", "--user", "nobody", "--out", "x"], "no active account"),
            (["alttext_texts_import", "x", "--user", "nobody"], "no active account"),
            (["alttext_texts_export", "--user", "USER", "--out", "/no/such/folder/x"], "No such file"),
            (["alttext_texts_export", "--user", "USER", "--out", "x", "--format", "xliff"], "--language"),
            (["alttext_texts_import", "/no/such/file", "--user", "USER"], "No such file"),
        ],
    )
    def test_what_cannot_be_done_is_told(self, author, command, said):
        with pytest.raises(CommandError, match=said):
            call_command(*(author.get_username() if word == "USER" else word for word in command))

    def test_a_switched_off_account_brings_nothing(self, author):
        author.is_active = False
        author.save()
        with pytest.raises(CommandError, match="no active account"):
            call_command("alttext_texts_import", "x", "--user", author.get_username())
