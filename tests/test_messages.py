"""The wording of the messages and notes that users meet most; other tests assert what they quote."""

import numpy as np
import pytest
from cells import build, compare, failed, stored
from named_documents import Named

from adbench_text import results
from adbench_text.contract.labels import split_known
from adbench_text.corpora.split_key import SplitKey
from adbench_text.documents.fitting import fit_model
from adbench_text.documents.marks import read_marks
from adbench_text.documents.models.folder import load_model, save_model
from adbench_text.documents.page import PageDocument, page_of_documents
from adbench_text.documents.ranking import odd_documents
from adbench_text.errors import AdbenchTextError
from adbench_text.plugins import registry
from adbench_text.reading.documents import DocumentFile
from adbench_text.reports.build import Builder
from adbench_text.reports.summary import headline
from adbench_text.run.cell import Cell
from adbench_text.store.cells import table_of
from adbench_text.testing.topics import texts_about


def message(call, *args, **options) -> str:
    """Return the message of the error that a call raises."""
    with pytest.raises(AdbenchTextError) as caught:
        call(*args, **options)
    return str(caught.value)


# Errors


def test_an_unknown_name():
    assert message(registry.detector, "pyod-kn") == "No detector named 'pyod-kn'. Did you mean 'pyod-knn'?"


def test_too_few_documents():
    assert message(odd_documents, ["one document"]) == (
        "At least 2 different documents are needed, got 1. Give more, or a larger sample "
        "(--sample); near-copies count once, and documents marked odd do not count."
    )


def test_a_column_that_is_not_there(tmp_path):
    (tmp_path / "a.csv").write_text("id,body\n1,one\n")
    assert message(DocumentFile, str(tmp_path / "a.csv"), "bdy") == (
        "No column named 'bdy'. Did you mean 'body'? It was read as comma, header, UTF-8; --delimiter, "
        "--skip-lines and --no-header change this."
    )


def test_a_file_in_another_encoding(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"text\none\ncaf\xe9\n")
    assert message(lambda: list(DocumentFile(str(tmp_path / "a.csv")))) == (
        "a.csv, line 3 is not in utf-8: byte 0xe9, invalid continuation byte. Give another --encoding, such "
        "as cp1252, or --errors replace to go on."
    )


def test_links_of_a_folder_that_are_not_followed(tmp_path):
    (tmp_path / "a").write_text("first")
    (tmp_path / "b").symlink_to("nothing")
    assert DocumentFile(str(tmp_path)).notes == [
        f"Skipped 1 link of {tmp_path}: only links to files in it are read."
    ]


def test_a_mark_of_no_document(tmp_path):
    path = tmp_path / "marks.csv"
    path.write_text("row,mark\nx,odd\n")
    assert message(read_marks, path, Named()) == (
        f"{path}: row 'x' is marked odd, but there is no such document."
    )


def test_labels_that_are_all_odd():
    assert message(split_known, ["a", "b"], np.array([1, 1])) == (
        "All 2 texts are labelled odd; a detector also needs some that are not."
    )


def test_a_folder_that_has_no_model_or_has_one(tmp_path):
    path = tmp_path / "model"
    assert message(load_model, path) == (
        f"There is no model at {path}: model.json is missing or not a file. Give the folder of a model."
    )
    model = fit_model(
        texts_about("sea", 9, seed=0), "llr", settings={"background": "uniform", "coherence": 0}
    )
    save_model(model, path)
    assert message(save_model, model, path) == (
        f"{path} contains a model already; overwrite it (--overwrite) or choose another folder."
    )
    (path / "model.json").write_text("{")
    assert message(load_model, path) == (
        f"{path / 'model.json'} is damaged or was changed; get the model again, or fit and save it again."
    )


def test_a_store_without_results(here):
    assert message(results, "sqlite:///mlflow.db").startswith("There are no results in sqlite:///mlflow.db")


def test_a_page_without_scores_of_words():
    markup = page_of_documents(
        "T", ["now"], ["Summary."], {"Odd": [PageDocument("1", "7", {}, (), "some text", [])]}, 0.0
    )
    assert "a document is scored as a unit" in markup


# Reports


RECORDS = [stored(name, inlier, 0.9 - n / 10) for n, name in enumerate("xy") for inlier in "ab"]


def notes(*records, tables=("main",)) -> list[str]:
    return build(list(records), tables).every_note


def test_the_sentence_that_a_report_begins_with():
    assert headline(compare(RECORDS)) == (
        "made-up: x has the best mean AUROC, 90.0% at 0% of outliers in the training data."
    )


def test_cells_that_are_not_finished():
    assert "(n of m): only n of m cells are finished; the figure covers these n." in notes(
        *RECORDS, stored("z", "a"), stored("z", "a", seed=1), stored("z", "b")
    )


def test_seeds_that_differ():
    assert "Not all figures are of the same seeds: x: 0, 1; y: 0." in notes(
        *RECORDS, stored("x", "a", seed=1), stored("x", "b", seed=1)
    )


def test_cells_that_failed():
    assert "failed: z on made-up/a at 0%, seed 0 and 1 more like it: RuntimeError: no luck" in notes(
        *RECORDS, failed("z", "a"), failed("z", "b")
    )


def test_detectors_that_are_not_ranked():
    assert "Not ranked, because they lack splits that the others have: late." in notes(
        *RECORDS, stored("late", "a"), tables=("ranks",)
    )


def test_a_table_that_there_is_nothing_for():
    report = Builder(table_of([stored()])).report(["levels", "ranks"], only=True)
    assert "No table 'levels': it needs two contamination levels." in report.every_note
    assert "No table 'ranks': it needs two detectors that have two splits in common." in report.every_note


def test_cells_of_a_sweep_that_were_not_run():
    cells = [Cell(name, "default", {}, SplitKey("made-up", "a")) for name in ("llr", "ocsvm")]
    assert "1 of the 2 cells of the sweep were not run, the first: ocsvm on made-up/a at 0%, seed 0." in (
        build([stored("llr", "a")], ["main"], cells=cells).every_note
    )


def test_results_of_several_versions():
    other = [stored("x", "b", code_version="2"), stored("x", "a", 0.5), stored("x", "a", 0.6, resources="2")]
    told = notes(*other)
    assert "Results of different code: x; run the sweep again to renew them." in told
    assert "Left out: 1 older result, made by other code, libraries or resources." in told


def test_results_that_contradict_each_other():
    assert (
        "1 cell has several results that differ, though their definitions are equal: by up to 20 points of "
        "AUROC (llr on made-up/a at 0%, seed 0: newest 70.0, older 90.0). The newest of each cell counts."
    ) in notes(stored(figure=0.9), stored(figure=0.7))


def test_a_dataset_that_is_not_the_published_one():
    ours = [
        stored("date", name, dataset="agnews", published=False, edition="a third", n_train=50.0)
        for name in ("world", "sports", "business", "sci")
    ]
    assert (
        "agnews ‡: ours and the published figures are not of the same documents. Our edition: a third."
        in notes(*ours)
    )


def test_scores_that_cannot_be_read():
    class Emptied:
        def artifact(self, dataset, run_id, name):
            return None

    builder = Builder(table_of([stored("x", "a"), failed("x", "b")]), store=Emptied())
    assert builder.drawings == []
    assert builder.evidence.notes == [
        "The scores of 1 finished cell cannot be read, so figures are missing (x on made-up/a): "
        "the artifacts of the store (the folder mlruns next to its file) were moved, deleted or damaged."
    ]
