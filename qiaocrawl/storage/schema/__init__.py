"""The tables. URL, page and article are global; relevance is per topic; reprint groups are global.

::

    topic ─┬─ term, site, sample            the topic pack
           ├─ word_group ── word_group_clock   words whose articles are counted together
           │        └─ word_group_hit ── article   which articles have them
           ├─ judgement                     which pages operators say are on topic
           ├─ lexicon_decision              what experts decided of its words
           ├─ query ── query_answer         the coverage ledger: keyword x site x engine x
           │        └─ query_hit            period x page, the last answers to each, all its hits
           ├─ url ─┬─ page_source           raw bytes, one row a version of the body
           │  │    │    └─ page_picture     what a browser showed of it
           │  │    ├─ article_part          one page of a paged article, by itself
           │  │    ├─ excerpt               blocks of an article below links to other pages
           │  │    └─ article ─┬─ relevance (per topic); article_change: the log of both
           │  ├─ host          ├─ title_term ── term_weight
           │  │   └ page_dictionary            what pages of a site have in common
           └─ run              ├─ title_entry (the log of titles) ── title_clock, title_mark
                               └─ verdict   (reprint groups)

    idf_snapshot ── idf_term                how common words are, as verdicts take it
    site_template                           what each host repeats
    outlet_medium                           which kind of medium hosts are, as operators say
    node_clusters                           what crawls taught the method cluster
    template_version                        where officers say that fields of a site's pages stand
    url_alias                               which addresses of a host are other names of pages
    rendering                               which forms of URLs need a browser
    host_turn                               when workers asked a host last, and its wish to wait
    host_rest ── host                       hosts that refuse or are silent, since when and why
    aliased_url ── url                      URLs whose preferred version is fetched instead
    visit ── url, topic                     the log of fetched pages and where their links led
    decision ── url                         why a URL was fetched when it was
    order_model ── topic                    what crawl orders have learnt
    proxy                                   proxies an operator added, and how they have done
    engine_day                              requests a search engine got a day
    account                                 who logs in to a site, encrypted
    url_form                                what groups of URLs cost and brought: traps are cut
    missing_page                            what hosts show for pages that do not exist
    watched_page, watched_article ── url    what is looked at again, and when
    board ── board_entry ── board_rank      hot lists, what stood on them, and at which place
    watch_hour, watch_day ── host           when sites publish; what watching asked of them
    revision ── url                         what articles said before, and deletions
    office                                  what the office is called, and its mark
    console_user ─┬─ console_session        who works at the console, and is logged in
                  ├─ console_identity       whom the office's provider knows them as
                  ├─ api_token              programs that read in their name
                  └─ saved_search           lists they come back to
    login_failure                           what the log-in is throttled by
    audit_entry                             every change made at the console
    article_mark, article_tag ── url        stars, notes and tags
    job_schedule ── job                     spiders asked for from the console
    keeper                                  what looks after jobs, index and metrics, and when
    story ─┬─ story_article ── url          what articles tell together
           └─ story_change                  what became of a story, and why
    story_clock, story_background           how far that has come; how common terms are
    story_correction, story_follow          what people said about stories; which they follow
    article_name ── url                     whom and what articles of stories name
    article_class ── url, topic            what articles on a topic are about
    story_warning, warning_message ── warning_notice   what officers are warned of, who was told
    warning_rule, quiet_hours               of what to warn, and when not to
    warning_channel, warning_push           where to, encrypted; what else is told there
    warning_hook                            which program is told of new articles and events
    person_push ── console_user             what each person chose to be told, and where
    briefing ── briefing_file               what leaders were told, as it was made
    briefing_draft ─┬─ briefing_item        a briefing that is written at the desk
                    └─ briefing_version ─┬─ briefing_version_file   as it was approved
                                         └─ briefing_receipt        who got it
    office_paper                            how the office's paper looks
    handover ── console_user                what one colleague hands to another
    event_link ── url                       events that strangers may read for a while
    model_call                              what a language model was asked, and what it cost
    event_text ── url                       what it wrote of an event, checked and edited
    translation ── url                      what it translated of a foreign article, checked
    node                                    scrapyd servers, and what they may run
    collector ── host_owner                 workers that are alive, and the hosts each has
    host_round                              when the hosts of a crawl were dealt out last
    page_store ── page_file ── page_record  files with raw pages and pictures outside the database

Changing a table means a new file in ``migrations/versions/``; a test compares the two.
"""

from __future__ import annotations

from qiaocrawl.storage.schema.articles import (
    article,
    article_change,
    article_part,
    excerpt,
    idf_snapshot,
    idf_term,
    judgement,
    lexicon_decision,
    missing_page,
    node_clusters,
    outlet_medium,
    page_dictionary,
    page_file,
    page_picture,
    page_record,
    page_source,
    page_store,
    relevance,
    revision,
    run,
    sample,
    site,
    site_template,
    template_version,
    term,
    term_weight,
    title_clock,
    title_entry,
    title_mark,
    title_term,
    topic,
    verdict,
    word_group,
    word_group_clock,
    word_group_hit,
)
from qiaocrawl.storage.schema.base import (
    KEYED_TABLE_OPTIONS,
    LOG_TABLE_OPTIONS,
    TABLE_OPTIONS,
    State,
    metadata,
)
from qiaocrawl.storage.schema.crawl import (
    account,
    aliased_url,
    board,
    board_entry,
    board_rank,
    decision,
    engine_day,
    host,
    host_rest,
    host_turn,
    order_model,
    proxy,
    query,
    query_answer,
    query_hit,
    rendering,
    url,
    url_alias,
    url_form,
    visit,
    watch_day,
    watch_hour,
    watched_article,
    watched_page,
)
from qiaocrawl.storage.schema.desk import (
    briefing_draft,
    briefing_item,
    briefing_receipt,
    briefing_version,
    briefing_version_file,
    event_link,
    event_text,
    handover,
    model_call,
    office_paper,
    translation,
)
from qiaocrawl.storage.schema.news import (
    article_class,
    article_name,
    briefing,
    briefing_file,
    person_push,
    quiet_hours,
    story,
    story_article,
    story_background,
    story_change,
    story_clock,
    story_correction,
    story_follow,
    story_warning,
    warning_channel,
    warning_hook,
    warning_message,
    warning_notice,
    warning_push,
    warning_rule,
)
from qiaocrawl.storage.schema.office import (
    api_token,
    article_mark,
    article_tag,
    audit_entry,
    collector,
    console_identity,
    console_session,
    console_user,
    host_owner,
    host_round,
    job,
    job_schedule,
    keeper,
    login_failure,
    node,
    office,
    saved_search,
)

__all__ = [
    "KEYED_TABLE_OPTIONS",
    "LOG_TABLE_OPTIONS",
    "State",
    "TABLE_OPTIONS",
    "account",
    "aliased_url",
    "api_token",
    "article",
    "article_change",
    "article_class",
    "article_mark",
    "article_name",
    "article_part",
    "article_tag",
    "audit_entry",
    "board",
    "board_entry",
    "board_rank",
    "briefing",
    "briefing_draft",
    "briefing_file",
    "briefing_item",
    "briefing_receipt",
    "briefing_version",
    "briefing_version_file",
    "collector",
    "console_identity",
    "console_session",
    "console_user",
    "decision",
    "engine_day",
    "event_link",
    "event_text",
    "excerpt",
    "handover",
    "host",
    "host_owner",
    "host_rest",
    "host_round",
    "host_turn",
    "idf_snapshot",
    "idf_term",
    "job",
    "job_schedule",
    "judgement",
    "keeper",
    "lexicon_decision",
    "login_failure",
    "metadata",
    "missing_page",
    "model_call",
    "node",
    "node_clusters",
    "office",
    "office_paper",
    "order_model",
    "outlet_medium",
    "page_dictionary",
    "page_file",
    "page_picture",
    "page_record",
    "page_source",
    "page_store",
    "person_push",
    "proxy",
    "query",
    "query_answer",
    "query_hit",
    "quiet_hours",
    "relevance",
    "rendering",
    "revision",
    "run",
    "sample",
    "saved_search",
    "site",
    "site_template",
    "story",
    "story_article",
    "story_background",
    "story_change",
    "story_clock",
    "story_correction",
    "story_follow",
    "story_warning",
    "template_version",
    "term",
    "term_weight",
    "title_clock",
    "title_entry",
    "title_mark",
    "title_term",
    "topic",
    "translation",
    "url",
    "url_alias",
    "url_form",
    "verdict",
    "visit",
    "warning_channel",
    "warning_hook",
    "warning_message",
    "warning_notice",
    "warning_push",
    "warning_rule",
    "watch_day",
    "watch_hour",
    "watched_article",
    "watched_page",
    "word_group",
    "word_group_clock",
    "word_group_hit",
]
