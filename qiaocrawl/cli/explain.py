"""The page of ``qiaocrawl extract --explain``: what was taken of a page, and why.

One file without scripts, links or anything loaded from elsewhere. All of the explained page
is shown as text: it may be hostile.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator
from html import escape

from qiaocrawl.extract.api import LIMITS
from qiaocrawl.extract.base import Body, Extractor, extractors
from qiaocrawl.extract.extraction import Extraction, PageKind
from qiaocrawl.extract.field_words import FIELD_LABELS, KIND_LABELS, field_text
from qiaocrawl.extract.methods.blend import BlendExtractor
from qiaocrawl.extract.page import ExtractedPage
from qiaocrawl.extract.published.density import DensityExtractor
from qiaocrawl.language import _, language
from qiaocrawl.language.reasons import shown_reason
from qiaocrawl.page.blocks import Block, Element, PageBlocks
from qiaocrawl.text.normalise import without_blanks
from qiaocrawl.text.visible import visible

MARK = "<!-- qiaocrawl extract --explain -->"
"""Stands in the first line of every such page, so that it is known again."""
_SHADES = 10
_PATH_ELEMENTS = 5
# Characters shown of one block or line.
_TEXT_CHARS = 1500
_FIELD_CHARS = 600
_LINES_SHOWN = 20_000
# Scores this near to the threshold show a third digit: 0.50 may be below 0.5.
_NEAR = 0.02
_SHADE_RULES = "".join(
    f".j{shade}{{background:hsl(140 60% {99 - 3 * shade}%)}}" for shade in range(_SHADES + 1)
)
_STYLE = f"""
body{{font:15px/1.6 system-ui,"Noto Sans CJK SC","PingFang SC","Microsoft YaHei",sans-serif;
max-width:64rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}}
h1{{font-size:1.4rem}}h2{{font-size:1.1rem;margin-top:2rem}}
table{{border-collapse:collapse}}
th,td{{text-align:left;vertical-align:top;padding:.2rem .8rem .2rem 0;
border-bottom:1px solid #e4e4e4;overflow-wrap:anywhere}}td.n{{white-space:nowrap}}
.b{{border-left:6px solid #ddd;margin:.25rem 0;padding:.15rem .6rem;overflow-wrap:anywhere}}
.taken{{border-left-color:#168a3a}}.taken p{{font-weight:600}}
.b p{{margin:0;unicode-bidi:isolate}}.b small{{color:#666}}
.key span{{display:inline-block;padding:0 .6rem}}.limits{{color:#a33}}
{_SHADE_RULES}
"""


def explain_as_html(extracted: ExtractedPage | None, extraction: Extraction, source: str) -> str:
    """The page as HTML.

    Args:
        reading: None when the bytes were no HTML; then only the fields are shown.
        extraction: what was made of it.
        source: where the page came from, for the heading.
    """
    digest = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    parts = [
        f"<!doctype html>{MARK}",
        f'<html lang="{language().replace("_", "-")}"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="referrer" content="no-referrer">',
        '<meta name="viewport" content="width=device-width,initial-scale=1">',
        f"<title>{escape(extraction.title or source)} – {_('Extraction explained')}</title>",
        f"<style>{_STYLE}</style></head><body>",
        f"<h1>{_('Extraction explained')}</h1><p>{escape(source)}</p>",
        *_overview(extracted, extraction),
        *_field_table(extraction),
        *(_shown_lines(extracted, extraction.method) if extracted is not None else ()),
        "</body></html>\n",
    ]
    return visible("\n".join(parts))


def _overview(extracted: ExtractedPage | None, extraction: Extraction) -> Iterator[str]:
    rows = [
        (_("method"), extraction.method),
        (_("page kind"), _(KIND_LABELS[extraction.page_kind])),
        (_("confidence"), f"{extraction.confidence:.2f}"),
        (_("characters of text"), str(len(extraction.text))),
    ]
    if extracted is not None:
        page = extracted.page
        rows += [
            (_("the method says"), shown_reason(extracted.body.reason)),
            (_("charset"), f"{page.charset} ({page.charset_source})"),
        ]
        why = shown_reason(extracted.judgement.reason) or _why_article(extraction)
        rows += [(_("why this kind"), why)] if why else []
    yield "<table>"
    for name, value in rows:
        yield f"<tr><th>{name}</th><td>{escape(value)}</td></tr>"
    yield "</table>"


def _why_article(extraction: Extraction) -> str:
    """What speaks for an article, the kind that is judged without a reason; "" for others."""
    if extraction.page_kind is not PageKind.ARTICLE:
        return ""
    if extraction.published_at is None:
        return _("title and sentences")
    return _("title, date and sentences")


def _field_table(extraction: Extraction) -> Iterator[str]:
    heads = "".join(
        f"<th>{head}</th>" for head in (_("field"), _("value"), _("origin"), _("confidence"))
    )
    yield f"<h2>{_('Fields')}</h2><table><tr>{heads}</tr>"
    for name, (value, origin, confidence) in extraction.fields.items():
        kind = ' class="limits"' if name == LIMITS else ""
        label = _(FIELD_LABELS.get(name, name))
        shown = _cut(field_text(value), _FIELD_CHARS)
        yield (
            f"<tr{kind}><td class=n>{escape(label)}</td><td>{escape(shown)}</td>"
            f"<td>{escape(_cut(field_text(origin), _FIELD_CHARS))}</td>"
            f"<td>{confidence:.2f}</td></tr>"
        )
    yield "</table>"


def _shown_lines(extracted: ExtractedPage, method: str) -> Iterator[str]:
    """The blocks for a method that chose or judged blocks, else the source lines."""
    extractor = extractors.get(method)
    if isinstance(extractor, DensityExtractor):
        yield from _lines(extracted, extractor)
    else:
        least = _threshold(extractor, extracted.body)
        yield from _blocks(extracted.page.blocks, extracted.body, least)


def _threshold(extractor: Extractor, body: Body) -> float | None:
    """The least score of a block that *extractor* took here; None when it has no such limit."""
    if not isinstance(extractor, BlendExtractor) or not body.judged:
        return None
    reached = max(body.judged) >= extractor.threshold
    return extractor.threshold if reached else extractor.low_threshold


def _blocks(page_blocks: PageBlocks, body: Body, threshold: float | None) -> Iterator[str]:
    yield f"<h2>{_('Blocks, in document order')}</h2>"
    yield _key(_("score of each block"), judged=bool(body.judged), threshold=threshold)
    if not body.blocks:
        yield f"<p>{_('The method chose no blocks.')}</p>"
    chosen = set(body.blocks)
    paths = _paths(page_blocks)
    for index, block in enumerate(page_blocks.blocks):
        judged = body.judged[index] if index < len(body.judged) else None
        facts = [
            paths[block.element] if block.element >= 0 else "",
            _("{count} characters", count=len(block.text)),
            _("links {link_share:.0%}", link_share=_link_share(block)),
        ]
        if judged is not None:
            near = threshold is not None and abs(judged - threshold) < _NEAR
            facts.append(f"{_('score')} {judged:.{3 if near else 2}f}")
        yield _box(index, block.text, facts, judged, taken=index in chosen)
    if page_blocks.left_out:
        yield f'<p class="limits">{_("Blocks after these were not read.")}</p>'


def _paths(page_blocks: PageBlocks) -> list[str]:
    """For every element its innermost ancestors and itself: ``… > div.main > p``."""
    labels = [_label(element) for element in page_blocks.elements]
    paths = []
    for index in range(len(labels)):
        names: list[str] = []
        while index >= 0 and len(names) < _PATH_ELEMENTS:
            names.append(labels[index])
            index = page_blocks.elements[index].parent
        paths.append(" > ".join([*(["…"] if index >= 0 else []), *reversed(names)]))
    return paths


def _label(element: Element) -> str:
    """*element* as a selector writes it: ``div#zoom.main``."""
    attributes = element.node.attributes
    classes = (attributes.get("class") or "").split()
    own = "".join((attributes.get("id") or "").split())
    return ".".join((f"{element.tag}#{own}" if own else element.tag, *classes))[:80]


def _link_share(block: Block) -> float:
    return block.linked / max(1, len(without_blanks(block.text)))


def _lines(extracted: ExtractedPage, extractor: DensityExtractor) -> Iterator[str]:
    """Lines with their density d = t / h; see :mod:`qiaocrawl.extract.published.density`."""
    lines = extracted.page.lines
    yield f"<h2>{_('Source lines')}</h2>"
    yield _key(_("text density of each line"), judged=True)
    # Several runs are found; the one that was taken is the one whose text this is.
    runs = extractor.runs(lines)
    chosen = next(
        (
            set(run)
            for run in runs
            if "\n".join(lines.texts[i] for i in run if lines.texts[i]) == extracted.body.text
        ),
        set(),
    )
    shown = [index for index, text in enumerate(lines.texts) if text]
    for index in shown[:_LINES_SHOWN]:
        size, whole = lines.text_bytes[index], lines.all_bytes[index]
        density = size / whole if whole else 0.0
        facts = [
            _("text {size} B", size=size),
            _("line {whole} B", whole=whole),
            _("density {density:.2f}", density=density),
        ]
        yield _box(index + 1, lines.texts[index], facts, density, taken=index in chosen)
    if len(shown) > _LINES_SHOWN:
        more = _("{more} more lines", more=len(shown) - _LINES_SHOWN)
        yield f'<p class="limits">{more}</p>'


def _key(what: str, *, judged: bool, threshold: float | None = None) -> str:
    shades = "".join(
        f'<span class="j{shade}">{shade / _SHADES:.1f}</span>' for shade in range(_SHADES + 1)
    )
    parts = [f"{what}: {shades}"] if judged else []
    if threshold is not None:
        parts.append(_("threshold {threshold:g}", threshold=threshold))
    parts.append(_("bold, dark green bar = taken"))
    return f'<p class="key">{_("; ").join(parts)}</p>'


def _box(number: int, text: str, facts: Iterable[str], judged: float | None, *, taken: bool) -> str:
    names = ["b"]
    if judged is not None:
        names.append(f"j{round(min(max(judged, 0.0), 1.0) * _SHADES)}")
    if taken:
        names.append("taken")
    mark = f"{_('taken')} · " if taken else ""
    caption = " · ".join(filter(None, facts))
    return (
        f'<div class="{" ".join(names)}"><small>{number} · {mark}{escape(caption)}</small>'
        f'<p dir="auto">{escape(_cut(text, _TEXT_CHARS))}</p></div>'
    )


def _cut(text: str, chars: int) -> str:
    if len(text) <= chars:
        return text
    return _("{text}… ({count} characters in all)", text=text[:chars], count=len(text))
