#!/bin/sh
# Exit code 0 where modules can be compiled for the Python of .venv: a C compiler and Python.h.
# Debian keeps the headers of its own Python in a package, python3-dev.
cd "$(dirname "$0")/.." || exit 1
{ command -v "${CC:-cc}" || command -v gcc; } >/dev/null 2>&1 &&
    .venv/bin/python -c 'import os, sysconfig
os.stat(os.path.join(sysconfig.get_path("include"), "Python.h"))' 2>/dev/null
