import pytest

from crawlgauge.report.blocks import Column, render_table

COLUMNS = (Column(header="crawl"), Column(header="n", align="right"), Column(header="note"))


def test_numbers_stand_right_words_left():
    assert render_table(COLUMNS, [["2020-06", "1,000", "x"], ["a", "7", "longer"]]).split("\n") == [
        "crawl        n  note",
        "──────────────────────",
        "2020-06  1,000  x",
        "a            7  longer",
    ]


def test_a_header_wider_than_its_cells_gives_the_width():
    text = render_table(
        [Column(header="captures", align="right"), Column(header="b")], [["1", "2"]]
    )
    assert text.split("\n")[2] == "       1  2"


def test_no_line_ends_with_a_space():
    text = render_table(COLUMNS, [["2020-06", "1", ""], ["2020-12", "", ""]])
    assert all(line == line.rstrip() for line in text.split("\n"))


def test_a_table_without_rows_is_its_header():
    assert render_table(COLUMNS, []) == "crawl  n  note\n──────────────"


def test_a_long_text_is_wrapped_and_loses_no_word():
    note = "damaged: part of the input is missing and was left out"
    lines = render_table(COLUMNS, [["a", "1", note], ["b", "2", ""]], max_width=40).split("\n")
    assert all(len(line) <= 40 for line in lines)
    assert " ".join(line[len("crawl  n  ") :] for line in lines[2:-1]).split() == note.split()
    assert lines[-1] == "b      2"


def test_a_table_that_fits_is_not_wrapped():
    rows = [["a", "1", "a note of some length"]]
    assert render_table(COLUMNS, rows, max_width=31) == render_table(COLUMNS, rows)


def test_columns_of_numbers_are_never_narrowed():
    columns = [Column(header="a", align="right"), Column(header="b", align="right")]
    text = render_table(columns, [["1,234,567,890", "1,234,567,890"]], max_width=10)
    assert text.split("\n")[2] == "1,234,567,890  1,234,567,890"


def test_words_are_not_squeezed_below_a_readable_width():
    text = render_table(COLUMNS, [["a", "1", "some words that go on"]], max_width=5)
    assert text.split("\n")[2] == "a      1  some words"


@pytest.mark.parametrize("row", [["a", "1"], ["a", "1", "x", "y"]])
def test_a_row_of_the_wrong_length_is_refused(row):
    with pytest.raises(ValueError, match=r"shorter|longer"):
        render_table(COLUMNS, [row])
