"""Documents that marks are about, made up."""

from adbench_text.documents.marks import row_named


class Named:
    """Documents with identifiers, or with rows alone."""

    def __init__(self, ids=(), texts=(), row_of=None, id_titles=("row",), text_title=""):
        self._ids, self._texts = ids, texts
        self.id_titles, self.text_title = id_titles, text_title
        names = {name: row for row, name in enumerate(ids)}
        self.row_of = row_of or (names.get if ids else row_named)

    def __len__(self):
        return max(len(self._ids), len(self._texts)) or 1000

    def id(self, row):
        return self._ids[row] if self._ids else str(row)

    def text(self, row):
        return self._texts[row] if self._texts else ""
