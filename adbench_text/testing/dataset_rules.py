"""The rules of the dataset contract; the docstring of a function is the rule."""

from collections.abc import Iterator
from functools import cached_property

from adbench_text.contract.dataset import Dataset, check_facts
from adbench_text.contract.protocols import RANK_ALL
from adbench_text.corpora.corpus import Corpus, cleaned, edition_of, of_dataset
from adbench_text.testing.rules import Note, Rule


class ReadDataset:
    """A dataset to check; `name` is the name of its entry point, if known."""

    def __init__(self, dataset: Dataset, name: str | None = None) -> None:
        self.dataset, self.name = dataset, name

    @cached_property
    def corpus(self) -> Corpus:
        """The cleaned corpus, read once and not from the cache."""
        return self.load()

    def load(self) -> Corpus:
        """Read the corpus from its sources, and clean it."""
        edition = edition_of(self.dataset)
        return of_dataset(self.dataset, edition, cleaned(self.dataset))


def states_its_facts(source: ReadDataset) -> Iterator[str]:
    """It states its name, classes, source, licence and citation."""
    dataset = source.dataset
    for fact in ("name", "source", "licence", "citation"):
        value = getattr(dataset, fact, None)
        if not (isinstance(value, str) and value):
            yield f"{fact} must be a text and not empty, got {value!r:.40}"
    if source.name not in (None, getattr(dataset, "name", None)):
        yield f"its name is {dataset.name!r}, but its entry point is named {source.name!r}: use one name"
    classes = getattr(dataset, "classes", None)
    if not isinstance(classes, tuple) or not all(isinstance(each, str) and each for each in classes):
        yield f"classes must be a tuple of names, got {classes!r:.60}"
    elif len(set(classes)) != len(classes) or len(classes) < 2:
        yield f"classes must be at least two different names, got {classes!r:.60}"
    else:
        try:
            check_facts(dataset)
        except ValueError as error:
            yield str(error)


def has_an_edition(source: ReadDataset) -> Iterator[str]:
    """Its edition is always the same."""
    edition = edition_of(source.dataset)
    if not (edition.name and edition.digest):
        yield f"the name and the digest of the edition must not be empty, got {edition!r:.80}"
    if edition_of(source.dataset) != edition:
        yield "the second edition() differs from the first: derive the digest from the sources"
    else:
        yield Note(f"edition {edition.name}")


def has_documents_of_every_class(source: ReadDataset) -> Iterator[str]:
    """Both parts have documents of every class, and words remain after cleaning.

    With `inliers`, the other classes need no training documents; `outliers` never need them. If all documents
    are ranked, or each seed draws the training documents or tests a fold, the training part is empty.
    """
    dataset, corpus = source.dataset, source.corpus
    draws_training = dataset.redraw is not None and dataset.redraw.draws_training
    if (draws_training or dataset.protocol == RANK_ALL) and len(corpus.train):
        yield f"all documents must be in the test part, got {len(corpus.train):,} for training"
    yield Note(corpus.counts())


def reads_the_same_again(source: ReadDataset) -> Iterator[str]:
    """It reads the same documents again."""
    if source.load().digest != source.corpus.digest:
        yield "the second read() differs from the first: use a fixed order and a fixed seed"


ESSENTIAL: tuple[Rule[ReadDataset], ...] = (states_its_facts, has_documents_of_every_class)
RULES: tuple[Rule[ReadDataset], ...] = (
    states_its_facts,
    has_an_edition,
    has_documents_of_every_class,
    reads_the_same_again,
)
