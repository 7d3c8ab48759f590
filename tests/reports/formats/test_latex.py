import re
import shutil
import string
import subprocess
from dataclasses import replace

import pytest

from adbench_text.reports.build import Builder
from adbench_text.reports.contents import FORMATS, TABLES
from adbench_text.reports.files import MEASURED
from adbench_text.reports.report import Entry, Report, Table, figure
from adbench_text.run.sweep_options import sweep_named
from adbench_text.store.cells_file import read_csv


def render(*tables: Table, notes: tuple[str, ...] = ()) -> str:
    return FORMATS["latex"].render(Report(list(tables), list(notes)))


def table(n_rows: int, n_columns: int = 1, title: str = "A title", **options) -> Table:
    """A table whose entries say where they are."""
    rows = [
        [Entry(f"row {row}"), *(Entry(f"{row}.{column}") for column in range(n_columns))]
        for row in range(n_rows)
    ]
    heads = [f"detector{column} encoder=svd" for column in range(n_columns)]
    return Table(title, ["dataset", *heads], rows, n_labels=1, **options)


BLOCKS = Table(
    "AUROC (%) by contamination",
    ["dataset", "inlier", "llr", "ocsvm", "llr", "ocsvm"],
    [
        [Entry(text, best=text == "95.0") for text in row]
        for row in (
            ("made-up", "law", "81.0 ± 1.4", "failed", "90.0", "missing"),
            ("made-up", "sea", "91.0 ± 1.4", "95.0", "70.0", "60.0"),
            ("agnews", "mean", "86.0 ± 1.4", "9.0 (1 of 2)", "80.0†", "–"),
        )
    ],
    {0, 2},
    blocks=[("0%", 2), ("5%", 2)],
    notes=["±: standard deviation over the seeds."],
)


def test_a_table_has_rules_titles_over_its_blocks_and_the_best_in_bold():
    assert render(BLOCKS) == (
        r"""% needs \usepackage{booktabs,float,longtable}

\begin{table}[H]
\centering
\caption{AUROC (\%) by contamination}
\label{tab:auroc-by-contamination}
\begin{tabular}{llrrrr}
\toprule
\multicolumn{2}{c}{} & \multicolumn{2}{c}{0\%} & \multicolumn{2}{c}{5\%} \\
\cmidrule(lr){3-4} \cmidrule(lr){5-6} dataset & inlier & llr & ocsvm & llr & ocsvm \\
\midrule
made-up & law & 81.0 ± 1.4 & failed & 90.0 & missing \\
made-up & sea & 91.0 ± 1.4 & \textbf{95.0} & 70.0 & 60.0 \\
\addlinespace agnews & mean & 86.0 ± 1.4 & 9.0 (1 of 2) & 80.0† & – \\
\bottomrule
\end{tabular}
\par{\footnotesize\raggedright ±: standard deviation over the seeds.\par}
\end{table}
"""
    )


def test_the_result_and_its_provenance_are_comments_of_one_line():
    report = Report([BLOCKS], [], headline="llr is best\n\\end{document}", provenance=[("a", "b\x85c é")])
    lines = FORMATS["latex"].render(report).splitlines()
    assert lines[1:4] == ["% llr is best \\end{document}", "% a: b c é", ""]


def test_it_is_a_part_of_a_document():
    assert "documentclass" not in render(notes=("a note",))


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
        ("[0, 1] *", "{[}0, 1] {*}"),  # no options of the row's end before them
        ("1 ± 2 – a† b‡ “a” … Łódź e\u0301", "1 ± 2 – a† b‡ “a” … Łódź é"),
        (" a\r\n\n\tb\u2028c\x85d ", "a b c d"),  # an empty line would end the row
    ],
)
def test_names_are_shown_literally(text, latex):
    assert f"\n\\item {latex}\n" in render(notes=(text,))


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("Ącki ﬁne １", "Acki fine 1"),
        ("−1 ★", r"$-$1 $\star$"),
        ("中文 😀 ⅓", "?? ? ?"),
        ("\x00\x1b\x7f\u200b\ufeff\ud800", "??????"),
    ],
)
def test_what_pdflatex_cannot_print_is_replaced(text, latex):
    assert f"\n\\item {latex}\n" in render(notes=(text,))


def test_everything_from_the_data_is_escaped():
    name = "a_b & 50%"
    shown = r"a\_b \& 50\%"
    text = render(
        Table(
            name,
            [name, name],
            [[Entry(name), Entry(name, best=True)]],
            n_labels=1,
            blocks=[(name, 1)],
            notes=[name],
        ),
        notes=(name,),
    )
    assert rf"\caption{{{shown}}}" in text
    assert f"& {shown} \\\\\n\\cmidrule(lr){{2-2}} {shown} & {shown} \\\\\n" in text
    assert f"\n{shown} & \\textbf{{{shown}}} \\\\\n" in text
    assert rf"\raggedright {shown}\par" in text
    assert f"\n\\item {shown}\n" in text
    assert name not in text


def test_a_wide_table_stays_whole_for_its_author_to_scale():
    text = render(table(2, 9, blocks=[("a", 2), ("b", 7)], notes=["a note"]))
    assert columns(text) == ["l" + "r" * 9]
    assert sorted(re.findall(r"\d\.\d", text)) == [
        f"{row}.{column}" for row in range(2) for column in range(9)
    ]
    assert text.index("a note") > text.index(r"\end{tabular}")


MINE = ["llr", "mine.py:Mine", "mine.py:Mine(k=20)"]


def columns(text: str) -> list[str]:
    """The columns of each tabular that is a table, not a text in several lines."""
    return re.findall(r"\\begin\{tabular\}\{(\w+)\}", text)


def test_titles_over_narrow_columns_are_wrapped():
    row = [Entry("pydocs"), Entry("matplotlib"), *map(figure, (62.7, 54.8, 52.8))]
    blocks = [("word frequencies or vectors", 1), ("not declared", 2)]
    text = render(Table("AUROC (%)", ["dataset", "inlier", *MINE], [row], blocks=blocks))
    assert columns(text) == ["llrrr"]
    title = r"{@{}r@{}}word \\ frequencies \\ or vectors\end{tabular}"
    assert rf"\begin{{tabular}}[b]{title} & \multicolumn{{2}}{{c}}{{not declared}} \\" in text


def test_a_long_text_is_wrapped_between_the_parts_of_a_name():
    name = "pyod-knn(encoder=minilm, n_neighbors=20)"
    text = render(Table("", ["detector", "rank"], [[Entry(name), Entry("1.5")]], n_labels=1))
    assert r"{@{}l@{}}pyod-knn(encoder= \\ minilm, \\ n\_neighbors=20)\end{tabular} & 1.5 \\" in text


def test_a_label_stays_when_figures_change():
    text = render(table(2, 9, title="Mean rank over 7 splits, by AUROC (p = 0.1)"))
    assert text.count(r"\label") == 1
    assert "(p = 0.1)}\n\\label{tab:mean-rank-over-splits}\n" in text
    assert r"\label" not in render(table(1, title=""))


@pytest.mark.parametrize("title", ["A title", ""])
def test_a_table_too_long_for_a_page_breaks_between_rows_and_its_notes_follow(title):
    text = render(table(60, title=title, group_starts={0, 20}, notes=["a note"]))
    assert r"\begin{table}" not in text
    assert re.findall(r"^(?:\\addlinespace )?(row \d+) &", text, re.M) == [f"row {row}" for row in range(60)]
    assert re.findall(r"\\addlinespace (row \d+)", text) == ["row 20"]
    assert text.index("a note") > text.index(r"\end{longtable}")
    assert text.count(r"\addtocounter{table}{-1}") == (title == "")  # it is numbered even without a title


def test_long_notes_do_not_make_a_float_longer_than_a_page():
    assert r"\begin{longtable}" in render(table(2, notes=["a note of many words"] * 40))


def test_an_empty_report_is_a_comment():
    assert render() == "% needs \\usepackage{booktabs,float,longtable}\n"


def compiled(folder, text: str) -> str:
    """What pdflatex prints about an article with this text."""
    packages = r"\usepackage{booktabs,float,longtable}"
    document = [r"\documentclass{article}", packages, r"\begin{document}", text, r"\end{document}"]
    (folder / "report.tex").write_text("\n".join(document), encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "report.tex"]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=250, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:]
    return done.stdout


needs_pdflatex = pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
NASTY = [
    *string.punctuation,
    string.printable,
    "\\end{document}",
    "\\input{x}",
    "^^M^^41",
    "",
    "a\n\nb",
    "- -- --- '' `` ,, << ?` !` ?‘ !“",
    "".join(map(chr, range(0x250))),
    "± † ‡ – — “a” … ★ → 中文 😀 \ud800",
    "a" * 100,
]


@needs_pdflatex
@pytest.mark.parametrize("sweep", MEASURED)
def test_the_tables_of_a_committed_sweep_compile(sweep, tmp_path):
    report = Builder(read_csv(MEASURED[sweep]), cells=sweep_named(sweep).expand()).report(
        [name for name in TABLES if name != "significance"]  # it needs the scores of single documents
    )
    assert len(report.tables) > 3
    compiled(tmp_path, FORMATS["latex"].render(report))


@needs_pdflatex
@pytest.mark.parametrize(
    "tables",
    [
        [
            Table(
                " ".join(NASTY),
                ["[h]", "*"],
                [[Entry(text), Entry(text, best=True)] for text in NASTY],
                set(range(len(NASTY))),
                n_labels=1,
                blocks=[("*", 1)],
                notes=NASTY,
            )
        ],
        [Table("", NASTY, [[Entry("1")] * len(NASTY)], n_labels=2)],
        [Table("no rows", ["a"], [], n_labels=1), Table("no columns", [], [[]], n_labels=0)],
        [Table("", ["", "x"], [[Entry(""), Entry("")]], n_labels=0, blocks=[("", 1), ("", 1)])],
        [Table("±, a", ["a", "b"], [[Entry("x"), replace(figure(9.2), spread=1.3, best=True)]], n_labels=1)],
        [table(9)] * 60 + [table(100, group_starts=set(range(100)))],
        [],
    ],
    ids=["nasty", "nasty heads", "empty", "blank", "spread", "many", "none"],
)
def test_any_report_compiles(tables, tmp_path):
    compiled(tmp_path, render(*tables, notes=tuple(NASTY)))
