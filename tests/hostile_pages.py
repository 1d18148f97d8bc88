"""Pages made to hurt a parser; each ends in, or begins with, the visible text END."""

from __future__ import annotations

# Each would take from seconds to a minute, or end the process, if read as it stands. The
# time-out of the test run is the measure.
HOSTILE = {
    "many attributes": "<a " + " ".join(f"a{i}=1" for i in range(150_000)) + " href=/x>a</a>END",
    "deep nesting": "<div>" * 100_000 + "deep" + "</div>" * 100_000 + "<p>END",
    "unclosed tables": "<table>" * 30_000 + "END",
    "unclosed cells": "<table><tr><td>" * 30_000 + "END",
    "formatting": "<font><b>" * 50_000 + "END",
    "formatting with ids": "".join(f"<b id={i}><i id={i}>" for i in range(10_000)) + "<p>END",
    "unclosed svg": "<svg>" * 200_000 + "END",
    "links in links": "<object><a href=/x>" * 2_000 + "a" * 200_000 + "</a>END",
    "open comments": "END" + "<!--" * 200_000,
    "lone brackets": "<" * 500_000 + " END",
    "open quotes": "<a x='" * 100_000 + "'>END",
    "long attribute": '<a title="' + "x" * 5_000_000 + '">END</a>',
    "many paragraphs": "<p>x" * 400_000 + "END",
    "closings of others": "<div></i>" * 100_000 + "END",
    "formatting left open": "<font color=red>x</font><b>" * 100_000 + "<p>END",
    "roots with attributes": "".join(f"<html a{i}=1>" for i in range(50_000)) + "END",
    "nul": "\x00<p>a\x00</p>\x00END",
}
