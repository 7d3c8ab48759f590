"""Languages by their tags: one that wordfreq has, whatever its tag, a near one, or none."""

import pytest

from adbench_text.contract.cleaner import Cleaner
from adbench_text.detectors.form.facts import COLUMN, numbers
from adbench_text.documents.ranking import odd_documents
from adbench_text.errors import InvalidValueError
from adbench_text.text.languages import (
    frequent_words,
    has_frequencies,
    has_known_words,
    is_language,
    languages,
    part_length,
    standard,
)

GERMAN = ["Die Heizung im Keller", "verliert seit gestern Wasser und der Druck fällt"]


@pytest.mark.parametrize(
    ("name", "tags"),
    [
        ("en", "en en-us en_US en-GB EN eng"),
        ("pt", "pt pt-br pt_BR PT por pt-PT"),
        ("de", "de deu ger de-AT de_CH gsw"),
        ("nb", "no nb nb-NO nob nor"),
        ("sh", "sh hr bs sr sr-Latn sr-Cyrl hrv"),
        ("zh", "zh zh-cn zh-hans zh-hant zh_TW cmn zho"),
        ("fil", "fil tl"),
        ("he", "he iw heb"),
        ("quy", "quy QUY"),
        ("th", "th tha th-TH"),
    ],
)
def test_the_tags_of_a_language_are_one_name(name, tags):
    for tag in tags.split():
        assert (tag, standard(tag).partition("-")[0]) == (tag, name)


@pytest.mark.parametrize("tag", ["oc", "gl", "eu", "cy", "be", "nn", "th", "quy", "sw", "am"])
def test_a_language_is_not_read_as_one_that_its_readers_do_not_know(tag):
    assert standard(tag) == tag
    assert not has_frequencies(tag)
    assert frequent_words(tag) == frozenset()


@pytest.mark.parametrize("tag", languages())
def test_each_list_of_words_has_its_own_tag(tag):
    assert standard(tag) == tag


@pytest.mark.parametrize(
    ("tag", "meant"),
    [
        ("jp", "ja"),
        ("cz", "cs"),
        ("dk", "da"),
        ("gr", "el"),
        ("cn", "zh"),
        ("ua", "uk"),
        ("JP", "ja"),
    ],
)
def test_the_tag_of_a_country_is_an_error_with_its_language(tag, meant):
    with pytest.raises(InvalidValueError, match=f"{tag!r}.*{meant!r}"):
        standard(tag)


@pytest.mark.parametrize("tag", ["", "-", "e n", "english", "en-", "xx", "und", None, 3, ["en"]])
def test_what_is_no_tag_is_an_error_that_quotes_it(tag):
    assert not is_language(tag)
    with pytest.raises(InvalidValueError) as caught:
        standard(tag)
    assert f"got {tag!r}" in str(caught.value)
    with pytest.raises(InvalidValueError):
        odd_documents(GERMAN, language=tag)


@pytest.mark.parametrize(
    ("tag", "same"), [("pt-br", "pt"), ("no", "nb"), ("hr", "sh"), ("en-us", "en"), ("de-AT", "de")]
)
def test_documents_are_cleaned_alike_by_all_tags_of_their_language(tag, same):
    texts = [
        "Der Kessel ist nicht mehr 20 Jahre alt.",
        "que não é para um ano ikke jeg det nije za bio",
        "the ships",
    ]
    assert [Cleaner(tag)(text) for text in texts] == [Cleaner(same)(text) for text in texts]
    assert Cleaner(tag).spans(texts[1]) == Cleaner(same).spans(texts[1])


@pytest.mark.parametrize(
    ("tag", "other", "listed"),
    [
        ("zh-TW", "\u9019\u500b\u6a5f\u5668\u5f88\u8cb4", "\u8fd9\u4e2a\u673a\u5668\u5f88\u8d35"),
        (
            "sr",
            "\u041a\u0443\u045b\u0430 \u0458\u0435 \u0432\u0435\u043b\u0438\u043a\u0430",
            "ku\u0107a je velika",
        ),
    ],
)
def test_words_in_another_script_are_those_of_the_list(tag, other, listed):
    assert Cleaner(tag)(other) == Cleaner(tag)(listed) != ""
    for span in Cleaner(tag).spans(other):
        assert other[span.original_start : span.original_end].strip()
    known = COLUMN["unknown"]
    assert numbers([other], tag)[0, known] == numbers([listed], tag)[0, known]


@pytest.mark.parametrize(
    ("language", "n"),
    [
        ("de", 5),
        ("ru", 5),
        ("quy", 5),
        ("hi", 5),
        ("am", 4),
        ("th", 4),
        ("bo", 4),
        ("ko", 2),
        ("ja", 2),
        ("zh", 2),
    ],
)
def test_the_parts_of_words_are_as_long_as_the_script_says(language, n):
    assert part_length(language) == n
    assert part_length("yue-Hant") == 2


def test_words_are_known_where_there_is_a_list_and_a_script_of_letters():
    known = [
        language
        for language in ("en", "de", "ar", "hi", "sw", "th", "ko", "ja", "zh")
        if has_known_words(language)
    ]
    assert known == ["en", "de", "ar", "hi"]
