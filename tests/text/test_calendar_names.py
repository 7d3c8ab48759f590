"""Names of months and days, which are no subject that grows."""

import pytest
from interpreters import printed

from adbench_text.text.calendar_names import calendar_names
from adbench_text.text.languages import languages, prepared


@pytest.mark.parametrize("language", languages())
def test_each_language_has_names_of_months(language):
    assert len(calendar_names(language)) >= 7


@pytest.mark.parametrize("month", ["listopad", "oktobar", "novembar", "rujan"])
def test_serbo_croatian_has_the_months_of_its_languages(month):
    assert prepared(month, "sh") in calendar_names("sh")


def test_the_names_do_not_depend_on_other_languages():
    code = "from adbench_text.text.calendar_names import calendar_names as f; {}; print(sorted(f('zh')))"
    assert printed(code.format("f('he'), f('en')")) == printed(code.format("0"))
