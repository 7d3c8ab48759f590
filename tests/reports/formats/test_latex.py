import re
import shutil
import string
import subprocess
from dataclasses import replace

import pytest

from adbench_text.reports.contents import FORMATS
from adbench_text.reports.report import Entry, Report, Table, figure


def render(*tables: Table, notes: tuple[str, ...] = ()) -> str:
    return FORMATS["latex"].render(Report(list(tables), list(notes)))


def table(n_rows: int, n_columns: int = 1, title: str = "A title", **options) -> Table:
    """A table whose entries say where they are."""
    rows = [
        [Entry(f"row {row}"), *(Entry(f"{row}.{column}") for column in range(n_columns))]
        for row in range(n_rows)
    ]
    return Table(
        title,
        ["dataset", *(f"detector{column} encoder=svd" for column in range(n_columns))],
        rows,
        n_labels=1,
        **options,
    )


def golden_report() -> Report:
    blocks = Table(
        "AUROC (%) by contamination",
        ["dataset", "inlier", "llr", "ocsvm(nu=0.2)", "llr", "ocsvm(nu=0.2)"],
        [
            [Entry(text, best=text == "95.0") for text in row]
            for row in (
                ("made-up", "law", "81.0 ± 1.4", "failed", "90.0", "missing"),
                ("made-up", "sea", "91.0 ± 1.4", "95.0", "70.0", "60.0"),
                ("agnews", "mean", "86.0 ± 1.4", "95.0 (1 of 2)", "80.0†", "–"),
            )
        ],
        {0, 2},
        blocks=[("0%", 2), ("5%", 2)],
    )
    untitled = Table("", ["detector", "rank"], [[Entry("llr"), Entry("1.5", best=True)]], n_labels=1)
    notes = [
        "±: standard deviation over the seeds.",
        "failed: ocsvm(nu=0.2) on made-up/law: MemoryError: 8 GB",
    ]
    return Report([blocks, untitled], notes)


GOLDEN = r"""% needs \usepackage{booktabs}

\begin{table}[htbp]
\centering
\caption{AUROC (\%) by contamination}
\label{tab:auroc-by-contamination}
\begin{tabular}{llrrrr}
\toprule
&  & \multicolumn{2}{c}{0\%} & \multicolumn{2}{c}{5\%} \\
\cmidrule(lr){3-4} \cmidrule(lr){5-6}
dataset & inlier & llr & ocsvm(nu=0.2) & llr & ocsvm(nu=0.2) \\
\midrule
made-up & law & 81.0 ± 1.4 & failed & 90.0 & missing \\
made-up & sea & 91.0 ± 1.4 & \textbf{95.0} & 70.0 & 60.0 \\
\addlinespace
agnews & mean & 86.0 ± 1.4 & 95.0 (1 of 2) & 80.0† & – \\
\bottomrule
\end{tabular}
\end{table}

\begin{table}[htbp]
\centering
\begin{tabular}{lr}
\toprule
detector & rank \\
\midrule
llr & \textbf{1.5} \\
\bottomrule
\end{tabular}
\end{table}

\begin{itemize}
\item ±: standard deviation over the seeds.
\item failed: ocsvm(nu=0.2) on made-up/law: MemoryError: 8 GB
\end{itemize}
"""


def test_a_part_of_a_document():
    assert FORMATS["latex"].render(golden_report()) == GOLDEN


def test_the_result_and_its_provenance_are_comments_of_one_line():
    report = replace(golden_report(), headline="llr is best\n\\end{document}", provenance=[("a", "b\x85c é")])
    lines = FORMATS["latex"].render(report).splitlines()
    assert lines[1:3] == ["% llr is best \\end{document}", "% a: b c é"]


def escaped(text: str) -> str:
    """What is made of a note."""
    return re.search(r"\\item (.*)", render(notes=(text,)))[1]


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("{}$&#%_", r"\{\}\$\&\#\%\_"),
        ("\\x", r"\textbackslash{}x"),
        ("^~", r"\textasciicircum{}\textasciitilde{}"),
        ("a<b>|c", r"a\textless{}b\textgreater{}\textbar{}c"),
        ("\"q\" 'r'", r"\textquotedblright{}q\textquotedblright{} 'r'"),
        ("`s`", r"\textasciigrave{}s\textasciigrave{}"),
        ("''", "'{}'"),  # not one closing quote
        ("--seed ---", "-{}-seed -{}-{}-"),  # not a dash
        ("[0, 1] *", "{[}0, 1{]} {*}"),  # no options of the row's end before them
        ("1 ± 2 – a† b‡ “a” … Łódź 中文 😀", "1 ± 2 – a† b‡ “a” … Łódź 中文 😀"),
        ("\x00\x1b\x7f\u200b\ufeff\ud800", "??????"),
        (" a\r\n\n\tb\u2028c\x85d ", "a b c d"),  # an empty line would end the row
    ],
)
def test_names_are_shown_literally(text, latex):
    assert escaped(text) == latex


def test_everything_from_the_data_is_escaped():
    name = "a_b & 50%"
    shown = r"a\_b \& 50\%"
    text = render(
        Table(name, [name, name], [[Entry(name), Entry(name, best=True)]], n_labels=1, blocks=[(name, 1)]),
        notes=(name,),
    )
    assert rf"\caption{{{shown}}}" in text
    assert rf"\multicolumn{{1}}{{c}}{{{shown}}}" in text
    assert f"\n{shown} & {shown} \\\\\n" in text
    assert f"\n{shown} & \\textbf{{{shown}}} \\\\\n" in text
    assert f"\n\\item {shown}\n" in text
    assert name not in text


def test_a_wide_table_is_cut_between_columns_and_nothing_is_lost():
    text = render(table(2, 9, blocks=[("a", 2), ("b", 7)]))
    parts = text.split(r"\begin{table}")[1:]
    assert len(parts) > 1
    assert [part.count("row 0 & ") for part in parts] == [1] * len(parts)
    assert re.findall(r"\d\.\d", "".join(parts)) == [
        f"{row}.{column}"
        for part in (range(3), range(3, 6), range(6, 9))
        for row in range(2)
        for column in part
    ]
    assert "resizebox" not in text
    assert parts[1].count(r"\multicolumn") == 1  # its columns are of the second block alone


def test_a_table_has_a_label_that_is_the_same_for_other_figures():
    text = render(table(60, title="Mean rank over 7 splits, by AUROC (p = 0.1)"))
    assert text.count(r"\label") == 1
    assert "(p = 0.1)}\n\\label{tab:mean-rank-over-splits}\n" in text
    assert r"\label" not in render(table(1, title=""))


def test_the_notes_of_a_table_are_under_it_once():
    text = render(table(60, notes=["50% of $x"]))
    assert text.count(r"50\% of \$x\par") == 1
    assert text.index(r"50\%") > text.rindex(r"\end{tabular}")


@pytest.mark.parametrize(
    ("starts", "first"),
    [(set(), (0, 26, 52)), ({0, 20, 45, 50}, (0, 20, 45)), (set(range(60)), (0, 26, 52))],
)
def test_a_table_too_long_for_a_page_is_cut_before_a_group_if_possible_and_nothing_is_lost(starts, first):
    text = render(table(60, group_starts=starts))
    assert re.findall(r"\\midrule\n(row \d+)", text) == [f"row {row}" for row in first]
    assert re.findall(r"^(row \d+) &", text, re.M) == [f"row {row}" for row in range(60)]
    pages = text.split(r"\begin{table}")[1:]
    assert len(pages) > 1
    for page in pages:
        assert page.count("\nrow") <= 26
        assert page.count("dataset & ") == 1
        assert "\\midrule\n\\addlinespace" not in page
    assert pages[0].count(r"\caption{A title}") == 1
    for page in pages[1:]:
        assert "\\addtocounter{table}{-1}\n\\caption{A title (continued)}" in page


def test_an_empty_report_is_a_comment():
    assert render() == "% needs \\usepackage{booktabs}\n"


NASTY = [
    *string.punctuation,
    string.printable,
    "\\end{document}",
    "\\input{x}",
    "^^M^^41",
    "",
    "a\n\nb",
    "- -- --- '' `` ,, << ?` !` ?‘ !“",
    "± † ‡ – — “a” … é Łódź \x00 \ud800",
]


HEAD = r"""\documentclass{article}
\usepackage[utf8]{inputenc}
\usepackage[a4paper, landscape, margin=2cm]{geometry}
\usepackage{booktabs}
\usepackage{float}
\setlength{\belowcaptionskip}{6pt}
\begin{document}
"""


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
@pytest.mark.parametrize(
    "text",
    [
        GOLDEN,
        render(
            Table(
                " ".join(NASTY),
                ["[h]", "*"],
                [[Entry(x), Entry(x, best=True)] for x in NASTY],
                n_labels=1,
                blocks=[("*", 1)],
            ),
            Table("", ["a"], [], n_labels=1),
            Table("no columns", [], [[]], n_labels=0),
            table(3, 20),
            notes=tuple(NASTY),
        ),
        render(
            Table(
                "±, a",
                ["a", "b"],
                [[Entry("x"), replace(figure(91.2), spread=1.3, best=True, n_expected=2)]],
                n_labels=1,
            )
        ),
        render(*[table(9)] * 60, table(100, group_starts=set(range(100)))),
        render(Table("", ["", "x"], [[Entry(""), Entry("")]], n_labels=0, blocks=[("", 1), ("", 1)])),
        render(),
    ],
    ids=["golden", "nasty", "spread", "many", "blank", "empty"],
)
def test_a_document_with_it_compiles(text, tmp_path):
    # tables that float are kept back until LaTeX has too many of them
    document = HEAD + text.replace("[htbp]", "[H]") + r"\end{document}"
    (tmp_path / "report.tex").write_text(document, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "report.tex"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, errors="replace", timeout=250
    )
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Float too large" not in done.stdout
