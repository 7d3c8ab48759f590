"""The most similar document of an odd one, and the subject of its neighbourhood."""

from adbench_text import odd_documents

_SHIPS = [
    f"the {ship} ship sailed from the harbour with a {cargo} cargo for {port}"
    for ship in ("old", "new", "fast", "slow")
    for cargo in ("coal", "timber", "cotton")
    for port in ("Bergen", "Lisbon")
]
_STRANGE = "the captain of a burning ship called the harbour"
_LIKE_STRANGE = "the captain of a burning ship called the crew again"
_ALONE = "preheat the oven, then beat the eggs"


def _neighbours(texts: list[str], row: int) -> tuple[object, list[str]]:
    table = odd_documents(texts, by="words", top=len(texts), keep_copies=True).table.set_index("row")
    return table["nearest"][row], list(table["subject"][row])


def test_the_nearest_document_shares_most_words():
    texts = [*_SHIPS, _STRANGE, _LIKE_STRANGE]
    nearest, subject = _neighbours(texts, len(_SHIPS))
    assert nearest == len(_SHIPS) + 1
    assert "sailed" in subject
    assert len(subject) == 3


def test_a_document_with_one_common_word_has_no_neighbours():
    texts = [*_SHIPS, "beat the eggs in the harbour", _ALONE]
    nearest, subject = _neighbours(texts, len(_SHIPS))
    assert nearest == len(_SHIPS) + 1  # beat and eggs
    texts = [*_SHIPS, _ALONE, "a dragon in the harbour"]
    for row in (len(_SHIPS), len(_SHIPS) + 1):
        nearest, subject = _neighbours(texts, row)
        assert str(nearest) == "<NA>"
        assert subject == []


def test_copies_are_no_neighbours_and_have_the_neighbours_of_their_representative():
    texts = [*_SHIPS, _STRANGE, _STRANGE.upper(), _LIKE_STRANGE]
    table = odd_documents(texts, by="words", top=len(texts)).table.set_index("row")
    assert table["copy_of"][len(_SHIPS) + 1] == len(_SHIPS)
    assert [*table["nearest"].loc[[len(_SHIPS), len(_SHIPS) + 1]]] == [len(_SHIPS) + 2] * 2


def test_documents_outside_the_lists_have_neither():
    table = odd_documents([*_SHIPS, _STRANGE], by="words", top=1, alpha=0.01, keep_copies=True).table
    assert table["nearest"].notna().sum() == 1
    assert (table["subject"].map(len) > 0).sum() == 1


def test_neighbours_are_in_the_same_language():
    german = [
        f"das Schiff aus {port} brachte heute {cargo} in den alten Hafen der Stadt und blieb bis zum Abend"
        for port in ("Bergen", "Lissabon", "Hamburg", "Bremen", "Kiel", "Riga", "Danzig")
        for cargo in ("Kohle", "Holz", "Wolle", "Salz")
    ]
    english = [f"{text}, and the people in the town were happy about it" for text in _SHIPS]
    texts = [*english, *german]
    table = odd_documents(texts, language="auto", by="words", top=60, keep_copies=True).table
    known = table[table["nearest"].notna()]
    assert {*known["language"]} == {"de", "en"}
    assert ((known["row"] < len(english)) == (known["nearest"] < len(english))).all()


def test_stop_words_are_no_common_words_of_documents_that_are_not_cleaned():
    texts = [
        *_SHIPS,
        "a dragon in the old cave of the mountain",
        "a wedding in the old church of the village",
    ]
    table = odd_documents(texts, "llr", by="words", clean=False, top=len(texts), keep_copies=True).table
    assert str(table.set_index("row")["nearest"][len(_SHIPS)]) == "<NA>"
