"""The files of sweeps: their keys are options of ``run``."""

import re
from pathlib import Path

import pytest

from adbench_text.cli.options import GENERAL
from adbench_text.cli.run import command, read_sweep
from adbench_text.errors import DataError, InvalidValueError, UnknownNameError
from adbench_text.plugins.configure import DetectorChoice
from adbench_text.run.cell_options import OF_CELLS
from adbench_text.run.sweep_file import find, names, read
from adbench_text.run.sweep_options import sweep_named


@pytest.fixture
def sweep(tmp_path):
    def sweep(text: str | bytes):
        path = tmp_path / "sweep.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return sweep_named(str(path))

    return sweep


def test_a_detector_of_a_file_may_be_for_some_seeds_and_datasets_only(sweep):
    made = sweep(
        """
        dataset = ["agnews", "20news"]
        detector = ["llr", "ocsvm(nu=0.2)"]
        inlier = "sci"
        contamination = 0
        seed = "0-1"

        [only]
        "ocsvm(nu=0.2)" = { seed = 1, dataset = ["ag*"] }
        """
    )
    cells = made.expand()
    assert len([cell for cell in cells if cell.detector == "llr"]) == 4
    (restricted,) = (cell.split for cell in cells if cell.detector == "ocsvm")
    assert (restricted.dataset, restricted.seed) == ("agnews", 1)


def test_everything_that_options_set_can_be_set_in_a_file(sweep):
    made = sweep(
        """
        dataset = ["20news", "agnews"]
        detector = ["llr", "ocsvm:paper-grid(nu=0.2, normalize=false)"]
        inlier = ["sci"]
        contamination = [0, 0.05]
        seed = [0, 1]
        limit = 50
        test_outliers = [0.05, 0.1]
        known_outliers = [0, 10]
        known_from = "world"
        protocol = "leave-one-out"
        set = ["vectors=glove-wiki-gigaword-300"]
        """
    )
    vectors = "glove-wiki-gigaword-300"
    assert made.detectors == [
        DetectorChoice("llr", settings={"vectors": vectors}),
        DetectorChoice("ocsvm", "paper-grid", {"nu": 0.2, "normalize": False, "vectors": vectors}),
    ]
    assert (made.datasets, made.inliers, made.contamination) == (["20news", "agnews"], ["sci"], [0, 0.05])
    assert (made.seeds, made.limit, made.protocol) == ([0, 1], 50, "leave-one-out")
    assert made.axes == {"test_outliers": [0.05, 0.1], "known": [0, 10], "known_from": ["world"]}


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("detector = { name = 1 }", r"sweep\.toml: .*number, got \{'name': 1\}"),
        ("inlier = {}", r"sweep\.toml: .*number, got \{\}"),
        ("contamination = 'high'", r"sweep\.toml: contamination .*number, got 'high'"),
        ("seed = 1.0", r"sweep\.toml: .*seed, .*, got '1\.0'"),
        ("seed = 4294967296", "range .* 4294967295, got '4294967296'"),
        ("limit = []", r"sweep\.toml: limit .*empty"),
        ("limit = 0", "limit .* 1, got 0"),
        ("limit = 'all'", "limit .*number, got 'all'"),
        ("seed = 1\nlimit = [5, 10]", r"sweep\.toml: limit .*one .*got 5, 10"),
        (
            "protocol = ['one-vs-rest', 'rank-all']",
            r"sweep\.toml: protocol .*one .*got one-vs-rest, rank-all",
        ),
        ("jobs = [1, 2]", r"sweep\.toml: jobs .*one .*got 1, 2"),
        (
            "dataset = 'agnews'\ndetector = 'llr'\nknown-from = 'sci'",
            "--known-from sci .*--known-outliers",
        ),
        (
            "dataset = 'agnews'\ndetector = 'llr'\nknown-outliers = 10\nknown-from = 'scy'",
            "class .*'scy'.*'sci'",
        ),
        ("known_from = 'sci'\nknown-from = 'sci'", r"sweep\.toml: .*'known-from' .*'known_from'"),
        ("[set]\nnu = 1", r"sweep\.toml: .*number, got \{'nu': 1\}"),
        ('detector = "llr"\n[only]\nlrr = { seed = 1 }', r"sweep\.toml: .*detector .*'lrr'.*'llr'"),
        ('detector = "llr"\n[only]\nllr = { sed = 1 }', r"sweep\.toml: .*key .*'only' .*'sed'.*'seed'"),
        ('detector = "llr"\n[only]\nllr = 1', r"sweep\.toml: .*table, got 1"),
        ("detector = []", "one --detector; .*adbench-text list"),
        ('detector = "llr("', r"detector .*NAME:PRESET .*, got 'llr\('"),
        ("dataset = = 'a'", r"sweep\.toml .*TOML: .*line 1, column 11"),
        (b"dataset = '\xff'", r"sweep\.toml .*TOML: .*0xff"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(text, quoted, sweep):
    with pytest.raises(InvalidValueError, match=quoted) as caught:
        sweep(text)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 2


def test_each_option_of_run_is_a_key(tmp_path):
    options = {option for param in [*command.params, *GENERAL] for option in param.opts}
    keys = {option.removeprefix("--") for option in options if option.startswith("--")} - {"sweep"}
    texts = {
        "protocol": "rank-all",
        "device": "cpu",
        "errors": "strict",
        "no-header": "true",
        "quotes": "true",
    }
    path = tmp_path / "mine.toml"
    path.write_text("".join(f'{key} = "{texts.get(key, 1)}"\n' for key in sorted(keys)))
    file = read_sweep(str(path))
    assert {*file.others} == keys - {option.name for option in OF_CELLS}
    assert {*file.values, "detectors"} == {option.field for option in OF_CELLS}


@pytest.mark.parametrize("key", ["datset", "sweep", "levels", "no-report"])
def test_another_key_is_refused(key, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(f'{key} = "agnews"\n')
    with pytest.raises(UnknownNameError, match=rf"key .*mine\.toml.* '{key}'") as caught:
        read_sweep(str(path))
    assert {"dataset", "jobs", "offline", "only"} <= {*caught.value.known}


@pytest.mark.parametrize(
    ("line", "quoted"),
    [
        ("jobs = 'many'", "jobs: 'many' "),
        ("cell-timeout = 0", "cell-timeout: 0.0 "),
        ("quiet = 'perhaps'", "quiet: 'perhaps' "),
        ("retry = 'all'", "retry: 'all' "),
        ("device = 'gpu'", "device named 'gpu'"),
        ("known-outliers = -1", "known-outliers .* 0, got -1"),
        ("protocol = 'none'", "protocol named 'none'"),
    ],
)
def test_a_wrong_value_of_a_file_names_the_file(line, quoted, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(line)
    with pytest.raises(InvalidValueError, match=f"mine.toml: .*{quoted}"):
        command.make_context("run", ["--sweep", str(path)])


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("dataset", "20*,agnews"),
        ("contamination", "0,0.05"),
        ("seed", "0-2,7"),
        ("test-outliers", "0.5,1"),
        ("known-outliers", "0,3"),
        ("limit", "5"),
        ("skip-lines", "2"),
        ("set", "nu=0.2"),
        ("jobs", "auto"),
        ("cell-timeout", "2.5"),
    ],
)
def test_a_file_and_the_command_line_read_a_text_alike(key, text, tmp_path):
    (tmp_path / "mine.toml").write_text(f'{key} = "{text}"')
    of_file = command.make_context("run", ["--sweep", str(tmp_path / "mine.toml")]).params
    typed = command.make_context("run", [f"--{key}", text]).params
    assert {**of_file, "sweep": None} == typed != command.make_context("run", []).params


def test_keys_on_how_cells_are_run_change_no_cell(sweep):
    text = 'dataset = "agnews"\ndetector = "llr"\n'
    how = "jobs = 2\nquiet = true\noffline = true\ndata-dir = '.'\nretry = 'failed'\n"
    assert sweep(how + text) == sweep(text)


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    for path in (tmp_path / "absent.toml", tmp_path):
        with pytest.raises(DataError, match=f"sweep {re.escape(str(path))}: ") as caught:
            read(path)
        assert caught.value.exit_code == 1


@pytest.mark.parametrize("name", names())
def test_a_sweep_that_comes_with_the_package_can_be_run(name):
    cells = sweep_named(name).expand()
    assert len(cells) == len(set(cells)) > 0
    assert read_sweep(name).detectors


def test_the_demonstration_compares_the_default_of_odd_with_eight_others_at_two_levels():
    demo = read(find("demo"))
    assert "ensemble:robust" in demo.detectors
    assert len(demo.detectors) == 9  # README names the number
    assert len(demo.values["levels"]) == 2


def test_a_sweep_is_found_by_name_or_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert find("main").is_file()
    assert find("folder/main") == Path("folder/main")
    assert find("mine.toml") == Path("mine.toml")
    (tmp_path / "mine").write_text("")
    assert find("mine") == Path("mine")
    with pytest.raises(UnknownNameError, match=r"sweep .*'mian'.*'main'"):
        find("mian")


@pytest.mark.parametrize(
    ("lines", "verbosity"),
    [("quiet = true", -1), ("verbose = true", 1), ("quiet = false", 0), ("verbose = false", 0), ("", 0)],
)
def test_a_flag_of_a_file_is_that_of_the_command(tmp_path, lines, verbosity):
    (tmp_path / "mine.toml").write_text(f"{lines}\njobs = 2\n")
    values = command.make_context("run", ["--sweep", str(tmp_path / "mine.toml")]).params
    assert (int(values["verbosity"] or 0), values["jobs"]) == (verbosity, 2)
