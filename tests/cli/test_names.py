"""Lists, patterns and ranges on the command line, and completion in a shell."""

import pytest
from commands import adbench, complete, dry_run

pytestmark = pytest.mark.usefixtures("toy_path", "here")


def test_lists_patterns_and_ranges_describe_a_sweep():
    cells = dry_run("-d llr,pyod-k[dn]* -s t* --inlier sea,law --contamination 0,0.1 --seed 0-2,5")
    assert len(cells) == 3 * 2 * 2 * 4
    assert cells[-1] == "pyod-knn on tiny/law at 10%, seed 5"


def test_a_sweep_file_takes_patterns_and_ranges(here):
    (here / "sweep.toml").write_text(
        'detector = ["llr", { name = "pyod-k[dn]*", set = { encoder = "svd" } }]\n'
        'dataset = "t*"\ninlier = "sea"\ncontamination = 0\nseed = ["0-1", 7]\n'
    )
    cells = dry_run("--sweep sweep.toml")
    assert len(cells) == 9
    assert cells[1] == "pyod-kde encoder=svd on tiny/sea at 0%, seed 0"
    assert cells[-1] == "pyod-knn encoder=svd on tiny/sea at 0%, seed 7"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("run -d tiny -s tiny", "Error: 'tiny' is a dataset; use --dataset (-s)."),
        ("run -d llr -s counting", "Error: 'counting' is a detector; use --detector (-d)."),
        ("run -d pyodd-* -s tiny", "No detector matches 'pyodd-*'. Known: "),
        ("run -d llr -s tiny --inlier x*", "No inlier class matches 'x*'. Known: law, sea, sky."),
        ("run -d llr -s tiny --seed 4-0", "A range of seeds goes up"),
        ("run -d llr -s tiny --seed 0,4294967296", "or a range such as 0-4, got '0,4294967296'."),
        ("run -d llr -s tiny --contamination 5", "got 5.0. Did you mean 0.05?"),
        ("run -d llr -s tiny --contamination 0,60", "got 60.0.\n"),
        ("run -d llr -s tiny --test-outliers 10", "got 10. Did you mean 0.1?"),
    ],
)
def test_what_stands_for_nothing_is_one_line(words, message):
    result = adbench(words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert "\n" not in result.stderr[result.stderr.index("Error: ") :].rstrip("\n")


@pytest.mark.parametrize(
    ("words", "incomplete", "names"),
    [
        ("run -d", "ocsvm,ll", ["ocsvm,llr"]),
        ("run -s tiny --inlier", "s", ["sea", "sky"]),
        ("run --encoder", "m", ["mean", "max", "minilm"]),
        ("run --device", "c", ["cpu", "cuda"]),
        ("run -d counting --preset", "", ["default", "grid", "heavy"]),
        ("report --table", "main,r", ["main,ranks"]),
        ("report --format", "h", ["html"]),
        ("odd file.txt -d llr --preset", "r", ["robust"]),
    ],
)
def test_a_shell_completes_names_also_after_a_comma(words, incomplete, names):
    assert sorted(complete(words, incomplete)) == sorted(names)
