"""Near-copies: documents that share most of their words."""

import numpy as np
import pytest
from made_up_words import WORDS
from rensa import RMinHash

from adbench_text.text.copies import families, sketches


def text(*numbers: int) -> str:
    return " ".join(WORDS[number] for number in numbers)


def found(*texts: str) -> list[int]:
    return families(sketches(texts)).tolist()


def test_a_sketch_has_a_byte_of_each_minimal_hash_of_the_different_words():
    texts = [
        text(1, 2, 3, 4, 2),
        "a b c",
        "a b c a",
        "",
        "a\u00a0b\x1cc\u3000d",
        "\u4e2d" * 9,
        "abcdefgh" * 9,
    ]
    pieces = [{own[i : i + 4] for i in range(len(own) - 3)} for own in texts[-2:]]
    words = [{*own.split()} for own in texts[:-2]] + pieces
    for row, (sketch, own) in enumerate(zip(sketches(texts), words, strict=True)):
        (digest,) = RMinHash.digests_from_token_sets([own], num_perm=100, seed=0)
        assert sketch.tolist() == ([each % 256 for each in digest] if row in (0, 4, 6) else [0] * 100)


def test_an_order_may_leave_out_documents_and_decides_who_comes_first():
    base, other = text(*range(20)), text(*range(100, 120))
    of_texts = sketches([base, other, base, other, base])
    assert families(of_texts, order=np.array([4, 1, 0, 3])).tolist() == [0, 1, 0, 1]


def test_the_first_of_a_family_speaks_for_it():
    base = list(range(20))
    changed = text(*base[:19], 500)  # 19 of 21 words shared
    assert found(text(*range(100, 120)), text(*base), changed, text(*range(200, 220))) == [0, 1, 1, 3]
    assert found(text(*base), text(*reversed(base)), text(*base, *base)) == [0, 0, 0]


def test_documents_that_share_less_are_no_near_copies():
    rng = np.random.default_rng(0)
    texts = []
    for _ in range(200):
        own = rng.permutation(len(WORDS))[:30].tolist()
        texts += [text(*own), text(*own[:24], *rng.integers(0, len(WORDS), 6).tolist())]  # 24 of 36: 0.67
    assert found(*texts) == list(range(400))


@pytest.mark.parametrize("n_words", [8, 20, 100])
def test_the_share_of_near_copies_that_is_found(n_words):
    rng = np.random.default_rng(n_words)
    texts = []
    for _ in range(100):
        own = rng.permutation(len(WORDS))[: n_words + 1].tolist()
        texts += [text(*own[:-1]), text(*own)]  # 8 of 9 words at least: 0.89
    assert np.mean(np.array(found(*texts)[1::2]) == np.arange(0, 200, 2)) > 0.95


def test_short_documents_are_alike_by_chance_only():
    assert found("thank you", "thank you all", "thank you", "", "a a a a a") == [0, 1, 2, 3, 4]
    assert families(sketches([])).tolist() == []


def test_a_family_of_many_is_one_however_they_are_ordered():
    rng = np.random.default_rng(1)
    family = [text(*range(40), number) for number in range(100, 400)]
    others = [text(*rng.permutation(len(WORDS))[:30].tolist()) for _ in range(300)]
    order = rng.permutation(600)
    speaker = np.array(found(*(np.array(family + others, dtype=object)[order])))
    of_family = np.flatnonzero(order < 300)
    assert set(speaker[of_family]) == {of_family[0]}
    assert (speaker[order >= 300] == np.flatnonzero(order >= 300)).all()


@pytest.mark.parametrize(
    ("text", "other", "is_near"),
    [
        ("我们在海边看到了一艘很大的船它正在慢慢地离开港口驶向远方的岛屿", None, True),
        ('{"ship":"anchor","crew":[12,13,14],"harbour":"north","tide":"low"}', None, True),
        ("/srv/ships/anchor/harbour/001", "/srv/courts/judge/statute/001", False),
        ("unbelievable congratulations winner", "unbelievable congratulations loser", False),
    ],
)
def test_texts_without_spaces_are_compared_by_pieces_of_characters(text, other, is_near):
    other = other or text[:15] + "x" + text[16:]
    found = families(sketches([text, other, "an other text of other words"]), shared=0.7)
    assert found.tolist() == ([0, 0, 2] if is_near else [0, 1, 2])
