"""Recognises traps by the URL alone: too long, too deep, repetitive, or an impossible date."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

# "2024", "05", "3.html".
_NUMBER = re.compile(r"\d+(?:\.\w{1,5})?")
# A folder that comes a third time in a path: StormCrawler's maxPathRepetition, Nutch's rule.
_REPEATS = 3
# Numbers may repeat more often: /2024/01/01/, /thread/1/1/1 **(ours)**.
_NUMBER_REPEATS = 5
# Folders that together come twice in a row: /a/b/c/a/b/c, as relative links make **(ours)**.
_LONG_UNIT = 3
_SAME_PARAMETERS = 3
# Year and month with a mark between them, at the beginning of a part: elsewhere, without a mark,
# or with a number that is no month of two digits or no folder, it is the number of a thread or an
# article and its page (/thread-2088-1-1.html, /a/2050_2.html, /show/1950/2.html).
_CALENDAR = re.compile(
    r"(?:^|[/=&])((?:19|20|21)\d\d)(?:[-.](?:0[1-9]|1[0-2])(?!\d)"
    r"|/(?:0[1-9]|1[0-2])(?!\d)|/[1-9](?=/))|(?:^|\D)((?:19|20|21)\d\d)年"
)
# "?y=2031", "&cal_year=2031".
_CALENDAR_QUERY = re.compile(r"(?:^|[?&_])(?:y|yr|year|nian)=(\d{4})(?=&|$)", re.IGNORECASE)
BOUNDS = ("(url too long)", "(path too deep)", "(too many parameters)")
"""Groups of URLs beyond the operator's limits: they are no guess, so they are never tried."""
EARLIEST_YEAR = 1990
"""Before the web: only a calendar leads there; archives of newspapers are allowed by pattern."""


@dataclass(frozen=True, slots=True)
class UrlLimits:
    """How long a URL of one page may be; 0 = no limit.

    Attributes:
        chars: of the whole URL.
        path_depth: parts of its path (Heritrix takes 20).
        parameters: of its query.
        latest_year: a calendar page of a later year is none.
    """

    chars: int = 2000
    path_depth: int = 20
    parameters: int = 20
    latest_year: int = 0


def static_trap(url: str, limits: UrlLimits) -> str:
    """Why the canonical *url* is one of a trap: a short word for counting, or "" for none."""
    if limits.chars and len(url) > limits.chars:
        return "url_too_long"
    path, _, query = url.partition("?")
    # Skips "https:", "" and the host.
    parts = path.split("/")[3:]
    folders = [part for part in parts if part]
    if limits.path_depth and len(folders) > limits.path_depth:
        return "path_too_deep"
    if len(folders) >= _REPEATS and repeats_itself(folders):
        return "path_repeats"
    if query:
        pieces = query.split("&")
        if limits.parameters and len(pieces) > limits.parameters:
            return "too_many_parameters"
        # The same name and value three times: a link adds its parameter on every page.
        if len(pieces) >= _SAME_PARAMETERS and max(Counter(pieces).values()) >= _SAME_PARAMETERS:
            return "parameters_repeat"
    if limits.latest_year and _is_no_date("/".join(parts), query, limits.latest_year):
        return "calendar"
    return ""


def repeats_itself(folders: list[str]) -> bool:
    """Whether the parts of a path repeat as only a trap's or a wrong relative link's do."""
    for part, times in Counter(folders).items():
        if times >= (_NUMBER_REPEATS if _NUMBER.fullmatch(part) else _REPEATS):
            return True
    # A unit of three folders or more, twice in a row; shorter ones may be real (/a/b/a/b).
    for size in range(_LONG_UNIT, len(folders) // 2 + 1):
        for at in range(len(folders) - 2 * size + 1):
            unit = folders[at : at + size]
            if unit == folders[at + size : at + 2 * size] and not _are_numbers(unit):
                return True
    return False


def _are_numbers(unit: list[str]) -> bool:
    return all(_NUMBER.fullmatch(part) for part in unit)


# Cached: links of one page share their path or query, and each of them asks.
@lru_cache(maxsize=4096)
def _is_no_date(path: str, query: str, latest_year: int) -> bool:
    """Whether the address names a calendar month that no news page can be from."""
    calendar = _CALENDAR.search(path) or (_CALENDAR_QUERY.search(query) if query else None)
    calendar = calendar or (_CALENDAR.search(query) if query else None)
    if calendar is None:
        return False
    # The year stands in whichever alternative has matched.
    year = next(number for number in calendar.groups() if number)
    return not EARLIEST_YEAR <= int(year) <= latest_year


# --- The groups (URL patterns) a URL belongs to, from narrow to broad -----------------------------

# Numbers are 0: /2024/05/t20240518_123.html and all its likes are one form.
_DIGITS = re.compile(r"\d+")
# Session ids and the like: long with a digit in it, or in brackets as ASP.NET writes them.
# "0123456789abcdef01", "(S(abc1))".
_TOKEN = re.compile(r"(?=[^/]*\d)[0-9a-zA-Z_-]{16,}|\([^/]*\)")
_MAX_PREFIXES = 3
_MAX_NAMES = 12
_MAX_FORM_CHARS = 400
NEW_BRANCH = "/(new)/…"
"""The group of all first folders of a host below which no page was of value yet."""


@lru_cache(maxsize=8_192)
def url_forms(canonical: str) -> tuple[str, ...]:
    """The groups of a canonical URL on its host, the narrowest first; each tells the host.

    First its form: folders, numbers as 0, long tokens as ``*``, the last part only by its ending
    and its marks, and the names of its parameters. Then, with a query, its path with any
    parameters; then its folders one after the other, the deepest of three first.
    """
    # "http://a.cn/x/show.php?id=5&c=2" has "a.cn/x/show.php?c&id",
    # "a.cn/x/show.php?…" and "a.cn/x/…".
    rest = canonical.partition("://")[2]
    authority, _, tail = rest.partition("/")
    path, mark, query = tail.partition("?")
    *folders, last = [_part(part) for part in path.split("/")]
    folders = [part for part in folders if part]
    if not last and folders:
        # /news/one-story/ is a page of /news/.
        last = f"{folders.pop()}/"
    base = f"{authority}/{'/'.join(folders)}{'/' if folders else ''}"
    forms = []
    # Sorted: parameters in another order make no other group.
    names = sorted({_DIGITS.sub("0", piece.partition("=")[0]) for piece in query.split("&")})
    # A path that takes parameters is a program, so its whole name is the group.
    form = f"{base}{last if mark else _last(last)}"
    if mark:
        forms += [f"{form}?{'&'.join(names[:_MAX_NAMES])}", f"{form}?…"]
    else:
        forms.append(form)
    for depth in range(min(_MAX_PREFIXES, len(folders)), 0, -1):
        forms.append(f"{authority}/{'/'.join(folders[:depth])}/…")
    return tuple(url_form[:_MAX_FORM_CHARS] for url_form in forms)


def section_of(forms: tuple[str, ...]) -> str:
    """The broadest of *forms* where it is a first folder; "" if it is in none."""
    return forms[-1] if forms[-1].endswith("/…") else ""


def _part(part: str) -> str:
    if _TOKEN.fullmatch(part):
        return "*"
    return _DIGITS.sub("0", part)


def _last(part: str) -> str:
    """The last part by its ending and marks; with words each page would be its own group."""
    if part.endswith("/"):
        return f"{_last(part[:-1])}/"
    stem, dot, ending = part.rpartition(".")
    # An "ending" of more than five characters is part of the name.
    if not dot or len(ending) > 5:
        stem, dot, ending = part, "", ""
    # "%" is left out: the escapes of a Chinese name ("%E6") would look like marks.
    marks = "".join(char for char in stem if not char.isalpha() and char != "%")[:24]
    return f"{marks if stem and marks else '*' if stem else ''}{dot}{ending}"


# --- Gives cut groups a second try, at a limited price, when nothing else waits -------------------
# Cutting a group is a guess. When a crawl has nothing else to do, it fetches a few
# of the URLs it closed for it. If half of those tell stories of their own and lead
# to no more closed URLs, or if they lead to fewer closed URLs than they are, the
# group is finite, trap or not: it is opened again, and all of it is fetched. A
# trap's pages lead to ever more of it, or tell what was told; so it costs a tenth
# of the host's pages at most. A section of another topic looks so as well, but most
# of its pages have a text of their own and lead to nothing new: such a page pays
# for two more tries.

TRAP = "trap: "
"""How the reason of each URL that is closed as one of a trap begins; its group comes next."""
SHARE_OF_HOST = 0.1
"""Tried of a host in a run, of all that the run has fetched of it otherwise **(ours)**."""
LARGEST_SHARE = 0.5
"""The same with what pages have paid for **(ours)**."""
_PAID_BY_LEAF = 2
FIRST_TRIAL = 4
_ACCEPTED = 0.5
_GROWTH = 0.5
"""New closed URLs a page, below which what is left of a group runs dry. A branching process ends
for certain below one (Watson and Galton 1875); a calendar's pages lead to one each."""


def group_of(reason: str) -> str:
    """The group that *reason* names, "" where it is no trap's."""
    # "trap: a.cn/x/… (40 pages fetched, 0 of them told a story)" names "a.cn/x/…".
    return reason.removeprefix(TRAP).partition(" (")[0] if reason.startswith(TRAP) else ""


@dataclass(slots=True)
class _Trial:
    share: int = FIRST_TRIAL
    tried: int = 0
    good: int = 0
    repeated: int = 0
    new_closed: int = 0

    @property
    def runs_dry(self) -> bool:
        """Whether what was tried leads to little that is new and repeats little."""
        return (
            self.tried >= FIRST_TRIAL
            and self.new_closed <= _GROWTH * self.tried
            and self.repeated <= (1 - _ACCEPTED) * self.tried
        )


class TrapTrials:
    """The trials of cut groups in one run. Not thread-safe."""

    def __init__(self) -> None:
        self._groups: dict[str, _Trial] = {}
        self._fetched: Counter[str] = Counter()
        self._asked: Counter[str] = Counter()
        self._paid: Counter[str] = Counter()

    def count_page(self, host: str) -> None:
        """Count a page of *host* that is on no trial."""
        self._fetched[host] += 1

    def count_trial(
        self, group: str, *, is_good: bool, has_text: bool, repeats: bool, new_closed: int
    ) -> None:
        """Count a page of *group* that is on trial.

        Args:
            is_good: it tells a story and leads to no more of the group.
            has_text: of its own.
            repeats: it tells what another address told, or nothing is there.
            new_closed: closed URLs it leads to that nothing led to before.
        """
        trial = self._groups.setdefault(group, _Trial())
        trial.tried += 1
        trial.good += is_good
        trial.repeated += repeats
        trial.new_closed += new_closed
        # It told a new story and led no deeper: that pays for two more tries.
        if has_text and not new_closed:
            self._paid[group.partition("/")[0]] += _PAID_BY_LEAF

    def ends(self, group: str, good: int, tried: int) -> bool:
        """Whether *group* is to be opened: half of its round bring something new, or it runs dry.

        Args:
            good: of its last round, the URLs that led to a new article.
            tried: all of the round.
        """
        trial = self._groups.setdefault(group, _Trial())
        # Some of the round may have failed to load, so two good ones are asked for at least.
        enough = trial.good >= 2 and trial.good >= _ACCEPTED * trial.tried
        # Both counts: articles that were new to the store, and pages that led no deeper.
        accepted = enough and good >= _ACCEPTED * trial.tried and good > 0
        is_open = tried > 0 and (accepted or trial.runs_dry)
        # The next trial gets twice the share, whatever came of this one.
        self._groups[group] = _Trial(2 * trial.share)
        return is_open

    def shares(self, waiting: Mapping[str, int]) -> dict[str, int]:
        """How many URLs of each group are to be tried now, where so many are closed."""
        shares: dict[str, int] = {}
        by_host: dict[str, list[str]] = {}
        for group in waiting:
            by_host.setdefault(group.partition("/")[0], []).append(group)
        for host, groups in by_host.items():
            fetched = self._fetched[host]
            # At most half of what was fetched, however well the tries pay.
            most = min(SHARE_OF_HOST * fetched + self._paid[host], LARGEST_SHARE * fetched)
            left = int(most) - self._asked[host]
            for at, group in enumerate(sorted(groups, key=self._share)):
                # Rounded up. The smallest shares come first: what they leave goes to the others.
                # -(-a // b): the quotient rounded up.
                fair = -(-left // (len(groups) - at))
                shares[group] = max(0, min(self._share(group), waiting[group], fair))
                left -= shares[group]
                self._asked[host] += shares[group]
        return shares

    def _share(self, group: str) -> int:
        return self._groups.setdefault(group, _Trial()).share
