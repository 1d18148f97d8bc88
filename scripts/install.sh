#!/bin/sh
# Makes .venv and installs the project into it, exactly as pinned in constraints.txt.
# Usage: scripts/install.sh [test]     test: also what the tests need
# A second call with nothing changed returns at once. PYTHON=/path/to/python chooses one.
set -eu
cd "$(dirname "$0")/.."

VENV=.venv
WANT=${1:-run}
LOG=$VENV/install.log

say() { printf '%s\n' "$*"; }

# --- inner loops as machine code (setup.py) ------------------------------------------------

MADE=build/loops/made
loops() { find qiaocrawl -name '*.pxd' | LC_ALL=C sort | sed 's/\.pxd$//'; }
loops_fingerprint() {
    { cat setup.py; for loop in $(loops); do cat "$loop.pxd" "$loop.py"; done; } | cksum
    "$VENV/bin/python" -c 'import sys; print(sys.platform, sys.prefix)'
}
are_loops_there() { for loop in $(loops); do [ -f "$loop.abi3.so" ] || return 1; done; }

# What an earlier source was compiled to would be run in place of this one.
remove_old_loops() {
    if ! { [ -f "$MADE" ] && [ "$(cat "$MADE")" = "$(loops_fingerprint)" ]; }; then
        find qiaocrawl -name '*.so' -delete
    fi
}

# Nothing fails without them: the same files run as the Python they are.
compile_loops() {
    remove_old_loops
    if ! are_loops_there && scripts/can-compile.sh; then
        say "编译内循环，约半分钟，只此一次  compiling the inner loops (half a minute, once)"
        "$VENV/bin/python" setup.py -q build_ext --inplace --force >>"$LOG" 2>&1 || true
    fi
    keep_loops
}

# Note what they were made of, or say what it takes.
keep_loops() {
    if are_loops_there; then
        mkdir -p "${MADE%/*}"
        loops_fingerprint >"$MADE"
        # A checkout may have written the same sources again, see kernels.stale_loops.
        for loop in $(loops); do touch "$loop.abi3.so"; done
    else
        say "  未能编译，由 Python 代行：结果相同，慢数倍。需要 gcc 与 python3-dev，见 $LOG"
        say "  not compiled, they run as Python: the same results, slower. It takes gcc and Python.h"
    fi
}

# --- a Python that can make a virtual environment -----------------------------------

fit() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }
complete() { "$1" -c 'import ensurepip, venv' >/dev/null 2>&1; }

find_python() {
    incomplete=
    for candidate in ${PYTHON:-python3 python3.11 python3.12 python3.13 python3.14 /usr/bin/python3}; do
        path=$(command -v "$candidate" 2>/dev/null) || continue
        fit "$path" || continue
        if complete "$path"; then
            say "$path"
            return 0
        fi
        incomplete=$path
    done
    # Debian keeps a part of Python's standard library in packages of its own.
    if [ -n "$incomplete" ] && scripts/apt-install.sh python3-venv >&2 && complete "$incomplete"; then
        say "$incomplete"
        return 0
    fi
    if [ -n "$incomplete" ]; then
        say "$incomplete cannot make virtual environments: install the package python3-venv" >&2
    else
        say "no Python 3.11 or later was found (looked for: ${PYTHON:-python3 python3.11 …})" >&2
    fi
    return 1
}

# --- is anything to do? ------------------------------------------------------------------

# What decides about the content of .venv; the code itself is installed in place.
fingerprint() {
    cat requirements.txt constraints.txt pyproject.toml setup.py scripts/install.sh | cksum
    "$VENV/bin/python" -c 'import sys; print(sys.version, sys.prefix)' 2>/dev/null || say none
}

for have in run test; do
    stamp=$VENV/.installed-$have
    # What has the tests' needs has the others as well.
    if { [ "$have" = "$WANT" ] || [ "$have" = test ]; } \
        && [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$(fingerprint)" ]; then
        compile_loops
        exit 0
    fi
done

# --- install --------------------------------------------------------------------------------

# What pip is at: choosing versions, then writing them into .venv, which takes as long.
pip_stage() {
    this_log=$(tail -n "+$first_line" "$LOG")
    if printf '%s' "$this_log" | grep -q '^Installing collected packages'; then
        say "写入 writing into $VENV: $(du -sm "$VENV" | cut -f 1) MB"
    else
        say "取得 packages found: $(printf '%s' "$this_log" | grep -cE '^(Collecting|Processing) ' || true)"
    fi
}

# Runs pip quietly, with a sign of life now and then, and its last words when it fails.
quiet_pip() {
    first_line=$(($(wc -l <"$LOG") + 1))
    "$VENV/bin/python" -m pip --disable-pip-version-check --no-input --no-color \
        "$@" --progress-bar off >>"$LOG" 2>&1 &
    pip=$!
    trap 'kill $pip 2>/dev/null; exit 130' INT TERM
    seconds=0
    shown=
    while kill -0 $pip 2>/dev/null; do
        sleep 1
        seconds=$((seconds + 1))
        if [ -t 1 ]; then
            # One line, written over.
            [ $((seconds % 2)) -ne 0 ] || printf '\r\033[K  %s s: %s' "$seconds" "$(pip_stage)"
        elif [ $((seconds % 10)) -eq 0 ]; then
            now=$(pip_stage)
            [ "$now" = "$shown" ] || say "  $seconds s: $now"
            shown=$now
        fi
    done
    [ ! -t 1 ] || printf '\r\033[K'
    trap - INT TERM
    wait $pip && return 0
    say "pip failed; the end of $LOG:" >&2
    tail -n 25 "$LOG" >&2
    return 1
}

rm -f "$VENV"/.installed-*
if ! fit "$VENV/bin/python" || ! "$VENV/bin/python" -m pip --version >/dev/null 2>&1; then
    PYTHON_PATH=$(find_python) || exit 1
    say "making $VENV with $PYTHON_PATH ($("$PYTHON_PATH" --version))"
    rm -rf "$VENV"
    "$PYTHON_PATH" -m venv "$VENV"
fi
: >"$LOG"

# The pip that comes with Python 3.11 fails on some packages' extras: first a newer one. The
# build back end comes along, so that nothing unpinned is fetched to build with.
pinned() { grep -E "^$1==" constraints.txt; }
say "准备 pip  updating pip"
quiet_pip install --upgrade "$(pinned pip)" "$(pinned setuptools)" "$(pinned cython)"

target=.
[ "$WANT" = test ] && target='.[test]'
say "安装 qiaocrawl 与所需的包，编译内循环，一两分钟  installing it and what it needs, compiling inner loops (1-2 minutes)"
remove_old_loops
# It compiles them in place.
quiet_pip install --constraint constraints.txt --no-build-isolation --editable "$target"
keep_loops
fingerprint >"$VENV/.installed-$WANT"
say "已装入 installed into $VENV"
