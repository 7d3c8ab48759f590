"""Documents that are out of scope, as they were published."""

import pandas as pd
import pytest

from adbench_text.corpora.corpus import load
from adbench_text.corpora.split import draw, splits
from adbench_text.corpora.split_key import SplitKey
from adbench_text.plugins import registry

# training documents, and normal and odd test documents; BANKING77-OOS has two and four lines without a word
COUNTS = {
    "sst-far": (8544, 2210, 2000),
    "rostd": (30_521, 8621, 3090),
    "banking-near": (5903, 2000, 1076),
    "banking-far": (5903, 2000, 1080),
    "hint3-curekart": (600, 452, 539),
    "hint3-sofmattress": (328, 231, 166),
}
HINT3 = "sentence,label\n"


def split_of(dataset, seed=171):
    corpus = load(dataset)
    (name,) = splits(corpus)
    assert corpus.is_published
    return draw(corpus, SplitKey(corpus.name, name, 0.0, seed, dataset.protocol))


@pytest.mark.parametrize(("name", "counts"), COUNTS.items(), ids=COUNTS)
def test_documents_are_as_many_as_published(real_dataset, name, counts):
    split = split_of(real_dataset(name))
    assert (len(split.train), (~split.outlier).sum(), split.outlier.sum()) == counts


@pytest.mark.parametrize("seed", [171, 985])
def test_a_published_seed_draws_the_published_sentences(real_dataset, seed):
    dataset = real_dataset("sst-far")
    split = split_of(dataset, seed)
    expected = [
        pd.read_csv(file.fetch(), sep="\t").dropna().sample(n=500, random_state=seed)["text"]
        for file in dataset.files[2:]
    ]
    odd = [text for text, is_odd in zip(split.test, split.outlier, strict=True) if is_odd]
    assert sorted(odd) == sorted(pd.concat(expected))


def test_what_is_far_from_a_bank_is_an_utterance_of_rostd(real_dataset):
    far, rostd = (split_of(real_dataset(name)) for name in ("banking-far", "rostd"))
    odd = {text for text, is_odd in zip(far.test, far.outlier, strict=True) if is_odd}
    normal = {text for text, is_odd in zip(rostd.test, rostd.outlier, strict=True) if not is_odd}
    assert odd <= normal


@pytest.mark.parametrize("bot", ["curekart", "powerplay11", "sofmattress"])
def test_a_query_that_a_bot_has_no_intent_for_is_odd_also_without_a_word(bot, home, any_file):
    for part, rows in {
        "train": "where is my order,ORDER\nreturn it,RETURN\n",
        "test": '??,NO_NODES_DETECTED\n"is it, ""good""\n",GOOD\nHy,NO_NODES_DETECTED\n',
    }.items():
        path = home / "hint3" / part / f"{bot}_{part}.csv"
        path.parent.mkdir(parents=True)
        path.write_text(HINT3 + rows, encoding="utf-8")
    corpus = load(registry.dataset(f"hint3-{bot}"))
    assert corpus.train.texts == ["where is my order", "return it"]
    assert corpus.test.texts == ['is it, "good"\n', "??", "Hy"]
    assert corpus.test.labels.tolist() == [0, 1, 1]
    assert [*splits(corpus)] == ["in scope"]
