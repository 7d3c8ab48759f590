import json
import random

import pytest
from interpreters import printed

from adbench_text.errors import DataError, InvalidValueError
from adbench_text.text import wordpiece
from adbench_text.text.wordpiece import BERT_FILE, FIRST, SPECIAL, WordPiece

pytestmark = pytest.mark.usefixtures("any_file")

WORDS = ["un", "##aff", "##able", "cafe", "the", "!", ",", "'", "s", "a", "##b", "b", "中", "文", "😀"]


def write(home, pieces, end="\n"):
    path = home / BERT_FILE.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(("\n".join(pieces) + end).encode("utf-8", "surrogateescape"))


@pytest.fixture
def small(home) -> WordPiece:
    write(home, [*SPECIAL, *WORDS])
    return wordpiece.bert()


def vocabulary(pieces: WordPiece) -> dict[str, int]:
    return pieces._tokenizer.get_vocab()


def encoded(pieces: WordPiece, text: str) -> list[str]:
    names = {number: piece for piece, number in vocabulary(pieces).items()}
    return [names[number] for number in pieces.encode([text]).ids.tolist()]


def test_a_missing_vocabulary_names_the_command_and_the_way_without(home):
    with pytest.raises(DataError, match=r"adbench-text fetch bert-base-uncased-vocab;.*vocabulary=trained"):
        wordpiece.bert()


def test_a_file_that_is_not_the_published_vocabulary_is_refused(home, small, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setenv("ADBENCH_TEXT_DATA", str(home))
    with pytest.raises(DataError, match=r"vocab\.txt .*md5"):
        wordpiece.bert()


@pytest.mark.parametrize("end", ["\n", ""])
def test_pieces_are_numbered_in_the_order_of_the_file(home, end):
    write(home, ["[PAD]", "x", "[MASK]", "[SEP]", "[CLS]", "[UNK]", "y"], end)
    pieces = wordpiece.bert()
    assert pieces.size == 7
    assert (pieces.pad, pieces.mask, pieces.sep, pieces.cls, pieces.unknown) == (0, 2, 3, 4, 5)
    assert pieces.encode(["y x z"]).ids.tolist() == [6, 1, 5]


def test_another_file_is_another_vocabulary(home, small):
    write(home, [*SPECIAL, *WORDS, "ship"])
    other = wordpiece.bert()
    assert (small.size, other.size) == (20, 21)
    assert small.digest != other.digest
    write(home, [*SPECIAL, *WORDS])
    assert wordpiece.bert().digest == small.digest


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("unaffable", ["un", "##aff", "##able"]),
        ("  THE\tUnAffAble\n", ["the", "un", "##aff", "##able"]),
        ("Café, cafe\u0301!", ["cafe", ",", "cafe", "!"]),
        ("the cafe's", ["the", "cafe", "'", "s"]),
        ("the中文s", ["the", "中", "文", "s"]),
        ("😀 a", ["😀", "a"]),
        ("a\x00b \x07", ["a", "##b"]),
        ("a\ud800b \ud800", ["a", "##b"]),
        ("ship unaffa" + " a" + "b" * 99, ["[UNK]", "[UNK]", "a", *["##b"] * 99]),
        ("a" + "b" * 100, ["[UNK]"]),
        ("", []),
        (" \n", []),
    ],
)
def test_encode(small, text, pieces):
    assert encoded(small, text) == pieces


def test_pieces_of_several_texts_follow_one_another(small):
    ids, ends = small.encode(["the cafe", "", "unaffable the", "the"])
    assert ids.tolist() == [9, 8, 5, 6, 7, 9, 9]
    assert ends.tolist() == [0, 2, 2, 6, 7]
    assert (ids.dtype, ends.dtype) == ("int32", "int64")
    assert small.encode([]).ends.tolist() == small.encode([""]).ends.tolist()[:1] == [0]


def test_a_text_cannot_name_a_special_piece(small):
    text = "[CLS] [MASK] [SEP] [PAD]"
    assert set(encoded(small, text)) == {"[UNK]"}
    assert len(encoded(small, text)) == 12


def random_texts(n):
    letters = [*"abcs !,'-\n", "é", "e\u0301", "É", "\x00", "\x1c", "\ud800", "\udc00", "中", "文", "😀", "İ"]
    letters += ["ß", "ﬁ", "\u200b", "\u00ad", "\u3000", "\ufffd", "un", "aff", "able", "the"]
    rng = random.Random(0)
    return ["".join(rng.choices(letters, k=rng.randrange(15))) for _ in range(n)]


def test_words_say_how_many_pieces_of_encode_are_theirs(small):
    for text in random_texts(500):
        words = small.words(text)
        assert sum(n for _, _, n in words) == len(small.encode([text]).ids), repr(text)
        borders = [place for start, end, _ in words for place in (start, end)]
        assert borders == sorted(borders), repr(text)
        assert all(0 <= start < end <= len(text) for start, end, _ in words), repr(text)
        # each alone is cut as it is in its place
        ids = [number for start, end, _ in words for number in small.encode([text[start:end]]).ids]
        assert ids == small.encode([text]).ids.tolist(), repr(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The  Unaffable!", [("The", 1), ("Unaffable", 3), ("!", 1)]),
        ("Café, cafe\u0301s!", [("Café", 1), (",", 1), ("cafe\u0301s", 1), ("!", 1)]),
        ("\x00the \x07 a\x00b", [("the", 1), ("a\x00b", 2)]),
        ("😀 a\ud800b \ud800 the", [("😀", 1), ("a\ud800b", 2), ("the", 1)]),
        ("the中文", [("the", 1), ("中", 1), ("文", 1)]),
        ("", []),
    ],
)
def test_words_are_where_they_are_in_the_original_text(small, text, words):
    assert [(text[start:end], n) for start, end, n in small.words(text)] == words


# training

TRAIN = """
import random
rng = random.Random(0)
stems = ["".join(rng.choices("abcdeéö中ф", k=rng.randrange(2, 5))) for _ in range(60)]
texts = [" ".join(rng.choice(stems) + rng.choice(stems) for _ in range(12)) for _ in range(40)] * 2
"""
scope: dict[str, list[str]] = {}
exec(TRAIN, scope)
TEXTS = scope["texts"]


def test_the_same_texts_give_the_same_vocabulary_here_and_in_another_process():
    first = vocabulary(wordpiece.train(TEXTS, 150))
    assert vocabulary(wordpiece.train(TEXTS, 150)) == first
    assert vocabulary(wordpiece.train(TEXTS[::-1], 150)) == first
    code = f"""{TRAIN}
import json
from adbench_text.text import wordpiece
print(json.dumps(wordpiece.train(texts, 150)._tokenizer.get_vocab()))
"""
    assert json.loads(printed(code, PYTHONHASHSEED="7")) == first


@pytest.mark.parametrize("size", [60, 100, 150])
def test_a_trained_vocabulary_is_as_large_as_asked_for(size):
    assert wordpiece.train(TEXTS, size).size == size


def test_a_trained_vocabulary_is_smaller_where_there_is_no_more_to_learn():
    pieces = wordpiece.train(["ab ab cc"], 1000)  # what occurs once is no piece
    assert set(vocabulary(pieces)) == {*SPECIAL, "a", "b", "c", "##a", "##b", "##c", "ab"}


def test_the_first_ids_are_special_and_the_rest_are_pieces():
    pieces = wordpiece.train(["[MASK] [UNK] ##a [PAD] a", *TEXTS], 150)
    assert (pieces.pad, pieces.unknown, pieces.cls, pieces.sep, pieces.mask) == tuple(range(FIRST))
    assert sorted(vocabulary(pieces).values()) == list(range(pieces.size))
    assert {piece for piece, number in vocabulary(pieces).items() if number < FIRST} == set(SPECIAL)
    assert pieces.encode(["[MASK] [PAD]", *TEXTS]).ids.min() >= FIRST


def test_what_it_was_trained_on_is_never_unknown():
    texts = ["Naïve \x00 'ß' a\ud800b ﬁ İ 中文 😀 once"]
    pieces = wordpiece.train(texts, 100)
    assert "[UNK]" not in encoded(pieces, texts[0])
    assert encoded(pieces, "ж") == ["[UNK]"]


@pytest.mark.parametrize("texts", [[], ["", " "], ["\x00\x1f"]])
def test_there_is_no_training_on_nothing(texts):
    with pytest.raises(InvalidValueError, match="no words"):
        wordpiece.train(texts, 100)


# BERT's own


@pytest.fixture
def of_bert(data_dir, home, monkeypatch) -> WordPiece:
    if not (data_dir / BERT_FILE.path).is_file():
        pytest.skip(f"no {BERT_FILE.path} in {data_dir}")
    monkeypatch.setenv("ADBENCH_TEXT_DATA", str(data_dir))
    return wordpiece.bert()


def test_the_vocabulary_of_bert_has_30522_pieces_and_its_special_ones(of_bert):
    assert of_bert.size == 30522
    assert (of_bert.pad, of_bert.unknown, of_bert.cls, of_bert.sep, of_bert.mask) == (0, 100, 101, 102, 103)


def test_words_are_cut_as_bert_cuts_them(of_bert):
    assert encoded(of_bert, "Unaffable") == ["una", "##ffa", "##ble"]
    # the example in Google's code has a vocabulary of its own: un ##aff ##able
    assert encoded(of_bert, "embeddings") == ["em", "##bed", "##ding", "##s"]


def test_a_trained_vocabulary_keeps_its_size_where_there_are_more_letters_than_room():
    texts = ["".join(chr(c) for c in range(0xE0, 0x180)) + " aaa"] * 9 + ["中文 ! ?"] * 3
    pieces = wordpiece.train(texts, 100)
    assert pieces.size == 100
    assert {"a", "##a"} <= set(vocabulary(pieces))
    assert max(pieces.encode(texts).ids) < 100


def test_signs_that_stand_alone_have_no_form_within_a_word():
    pieces = set(vocabulary(wordpiece.train(["中文 ! abc ! abc"], 1000)))
    assert {"中", "文", "!", "##b"} <= pieces
    assert not {"##中", "##文", "##!"} & pieces
