"""Writes small spreadsheets: .xlsx, .ods and .xls, with the parts that a test needs."""

import struct
import zipfile
from datetime import date, datetime
from html import escape

_MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = 'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"'
_STYLES = (
    '<cellXfs count="4"><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="22"/><xf numFmtId="46"/></cellXfs>'
)
_STATES = ("visible", "hidden")
DATE, DATE_TIME, DURATION = 1, 2, 3  # styles of cells
_ODS = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text")
)


class Raw(str):
    """The XML of a cell after its address, such as ``t="e"><v>#N/A</v></c>``."""

    __slots__ = ()


def number(value, style=0):
    """Return a cell with a number, as a date in some styles."""
    return Raw(f's="{style}"><v>{value}</v></c>')


def _cell(value, address):
    if value is None:
        return ""
    if not isinstance(value, Raw):
        value = number(value) if isinstance(value, int | float) else _text(value)
    return f'<c r="{address}" {value}'


def _text(value):
    return Raw(f't="inlineStr"><is><t xml:space="preserve">{escape(value)}</t></is></c>')


def _letters(column):
    first, second = divmod(column, 26)
    return (chr(ord("A") + first - 1) if first else "") + chr(ord("A") + second)


def write_xlsx(path, sheets, *, workbook="", hidden=(), after="", first_column=0):
    """Write rows of sheets by title. None is an empty cell. `after` follows the cells of each sheet."""
    if not isinstance(sheets, dict):
        sheets = {"Sheet1": sheets}
    listed = "".join(
        f'<sheet name="{escape(title)}" sheetId="{n}" r:id="r{n}" state="{_STATES[title in hidden]}"/>'
        for n, title in enumerate(sheets, 1)
    )
    targets = "".join(
        f'<Relationship Id="r{n}" Type="{_OFFICE}/worksheet" Target="worksheets/sheet{n}.xml"/>'
        for n in range(1, len(sheets) + 1)
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        book.writestr("[Content_Types].xml", "<Types/>")
        book.writestr(
            "_rels/.rels",
            f'<Relationships {_PACKAGE}><Relationship Id="r" Type="{_OFFICE}/officeDocument" '
            'Target="xl/workbook.xml"/></Relationships>',
        )
        book.writestr(
            "xl/workbook.xml",
            f'<workbook {_MAIN} xmlns:r="{_OFFICE}">{workbook}<sheets>{listed}</sheets></workbook>',
        )
        book.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships {_PACKAGE}>{targets}<Relationship Id="s" Type="{_OFFICE}/styles" '
            'Target="styles.xml"/></Relationships>',
        )
        book.writestr("xl/styles.xml", f"<styleSheet {_MAIN}>{_STYLES}</styleSheet>")
        for n, rows in enumerate(sheets.values(), 1):
            cells = "".join(
                f'<row r="{row}">'
                + "".join(
                    _cell(each, f"{_letters(place)}{row}") for place, each in enumerate(of_row, first_column)
                )
                + "</row>"
                for row, of_row in enumerate(rows, 1)
            )
            book.writestr(
                f"xl/worksheets/sheet{n}.xml",
                f"<worksheet {_MAIN}><sheetData>{cells}</sheetData>{after}</worksheet>",
            )
    return str(path)


def write_ods(path, sheets, manifest="<manifest/>"):
    """Write rows of sheets by title as OpenDocument."""

    def cell(value):
        if value is None:
            return "<table:table-cell/>"
        kind, attributes = "string", ""
        if isinstance(value, bool):
            kind, attributes = "boolean", f'office:boolean-value="{str(value).lower()}"'
        elif isinstance(value, int | float):
            kind, attributes = "float", f'office:value="{value}"'
        elif isinstance(value, date | datetime):
            kind, attributes = "date", f'office:date-value="{value.isoformat()}"'
        lines = "".join(f"<text:p>{escape(line)}</text:p>" for line in str(value).split("\n"))
        return f'<table:table-cell office:value-type="{kind}" {attributes}>{lines}</table:table-cell>'

    tables = "".join(
        f'<table:table table:name="{title}">'
        + "".join(f"<table:table-row>{''.join(map(cell, row))}</table:table-row>" for row in rows)
        + '<table:table-row table:number-rows-repeated="1048000"><table:table-cell '
        'table:number-columns-repeated="16384"/></table:table-row></table:table>'
        for title, rows in sheets.items()
    )
    with zipfile.ZipFile(path, "w") as book:
        book.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        book.writestr("META-INF/manifest.xml", manifest)
        book.writestr(
            "content.xml",
            f"<office:document-content {_ODS}><office:body><office:spreadsheet>{tables}"
            "</office:spreadsheet></office:body></office:document-content>",
        )
    return str(path)


def write_xls(path, rows, title="Sheet1"):
    """Write rows of texts and numbers as a workbook of Excel 97."""

    def record(kind, data=b""):
        return struct.pack("<HH", kind, len(data)) + data

    cells = b""
    for row, of_row in enumerate(rows):
        for column, value in enumerate(of_row):
            place = struct.pack("<HHH", row, column, 0)
            if isinstance(value, str):
                data = struct.pack("<HB", len(value), 1) + value.encode("utf-16-le")
                cells += record(0x0204, place + data)
            elif value is not None:
                cells += record(0x0203, place + struct.pack("<d", value))
    begin = record(0x0809, struct.pack("<HHHHII", 0x0600, 0x0005, 0, 0, 0, 0))
    begin += record(0x0042, struct.pack("<H", 1200))
    name = struct.pack("<BB", len(title), 0) + title.encode("latin-1")
    length = len(begin) + 4 + 6 + len(name) + 4
    begin += record(0x0085, struct.pack("<IBB", length, 0, 0) + name) + record(0x000A)
    sheet = record(0x0809, struct.pack("<HHHHII", 0x0600, 0x0010, 0, 0, 0, 0)) + cells + record(0x000A)
    return write_compound(path, "Workbook", begin + sheet)


def write_compound(path, name, data):
    """Write a compound file with one stream; an encrypted .xlsx is one, too."""
    data = data.ljust(4096, b"\0")  # a shorter stream would have another place
    n = -(-len(data) // 512)
    data = data.ljust(512 * n, b"\0")
    end, free = 0xFFFFFFFE, 0xFFFFFFFF
    n_fat = -(-(n + 2) // 128) if n + 2 <= 126 else 2
    chain = [*[0xFFFFFFFD] * n_fat, end, *range(n_fat + 2, n_fat + 1 + n), end]
    fat = struct.pack(f"<{128 * n_fat}I", *chain, *[free] * (128 * n_fat - len(chain)))

    def entry(title, kind, start, size, child=free):
        encoded = title.encode("utf-16-le") + b"\0\0"
        head = encoded.ljust(64, b"\0") + struct.pack("<HBBIII", len(encoded), kind, 1, free, free, child)
        return head + bytes(36) + struct.pack("<IQ", start, size)

    directory = entry("Root Entry", 5, end, 0, child=1) + entry(name, 2, n_fat + 1, len(data))
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16)
    header += struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + bytes(6)
    header += struct.pack("<IIIIIIIII", 0, n_fat, n_fat, 0, 4096, end, 0, end, 0)
    header += struct.pack("<109I", *range(n_fat), *[free] * (109 - n_fat))
    path.write_bytes(header + fat + directory.ljust(512, b"\0") + data)
    return str(path)
