"""Every measurement by its name: ``python -m benchmarks`` lists them; with a NAME it runs one."""

from __future__ import annotations

import ast
import difflib
import runpy
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def measurements() -> dict[str, str]:
    """Name and what it answers, as its module begins; helpers without a ``main`` are none."""
    found = {}
    for path in sorted(HERE.glob("*.py")):
        text = path.read_text("utf-8")
        if path.stem != "__main__" and '\nif __name__ == "__main__":' in text:
            found[path.stem] = (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]
    return found


def main() -> None:
    """List them, or run the one that is named with the options that follow."""
    known = measurements()
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        width = max(map(len, known))
        for name, answer in known.items():
            print(f"{name:<{width}}  {answer}")
        print("\npython -m benchmarks NAME --help tells its options")
        return
    name = sys.argv.pop(1)
    if name not in known:
        close = difflib.get_close_matches(name, known, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        sys.exit(f"no measurement {name!r}{hint} (there are: {', '.join(known)})")
    sys.path.insert(0, str(HERE.parent))
    sys.argv[0] = str(HERE / f"{name}.py")
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
