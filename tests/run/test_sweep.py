from dataclasses import replace

import numpy as np
import pytest

from adbench_text.contract.dataset import Documents
from adbench_text.corpora.corpus import Corpus
from adbench_text.corpora.split_key import SplitKey
from adbench_text.errors import InvalidValueError, PluginError, UnknownNameError
from adbench_text.plugins.configure import DetectorChoice, text_of_value
from adbench_text.plugins.foreign import adapted
from adbench_text.run import sweep as module
from adbench_text.run.cell import Cell
from adbench_text.run.definition import build_detector, cell_id, definition
from adbench_text.run.sweep import Sweep, choose
from adbench_text.testing.topics import write_vectors


def tiny_corpus(extra="") -> Corpus:
    documents = Documents(["alpha beta" + extra, "gamma delta"], np.array([0, 1]))
    return Corpus("20news", ("comp", "rec"), documents, documents, "made up")


def a_cell(**changes) -> Cell:
    """A cell of llr; `changes` are of the cell or its split."""
    of_cell = {"detector": "llr", "preset": "default", "settings": {}}
    of_cell |= {name: changes.pop(name) for name in [*of_cell] if name in changes}
    return Cell(**of_cell, split=replace(SplitKey("20news", "comp", 0.05), **changes))


def test_a_sweep_runs_every_class_at_every_level():
    cells = Sweep([DetectorChoice("llr"), DetectorChoice("ocsvm")], ["20news", "agnews"]).expand()
    assert len(cells) == 2 * (6 + 4) * 4
    assert sorted({cell.split.contamination for cell in cells}) == [0, 0.05, 0.1, 0.15]


def test_cells_that_share_training_texts_are_next_to_each_other():
    cells = Sweep([DetectorChoice("llr"), DetectorChoice("ocsvm")], ["agnews"], seeds=[0, 1]).expand()
    splits = [cell.split for cell in cells]
    assert splits == [split for split in dict.fromkeys(splits) for _ in range(2)]


def test_an_inlier_class_belongs_to_the_datasets_that_have_it():
    cells = Sweep([DetectorChoice("llr")], ["20news", "agnews"], inliers=["sci", "rec"]).expand()
    found = {f"{cell.split.dataset} {cell.split.inlier}" for cell in cells}
    assert found == {"20news sci", "20news rec", "agnews sci"}


def test_a_preset_may_be_a_grid():
    cells = Sweep([DetectorChoice("iforest", "paper-grid")], ["agnews"], ["sci"], [0]).expand()
    assert [cell.configuration for cell in cells] == [
        f"encoder=mean, n_estimators={n}, normalize=false" for n in (64, 100, 128, 256)
    ]


@pytest.mark.parametrize(
    ("sweep", "error", "quoted"),
    [
        (
            Sweep([DetectorChoice("ocsvm", "paper")], ["20news"]),
            UnknownNameError,
            "preset .*ocsvm .*20news .*'paper'.*'paper-grid'",
        ),
        (
            Sweep([DetectorChoice("ocsvm", settings={"n": 1})], ["20news"]),
            UnknownNameError,
            "parameter .*ocsvm .*'n'",
        ),
        (
            Sweep([DetectorChoice("pyod-knn", settings={"k": 1})], ["20news"]),
            UnknownNameError,
            "parameter .*pyod-knn .*'k'",
        ),
        (
            Sweep([DetectorChoice("llr")], ["20news"], contamination=[-0.1]),
            InvalidValueError,
            r"contamination .*\[0, 0\.5\), got -0\.1",
        ),
        (
            Sweep([DetectorChoice("llr", settings={"contamination": 0})], ["20news"]),
            InvalidValueError,
            r"contamination .*\(0, 0\.5\], got 0\.$",
        ),
    ],
)
def test_a_wrong_name_or_value_stops_the_sweep_before_it_begins(sweep, error, quoted):
    with pytest.raises(error, match=quoted) as caught:
        sweep.expand()
    assert caught.type is error


def test_a_setting_goes_to_the_detectors_that_have_it():
    settings = {"nu": 0.2, "encoder": "svd"}
    choices = list(map(DetectorChoice, ["llr", "ocsvm", "pyod-knn"]))
    chosen = [choice.settings for choice in choose(choices, None, settings)]
    assert chosen == [{}, {"nu": 0.2, "encoder": "svd"}, {"encoder": "svd"}]


def test_a_preset_and_settings_go_before_those_of_a_choice_itself():
    own = DetectorChoice("ocsvm", "paper-grid", {"nu": 0.5, "kernel": "rbf"})
    one, other = choose([own, DetectorChoice("iforest")], "default", {"nu": 0.2})
    assert one == DetectorChoice("ocsvm", "default", {"nu": 0.2, "kernel": "rbf"})
    assert other == DetectorChoice("iforest", "default")


@pytest.mark.parametrize(
    ("settings", "quoted"),
    [
        ({"nuu": 1}, "parameter .*llr, ocsvm .*'nuu'.*'nu'"),
        ({"ocsvm.nu": 1}, r"parameter .*llr, ocsvm .*'ocsvm\.nu'.*: background, "),
        ({"random_state": 1}, "random_state .*--seed"),
    ],
)
def test_a_setting_that_nobody_has_is_refused(settings, quoted):
    with pytest.raises(InvalidValueError, match=quoted):
        choose([DetectorChoice("llr"), DetectorChoice("ocsvm")], None, settings)


def test_the_order_of_settings_does_not_matter():
    settings = {"cap": 1, "smoothing": 2}
    one, other = a_cell(settings=settings), a_cell(settings=dict(reversed(settings.items())))
    assert one == other
    assert one.configuration == other.configuration == "cap=1, smoothing=2"


def test_a_setting_that_makes_configurations_of_a_grid_equal_leaves_one():
    sweep = Sweep([DetectorChoice("iforest", "paper-grid", {"n_estimators": 8})], ["agnews"], ["sci"], [0])
    assert len(sweep.expand()) == 1


def test_a_plug_in_that_cannot_be_made_is_one_line(monkeypatch):
    class Broken:
        def __init__(self):
            raise RuntimeError("no licence")

    monkeypatch.setattr(module.registry, "detector", lambda name: adapted(Broken))
    with pytest.raises(PluginError, match=r"Broken .*built .*: RuntimeError: no licence"):
        build_detector(a_cell())


def test_the_seed_reaches_the_detector():
    assert build_detector(a_cell(detector="iforest", seed=7)).random_state == 7


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 1},
        {"inlier": "rec"},
        {"contamination": 0.1},
        {"settings": {"smoothing": 5.0}},
        {"preset": "other"},
        {"test_outliers": 0.05},
        {"known": 10},
        {"known": 10, "known_from": "rec"},
        {"protocol": "leave-one-out"},
        {"detector": "ocsvm", "settings": {"encoder": "svd"}},
    ],
)
def test_every_part_of_a_cell_is_part_of_its_definition(change):
    corpus = tiny_corpus()
    assert cell_id(definition(a_cell(), corpus)) != cell_id(definition(a_cell(**change), corpus))


@pytest.mark.parametrize(
    ("axis", "value", "text"),
    [
        ("test_outliers", 0.05, "5% outliers in the test set"),
        ("protocol", "rank-all", "rank-all"),
        ("known", 10, "10 known outliers"),
    ],
)
def test_an_axis_of_the_split_is_part_of_a_cell_and_absent_by_default(axis, value, text):
    usual, other = a_cell(), a_cell(**{axis: value})
    assert other.identity != usual.identity
    assert str(other) == f"{usual}, {text}"
    added = definition(other, tiny_corpus()).items() ^ definition(usual, tiny_corpus()).items()
    assert added == {(axis, str(value))}


def test_the_protocol_of_a_sweep_decides_its_splits_and_levels():
    sweep = Sweep([DetectorChoice("llr")], ["agnews"], protocol="leave-one-out")
    cells = sweep.expand()
    assert {cell.split.inlier for cell in cells} == {"not-world", "not-sports", "not-business", "not-sci"}
    assert {cell.split.contamination for cell in cells} == {0, 0.05, 0.1, 0.15}
    ranking = replace(sweep, protocol="rank-all").expand()
    assert {cell.split.contamination for cell in ranking} == {0.05, 0.1, 0.15}
    with pytest.raises(UnknownNameError, match=r"inlier class .*agnews .*'sci'"):
        replace(sweep, inliers=["sci"]).expand()


def test_the_share_of_test_outliers_of_a_sweep_reaches_its_cells():
    sweep = Sweep([DetectorChoice("llr")], ["agnews"], ["sci"], axes={"test_outliers": [0.1, 1]})
    assert {cell.split.test_outliers for cell in sweep.expand()} == {0.1, 1}
    with pytest.raises(InvalidValueError, match=r"test_outliers .* got 1\.5"):
        replace(sweep, axes={"test_outliers": [1.5]}).expand()


def test_a_sweep_has_each_value_of_each_axis_once():
    axes = {"known": [0, 10], "known_from": ["sci", "world"], "test_outliers": [1.0, 0.1]}
    sweep = Sweep([DetectorChoice("llr")], ["agnews"], ["sci", "world"], [0.05], axes=axes)
    keys = sweep.splits()
    assert [cell.split for cell in sweep.expand()] == keys
    assert len(keys) == len(set(keys))
    assert {(key.known, key.known_from, key.test_outliers) for key in keys if key.inlier == "sci"} == {
        *((0, "", share) for share in (1.0, 0.1)),  # without known outliers, they have no class
        *((10, "world", share) for share in (1.0, 0.1)),  # the normal class has none
    }


def test_known_outliers_are_of_no_normal_class():
    sweep = Sweep([DetectorChoice("llr")], ["agnews"], contamination=[0.05], protocol="leave-one-out")
    keys = replace(sweep, axes={"known": [10], "known_from": ["sci"]}).splits()
    assert [key.inlier for key in keys] == ["not-sci"]
    with pytest.raises(InvalidValueError, match="sci"):
        replace(sweep, inliers=["not-world"], axes={"known": [10], "known_from": ["sci"]}).splits()
    with pytest.raises(InvalidValueError, match="got 10"):
        replace(sweep, protocol="rank-all", axes={"known": [10]}).splits()


def test_corpus_code_and_resources_are_part_of_the_definition(monkeypatch):
    first = cell_id(definition(a_cell(), tiny_corpus()))
    assert first == cell_id(definition(a_cell(), tiny_corpus()))
    assert first != cell_id(definition(a_cell(), tiny_corpus(" more")))
    for name, changed in [
        ("code_version", lambda *plugin: "changed"),
        ("libraries", lambda *plugin, declared: "numpy 0.1"),
        ("HARNESS_VERSION", 0),
    ]:
        with monkeypatch.context() as patch:
            patch.setattr(f"adbench_text.run.definition.{name}", changed)
            assert first != cell_id(definition(a_cell(), tiny_corpus()))
    kind = type(build_detector(a_cell()))
    monkeypatch.setattr(kind, "resources", lambda self: {"wordfreq": "0"})
    assert first != cell_id(definition(a_cell(), tiny_corpus()))


def test_raw_documents_are_part_of_the_definition_of_a_detector_that_reads_them():
    def as_written(text):
        labels = np.array([0, 1])
        parts = Documents(["a", "b"], labels), Documents([text, "Gamma 5"], labels)
        return replace(tiny_corpus(), written_train=parts[0], written_test=parts[1])

    one, other = as_written("Alpha 1"), as_written("Alpha 2")
    assert definition(a_cell(), one) == definition(a_cell(), tiny_corpus())
    reading = [definition(a_cell(detector="form"), each) for each in (one, other)]
    assert cell_id(reading[0]) != cell_id(reading[1])
    assert dict(reading[0].items() - reading[1].items()) == {"resource.raw_documents": one.raw.digest}
    assert reading[0]["dataset_digest"] == tiny_corpus().digest


def test_a_detector_made_of_others_refuses_one_that_reads_raw_documents():
    with pytest.raises(InvalidValueError, match=r"form in 'llr, form' .*member: .*written"):
        build_detector(a_cell(detector="ensemble", settings={"members": "llr, form"}))


def replace_detectors(monkeypatch, kind) -> None:
    """Every name is that of one detector."""
    monkeypatch.setattr(module.registry, "detector", lambda name: adapted(kind))
    monkeypatch.setattr(module.registry, "module_of", lambda of, name: __name__)


def ids(*choices) -> set[str]:
    """The ids of the cells of detectors on one split."""
    cells = Sweep(choices, ["agnews"], ["sci"], [0]).expand()
    return {cell_id(definition(cell, tiny_corpus())) for cell in cells}


@pytest.mark.parametrize(
    ("settings", "other"),
    [
        ({}, {"smoothing": 10000, "cap": 4}),  # the defaults
        ({"smoothing": 100}, {"smoothing": 1e2}),
        ({"contamination": 0.3}, {"contamination": 0.2}),  # of the threshold, which no metric needs
    ],
)
def test_equal_settings_written_in_different_ways_are_one_cell(settings, other):
    choices = [DetectorChoice("llr", settings=each) for each in (settings, other)]
    assert len(ids(*choices)) == 1
    assert len(Sweep(choices, ["agnews"], ["sci"], [0]).expand()) == 1


def test_a_contamination_that_is_no_threshold_is_a_setting_like_others(monkeypatch):
    class Trimming:
        """Leaves out this share of the training texts."""

        def __init__(self, contamination: float = 0.1) -> None:
            self.contamination = contamination

    replace_detectors(monkeypatch, Trimming)
    assert len(ids(*(DetectorChoice("d", settings={"contamination": c}) for c in (0.2, 0.3)))) == 2


class Duck:
    """A detector of another package: only fit and decision_function."""

    def __init__(self, power: int = 1) -> None:
        self.power = power


def test_any_class_with_the_two_methods_will_do(monkeypatch):
    replace_detectors(monkeypatch, Duck)
    assert build_detector(a_cell(detector="duck", settings={"power": 3})).wrapped.power == 3
    assert definition(a_cell(detector="duck", settings={"power": 3}), tiny_corpus())["detector.power"] == "3"
    with pytest.raises(UnknownNameError, match=r"parameter .*'powr'.*'power'"):
        build_detector(a_cell(detector="duck", settings={"powr": 3}))


def test_a_choice_by_the_test_labels_is_part_of_the_definition(tmp_path):
    settings = {"vectors": write_vectors(tmp_path / "topics.vec")}
    honest = a_cell(detector="cvdd", settings=settings)
    oracle = a_cell(detector="cvdd", settings={**settings, "score": "context_best"})
    assert "oracle" not in definition(honest, tiny_corpus())
    assert definition(oracle, tiny_corpus())["oracle"] == "true"


@pytest.mark.parametrize(
    ("preset", "settings", "n"),
    [(None, {"nu": 0.2}, 1), ("paper-grid", {}, 16), ("paper-grid", {"nu": 0.05, "encoder": "mean"}, 2)],
)
def test_a_cell_knows_how_many_configurations_its_preset_has(preset, settings, n):
    cells = Sweep([DetectorChoice("ocsvm", preset, settings), DetectorChoice("ocsvm")], ["agnews"]).expand()
    assert {cell.n_configurations for cell in cells if cell.settings} == {n}
    assert {cell.n_configurations for cell in cells if not cell.settings} == {1}


def test_the_text_of_an_object_has_no_address_in_memory():
    class Tokenizer: ...

    assert text_of_value([len, Tokenizer]) == text_of_value([len, Tokenizer])
    assert text_of_value(Tokenizer()) == text_of_value(Tokenizer())
    assert text_of_value(len) != text_of_value(max)
