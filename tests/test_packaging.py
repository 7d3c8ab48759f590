"""The wheel, the sdist and the image hold what the folders hold, and editable installations work."""

import functools
import http.server
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import threading
import tomllib
import zipfile
from email import message_from_bytes
from pathlib import Path
from typing import Any

import pytest
import yaml

import adbench_text
from adbench_text.plugins import registry

ROOT = Path(__file__).parents[1]
FOLDERS = ("adbench_text", "detectors", "datasets", "reports")
SOURCES = (".py", ".pyi", ".json", ".toml", ".html", ".css", ".js", ".typed", ".gz", ".txt")


def in_folders() -> set[str]:
    found = set()
    for folder in FOLDERS:
        prefix = "" if folder == "adbench_text" else "adbench_text/"
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (*SOURCES, ".csv") or path.name == "SKILL.md":
                found.add(prefix + path.relative_to(ROOT).as_posix())
    return found


def copy_source(folder: Path) -> Path:
    """Copy what an installation is made from; builds write into it."""
    folder.mkdir(exist_ok=True)
    for name in (*FOLDERS, "pyproject.toml", "setup.py", "README.md", "LICENSE", "MANIFEST.in"):
        origin = ROOT / name
        if origin.is_dir():
            shutil.copytree(origin, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(origin, folder / name)
    return folder


def output_of(*command: object) -> str:
    """Run a command that does not find this checkout by PYTHONPATH; return what it prints."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment, cwd=os.sep)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def wheel_of(source: Path, out: Path) -> Path:
    # setuptools is taken from this environment, so that nothing is downloaded
    output_of(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", out, source)
    return next(out.glob("*.whl"))


def contents(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return wheel_of(copy_source(tmp_path_factory.mktemp("source")), tmp_path_factory.mktemp("wheel"))


@pytest.mark.slow
def test_the_wheel_holds_what_the_folders_hold(wheel):
    assert contents(wheel) == in_folders()


def described(metadata: bytes) -> str:
    """The description of a distribution, as a package index gets it."""
    return message_from_bytes(metadata).get_payload(decode=True).decode()


def metadata_of(wheel: Path) -> bytes:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        return archive.read(name)


@pytest.mark.slow
def test_the_description_is_readme_with_links_to_the_tag_of_this_version(wheel):
    source, tag = project()["urls"]["Source"], f"v{adbench_text.__version__}"
    text, readme = described(metadata_of(wheel)), (ROOT / "README.md").read_text()
    assert re.sub(rf"{re.escape(source)}/(?:blob|raw)/{re.escape(tag)}/", "", text) == readme
    targets = re.findall(r"\]\(([^)\s]+)|(?:src|href|srcset)=\"([^\"]+)", text)
    assert all(re.match("https?://|#", link or attribute) for link, attribute in targets)
    assert f"]({source}/blob/{tag}/docs/results.md)" in text
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text)
    assert pictures
    assert all(each.startswith(f"{source}/raw/{tag}/") for each in pictures)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_a_package_follows_the_folders_and_names_the_commit_that_it_was_built_from(wheel, tmp_path):
    source = copy_source(tmp_path / "source")
    shutil.rmtree(source / "detectors" / "cvdd")  # added or deleted by its folder alone
    (source / "detectors" / "mine").mkdir()
    (source / "detectors" / "mine" / "__init__.py").write_text("")
    person = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for command in (["init", "--quiet"], ["add", "."], [*person, "commit", "--quiet", "-m", "all"]):
        output_of("git", "-C", source, *command)
    commit = output_of("git", "-C", source, "rev-parse", "HEAD").strip()
    code = (
        "import adbench_text; from adbench_text.plugins import registry\n"
        "from adbench_text.reports.formats import csv\n"
        "from adbench_text.reports.published import figures\n"
        "from adbench_text.store.writing import run_tags\n"
        "print(run_tags()['mlflow.source.git.commit'])\n"
        "print(len(figures('agnews', 'auroc')), len(adbench_text.results('main')), end=' ')\n"
        "print(*registry.names('datasets'))\n"
        "llr = sys.modules[registry.detector('llr').__module__]\n"
        "print(*(each.__file__ for each in (adbench_text, csv, llr)))"
    )
    built = wheel_of(source, tmp_path / "out")
    deleted = {name for name in in_folders() if name.startswith("adbench_text/detectors/cvdd/")}
    added = {"adbench_text/detectors/mine/__init__.py", "adbench_text/commit.txt"}
    assert contents(built) == in_folders() - deleted | added
    for file, expected in ((built, commit), (wheel, "unknown (installed without git)")):
        folder = tmp_path / expected[:7]
        with zipfile.ZipFile(file) as archive:
            archive.extractall(folder)
        path = f"import sys; sys.path.insert(0, {str(folder)!r}); "
        named, known, files = output_of(sys.executable, "-I", "-c", path + code).splitlines()
        assert named == expected
        assert set(registry.names("datasets")) <= set(known.split())
        assert all(Path(file).is_relative_to(folder) for file in files.split())


@pytest.mark.slow
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="needs a checkout")
def test_the_sdist_holds_every_file_of_the_checkout_and_the_description_of_the_wheel(wheel, tmp_path):
    source, tracked = tmp_path / "source", output_of("git", "-C", ROOT, "ls-files").splitlines()
    for name in tracked:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, source / name)
    output_of(sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", tmp_path, source)
    with tarfile.open(next(tmp_path.glob("*.tar.gz"))) as archive:
        held = {name.partition("/")[2]: name for name in archive.getnames()}
        metadata, readme = (archive.extractfile(held[each]).read() for each in ("PKG-INFO", "README.md"))
    assert held.keys() >= set(tracked)
    assert described(metadata) == described(metadata_of(wheel))
    assert readme == (ROOT / "README.md").read_bytes()


def test_the_citation_is_of_this_version():
    assert f"\nversion: {adbench_text.__version__}\n" in (ROOT / "CITATION.cff").read_text()


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_the_image_gets_what_an_installation_is_made_from_and_extras_that_exist(tmp_path):
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    sent = {line.removeprefix("!") for line in lines if line.startswith("!")}
    made_from = {path.name for path in copy_source(tmp_path / "source").iterdir()} - {"MANIFEST.in"}
    assert sent == made_from | {"constraints.txt", "reports/results/*.csv"}
    (extras,) = re.findall('^ARG EXTRAS="(.*)"$', (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    assert set(extras.split()) <= set(project()["optional-dependencies"])


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_a_release_needs_neither_this_package_nor_its_dependencies():
    lines = output_of("make", "-C", ROOT, "--dry-run", "--always-make", "dist").splitlines()
    assert any("twine check --strict" in line for line in lines)
    assert not [line for line in lines if ".venv" in line or "--editable" in line]


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
@pytest.mark.parametrize("has_links", [True, False])
def test_the_assembled_package_holds_what_the_folders_hold(has_links, tmp_path):
    source, programs = copy_source(tmp_path / "source"), tmp_path / "programs"
    shutil.copy(ROOT / "Makefile", source)
    programs.mkdir()
    if not has_links:
        (programs / "ln").symlink_to(shutil.which("false"))
    output_of(
        "env", f"PATH={programs}{os.pathsep}{os.environ['PATH']}", "make", "-C", source, "build/assembled"
    )
    package = source / "build" / "assembled" / "adbench_text"
    assert {path.is_symlink() for path in package.iterdir()} == {has_links}
    assert all((package.parent / name).is_file() for name in in_folders())


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_an_image_needs_docker_or_podman(tmp_path):
    for name in ("make", "sh"):
        (tmp_path / name).symlink_to(shutil.which(name))
    command = ["make", "-C", ROOT, "image"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={"PATH": str(tmp_path)})
    message, of_make = done.stderr.splitlines()
    assert re.match("make image .*docker .*podman", message)
    assert of_make.startswith("make: ***")


def torch_index(*variables: str) -> str:
    """Return where `make` would take torch from."""
    command = ["make", "-C", ROOT, "--dry-run", "--what-if=pyproject.toml", ".venv/installed", *variables]
    environment = {name: value for name, value in os.environ.items() if name != "TORCH_INDEX"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return re.search('index="(.*?)"', done.stdout).group(1)


@pytest.mark.skipif(not sys.platform.startswith("linux") or shutil.which("make") is None, reason="needs make")
@pytest.mark.skipif(Path("/proc/driver/nvidia").exists(), reason="torch for GPUs is right here")
def test_make_takes_the_cpu_build_of_torch_where_its_index_answers(tmp_path):
    (tmp_path / "torch").mkdir()
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=tmp_path)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        assert torch_index(f"CPU_INDEX={url}") == url
        server.shutdown()
    assert torch_index(f"CPU_INDEX={url}") == ""
    assert torch_index("TORCH_INDEX=https://index.example/cpu") == "https://index.example/cpu"


def test_the_workflow_runs_the_commands_of_readme_on_every_python_of_the_package():
    (job,) = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text())["jobs"].values()
    begin = (ROOT / "README.md").read_text().partition("## Begin")[2]
    lines = [line.partition("  #")[0].strip() for line in re.findall("^    (.*)$", begin, re.MULTILINE)]
    run = [step["run"] for step in job["steps"] if "run" in step]
    assert run == [*lines[:2], "make slow", "make gallery"]
    kind = "Programming Language :: Python :: "
    versions = [each.removeprefix(kind) for each in project()["classifiers"] if each.startswith(kind)]
    assert job["strategy"]["matrix"]["python"] == versions


def test_the_workflow_of_lint_runs_make_lint():
    (job,) = yaml.safe_load((ROOT / ".github/workflows/lint.yml").read_text())["jobs"].values()
    assert [step["run"] for step in job["steps"] if "run" in step] == ["make lint"]


def test_the_hooks_are_the_checks_of_make_lint():
    (repo,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    recipe = (ROOT / "Makefile").read_text().partition("\nlint: ")[2].partition("\n\n")[0]
    checks = re.findall(r"^\t\$\(BIN\)/(.+?)(?: \.)?$", recipe, re.MULTILINE)
    assert [hook["name"] for hook in repo["hooks"]] == checks
    assert all(f".venv/bin/{hook['name']}" in hook["entry"] for hook in repo["hooks"])


@pytest.fixture
def environment(tmp_path) -> Path:
    """A new virtual environment with the packages of this one, except ours."""
    folder = tmp_path / "environment"
    output_of(sys.executable, "-m", "venv", "--without-pip", folder)
    # the .pth files of a folder that is named in a .pth file are not read: our own is not installed in it
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    return folder


#: Ends a process that opens files of another copy of the package than the installed one.
def write_startup(packages: Path, code: str) -> None:
    """Let each process of an environment run code first; a system may have a sitecustomize of its own."""
    (packages / "startup_of_test.py").write_text(code)
    (packages / "startup_of_test.pth").write_text("import startup_of_test\n")


NO_OTHER_COPY = """\
import os, sys
def refuse(event, arguments):
    path = arguments[0] if event == "open" else None
    if isinstance(path, str) and "/adbench_text/" in path and not path.startswith({folder!r}):
        os.write(2, path.encode())
        os._exit(86)
sys.addaudithook(refuse)
"""


@pytest.mark.slow
@pytest.mark.timeout(1800)  # of two slow cores that others use, too
def test_the_first_commands_work_with_the_wheel_alone(wheel, environment, tmp_path):
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--disable-pip-version-check",
        "--python",
        environment / "bin" / "python",
    ]
    output_of(*pip, "install", "--no-index", "--no-deps", wheel)
    (packages,) = environment.glob("lib/python*/site-packages")
    write_startup(packages, NO_OTHER_COPY.format(folder=f"{tmp_path}{os.sep}"))
    other = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import adbench_text"
    assert subprocess.run([environment / "bin" / "python", "-I", "-c", other], check=False).returncode == 86

    here = tmp_path / "here"
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "OMP_NUM_THREADS") if name in os.environ}
    empty = {f"XDG_{kind}_HOME": str(tmp_path / kind) for kind in ("DATA", "CACHE", "CONFIG", "STATE")}
    settings = {"HOME": str(tmp_path / "home"), "ADBENCH_TEXT_OFFLINE": "1"}
    for folder in (here, *empty.values(), settings["HOME"]):
        Path(folder).mkdir()

    def printed(command: str) -> str:
        words = [str(environment / "bin" / "adbench-text"), *command.split()]
        done = subprocess.run(
            words, cwd=here, env=kept | empty | settings, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert "Drink plenty of tea" in printed("odd --example")
    assert {path.name for path in here.iterdir()} >= {"odd.csv", "odd.html"}
    printed("run -d llr -s pydocs")
    assert (here / "mlflow.db").exists()
    report = printed("report")
    assert all(name in report for name in registry.dataset("pydocs").classes)
    assert "\ncommit: unknown (installed without git)\n" in report  # of the wheel, not of a checkout


def errors_of_types(environment: Path, folder: Path) -> tuple[list[str], list[str]]:
    """Check a file of a user with what is installed in an environment; return errors, and revealed types."""
    for path in environment.glob("lib/python*/site-packages/dependencies.pth"):
        path.unlink()  # mypy takes a minute for the libraries
    (folder / "user.py").write_text(USER)
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--cache-dir",
        folder / "cache",
        "--python-executable",
    ]
    command += [environment / "bin" / "python", folder / "user.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    lines = [line.split(":", 3) for line in done.stdout.splitlines() if line.startswith("user.py:")]
    errors = [f"{number}: {text.rpartition('  ')[2]}" for _, number, kind, text in lines if kind == " error"]
    return errors, [text for *_, text in lines if " Revealed type is " in text]


USER = """\
import adbench_text
from adbench_text import LLR, KNNWords, Scorer, fit_model, odd_documents
from adbench_text import Scorrer
x: int = LLR().fit(3)
model = fit_model(["a", "b"], KNNWords(k=3), alpha=0.1)
odd_documents(["a", "b"], detector=3)
model.scores
table = Scorer(model, alpha=0.1).score(["a"])
print(table["p"])
adbench_text.LRR
""" + "\n".join(f"reveal_type(adbench_text.{name})" for name in adbench_text.__all__)
WRONG = [
    "3: [attr-defined]",
    "4: [arg-type]",
    "5: [call-arg]",
    "6: [arg-type]",
    "7: [attr-defined]",
    "10: [attr-defined]",
]


@pytest.mark.slow
def test_a_type_checker_knows_every_public_name_of_the_wheel(wheel, environment, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(next(environment.glob("lib/python*/site-packages")))
    errors, revealed = errors_of_types(environment, tmp_path)
    assert errors == WRONG
    assert len(revealed) == len(adbench_text.__all__)
    assert not [text for text in revealed if text.endswith('"Any"')]


NO_LINKS = """\
import os
def refused(*arguments, **options):
    raise OSError("a required privilege is not held by the client")
os.symlink = refused
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "has_links"), [("lenient", True), ("strict", True), ("lenient", False)], ids=str
)
def test_an_editable_installation_works(mode, has_links, environment, tmp_path):
    source, scripts = copy_source(tmp_path / "source"), environment / "bin"
    if not has_links:
        (packages,) = environment.glob("lib/python*/site-packages")
        write_startup(packages, NO_LINKS)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", scripts / "python"]
    offline = ["--no-index", "--no-deps", "--no-build-isolation"]
    settings = ["--config-settings", f"editable_mode={mode}"]
    output_of(*pip, "install", *offline, *settings, "--editable", source)
    listed = {
        line.split()[0] for line in output_of(scripts / "adbench-text", "list", "detectors").splitlines()
    }
    assert {"cvdd", "date", "llr", "pyod-knn"} <= listed
    code = (
        "import importlib, adbench_text\n"
        "for name in ('', '.run.engine', '.detectors.date', '.datasets.pydocs', '.reports.formats.html'):\n"
        "    print(importlib.import_module(f'adbench_text{name}').__file__)"
    )
    files = [Path(line) for line in output_of(scripts / "python", "-c", code).splitlines()]
    assert len(files) == 5
    assert all(file.is_relative_to(source) for file in files)
    links = source / "build"  # a strict installation sees links to the files, not the folders
    assert all(file.is_relative_to(links) == (mode == "strict") for file in files)
    types = [*(source / "build" / "types" / "adbench_text-stubs").iterdir()]
    assert {path.is_symlink() for path in types} == {has_links}
    (tmp_path / "user").mkdir()
    errors, revealed = errors_of_types(environment, tmp_path / "user")
    assert errors == WRONG
    assert not [text for text in revealed if text.endswith('"Any"')]


def test_what_the_code_imports_is_declared():
    import ast
    from importlib.metadata import packages_distributions

    extras = project()["optional-dependencies"]
    lists = [project()["dependencies"], extras["distributed"], extras["encoders"]]
    declared = {dependency.split(">")[0].lower() for each in lists for dependency in each}
    imported = set()
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Import):
                    imported |= {alias.name.partition(".")[0] for alias in node.names}
                elif isinstance(node, ast.ImportFrom) and node.module:
                    imported.add(node.module.partition(".")[0])
    distributions = packages_distributions()
    third_party = imported - set(sys.stdlib_module_names) - {"adbench_text"}
    undeclared = {name for name in third_party if declared.isdisjoint(map(str.lower, distributions[name]))}
    assert not undeclared
