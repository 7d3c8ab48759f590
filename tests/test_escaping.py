import re
import unicodedata

import pytest

from adbench_text.escaping import encodable, file_name, no_formula, one_line, printable

HOSTILE = "red \x1b[31m\x07 back \x9b2J turned \u202e lone \udcff nul \0"


def test_nothing_that_a_terminal_obeys_is_left():
    assert one_line(HOSTILE).isprintable()
    assert printable(f"a\n\t{HOSTILE}").startswith("a\n\tred \ufffd[31m\ufffd back")
    assert printable("naïve 東京 😀") == "naïve 東京 😀"


def test_names_keep_the_joiners_of_their_letters():
    assert one_line("می\u200cخواهم 👨\u200d👧 \u202e") == "می\u200cخواهم 👨\u200d👧 \ufffd"


def test_a_cell_has_no_control_character_besides_line_ends_and_tabs():
    assert (
        no_formula("red \x1b[31m\x07\n\t\x0b\x9b2J \udcff\0")
        == "red \ufffd[31m\ufffd\n\t\ufffd\ufffd2J \ufffd\ufffd"
    )
    assert no_formula("a;\x1c=1") == "a;\ufffd=1"


def test_a_text_of_any_kind_can_be_encoded():
    assert encodable(HOSTILE).encode()
    assert "\0" not in encodable(HOSTILE)
    assert encodable("naïve 東京") == "naïve 東京"


@pytest.mark.parametrize(
    "text",
    [
        *("=1+1", "+SUM(A1)", "-cmd", "@import", "\rplain", "\nplain", " =1", "\xa0=1"),
        *("\ufeff=1", "\u200b@x", "＝1+1", " ＋1", "－cmd", "＠SUM(1)", "﹢1"),
    ],
)
def test_a_cell_is_no_formula(text):
    assert no_formula(text) == f"'{text}"


@pytest.mark.parametrize("separator", [";", "\t", "|", "\n", "\r\n", ";;", "; \u200b", ';"', ';""'])
@pytest.mark.parametrize(
    "formula", ["=1+1", "@SUM(1)", "+cmd", "-2+3+cmd|' /C calc'!A0", "＝1", "－cmd", "﹢1+1"]
)
def test_no_cell_is_a_formula_where_other_characters_separate_cells(separator, formula):
    found = no_formula(f"a{separator}{formula}")
    for cell in re.split(r"[;\t|\r\n]", found):
        assert cell.lstrip(' "\u200b')[:1] not in set("=@+-＝－﹢")
    assert no_formula(found) == found


@pytest.mark.parametrize("text", ["\t=1", "\n=1", "\xa0\n =1", ";=1"])
def test_an_empty_first_cell_protects_no_formula(text):
    separator = max("\t\n;", key=text.count)
    before, _, after = text.partition(separator)
    assert no_formula(text).endswith(f"{before}{separator}'{after}")


def test_values_of_json_hide_no_formula():
    assert no_formula(["a;=1+1", {"b": "c\t@x"}]) == "['a;'=1+1', {'b': 'c\\t@x'}]"


def test_each_sign_of_a_formula_is_known():
    signs = {chr(n) for n in range(0x20000) if unicodedata.normalize("NFKC", chr(n))[:1] in set("=+-@")}
    assert {sign for sign in signs if no_formula(f"a;{sign}x") == f"a;{sign}x"} == set()


@pytest.mark.parametrize(
    "text",
    ["a; b", "a;-5", "a\t+1.5\tb", "list:\n- item\n- other", "a\n-----\nb", "--\nme", "x;y=z", "a=b;c=d"],
)
def test_lists_rules_and_numbers_within_a_text_stay(text):
    assert no_formula(text).removeprefix("'") == text


@pytest.mark.parametrize("text", ["-3.5", "+1e-3", "plain", "a=b", "", " ", " plain", "１"])
def test_numbers_and_plain_texts_stay(text):
    assert no_formula(text) == text


@pytest.mark.parametrize(
    "name", ["../../evil", "/etc/x", "a/b", "..", ".", "", "a\0b", HOSTILE, "x" * 300, "ü" * 99]
)
def test_a_name_never_leaves_its_folder(name, tmp_path):
    path = tmp_path / file_name(name)
    path.write_text("content")
    assert list(tmp_path.iterdir()) == [path]
    assert not path.name.startswith(".")


def test_different_names_have_different_files():
    names = ["a/b", "a_b", "a\\b", "../a", "/a", "..", ".", ""]
    assert len({file_name(name) for name in names}) == len(names)


def test_an_ordinary_name_stays_as_it_is():
    for name in ("20news", "files:own tickets.csv", "café 100%", "a.b-c_d"):
        assert file_name(name) == name
