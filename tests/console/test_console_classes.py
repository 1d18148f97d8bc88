"""What articles are about, at the console: shown, set by editors, listed by."""

from __future__ import annotations

from console_articles import STORIES, add_stories
from console_client import Desk, visible
from storage_samples import PACK


def test_an_editor_says_what_an_article_is_about(desk: Desk) -> None:
    first, *_rest = add_stories(desk.database)
    desk.log_in_as("reader")
    page = f"/articles/{first}"
    assert 'name="action" value="class"' not in desk.get(page).text
    wanted = {"action": "class", "topic": PACK.name, "value": "安全"}
    assert desk.post(f"{page}/mark", **wanted).status_code == 403
    desk.log_in_as("editor")
    shown = desk.get(page).text
    assert '<option value="policy">' in shown
    assert desk.post(f"{page}/mark", **wanted).status_code == 303
    assert "safety" in visible(desk.get(page).text)
    listed = visible(desk.get("/articles?about=safety&copies=1").text)
    assert STORIES[0][0] in listed
    assert "about=safety" in desk.get("/articles?copies=1").text, "each row leads to its like"
    assert STORIES[2][0] not in listed
    assert STORIES[0][0] not in visible(desk.get("/articles?about=unsure&copies=1").text)
    assert desk.post(f"{page}/mark", **wanted | {"value": "安" * 33}).status_code == 400
    assert desk.post(f"{page}/mark", **wanted | {"topic": "nothing"}).status_code == 404
    assert desk.post(f"{page}/mark", **wanted | {"value": "<u>"}).status_code == 303
    assert "<u>" not in desk.get(page).text, "what people write stays text"
    assert "&lt;u&gt;" in desk.get(page).text
    desk.log_in_as("administrator")
    assert "said what an article is about" in visible(desk.get("/people/changes").text)
    desk.log_in_as("editor")
    assert desk.post(f"{page}/mark", **wanted | {"value": ""}).status_code == 303
    assert "&lt;u&gt;" not in desk.get(page).text
