"""Who works here, with which rights."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from qiaocrawl.console.forms import back, field
from qiaocrawl.console.page import (
    ADMINISTRATOR,
    Area,
    Page,
    Told,
    actor_of,
    hashing,
    link,
    read,
    tell,
    write,
)
from qiaocrawl.console.pages.account import ROLE_NAMES
from qiaocrawl.console.render import render
from qiaocrawl.console.security import credentials
from qiaocrawl.language import N_, _, ngettext
from qiaocrawl.storage import people
from qiaocrawl.storage.handovers import count_open

ACTION_NAMES = {
    "feed.add": N_("feed added"),
    "outlet.medium": N_("said which kind of medium outlets are"),
    "feed.remove": N_("feed taken away"),
    "account.add": N_("added a site's account"),
    "account.check": N_("had a site's log-in checked"),
    "account.cookies": N_("pasted the cookies of a log-in"),
    "account.log_out": N_("logged a site's account out"),
    "account.login": N_("started the log-in of a site's account"),
    "template.drop": N_("deleted a template"), "template.save": N_("wrote a template"),
    "template.restore": N_("put an earlier template back"),
    "article.class": N_("said what an article is about"),
    "article.judge": N_("judged an article"), "article.note": N_("wrote a note"),
    "article.star": N_("starred an article"), "article.tags": N_("tagged an article"),
    "briefing.begin": N_("began a briefing"), "briefing.put": N_("put an item into a briefing"),
    "briefing.drop": N_("took an item out of a briefing"),
    "briefing.move": N_("moved an item of a briefing"),
    "briefing.edit": N_("changed a briefing"), "briefing.delete": N_("deleted a briefing"),
    "briefing.submit": N_("submitted a briefing"), "briefing.return": N_("gave a briefing back"),
    "briefing.approve": N_("approved a briefing"),
    "briefing.reopen": N_("began the next version of a briefing"),
    "briefing.send": N_("sent a briefing out"),
    "backup.make": N_("made a backup"), "engine.check": N_("checked a search engine"),
    "office.paper": N_("changed the office's paper"),
    "handover.give": N_("handed something over"), "handover.answer": N_("answered a hand-over"),
    "handover.pass": N_("gave a hand-over to another colleague"),
    "link.add": N_("made a link for others"), "link.revoke": N_("revoked a link for others"),
    "job.start": N_("started a job"), "job.stop": N_("stopped a job"),
    "evidence.make": N_("made an evidence package"),
    "story.follow": N_("followed a story"), "briefing.make": N_("made a briefing"),
    "query.again": N_("had a query asked again"), "schedule.add": N_("made a schedule"),
    "schedule.drop": N_("deleted a schedule"), "schedule.switch": N_("switched a schedule"),
    "search.remove": N_("forgot a list"), "search.save": N_("kept a list"),
    "session.begin": N_("logged in to the console"), "session.end": N_("logged out"),
    "session.fail": N_("failed to log in"),
    "session.throttle": N_("may try no log-in for a quarter of an hour"),
    "token.add": N_("made a token"),
    "token.remove": N_("deleted a token"), "topic.import": N_("imported a list"),
    "topic.sites": N_("changed a site"), "topic.terms": N_("changed a term"),
    "article.translate": N_("had a model translate an article"),
    "article.drop_translation": N_("took the translation of an article away"),
    "story.draft": N_("had a model draft the paragraph of an event"),
    "story.edit_draft": N_("changed the paragraph of an event"),
    "story.drop_draft": N_("took the paragraph of an event away"),
    "model.ask": N_("sent sentences to a language model"),
    "story.merge": N_("said that two stories are one"),
    "story.split": N_("took articles out of a story"),
    "story.take_back": N_("took back a correction of stories"),
    "url.again": N_("had missed pages collected again"),
    "user.add": N_("added a user"), "user.disable": N_("disabled a user"),
    "user.enable": N_("enabled a user"), "user.password": N_("set a password"),
    "user.connect": N_("connected a user with the office's sign-in"),
    "user.role": N_("changed a role"), "watch.weight": N_("weighted a watched page"),
    "topic.threshold": N_("set a topic's threshold"), "topic.new": N_("made a topic"),
    "topic.about": N_("changed a topic's title"), "topic.rename": N_("renamed a topic"),
    "topic.retire": N_("retired a topic"), "topic.delete": N_("deleted a topic"),
    "topic.samples": N_("changed samples"), "topic.groups": N_("changed groups of words"),
    "schedule.change": N_("changed a schedule"),
    "channel.test": N_("sent a test message to a channel"),
    "channel.add": N_("entered a channel of warnings"),
    "channel.change": N_("changed a channel of warnings"),
    "channel.digest": N_("sent a digest"),
    "board.add": N_("let a topic watch a hot list"),
    "board.change": N_("changed how a hot list is called or read"),
    "board.remove": N_("took a hot list from a topic"),
    "channel.program": N_("changed what a program is told"),
    "channel.resume": N_("let a program be told again"),
    "channel.pushes": N_("changed what a channel is told every day"),
    "channel.drop": N_("deleted a channel of warnings"), "office.change": N_("changed the office"),
    "person.pushes": N_("chose what they are told"),
    "person.test": N_("sent themselves a test message"),
    "person.quiet": N_("chose to be told nothing"),
    "rule.add": N_("wrote a rule of warnings"), "rule.change": N_("changed a rule of warnings"),
    "rule.drop": N_("deleted a rule of warnings"),
    "rule.import": N_("imported rules of warnings"),
    "rule.quiet": N_("set the quiet hours"), "rule.switch": N_("switched a rule of warnings"),
    "warning.mute": N_("muted a warning"), "warning.note": N_("took note of a warning"),
    "warning.unmute": N_("unmuted a warning"),
    "word.accept": N_("took a new word"), "word.merge": N_("took a synonym"),
    "word.reject": N_("refused a word"), "word.undo": N_("took back a decision on a word"),
}  # fmt: skip
"""What the record of changes calls them; one that is not here shows its code."""


async def show(request: Request) -> Response:
    """All users."""
    return await _page(request)


async def _page(request: Request, name: str = "", password: str = "") -> Response:
    """The list, with the password somebody has to be told."""
    everybody = await read(request, people.list_users)
    return render(
        request,
        "people/users.html",
        users=everybody,
        roles=ROLE_NAMES,
        told_name=name,
        told_password=password,
    )


async def add(request: Request) -> Response:
    """Make a user with a password that is shown this once."""
    name, role = await field(request, "name"), await field(request, "role")
    password = credentials.made_up()
    stored = await hashing(request, credentials.hash_password, password)
    await write(request, people.add_user, actor_of(request), name, stored, role)
    return await _page(request, name, password)


async def reset(request: Request) -> Response:
    """Give a user a new password that is shown this once."""
    user, password = await _require_user(request), credentials.made_up()
    stored = await hashing(request, credentials.hash_password, password)
    await write(request, people.set_password, actor_of(request), user, stored, by_self=False)
    return await _page(request, user.name, password)


async def change(request: Request) -> Response:
    """Give a user another role, or take the log-in away or give it back."""
    user, role = await _require_user(request), await field(request, "role")
    if role and role != user.role:
        await write(request, people.set_role, actor_of(request), user, role)
    disabled = await field(request, "disabled")
    if disabled:
        await write(
            request, people.set_disabled, actor_of(request), user, disabled=disabled == "yes"
        )
    told = Told(_("Saved: {name}", name=user.name))
    if disabled == "yes":
        left = await read(request, count_open, user.id)
        words = _("{name} cannot log in any more.", name=user.name)
        if left:
            words = ngettext(
                "{name} is disabled; {count} thing handed to them is not done.",
                "{name} is disabled; {count} things handed to them are not done.",
                left,
                name=user.name,
            )
        told = Told(
            words,
            _("Give them to a colleague") if left else "",
            link(request, "handovers.show") if left else "",
            undo=link(request, "people.change", user_id=user.id),
            undo_fields=(("disabled", "no"),),
        )
    tell(request, told)
    return await back(request, "people.show")


async def _require_user(request: Request) -> people.User:
    user = await read(request, people.user_by_id, request.path_params["user_id"])
    if user is None:
        raise HTTPException(404, _("There is no such user."))
    return user


AREA = Area(
    N_("People"),
    "users",
    (
        Page("/people", "people.show", show, ADMINISTRATOR),
        Page("/people", "people.add", add, ADMINISTRATOR, "POST"),
        Page("/people/{user_id:int}", "people.change", change, ADMINISTRATOR, "POST"),
        Page("/people/{user_id:int}/password", "people.reset", reset, ADMINISTRATOR, "POST"),
    ),
    N_("Administration"),
)
