"""File and line of an error are those of the plug-in's innermost frame."""

import importlib
import json
import re

import pytest

from adbench_text.errors import DataError, PluginError
from adbench_text.failures import as_plugin_error, described, message_of, place_of_error
from adbench_text.plugins import registry


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of two modules, of which one calls the other, which calls a library."""
    folder = tmp_path / "package_of_places"
    folder.mkdir()
    (folder / "__init__.py").write_text(
        "from package_of_places.inner import parse\n\n\nclass Mine:\n"
        "    def read(self):\n        return parse('{')\n"
    )
    (folder / "inner.py").write_text("import json\n\n\ndef parse(text):\n    return json.loads(text)\n")
    monkeypatch.syspath_prepend(tmp_path)
    return importlib.import_module("package_of_places")


def test_the_place_is_that_of_the_innermost_frame_in_the_package(package):
    with pytest.raises(json.JSONDecodeError) as caught:
        package.Mine().read()
    assert place_of_error(caught.value, "package_of_places") == " (inner.py:5)"
    assert place_of_error(caught.value, "package_of_places.other") == " (inner.py:5)"
    assert place_of_error(caught.value, "elsewhere") == ""
    assert described(caught.value, "package_of_places").endswith("(char 1) (inner.py:5)")
    assert "(inner.py" not in described(caught.value)


def test_one_of_our_plug_ins_is_its_own_file_or_folder():
    with pytest.raises(ValueError) as caught:
        registry.detector("date")(hidden=5).fit(["a text"])
    assert place_of_error(caught.value, "adbench_text.detectors.date.windows").startswith(
        " (date/__init__.py:"
    )
    assert place_of_error(caught.value, "adbench_text.detectors.ocsvm") == ""


class UnprintableError(Exception):
    def __str__(self):
        raise SystemExit

    __repr__ = __str__


def test_an_error_is_one_printable_line_whatever_its_text():
    assert re.fullmatch(r"UnprintableError: \(.*printed\)", described(UnprintableError()))
    assert described(ValueError("a\n b \x1b[2J \udcff")) == "ValueError: a b \ufffd[2J \ufffd"
    assert message_of(ValueError(" a\n b ")) == "a b"


@pytest.mark.parametrize("error", [RuntimeError("no luck"), SystemExit(3), UnprintableError()])
def test_any_error_of_a_plug_in_is_one_of_ours(error):
    with (
        pytest.raises(PluginError, match=f"^It fails: {type(error).__name__}"),
        as_plugin_error("It fails", ""),
    ):
        raise error


@pytest.mark.parametrize(
    "error", [DataError("a file is missing"), KeyboardInterrupt(), GeneratorExit(), pytest.skip.Exception()]
)
def test_errors_on_purpose_and_those_of_the_program_stay(error):
    with pytest.raises(type(error)) as caught, as_plugin_error("It fails", ""):
        raise error
    assert caught.value is error
