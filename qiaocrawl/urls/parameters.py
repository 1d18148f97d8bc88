"""Parameters that never choose the page: tracking marks and session ids.

The lists hold only names used by one well-known tool or share button, or words for a
session; a name that a site might use to choose an article (``id``, ``sid=5``, ``from=home``,
``source``) stays.
"""

from __future__ import annotations

import re

_TRACKING_PREFIXES = ("utm_", "mtm_")
_TRACKING_NAMES = """
    spm scm spmid spm_id_from from_spmid fbclid fb_action_ids fb_action_types fb_source fb_ref
    gclid gclsrc dclid gbraid wbraid gad_source gad_campaignid srsltid msclkid yclid ysclid twclid
    ttclid li_fat_id ref_src ref_url igshid igsh mibextid mc_cid mc_eid _ga _gl _hsenc _hsmi
    hsctatracking mkt_tok vero_id oly_enc_id oly_anon_id wickedid s_kwcid _openstat
    _branch_match_id _branch_referrer piwik_campaign piwik_kwd
    pk_campaign pk_kwd pk_source pk_medium hmsr hmpl hmcu hmkw hmci
    bd_vid qhclickid sogou_vid vd_source unique_k tdsourcetag isappinstalled nsukey tt_from
    sharer_shareid sharer_shareinfo sharer_shareinfo_first sharer_sharetime
    share_source share_medium share_token share_from share_plat share_session_id share_tag
"""
_TRACKING = frozenset(_TRACKING_NAMES.split())
# WeChat, QQ and QZone add from=… when a page is shared; other values of "from" may matter.
_SHARE_FROM = frozenset(
    ("timeline", "singlemessage", "groupmessage", "androidqq", "iphoneqq", "qzone")
)
# In lower case: "phpsessid", "jsessionid", "aspsessionidqqba", "bv_sessionid", "sess_id"
_SESSION = re.compile(
    r"(?:php|j|asp|bv_|_)?sess(?:ion)?_?id|aspsessionid\w*|session_id|sessionid|cfid|cftoken"
    r"|phpsession|zenid|oscsid|phpbb_sid",
    re.ASCII,
)
# Names that also number sections ("sid=5"): only a random value makes them a session.
_SID = frozenset(("sid", "_sid", "s", "session"))
_RANDOM_ID = re.compile(r"[0-9a-f]{32}|[0-9a-f]{40}", re.IGNORECASE)
# ";jsessionid=1A2B.node1"
_PATH_SESSION = re.compile(r";jsessionid=[\w.!-]*", re.IGNORECASE | re.ASCII)


def drop_tracking(query: str) -> str:
    """*query* (without "?") less tracking marks, session ids and empty pieces; order kept."""
    if ";" in query:
        query = _PATH_SESSION.sub("", query)
    return "&".join(piece for piece in query.split("&") if piece and not is_tracking(piece))


def drop_path_session(path: str) -> str:
    """*path* less a Java session id (``;jsessionid=…``)."""
    return _PATH_SESSION.sub("", path)


def is_tracking(piece: str) -> bool:
    """Whether ``name=value`` is a tracking mark or a session id."""
    name, _, value = piece.partition("=")
    name = name.lower()
    if name in _TRACKING or name.startswith(_TRACKING_PREFIXES):
        return True
    if name == "from":
        return value.lower() in _SHARE_FROM
    if name in _SID:
        return _RANDOM_ID.fullmatch(value) is not None
    return _SESSION.fullmatch(name) is not None
