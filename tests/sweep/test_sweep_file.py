from pathlib import Path

import pytest

from adbench_text.errors import DataError, InvalidValueError, UnknownNameError
from adbench_text.sweep.file import find, names, read
from adbench_text.sweep.names import expand
from adbench_text.sweep.sweep import DetectorChoice, Sweep


@pytest.fixture
def sweep(tmp_path):
    def sweep(text: str | bytes):
        path = tmp_path / "sweep.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read(path)

    return sweep


def test_a_detector_of_a_file_may_be_for_some_seeds_and_datasets_only(sweep):
    content = sweep('detector = ["llr", { name = "ocsvm", seed = 1, dataset = ["agnews"] }]')
    choices = content["detector"]
    assert choices == [DetectorChoice("llr"), DetectorChoice("ocsvm", seeds=(1,), datasets=("agnews",))]
    cells = Sweep(choices, ["agnews", "20news"], ["sci"], [0], seeds=[0, 1]).expand()
    assert len([cell for cell in cells if cell.detector == "llr"]) == 4
    assert [(cell.dataset, cell.seed) for cell in cells if cell.detector == "ocsvm"] == [("agnews", 1)]
    with pytest.raises(InvalidValueError, match="seed must be a whole number, got 'one'"):
        sweep('detector = [{ name = "ocsvm", seed = "one" }]')
    with pytest.raises(InvalidValueError, match="dataset must be text, got 1"):
        sweep('detector = [{ name = "ocsvm", dataset = 1 }]')


def test_everything_that_options_set_can_be_set_in_a_file(sweep):
    said = sweep(
        """
        dataset = ["20news", "agnews"]
        detector = ["llr", { name = "ocsvm", preset = "paper-grid", set = { nu = 0.2 } }]
        inlier = ["sci"]
        contamination = [0, 0.05]
        seed = [0, 1]
        preset = "default"
        limit = 50
        test_outliers = 0.05
        protocol = "leave-one-out"
        text = "body"
        label = "queue"
        split = "fold"

        [set]
        vectors = "glove-wiki-gigaword-300"
        normalize = false
        """
    )
    assert said == {
        "dataset": ["20news", "agnews"],
        "detector": [DetectorChoice("llr"), DetectorChoice("ocsvm", "paper-grid", {"nu": 0.2})],
        "inlier": ["sci"],
        "contamination": [0, 0.05],
        "seed": [0, 1],
        "preset": "default",
        "limit": 50,
        "test_outliers": 0.05,
        "protocol": "leave-one-out",
        "text": ["body"],
        "label": "queue",
        "split": "fold",
        "set": {"vectors": "glove-wiki-gigaword-300", "normalize": False},
    }


def test_a_list_of_one_may_be_written_without_brackets(sweep):
    said = sweep('dataset = "agnews"\ndetector = "llr"\ncontamination = 0.1\nseed = 3\ninlier = "sci"')
    assert said == {
        "dataset": ["agnews"],
        "detector": [DetectorChoice("llr")],
        "contamination": [0.1],
        "seed": [3],
        "inlier": ["sci"],
    }


def test_a_single_detector_may_be_a_table(sweep):
    assert sweep('[detector]\nname = "ocsvm"\nset.nu = 0.2') == {
        "detector": [DetectorChoice("ocsvm", settings={"nu": 0.2})]
    }
    assert sweep('[[detector]]\nname = "llr"\n[[detector]]\nname = "llr"\nset.smoothing = 1')["detector"] == [
        DetectorChoice("llr"),
        DetectorChoice("llr", settings={"smoothing": 1}),
    ]


@pytest.mark.parametrize(
    "text",
    ['[set]\n"ocsvm.nu" = 0.2', "[set.ocsvm]\nnu = 0.2"],
)
def test_a_setting_of_one_detector_may_be_written_in_any_way_of_toml(text, sweep):
    assert sweep(text) == {"set": {"ocsvm.nu": 0.2}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('datset = "agnews"', "named 'datset'. Did you mean 'dataset'?"),
        ("xyz = 1", "named 'xyz'. Known: contamination"),
        ('detector = { name = "ocsvm", sett = 1 }', "named 'sett'. Did you mean 'set'?"),
        ('detector = { name = "ocsvm", xyz = 1 }', "named 'xyz'. Known: dataset, name,"),
        ("detector = { preset = 'x' }", "a detector needs a name, got {'preset': 'x'}"),
        ("detector = { name = 1 }", "name must be text, got 1"),
        ("detector = 1", "detector must be text or a table, got 1"),
        ("dataset = ['agnews', 1]", "dataset must be text, got 1"),
        ("inlier = {}", "inlier must be text, got {}"),
        ("contamination = ['0.1']", "contamination must be a whole number or a number, got '0.1'"),
        ("seed = 1.0", "seed must be a whole number, got 1.0"),
        ("seed = true", "seed must be a whole number, got True"),
        ("seed = 4294967296", "seed must be from 0 to 2**32 - 1, got 4294967296"),
        ("limit = 0", "limit must be from 1"),
        ("test_outliers = [0.1]", "test_outliers must be a whole number or a number, got [0.1]"),
        ("set = 'nu=1'", "set must be a table, got 'nu=1'"),
        ("detector = []", "detector must have at least one entry"),
        ("dataset = = 'a'", "is not valid TOML"),
        (b"dataset = '\xff'", "is not valid TOML"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line_that_names_the_file(text, message, sweep):
    with pytest.raises(InvalidValueError) as caught:
        sweep(text)
    assert message in str(caught.value)
    assert "sweep.toml" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 2


def test_an_unknown_key_is_an_unknown_name(sweep):
    with pytest.raises(UnknownNameError):
        sweep("seeds = [1]")


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    for path in (tmp_path / "absent.toml", tmp_path):
        with pytest.raises(DataError, match=f"Cannot read the sweep {path}") as caught:
            read(path)
        assert caught.value.exit_code == 1


@pytest.mark.parametrize("name", names())
def test_a_sweep_that_comes_with_the_package_can_be_run(name):
    said = read(find(name))
    datasets = expand("dataset", said["dataset"])
    sweep = Sweep(said["detector"], datasets, (), said.get("contamination"), said["seed"])
    cells = sweep.expand()
    assert len(cells) == len(set(cells)) > 0


def test_the_demonstration_compares_the_default_of_odd_with_six_others_at_two_levels():
    demo = read(find("demo"))
    assert DetectorChoice("mean", "robust") in demo["detector"]
    assert len(demo["detector"]) == 7  # README names the number
    assert len(demo["contamination"]) == 2


def test_a_sweep_is_found_by_name_or_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert find("main").is_file()
    assert find("folder/main") == Path("folder/main")
    assert find("mine.toml") == Path("mine.toml")
    (tmp_path / "mine").write_text("")
    assert find("mine") == Path("mine")
    with pytest.raises(UnknownNameError, match=r"No sweep named 'mian'. Did you mean 'main'"):
        find("mian")
