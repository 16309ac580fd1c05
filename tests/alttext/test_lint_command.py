"""`alttext_lint`: what it looks at, what it says, with which exit code, and that it writes nothing."""

from __future__ import annotations

import io
import json
import re
import tracemalloc

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from alttext import exports
from alttext.adapters import Alt, Context, Place
from alttext.contrib.imagefields.adapter import ImageFieldsAdapter
from alttext.management.commands import alttext_lint

pytestmark = pytest.mark.django_db


def lint(*arguments, **options):
    """(what it says, what it says beside, why it failed or "")."""
    out, beside, failed = io.StringIO(), io.StringIO(), ""
    try:
        call_command("alttext_lint", *arguments, stdout=out, stderr=beside, **options)
    except CommandError as error:
        failed = str(error) if error.returncode == 1 else f"exit code {error.returncode}"
    return out.getvalue(), beside.getvalue(), failed


def test_texts_of_all_places_are_checked_with_the_words_around_them(make_illustration):
    make_illustration(alt_text="The old harbour", caption="The Old Harbour.")
    make_illustration(alt_text="Two boats in the old harbour")
    make_illustration()
    out, beside, failed = lint()
    [line] = out.splitlines()
    assert line.startswith("WARN  alt-equals-adjacent /")
    assert '"The old harbour"' in line
    assert "3 texts, 1 without a text yet" in beside
    assert failed == ""


def test_errors_give_exit_code_1_and_warnings_where_asked_for(make_illustration):
    make_illustration(alt_text="A photo of a boat")
    assert lint()[2] == ""
    assert lint("--fail-on", "warn")[2] == "1 findings of the level warn or above."
    make_illustration(alt_text="a\u202eb is here")
    assert lint()[2] == "1 findings of the level error or above."
    assert lint("--fail-on", "never")[2] == ""


def test_only_the_rules_asked_for_are_applied_and_an_unknown_one_is_named(make_illustration):
    make_illustration(alt_text="A photo of <b>a boat</b>")
    assert [line.split()[1] for line in lint()[0].splitlines()] == ["text-prefix", "text-markup"]
    assert [line.split()[1] for line in lint("--rule", "text-markup")[0].splitlines()] == ["text-markup"]
    assert lint("--rule", "text-nonsense")[2].startswith("No rule is called 'text-nonsense'")


def test_notes_are_told_only_from_the_level_asked_for(make_illustration):
    make_illustration(alt_text="word " * 34)
    assert lint()[0] == ""
    assert "text-long" in lint("--level", "info")[0]
    assert lint("--level", "error", "--fail-on", "info")[2] != ""


def test_rules_that_the_site_switched_off_are_named(make_illustration, settings):
    settings.ALTTEXT = {**settings.ALTTEXT, "RULES_OFF": ["text-prefix"]}
    make_illustration(alt_text="A photo of a boat")
    out, beside, _ = lint()
    assert out == ""
    assert "Switched off on this site: text-prefix" in beside


def test_a_role_chosen_in_the_workbench_counts(make_placement):
    placement = make_placement(alt_text="20240311")
    assert "text-code" in lint()[0]
    type(placement).objects.update(chosen_role="text")
    assert lint()[0] == ""


def test_findings_are_json_lines_with_a_key_to_store_them_by(make_illustration):
    make_illustration(alt_text="A photo of a boat")
    [row] = [json.loads(line) for line in lint("--json")[0].splitlines()]
    assert row["rule"] == "text-prefix"
    assert row["level"] == "warn"
    assert re.fullmatch("text-prefix:[0-9a-f]{16}", row["key"])
    assert row["place"].startswith("demo.illustration:")
    assert row["text"] == "A photo of a boat"


def test_the_csv_holds_no_formula_and_keeps_line_breaks_in_their_cell(make_illustration, tmp_path):
    text = '=HYPERLINK("http://evil.example")\n<b>x</b>'
    make_illustration(alt_text=text)
    file = tmp_path / "findings.csv"
    assert lint("--csv", str(file))[0] == ""
    raw = file.read_bytes().decode()
    assert "'=HYPERLINK" in raw
    rows = exports.read_csv(raw)
    assert {row["text"].replace("\r\n", "\n") for row in rows} == {text}
    assert list(rows[0]) == list(alttext_lint.COLUMNS)


def test_a_line_break_in_a_text_makes_no_second_line_of_output(make_illustration):
    make_illustration(alt_text="A boat\nERROR alt-missing /faked")
    assert len(lint()[0].splitlines()) == 1


def test_files_are_checked_for_markup_with_their_line(tmp_path):
    file = tmp_path / "page.html"
    file.write_text("<p>x</p>\n<img src=a.png>\n<img alt='b c' title='b c'>", encoding="utf-8")
    out, beside, failed = lint("--html", str(file))
    assert [line.split()[:3] for line in out.splitlines()] == [
        ["ERROR", "alt-missing", f"{file}:2:"],
        ["WARN", "title-equals-alt", f"{file}:3:"],
    ]
    assert failed == "1 findings of the level error or above."
    assert "1 pages" in beside


def test_a_file_that_is_not_there_or_no_text_is_an_error_that_names_it(tmp_path):
    assert "nowhere.html" in lint("--html", str(tmp_path / "nowhere.html"))[2]
    binary = tmp_path / "list.txt"
    binary.write_bytes(b"\xff\xfe\x00")
    assert "list.txt" in lint("--url-list", str(binary))[2]
    assert lint("--html", str(binary))[2] == ""  # odd bytes in a page are no reason to stop


def test_a_huge_file_is_looked_at_in_part_and_says_so(tmp_path):
    file = tmp_path / "huge.html"
    file.write_text("<img>" + "x" * 2_000_100)
    out, beside, _ = lint("--html", str(file))
    assert "alt-missing" in out
    assert "too long" in beside


def test_pages_are_rendered_once_each_for_an_anonymous_visitor(make_illustration):
    first = make_illustration(alt_text="Two boats")
    make_illustration(article=first.article, alt_text="The town hall")
    out, beside, failed = lint("--pages")
    assert (out, failed) == ("", "")
    assert "2 texts, 1 pages" in beside


def test_a_page_that_gives_a_decorative_image_a_text_is_found(make_illustration, monkeypatch):
    line = make_illustration(decorative=True)
    source = f'<img src="{line.image.url}" alt="A line">'
    monkeypatch.setattr(alttext_lint, "rendered_page", lambda address: source)
    out, _, failed = lint("--pages")
    assert out.startswith(f"ERROR decorative-with-text {line.article.get_absolute_url()}:1:")
    assert failed


def test_addresses_of_a_list_are_rendered_in_this_process(make_illustration, tmp_path):
    page = make_illustration(alt_text="Two boats").article.get_absolute_url()
    file = tmp_path / "list.txt"
    lines = [
        "# pages",
        "",
        page,
        "https://elsewhere.example/x",
        "/no/such/page/",
        "/alttext/",
        "http://[broken",
        "ftp://x/y",
    ]
    file.write_text("\ufeff" + "\n".join(lines), encoding="utf-8")
    _, beside, failed = lint("--url-list", str(file))
    assert "1 pages" in beside
    assert "https://elsewhere.example/x: is not of this site" in beside
    assert "/no/such/page/: answers with 404" in beside
    assert "/alttext/: asks for a login" in beside
    assert "http://[broken: no address" in beside
    assert failed == "1 pages could not be rendered."


def test_a_page_that_breaks_is_a_failure_of_the_run(make_illustration, monkeypatch):
    from alttext.project.demo.models import Article

    make_illustration(alt_text="Two boats")
    monkeypatch.setattr(Article, "illustrations", property(lambda self: 1 / 0))
    _, beside, failed = lint("--pages", "--rule", "alt-missing")
    assert "answers with 500" in beside
    assert failed == "1 pages could not be rendered."


def test_nothing_is_written(make_placement, make_illustration, tmp_path):
    make_placement(alt_text="A photo of a boat")
    make_illustration(decorative=True)
    with CaptureQueriesContext(
        connection,
    ) as queries:
        lint("--pages", "--json")
    told = [query["sql"] for query in queries]
    assert told
    writes = re.compile(r"\s*(INSERT|UPDATE|DELETE|REPLACE|CREATE|ALTER|DROP|BEGIN|SAVEPOINT)", re.I)
    assert [sql for sql in told if writes.match(sql)] == []


def test_switches_that_do_not_go_together_are_refused(tmp_path):
    file = tmp_path / "page.html"
    file.write_text("<p>x</p>")
    assert lint("--html", str(file), "--pages")[2] == "--pages goes with --places only."
    assert "not allowed with argument" in lint("--html", str(file), "--places")[2]
    assert lint("--adapter", "nowhere")[2].startswith("No adapter is called 'nowhere'")
    assert "is no number above 0" in lint("--limit", "0")[2]


class Many(ImageFieldsAdapter):
    """Ten thousand places that are made while they are asked for."""

    number = 10_000

    def places(self):
        for number in range(self.number):
            yield Place(
                key=f"many:{number}:image", scope="demo.illustration", page_title=f"Page {number // 10}", page_url="",
                image_name=f"boat {number}.png", image_url="", language="en",
                alt=Alt(text=f"A photo of boat number {number}"), context=Context(before="word " * 50),
            )  # fmt: skip


def test_memory_and_queries_do_not_grow_with_the_site(settings, tmp_path):
    settings.ALTTEXT = {**settings.ALTTEXT, "ADAPTERS": [f"{__name__}.Many"]}
    peaks = []
    for limit in ("500", "3000"):
        tracemalloc.start()
        with CaptureQueriesContext(connection) as queries:
            lint("--limit", limit, "--csv", str(tmp_path / "f.csv"), "--rule", "text-prefix")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert len(queries) == int(limit) // 500
    assert peaks[1] < peaks[0] * 1.5 + 1_000_000
    assert len((tmp_path / "f.csv").read_text().splitlines()) == 3001


def test_a_limit_is_kept_and_progress_goes_to_stderr(settings, monkeypatch):
    settings.ALTTEXT = {**settings.ALTTEXT, "ADAPTERS": [f"{__name__}.Many"]}
    monkeypatch.setattr(alttext_lint, "PROGRESS_SECONDS", 0.0)
    out, beside, _ = lint("--limit", "3", "--progress", "--level", "warn")
    assert len(out.splitlines()) == 3
    assert "2 texts so far; 0 error" in beside
