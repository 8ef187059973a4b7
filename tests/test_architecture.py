"""The drawing of the house is true: its rooms, their order, and what crosses the walls."""

import ast
import re
import tomllib
from pathlib import Path

import crawlgauge

SOURCE = Path(crawlgauge.__file__).parent
ROOT = SOURCE.parents[1]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `(\w+)` \| [^|]+ \| ([^|]*)\|$", PAGE, re.MULTILINE)


def test_the_rooms_stand_in_the_order_that_imports_keep_to():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    order = [layer.replace(" ", "").split("|") for layer in reversed(layers)]
    place = {room: number for number, layer in enumerate(order) for room in layer}
    place.pop("_version")
    rooms = [room for room, _ in ROWS]
    assert set(rooms) == set(place)
    assert [place[room] for room in rooms] == sorted(place.values())


def test_what_a_room_hands_over_is_made_there_and_used_elsewhere():
    defined, used = {}, {}
    for path in SOURCE.rglob("*.py*"):
        if path.suffix not in {".py", ".pyi"}:
            continue
        room = path.relative_to(SOURCE).with_suffix("").parts[0]
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                defined.setdefault(room, set()).add(node.name)
            elif isinstance(node, ast.ImportFrom) and node.module:
                for name in node.names:
                    used.setdefault(name.name, set()).add(room)
    for room, names in ROWS:
        for name in re.findall(r"`(\w+)`", names):
            assert name in defined[room], (room, name)
            assert used.get(name, set()) - {room}, (room, name)
