"""URLs whose file ending says that they are no page.

``.js`` and ``.css`` are left out: links to scripts are rare, tag pages called ``node.js`` are not.
"""

from __future__ import annotations

_ENDINGS = """
    jpg jpeg jpe png gif webp bmp svg ico tif tiff avif heic psd
    json xml rss atom woff woff2 ttf eot otf
    mp3 wav wma ogg m4a aac flac mp4 m4v avi mov wmv flv f4v mkv webm rm rmvb mpg mpeg swf
    zip rar 7z gz tgz bz2 xz tar iso dmg exe msi apk ipa deb rpm jar bin torrent
    pdf doc docx xls xlsx ppt pptx wps csv rtf epub mobi
"""
_FILE_ENDINGS = frozenset(_ENDINGS.split())


_DOCUMENT_ENDINGS = frozenset(("pdf", "docx", "xlsx"))


def looks_like_document(canonical: str) -> bool:
    """Whether the path ends like a document that can be an article."""
    return looks_like_file(canonical) and canonical.rpartition(".")[2].lower() in _DOCUMENT_ENDINGS


def looks_like_file(canonical: str) -> bool:
    """Whether the path ends like an image, archive, document or feed rather than a page.

    A URL with a query is never judged by its ending (``/show.php?f=a.jpg`` is a page).
    """
    if "?" in canonical:
        return False
    # Eight characters hold the longest ending, ".torrent".
    stem, dot, ending = canonical[-8:].rpartition(".")
    return bool(dot) and "/" not in ending and ending.lower() in _FILE_ENDINGS
