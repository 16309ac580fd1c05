"""Cells that no spreadsheet computes, and the exact way back."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alttext import exports

CELLS = st.one_of(st.text(max_size=20), st.text("'=+-@\t\r\n,\"ab ", max_size=8)).filter(
    lambda cell: "\x00" not in cell
)
thorough = settings(max_examples=300, deadline=None, derandomize=True)


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_what_a_spreadsheet_would_compute_gets_an_apostrophe(start):
    assert exports.neutralise(f"{start}1+1") == f"'{start}1+1"


@pytest.mark.parametrize("cell", ["", "A dog", "1+1", " =1", "'quoted'", "…", "’=1"])
def test_other_cells_stay_as_they_are(cell):
    assert exports.neutralise(cell) == cell == exports.restore(cell)


@pytest.mark.parametrize("text", ["-", "+1", "'=1", "''-", "'"])
def test_legal_texts_come_back(text):
    assert exports.restore(exports.neutralise(text)) == text


@thorough
@given(CELLS)
def test_restoring_undoes_neutralising_for_any_text(cell):
    written = exports.neutralise(cell)
    assert exports.restore(written) == cell
    assert not written.startswith(("=", "+", "-", "@", "\t", "\r"))


@thorough
@given(st.lists(st.tuples(CELLS, CELLS), max_size=4))
def test_a_file_comes_back_cell_by_cell(rows):
    text = "".join(exports.csv_lines(("one", "=two"), rows))
    assert [(row["one"], row["=two"]) for row in exports.read_csv(text)] == rows


def test_an_author_key_tells_people_apart_and_not_who_they_are():
    keys = {exports.author_key(number, b"secret") for number in range(1000)}
    assert len(keys) == 1000
    assert exports.author_key(7, b"secret") == exports.author_key(7, b"secret")
    assert exports.author_key(7, b"secret") != exports.author_key(7, b"another site")
