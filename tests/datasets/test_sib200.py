"""SIB-200: sentences of seven topics in 205 languages."""

import pytest
from commands import adbench, assert_refused, dry_run

from adbench_text.contract.cleaner import Cleaner
from adbench_text.corpora.corpus import load
from adbench_text.datasets.sib200 import Sib200
from adbench_text.plugins import registry

HEAD = "index_id\tcategory\ttext\n"


@pytest.fixture
def write(home, any_file):
    """Writes the files of a language: one sentence of each topic."""

    def write(language: str, sentence: str = "Ein Satz \u00fcber {}.") -> None:
        folder = home / "sib-200" / language
        folder.mkdir(parents=True)
        rows = [f"{n}\t{topic}\t{sentence.format(topic)}\n" for n, topic in enumerate(Sib200.classes)]
        for part in ("train", "test"):
            (folder / f"{part}.tsv").write_text(HEAD + "".join(rows), encoding="utf-8")

    return write


def test_every_language_has_two_published_files_and_a_tag():
    names = registry.variants("sib-200:*")
    assert len(names) == len(set(names)) == 205
    made = list(map(registry.dataset, names))
    files = [file for dataset in made for file in dataset.files]
    assert len({file.digest for file in files}) == len({file.path for file in files}) == 410
    assert {len(file.digest) for file in files} == {64}
    assert [dataset.name for dataset in made] == names


@pytest.mark.parametrize(
    ("variant", "language"),
    [
        ("deu_Latn", "de"),
        ("zho_Hans", "zh"),
        ("zho_Hant", "zh"),
        ("tha_Thai", "th"),
        ("hrv_Latn", "sh"),
        ("quy_Latn", "quy-Latn"),
        ("arb_Arab", "ar"),
        ("eng_Latn", "en"),
    ],
)
def test_its_language_is_known_to_detectors(variant, language):
    assert registry.language_of(f"sib-200:{variant}") == language


def test_without_a_language_it_is_english():
    english, bare = registry.dataset("sib-200:eng_Latn"), registry.dataset("sib-200")
    assert (bare.name, english.name) == ("sib-200", "sib-200:eng_Latn")
    assert (bare.language, bare.files) == (english.language, english.files)


def test_only_the_files_of_the_language_that_is_asked_for_are_read(write):
    write("deu_Latn", '"""Der Satz \u201e{}""\u201c"')
    corpus = load(registry.dataset("sib-200:deu_Latn"))
    topics = dict(zip(corpus.classes, corpus.raw.test.texts, strict=True))
    assert topics["science/technology"] == '"Der Satz \u201escience/technology"\u201c'
    assert corpus.test.texts[0] == Cleaner("de")("Satz entertainment") == "satz entertainment"
    result = adbench("--offline fetch sib-200:fin_Latn")
    assert_refused(result, result.exit_code, "sib-200/fin_Latn/train.tsv")


def test_a_topic_with_a_slash_is_chosen_by_name_and_exported_to_a_folder_of_its_own(write, tmp_path):
    write("deu_Latn")
    words = "-s sib-200:deu_Latn --inlier science/technology --contamination 0"
    (cell,) = dry_run("-d llr", words)
    assert cell == "llr(language=de) on sib-200:deu_Latn/science/technology at 0%, seed 0"
    assert adbench("export", words, "--to", str(tmp_path / "out")).exit_code == 0
    (folder,) = {path.parent for path in (tmp_path / "out").rglob("*.jsonl")}
    assert folder.parent == tmp_path / "out" / "sib-200:deu_Latn"


def test_a_pattern_stands_for_the_languages_that_are_here_if_downloads_are_off(write):
    words = "-d llr --inlier health --contamination 0 -s sib-200:*_Latn"
    assert len(dry_run(words)) == sum(name.endswith("_Latn") for name in Sib200.variants)
    write("deu_Latn")
    write("fin_Latn")
    result = adbench("--offline run --dry-run", words)
    assert [line.split()[2] for line in result.stdout.splitlines()] == [
        "sib-200:deu_Latn/health",
        "sib-200:fin_Latn/health",
    ]
    assert "sib-200:ace_Latn" in result.stderr


@pytest.mark.parametrize("command", ["info", "fetch", "run -d llr -s"])
def test_an_unknown_language_is_refused_with_the_nearest(command):
    assert_refused(adbench(command, "sib-200:deu_Latin"), 2, "'deu_Latin'", "'deu_Latn'")


def test_all_languages_take_one_line_in_a_list():
    result = adbench("list datasets")
    assert [line.split()[0] for line in result.stdout.splitlines() if line.startswith("sib-200")] == [
        "sib-200"
    ]


@pytest.mark.parametrize("name", ["sib-200:deu_Latn", "sib-200:tha_Thai", "sib-200"])
def test_sentences_are_as_many_as_published(real_dataset, name):
    corpus = load(real_dataset(name))
    assert corpus.is_published
    assert (len(corpus.train), len(corpus.test), corpus.n_empty) == (701, 204, 0)
