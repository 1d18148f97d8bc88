"""Rules of warnings in a form: written, tried on the last month, switched, deleted; channels."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from console_client import Desk, visible
from qiaocrawl.news.warnings import office_rules as stored
from qiaocrawl.news.warnings.rules import QuietHours, Rule
from qiaocrawl.news.warnings.stored import load_warnings
from qiaocrawl.storage import audit_log
from storage_samples import PACK
from told_stories import make_stories
from webhooks import Webhook, served_webhook

FORM: dict[str, object] = {
    "name": "涉侨安全", "severity": "urgent", "topic": PACK.name, "any_of": "失火、抢劫\n1,000人",
    "all_of": "", "none_of": "演习", "most_tier": "3", "within_hours": "3.5",
    "least_articles": "2", "least_outlets": "2", "least_negative": "60",
    "least_deviation": "2.5", "in_burst": "yes", "first": ["place", "outlet"],
    "channels": ["desk", "mail"], "enabled": "yes",
}  # fmt: skip
RULE = Rule(
    "涉侨安全", "urgent", PACK.name, ("失火", "抢劫", "1,000人"), (), ("演习",), 3, 2, 2, 3.5, 0.6,
    2.5, True, ("place", "outlet"), ("desk", "mail"), True,
)  # fmt: skip
SIMPLE: dict[str, object] = {"name": "火情", "severity": "warning", "any_of": "失火",
                             "enabled": "yes"}  # fmt: skip


@pytest.fixture
def webhook() -> Iterator[Webhook]:
    with served_webhook() as server:
        yield server


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, webhook: Webhook) -> Path:
    """A file of rules and one of channels, in this folder."""
    rules, channels = tmp_path / "rules.toml", tmp_path / "channels.toml"
    rules.write_text('[[rule]]\nname = "文件里的"\nchannels = "nowhere"\n', "utf-8")
    channels.write_text(f'desk = "{webhook.address}"\nmail = "json://127.0.0.1:9/x"\n', "utf-8")
    monkeypatch.setenv("QIAO_WARNING_RULES", str(rules))
    monkeypatch.setenv("QIAO_WARNING_CHANNELS", str(channels))
    return tmp_path


@pytest.fixture
def editor(desk: Desk, database_url: str, files: Path) -> Desk:
    """A console with stories, used by an editor."""
    make_stories(database_url)
    desk.log_in_as("editor")
    return desk


def _rules(desk: Desk) -> list[stored.KeptRule]:
    with desk.database.engine.connect() as c:
        return stored.kept_rules(c)


def _actions(desk: Desk) -> list[str]:
    with desk.database.engine.connect() as c:
        entries = audit_log.entries(c, limit=100)[::-1]
    return [entry.action for entry in entries if entry.action.startswith(("rule.", "channel."))]


def test_a_rule_is_written_changed_switched_and_deleted(editor: Desk) -> None:
    desk = editor
    page = visible(desk.get("/warnings/rules").text)
    assert "文件里的" in page
    assert "the file of QIAO_WARNING_RULES" in page
    answer = desk.post("/warnings/rules", **FORM)
    assert (answer.status_code, answer.headers["location"]) == (303, "/warnings/rules")
    (kept,) = _rules(desk)
    assert (kept.rule, kept.changed_by) == (RULE, "editor")
    page = visible(desk.get("/warnings/rules").text)
    for expected in ("any of: 失火, 抢劫, 1,000人", "within 3.5 h", "negative: 60 %", "desk, mail"):
        assert expected in page, expected
    form = desk.get(f"/warnings/rules/{kept.id}").text
    for expected in ('value="涉侨安全"', "失火\n抢劫\n1,000人", 'value="3.5"', 'value="60"'):
        assert expected in form, expected
    assert len(re.findall(r"<input[^>]* checked>", form)) == 6
    # Saved as it is, nothing changes; so it does with a lower one, which is told in the log.
    desk.post(f"/warnings/rules/{kept.id}", revision="1", **FORM)
    assert _rules(desk) == [kept]
    changed = desk.post(
        f"/warnings/rules/{kept.id}", revision="1", **{**FORM, "severity": "notice"}
    )
    assert changed.status_code == 303
    assert _rules(desk)[0].rule.severity == "notice"
    late = desk.post(f"/warnings/rules/{kept.id}", revision="1", **FORM)
    assert late.status_code == 400
    assert "meanwhile" in visible(late.text)
    desk.post(f"/warnings/rules/{kept.id}/switch", on="no")
    assert not _rules(desk)[0].rule.enabled
    assert desk.post(f"/warnings/rules/{kept.id}/switch", on="perhaps").status_code == 400
    assert 'value=""' in desk.get("/warnings/rules/new?like=涉侨安全").text
    desk.post(f"/warnings/rules/{kept.id}/drop")
    assert _rules(desk) == []
    assert desk.get(f"/warnings/rules/{kept.id}").status_code == 404
    assert _actions(desk) == ["rule.add", "rule.change", "rule.switch", "rule.drop"]


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("name", "", "Name is missing"),
        ("name", "长" * 101, "100"),
        ("name", "文件里的", "'文件里的' already"),
        ("severity", "loud", "'loud' must be one of notice, warning, urgent"),
        ("topic", "nothing", f"'nothing' must be one of {PACK.name}"),
        ("most_tier", "6", "'6' must be a whole number from 1 to 5"),
        ("most_tier", "2.5", "'2.5' must be a whole number from 1 to 5"),
        ("least_articles", "０", "'０' must be a whole number from 1 to 100000"),
        ("least_outlets", "-1", "'-1' must be a whole number from 1 to 100000"),
        ("within_hours", "三", "'三' must be a number from 0 to 8760"),
        ("least_negative", "101", "'101' must be a number from 1 to 100"),
        ("least_negative", "nan", "'nan' must be a number from 1 to 100"),
        ("least_deviation", "1e9", "'1e9' must be a number from 0.5 to 100"),
        ("first", "murder", "'murder' must be one of place, body, outlet"),
        ("channels", "<b>", "'<b>' must be one of desk, mail, nowhere"),
        ("any_of", "", "needs words beside it"),
    ],
)
def test_wrong_input_names_field_value_and_what_is_allowed(
    editor: Desk, field: str, value: str, said: str
) -> None:
    for path in ("/warnings/rules", "/warnings/rules/preview"):
        if value == "文件里的" and path.endswith("preview"):
            continue
        answer = editor.post(path, **{**FORM, field: value})
        assert answer.status_code == 400
        words = visible(answer.text).replace("&#39;", "'").replace("&lt;", "<")
        words = words.replace("&gt;", ">")
        assert said in words, words
        # What was right is not lost.
        assert "1,000人" in answer.text or field == "any_of"
    assert _rules(editor) == []


def test_a_preview_shows_stories_and_keeps_nothing(editor: Desk) -> None:
    shown = editor.post("/warnings/rules/preview", **SIMPLE)
    assert shown.status_code == 200
    words = visible(shown.text)
    assert "It would have warned of 1 story in the last 30 days" in words
    assert "words: 失火" in words
    assert re.search(r'href="/stories/\d+"[^>]*>[^<]*马德里', shown.text)
    none = editor.post("/warnings/rules/preview", **{**SIMPLE, "any_of": "地震"})
    assert "It would have warned of 0 stories" in visible(none.text)
    with editor.database.engine.connect() as c:
        assert load_warnings(c) == {}
    assert (_rules(editor), _actions(editor)) == ([], [])
    # Of a rule there is, the form stays that rule's.
    editor.post("/warnings/rules", **SIMPLE)
    (kept,) = _rules(editor)
    again = editor.post("/warnings/rules/preview", rule_id=str(kept.id), revision="7", **SIMPLE)
    assert f'action="/warnings/rules/{kept.id}"' in again.text
    assert 'name="revision" value="7"' in again.text, "what it was opened with"


def test_a_rule_that_the_file_has_too_does_not_count(editor: Desk, files: Path) -> None:
    editor.post("/warnings/rules", **SIMPLE)
    (files / "rules.toml").write_text('[[rule]]\nname = "火情"\n', "utf-8")
    assert "does not count" in visible(editor.get("/warnings/rules").text)
    # It may be changed nevertheless, also its name.
    (kept,) = _rules(editor)
    renamed = editor.post(f"/warnings/rules/{kept.id}", revision="1", **{**SIMPLE, "name": "火灾"})
    assert renamed.status_code == 303
    assert "does not count" not in visible(editor.get("/warnings/rules").text)
    (files / "rules.toml").write_text("[[rule]]\nname = 3\n", "utf-8")
    broken = editor.get("/warnings/rules")
    assert broken.status_code == 400
    assert "rule[1].name" in visible(broken.text)


def test_quiet_hours_are_set_below_the_rules(editor: Desk, files: Path) -> None:
    for fields, said in (({"begin": "25:00"}, "'25:00' must be a time of the day"),
                         ({"passes": "all"}, "'all' must be one of")):  # fmt: skip
        wrong = editor.post("/warnings/rules/quiet", **fields)
        assert wrong.status_code == 400
        assert said in visible(wrong.text).replace("&#39;", "'")
    night = {"begin": "22:00", "end": "07:00", "days_off": "yes"}
    assert editor.post("/warnings/rules/quiet", **night).status_code == 303
    assert editor.post("/warnings/rules/quiet", **night).status_code == 303
    with editor.database.engine.connect() as c:
        kept = stored.kept_quiet_hours(c)
    assert kept == QuietHours(22 * 60, 7 * 60, True, None)
    assert "22:00 to 07:00, days off" in visible(editor.get("/warnings/rules").text)
    assert _actions(editor) == ["rule.quiet"]
    (files / "rules.toml").write_text('[quiet]\nbegin = "12:00"\nend = "13:00"\n', "utf-8")
    page = editor.get("/warnings/rules").text
    assert "12:00 to 13:00" in visible(page)
    assert 'action="/warnings/rules/quiet"' not in page


def test_channels_are_shown_by_name_and_tested(editor: Desk, webhook: Webhook) -> None:
    desk = editor
    page = desk.get("/warnings/channels").text
    words = visible(page)
    assert "nowhere has no address" in words
    assert "nothing was sent yet" in words
    assert "Send a test message" not in words
    assert desk.post("/warnings/channels/test", channel="desk").status_code == 403
    desk.log_in_as("administrator")
    sent = desk.post("/warnings/channels/test", channel="desk")
    assert (sent.status_code, sent.headers["location"]) == (303, "/warnings/channels#c-desk")
    (body,) = webhook.bodies
    assert "desk" in body["title"]
    page = desk.get("/warnings/channels").text
    assert re.search(r"desk .*? arrived", visible(page))
    webhook.codes = [500]
    desk.post("/warnings/channels/test", channel="desk")
    page = desk.get("/warnings/channels").text
    assert "did not arrive" in visible(page)
    for secret in ("secret", "json:", str(webhook.server_port)):
        assert secret not in page
    wrong = desk.post("/warnings/channels/test", channel="nowhere")
    assert wrong.status_code == 400
    assert "must be one of desk, mail" in visible(wrong.text)
    assert _actions(desk) == ["channel.test", "channel.test"]


def test_readers_see_rules_and_change_none(editor: Desk) -> None:
    editor.log_in_as("reader")
    page = editor.get("/warnings/rules").text
    assert "文件里的" in page
    assert "<form" not in page.split("<main", 1)[1]
    for path in ("/warnings/rules/new", "/warnings/rules/1"):
        assert editor.get(path).status_code == 403
    for path in ("/warnings/rules", "/warnings/rules/preview", "/warnings/rules/quiet"):
        assert editor.post(path, **SIMPLE).status_code == 403


def test_a_rule_is_begun_from_an_event(editor: Desk) -> None:
    assert "Warn of what is like this" in visible(editor.get("/stories/1").text)
    page = editor.get("/warnings/rules/new?story=1").text
    title = re.search(r'name="name"[^>]*value="([^"]+)"', page)
    words = re.search(r'name="any_of"[^>]*>([^<]+)</textarea>', page)
    assert title
    assert words
    assert title[1] in visible(editor.get("/stories/1").text)
    assert all(word in title[1] for word in words[1].split()), "what its title says"
    assert editor.get("/warnings/rules/new?story=99999").status_code == 404


def test_how_much_more_than_usual_is_chosen_in_words(editor: Desk) -> None:
    page = editor.get("/warnings/rules/new").text
    for words in ("whatever their number", "somewhat more", "clearly more", "far more than usual"):
        assert words in visible(page)
    assert "deviation" not in visible(page)
    editor.post("/warnings/rules", **SIMPLE, least_deviation="2")
    editor.post("/warnings/rules", **{**SIMPLE, "name": "旧"}, least_deviation="2.5")
    words = visible(editor.get("/warnings/rules").text)
    assert "clearly more than usual" in words
    assert "clearly more than usual (2.5)" in words, "what a file or an older form says"
    page = editor.get("/warnings/rules/2").text
    assert '<option value="2.5" selected>' in page
