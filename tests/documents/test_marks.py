"""Marks of some documents change the ranks of the others."""

import gzip
import re
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
from named_documents import Named
from spreadsheets import write_xlsx

from adbench_text.calibration import form_weight, joined, p_values_within
from adbench_text.documents.marks import (
    LIKE_MARKED,
    lost_marks,
    marked_representatives,
    read_marks,
    row_named,
)
from adbench_text.documents.ranking import odd_documents
from adbench_text.errors import DataError, InvalidValueError
from adbench_text.testing.topics import texts_about

SEA = texts_about("sea", 120, 0)
LAW, SKY = texts_about("law", 6, 1), texts_about("sky", 6, 1)
TEXTS = [*SEA, *LAW, *SKY]
LAW_ROWS, SKY_ROWS = [*range(120, 126)], [*range(126, 132)]
SETTINGS = {"background": "uniform", "coherence": 0, "capped": 0, "cap": None}
FOREST = {"encoder": "svd", "n_estimators": 10}


def ranked(texts=TEXTS, marks=None, **options):
    options = {"detector": "llr", "settings": SETTINGS, "keep_copies": True, **options}
    return odd_documents(texts, marks=marks, **options)


def of_rows(table, rows, name):
    return table.set_index("row").loc[rows, name].tolist()


def test_marked_documents_leave_the_ranks():
    marks = {120: "odd", 121: "odd", 3: "fine"}
    result, before = ranked(marks=marks), ranked(by="both")
    table = result.table
    assert list(result.lists) == ["both"]  # two lists become one
    assert table["rank"].isna().sum() == 3
    assert sorted(table.row[-3:]) == [3, 120, 121]
    assert table[table["rank"].isna()][["p", "p_form", "p_both"]].isna().all(axis=None)
    assert not table.odd[table["rank"].isna()].any()
    assert of_rows(table, [120, 121, 3, 5], "mark") == ["odd", "odd", "fine", ""]
    assert set(table.mark) == {"odd", "fine", ""}
    assert table.score.notna().all()
    others = table[table["rank"].notna()]
    assert sorted(others["rank"]) == list(range(1, 130))
    for name in ("p", "p_form", "p_both"):
        assert (others[name] * 129).round(9).isin(range(1, 130)).all()
        assert others[name].max() == 1
    assert others.p.tolist() == p_values_within(others.score.to_numpy()).tolist()
    listed = result.lists["both"]
    assert not set(listed.row) & set(marks)
    assert (before.marked.tolist(), before.form_weight, set(before.table.mark)) == ([], 1.0, {""})
    assert result.marked.to_dict() == marks
    assert result.learns_from_marks


def test_documents_like_those_marked_rise_and_say_so():
    before = ranked(by="words")
    law = dict.fromkeys(LAW_ROWS[:3], "odd")
    after = ranked(marks=law, by="words")

    def above(result):
        return np.mean(of_rows(result.table, LAW_ROWS[3:], "score")) - np.mean(
            of_rows(result.table, SKY_ROWS, "score")
        )

    assert above(after) > above(before) + 0.1
    assert after.table.row[:3].isin(LAW_ROWS).all()
    why = of_rows(after.lists["words"], LAW_ROWS[3:], "why")
    assert all(LIKE_MARKED not in own for own in of_rows(before.lists["words"], LAW_ROWS[3:], "why"))
    mixed = ranked([*TEXTS, *texts_about("law", 1, 9)], marks=dict.fromkeys(LAW_ROWS, "odd"), by="words")
    assert of_rows(mixed.lists["words"], [132], "why")[0][0] == LIKE_MARKED
    assert all(set(own) & set(" ".join(LAW).split()) for own in why)


def test_marks_as_fine_alone_give_no_reason():
    result = ranked(marks={120: "fine", 126: "fine"})
    assert not any(LIKE_MARKED in why for why in result.lists["both"].why)
    assert result.form_weight != 1


def test_kept_marks_are_ranked_too():
    marks = {120: "odd", 3: "fine"}
    result = ranked(marks=marks, keep_marked=True)
    assert result.table["rank"].tolist() == list(range(1, 133))
    assert result.table.p.tolist().count(1 / 132) == 1
    assert of_rows(result.table, [120, 3, 0], "mark") == ["odd", "fine", ""]
    assert 120 in result.lists["both"].row.tolist()
    assert of_rows(result.lists["both"], [120], "words")[0] != []
    left = ranked(marks=marks).table
    assert left.set_index("row").score.equals(result.table.set_index("row").score[left.row])


@pytest.mark.parametrize("mark", ["odd", "fine"])
def test_copies_share_a_mark(mark):
    spam = "claim your cash prize today by calling our free number {} before midnight or text winner to us"
    words = [f"{a}{b}{c}u" for a in "bdfgklmnprst" for b in "aeiou" for c in "bdfgk"]
    different = [" ".join(words[n * 5 : n * 5 + 5]) for n in range(40)]
    family = [spam.format(name) for name in ("anna", "berta", "carla", "dora")]
    texts = [*different, *family, different[0].upper()]
    result = ranked(texts, {42: mark, 40: mark, 44: mark}, keep_copies=False)
    assert of_rows(result.table, [0, 40, 41, 42, 43, 44], "mark") == [mark] * 6
    assert of_rows(result.table, [0, 41, 44], "rank") == [pd.NA] * 3
    assert result.table["rank"].count() == 39
    assert result.marked.tolist() == [mark] * 2  # of originals


def test_a_family_with_both_marks_is_odd():
    original = np.array([0, 0, 2, 3, 3, -1])
    marked = marked_representatives({0: "fine", 1: "odd", 2: "fine", 4: "fine", 5: "odd"}, original)
    assert marked.to_dict() == {0: "odd", 2: "fine", 3: "fine"}
    assert (
        marked_representatives({}, original).to_dict()
        == marked_representatives({5: "odd"}, original).to_dict()
        == {}
    )


@pytest.mark.parametrize(
    ("marks", "message"),
    [
        ({132: "odd"}, "Row 132 .*132 documents"),
        ({-1: "fine"}, "Row -1 .*132 documents"),
        ({"3": "odd"}, "Row '3' "),
        ({1.5: "odd"}, "Row 1.5 "),
        ({True: "odd"}, "Row True "),
        (pd.Series({5: "odd"}), "marks must map .*Series"),
        ({3: "strange"}, "row 3 .*'strange'"),
        ({3: None}, "row 3 .*None"),
        (dict.fromkeys(range(131), "odd"), "2 .*got 1.* odd"),
    ],
)
def test_a_wrong_mark_is_an_error(marks, message):
    with pytest.raises(InvalidValueError, match=message):
        ranked(marks=marks)


@pytest.mark.parametrize("detector", ["knn-words", "iforest"])
def test_there_are_documents_left_to_learn_from(detector):
    settings = FOREST if detector == "iforest" else {}
    with pytest.raises(InvalidValueError, match="got 0"):
        ranked(SEA[:3], dict.fromkeys(range(3), "odd"), detector=detector, settings=settings)
    result = ranked(SEA[:3], dict.fromkeys(range(3), "fine"), detector="knn-words", settings={})
    assert result.table["rank"].count() == 0


def test_marks_of_nothing_change_nothing():
    before = ranked([*TEXTS, ""])
    for marks in ({}, {132: "odd"}):  # an empty document is no outlier
        result = ranked([*TEXTS, ""], marks)
        assert result.table.equals(before.table)
        assert list(result.lists) == ["both", "words", "form"]


def test_a_detector_that_takes_no_labels_leaves_documents_marked_odd_out():
    marks = {**dict.fromkeys(LAW_ROWS[:5], "odd"), 0: "fine"}
    options = {"detector": "iforest", "settings": FOREST, "by": "words", "n_folds": 2}
    result = ranked(marks=marks, **options)
    assert not result.learns_from_marks
    assert result.n_learned == 127  # those marked fine are among them
    rest = [text for row, text in enumerate(TEXTS) if row not in LAW_ROWS[:5]]
    alone = ranked(rest, **options)
    rows = [row for row in range(132) if row not in LAW_ROWS[:5]]
    expected = alone.table.set_index("row").score.sort_index().tolist()
    assert of_rows(result.table, rows, "score") == pytest.approx(expected)
    assert result.table.score.notna().all()


def test_documents_without_words_and_of_form_can_be_marked():
    texts = [*TEXTS, "12 34 56", "12 34 57", "77 1234 5", "!? !? !?"]
    before = ranked(texts, by="both")
    result = ranked(texts, {132: "odd", 133: "odd"})
    assert result.form_weight == 1
    assert of_rows(result.table, [132, 133], "rank") == [pd.NA] * 2
    assert of_rows(result.table, [132], "mark") == ["odd"]
    digits = [of_rows(each.table, [134], "rank")[0] for each in (before, result)]
    assert digits[1] <= digits[0]
    assert ranked(texts, dict.fromkeys(LAW_ROWS, "odd")).form_weight < 0.1
    by_form = ranked(texts, {132: "odd"}, by="form")
    assert list(by_form.lists) == ["form"]
    assert by_form.table["rank"].count() == 135
    by_words = ranked(texts, {132: "odd", 120: "odd"}, by="words")
    assert by_words.form_weight == 1
    assert by_words.table["rank"].count() == 131
    raw = odd_documents(texts, "form", marks={132: "odd"})
    assert raw.table["rank"].count() == 135


def test_a_marked_document_outside_the_sample_counts_as_any_other():
    texts = [*texts_about("sea", 300, 0), *LAW]
    assert ranked(texts, by="words", sample=100).n_learned == 100
    marks = dict.fromkeys(range(40), "fine") | dict.fromkeys(range(300, 304), "odd")
    for options in (
        {"by": "words"},
        {},
        {"detector": "ensemble", "settings": {"members": "llr, knn-words(k=5)"}},
    ):
        in_memory, of_file = (
            ranked(each, marks, sample=100, **options) for each in (texts, lambda: iter(texts))
        )
        assert in_memory.table.equals(of_file.table)
        assert 95 < in_memory.n_learned <= 100
        assert in_memory.table["rank"].count() == 306 - 44
        assert in_memory.table.score.notna().all()
        assert of_file.marked[of_file.marked == "odd"].index.tolist() == [300, 301, 302, 303]


def test_another_language_has_marks_too():
    german = ["Der Kessel verliert Wasser", "Die Heizung im Keller bleibt kalt", "Das Thermostat ist defekt"]
    texts = [f"{text} {word}" for text, word in zip(german * 8, texts_about("law", 24, 0), strict=True)]
    result = odd_documents([*texts, "Eier und Mehl"], language="de", marks={24: "odd"}, keep_copies=True)
    assert result.learns_from_marks
    assert of_rows(result.table, [24], "mark") == ["odd"]


# The weight of form


def test_the_weight_of_form_by_hand():
    p_words, p_form = np.array([0.001, 0.2, 1.0, np.nan]), np.array([0.5, 0.001, 0.01, 0.001])
    is_odd = np.array([False, True, True, True])
    form = 0.5 / p_form
    share = form / (1 / np.array([0.001, 0.2, 1.0, 1.0]) + form)
    of_form = ((share[1:] ** 2).sum() + 0.1) / (share[0] ** 2 + 1)
    of_words = ((1 - share[1:]).sum() + 1) / (1 - share[0] + 1)
    assert of_form / of_words > 1
    assert form_weight(p_words, p_form, is_odd) == 1
    of_form = (share[0] ** 2 + 0.1) / ((share[1:] ** 2).sum() + 1)
    of_words = (1 - share[0] + 1) / ((1 - share[1:]).sum() + 1)
    assert form_weight(p_words, p_form, ~is_odd) == pytest.approx(of_form / of_words)
    assert form_weight(p_words[:0], p_form[:0], is_odd[:0]) == pytest.approx(0.1)


HEAD, MIDDLE = np.full(6, 0.002), np.full(6, 0.4)  # p of six documents


def test_form_joins_when_marks_speak_for_it():
    """At the head of the list by words, odd documents speak for words, and fine ones against them."""
    is_odd = np.ones(6, dtype=bool)
    assert form_weight(HEAD, MIDDLE, is_odd) < 0.02
    assert form_weight(MIDDLE[:1], HEAD[:1], is_odd[:1]) == 1
    assert form_weight(np.r_[HEAD, MIDDLE[:2]], np.r_[MIDDLE, HEAD[:2]], np.ones(8, dtype=bool)) > 0.2
    assert form_weight(MIDDLE, HEAD, ~is_odd) < 0.02
    assert form_weight(HEAD, MIDDLE, ~is_odd) == pytest.approx(0.7, abs=0.01)


def test_form_never_drowns_words():
    """Six documents of odd form, and six at the head of the list by words that are fine."""
    p_words, p_form = np.r_[MIDDLE, HEAD], np.r_[HEAD, MIDDLE]
    assert form_weight(p_words, p_form, np.repeat([True, False], 6)) == 1


def test_a_weight_counts_form_in_the_joined_score():
    p_words, p_form = np.array([0.1, np.nan, 0.02]), np.array([0.3, 0.01, 0.5])
    expected = np.log(1 / np.array([0.1, 1, 0.02]) + 0.5 * 3 / p_form)
    assert joined(p_words, p_form, 3.0) == pytest.approx(expected)
    np.testing.assert_array_equal(joined(p_words, p_form, 1.0), joined(p_words, p_form))


def test_the_joined_list_uses_the_weight_and_counts_marked_documents():
    """Marked documents count in the p that are joined, and leave only the rank of the result."""
    marks = {120: "odd", 3: "fine"}
    result, all_ranked = ranked(marks=marks), ranked(marks=marks, keep_marked=True).table
    score = joined(all_ranked.p.to_numpy(), all_ranked.p_form.to_numpy(), result.form_weight)
    is_marked = all_ranked.row.isin(marks).to_numpy()
    expected = p_values_within(np.where(is_marked, np.nan, score))
    given = of_rows(result.table, all_ranked.row.tolist(), "p_both")
    np.testing.assert_allclose(given, expected)


# Files of marks


def row_of(name):
    return {"=1+1": 7, "'=1+1": 7}.get(name, int(name) if name.isdecimal() and int(name) < 9 else None)


def read(tmp_path, text, names=("row",), encoding="utf-8"):
    path = tmp_path / "marks.csv"
    path.write_bytes(text.encode(encoding))
    return read_marks(path, Named(row_of=row_of, id_titles=names))


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ("row,mark\n1,odd\n2,fine\n3,\n", {1: "odd", 2: "fine"}),
        ("\ufeffrow,mark\r\n1,odd\r\n", {1: "odd"}),
        ("row,mark\n1, ODD \n2,Fine\n", {1: "odd", 2: "fine"}),
        ("row,mark\n1,odd\n1,odd\n1,\n", {1: "odd"}),
        ('rank,mark,row,text\n1,odd,4,"two\nlines, and a comma"\n,,5,x\n', {4: "odd"}),
        ("row,mark\n'=1+1,odd\n", {7: "odd"}),
        ("row,mark\n1,odd,\n2,fine,\n", {1: "odd", 2: "fine"}),  # a spreadsheet may end lines with commas
        ("row,mark\n", {}),
        ("row,mark\n\n5\n", {}),
        ("row,mark\n5,odd", {5: "odd"}),
        ("row;mark\n1;odd\n", {1: "odd"}),
        ('"row; from 0";mark;row\n9;odd;1\n', {1: "odd"}),
        ("row\tmark\n1\todd\n", {1: "odd"}),
        ("row|mark\n1|odd\n", {1: "odd"}),
    ],
)
def test_marks_are_read_by_row(tmp_path, text, marks):
    assert read(tmp_path, text) == marks


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252", "latin-1"])
def test_marks_are_read_in_the_encodings_of_spreadsheets(tmp_path, encoding):
    assert read(tmp_path, "row;mark;who\n1;odd;M\u00fcller\n", encoding=encoding) == {1: "odd"}


IDS = ["00023", "23", "123456789012", "1-2", "a", "007"]


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ("mark,row,id\nodd,5,7\nfine,4,a\n", {5: "odd", 4: "fine"}),  # 007 became 7
        ("mark;row;id\nodd;2;1,23457E+11\n", {2: "odd"}),
        ("mark,row,id\nodd,5,\n", {5: "odd"}),
        ("mark,row,id\nodd,0,00023\n", {0: "odd"}),
        ("mark,id\nodd,00023\nfine,23\n", {0: "odd", 1: "fine"}),
        ("mark,row,id\nodd,,a\n", {4: "odd"}),
    ],
)
def test_the_row_says_which_document_it_is_where_a_spreadsheet_changed_the_identifier(tmp_path, text, marks):
    (tmp_path / "marks.csv").write_text(text)
    assert read_marks(tmp_path / "marks.csv", Named(IDS, id_titles=("id",))) == marks


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("mark,row,id\nodd,0,23\n", "'23' .*row 1, .* 0"),  # 00023 became 23, which is there
        ("mark,row,id\nodd,0,a\n", "'a' .*row 4, .* 0"),
        ("mark,row,id\nodd,3,01.02.2026\n", r"'01\.02\.2026'"),
        ("mark,row,id\nodd,4,b\n", "'b'"),
        ("mark,id\nodd,7\n", "'7'"),
    ],
)
def test_an_identifier_that_contradicts_its_row_is_an_error(tmp_path, text, quoted):
    (tmp_path / "marks.csv").write_text(text)
    with pytest.raises(DataError, match=quoted):
        read_marks(tmp_path / "marks.csv", Named(IDS, id_titles=("id",)))


def test_rows_are_enough_where_documents_have_identifiers(tmp_path):
    (tmp_path / "marks.csv").write_text("row,mark\n4,odd\n")
    assert read_marks(tmp_path / "marks.csv", Named(IDS, id_titles=("id", "row"))) == {4: "odd"}


@pytest.mark.parametrize(
    ("line", "quoted"),
    [
        ("2,odd,Zinc pans hang high", None),
        ("2,odd,'zinc pans; hang", None),  # as a spreadsheet escapes and cuts it
        ("2,odd,", None),
        ("1,odd,Zinc pans hang high", "row 1 .*'Zinc pans.*'the harbour"),
        ("9,odd,Zinc pans hang high", "row 9 "),
    ],
)
def test_a_document_known_by_its_row_has_the_text_of_the_table(tmp_path, line, quoted):
    (tmp_path / "marks.csv").write_text(f"row,mark,text\n{line}\n")
    texts = ["a storm", "the harbour", "Zinc pans hang high", "a ship"]

    def given():
        return read_marks(tmp_path / "marks.csv", Named(texts=texts, text_title="text"))

    if quoted is None:
        assert given() == {2: "odd"}
        return
    with pytest.raises(DataError, match=quoted):
        given()


@pytest.mark.parametrize(
    ("document", "text", "is_same"),
    [
        ("Кошка спит на крыше", "Кошка спит", True),  # cut
        ("Кошка спит на крыше", "????? ???? ?? ?????", True),
        ("Кошка спит на крыше", "ÐšÐ¾ÑˆÐºÐ°", True),  # UTF-8 that was read as Windows-1252
        ("Кошка спит на крыше", "Собака лает во дворе", False),
        ("Кошка спит на крыше", "The cat sleeps", False),
        ("The cat sleeps", "Кошка спит", False),
        ("Новый iPhone", "Старый iPhone", False),
        ("学習する", "学习", False),
        ("Đặng Văn Lâm", "?ặng V?n Lâm", True),
        ("!!!", "???", True),
    ],
)
def test_letters_of_other_scripts_tell_texts_apart(tmp_path, document, text, is_same):
    (tmp_path / "marks.csv").write_text(f"row,mark,text\n0,odd,{text}\n")
    with nullcontext() if is_same else pytest.raises(DataError, match=r"row 0 "):
        assert read_marks(tmp_path / "marks.csv", Named(texts=[document], text_title="text")) == {0: "odd"}


def test_a_file_of_marks_by_identifier_hints_at_its_option(tmp_path):
    with pytest.raises(DataError, match=r"'key'.*--id"):
        read(tmp_path, "key,mark\nT1,odd\n")


def test_the_first_name_that_is_there_identifies_the_documents(tmp_path):
    text = "input_key,key,id,mark\n1,2,3,odd\n"
    assert read(tmp_path, text, ("input_key", "key", "id")) == {1: "odd"}
    assert read(tmp_path, text, ("key", "id")) == {2: "odd"}
    assert read(tmp_path, "id,mark\n3,odd\n", ("input_key", "key", "id")) == {3: "odd"}


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("row,text\n1,odd\n", ["'mark' and 'row'", "'row', 'text'"]),
        ("number,mark\n1,odd\n", ["'mark' and 'row'", "'number', 'mark'"]),
        ("row:mark\n1:odd\n", ["'mark' and 'row'", "'row:mark'"]),
        ("row,mark\n\ufffd1,odd\n", ["row '\ufffd1'", "UTF-8"]),
        ("row,mark\n99,odd\n", ["row '99'", "odd"]),
        ("row,mark\n-1,fine\n", ["row '-1'", "fine"]),
        ("row,mark\n,odd\n", ["row ''", "odd"]),
        ("row,mark\n1,strange\n", ["row '1'", "'strange'"]),
        ("row,mark\n1,odd\n2,\n1,fine\n", ["row '1'", " odd", " fine"]),
        ("row,mark\n1,x\n99,odd\n", ["row '1'", "'x'"]),
        ("", ["No columns"]),
        ("row,mark\n1,odd\n2,odd,x,y\n", ["line 3"]),
        ('row,mark\n"1,odd\n', ["EOF inside string"]),
    ],
)
def test_a_wrong_file_is_an_error_of_one_line(tmp_path, text, messages):
    with pytest.raises(DataError) as error:
        read(tmp_path, text)
    assert "marks.csv" in str(error.value)
    assert "\n" not in str(error.value)
    for message in messages:
        assert message in str(error.value)


def test_a_file_that_cannot_be_read_is_an_error(tmp_path):
    with pytest.raises(DataError, match=r"none\.csv .*No such file"):
        read_marks(tmp_path / "none.csv", Named())
    with pytest.raises(DataError, match=f"{re.escape(str(tmp_path))} .*directory"):
        read_marks(tmp_path, Named())


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        (b"mark,row,copy_of\nodd,3,\n,4,\nfine,5,3\nlater,7,\n", ["3", "5", "7"]),
        (b"mark,row,copy_of\nodd,1,\nodd,3,2\nfine,2,\nfine,5,\n", ["3", "2", "5"]),  # 1 is given
        ("mark;row;copy_of;who\nodd;3;;Müller\n".encode("cp1252"), ["3"]),  # as a spreadsheet saves it
        (b"\xef\xbb\xbfrow,mark,text,\n3,odd,a,\n", ["3"]),
        (b"key,mark\nT1,odd\n", [""]),  # a file of marks
        (b"row,text\n3,odd\n", []),
        (b"key,text\n3,odd\n", []),
        (b"", []),
        (gzip.compress(b"mark,row\nodd,3\n", mtime=0), []),
        (b'row,text\n3,"odd\n', []),
        (b",,\nrow,mark,text\n3,odd,a\n4,,b\n", ["3"]),  # spreadsheets write an empty row so
        (b"My table;;\n\nrow;mark;text\n3;odd;a\n4;;b\n", ["3"]),
        (b"row,mark,copy_of\n3,odd,,\n4,,,\n", ["3"]),  # rows end with a comma
        (b"mark,row,copy_of,note\nodd,3\n", ["3"]),  # rows are shorter than the header
        (b"Report\na,b,c\n1,2,3\n", []),
        (b"mark,row,copy_of\nodd,1.0,\nodd,4.0,\n", ["4.0"]),  # pandas writes rows so
        (b"rank, mark, row, copy_of\n1,odd,3,\n", ["3"]),
    ],
)
def test_lost_marks_are_those_that_no_given_row_replaces(tmp_path, content, rows):
    (tmp_path / "odd.csv").write_bytes(content)
    assert lost_marks(tmp_path / "odd.csv", [1], str) == rows
    assert lost_marks(tmp_path, [1], str) == lost_marks(tmp_path / "none.csv", [1], str) == []


@pytest.mark.parametrize("n_lines", [1, 2, 1000])
@pytest.mark.parametrize("n_rows", [1, 3, 1000])
def test_a_large_table_is_read_in_pieces(monkeypatch, tmp_path, n_lines, n_rows):
    monkeypatch.setattr("adbench_text.documents.marks._N_LINES", n_lines)
    monkeypatch.setattr("adbench_text.documents.marks._N_ROWS", n_rows)
    rows = [
        f'{number},{"odd" if number in (2, 7) else ""},"a ""ship""\r\n\nand {number}"' for number in range(9)
    ]
    text = "sep=,\r\n\r\nrow,mark,text\r\n" + "\r\n".join(rows)
    assert read(tmp_path, text) == {2: "odd", 7: "odd"}
    assert lost_marks(tmp_path / "marks.csv", [2], str) == ["7"]
    with pytest.raises(DataError, match="line 12, saw 5"):
        read(tmp_path, text + "\r\n9,,a,b,c")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('mark,row\nodd,"3\n', "EOF inside string"),
        ("mark,row\nodd,1\n,2,x,y\n", "line 3, saw 4"),
    ],
)
def test_a_table_with_a_column_of_marks_that_is_damaged_is_not_lost(tmp_path, content, reason):
    (tmp_path / "odd.csv").write_text(content)
    with pytest.raises(DataError, match=f"odd.csv .*{reason}"):
        lost_marks(tmp_path / "odd.csv", [1], str)


def test_a_given_row_replaces_the_marks_of_its_copies(tmp_path):
    (tmp_path / "odd.csv").write_text("mark,row,copy_of\nodd,0,\nodd,1,T0\nodd,2,T0\nodd,3,\n")
    for row in range(3):
        assert lost_marks(tmp_path / "odd.csv", {row: "odd"}, "T{}".format) == ["3"]
    (tmp_path / "odd.csv").write_text("mark,row,copy_of\n,1,2\nodd,5,2\n")  # a copy that had no mark
    assert lost_marks(tmp_path / "odd.csv", [1], str) == []


def test_a_row_of_thousands_of_digits_names_no_document():
    assert row_named("9" * 19) == int("9" * 19)
    assert row_named("9" * 5000) is row_named("-1") is row_named("x") is None


def test_titles_above_the_header_of_a_spreadsheet_are_left_out(tmp_path):
    rows = [["My marks"], ["mark", "row", "text"], ["odd", "3", "a ship"], ["", "4", "a crew"]]
    write_xlsx(tmp_path / "marks.xlsx", rows)
    assert read_marks(tmp_path / "marks.xlsx", Named(texts=[""] * 3 + ["a ship", "a crew"])) == {3: "odd"}
    assert lost_marks(tmp_path / "marks.xlsx", [1], str) == ["3"]
