"""Notes in German, about a house."""

GERMAN = [
    f"{what} {does}, und der Hausmeister kommt erst am {day}"
    for what in ("Der Kessel im Keller", "Die Heizung im Flur", "Das Ventil an der Pumpe")
    for does in ("verliert Wasser", "bleibt kalt", "macht seit gestern ein Geräusch")
    for day in ("Montag", "Dienstag", "Freitag")
]
