"""The pages in docs/live are small, and as the commands write them today; otherwise run `make live`."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LIVE = ROOT / "docs" / "live"
ODD = "adbench_text/documents/_marks.js", "adbench_text/pages/_shades.css"
REPORT = "reports/formats/_page.js", "reports/formats/_page.css", "adbench_text/pages/_shades.css"


@pytest.mark.parametrize(("page", "parts"), [("odd.html", ODD), ("report.html", REPORT)])
def test_a_page_has_the_style_and_the_script_of_today(page, parts):
    content = (LIVE / page).read_text(encoding="utf-8")
    assert len(content.encode()) < 1_000_000
    for part in parts:
        assert (ROOT / part).read_text(encoding="utf-8").strip() in content


def test_the_page_of_odd_has_the_first_lines_of_the_list_in_readme():
    content = (LIVE / "odd.html").read_text(encoding="utf-8")
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    (header,) = [number for number, line in enumerate(lines) if line.split()[:3] == ["rank", "id", "p"]]
    for line in lines[header + 1 : header + 5]:
        rank, name, p, _ = line.split(maxsplit=3)
        assert f"<tr><td>{rank}</td>" in content
        assert f"<bdi>{name}</bdi></a></td><td>{p}</td>" in content
