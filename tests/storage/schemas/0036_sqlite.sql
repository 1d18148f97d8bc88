CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
CREATE TABLE topic (
	id INTEGER NOT NULL, 
	name VARCHAR(64) NOT NULL, 
	title VARCHAR(200) NOT NULL, 
	description TEXT NOT NULL, 
	language VARCHAR(16) NOT NULL, 
	threshold DOUBLE NOT NULL, 
	created_at DATETIME NOT NULL, 
	updated_at DATETIME NOT NULL, 
	CONSTRAINT pk_topic PRIMARY KEY (id), 
	CONSTRAINT uq_topic_name UNIQUE (name)
);
CREATE TABLE term (
	id INTEGER NOT NULL, 
	topic_id INTEGER NOT NULL, 
	text VARCHAR(100) NOT NULL, 
	kind VARCHAR(32) NOT NULL, 
	weight DOUBLE NOT NULL, 
	note TEXT NOT NULL, 
	position INTEGER NOT NULL, 
	CONSTRAINT pk_term PRIMARY KEY (id), 
	CONSTRAINT uq_term_topic_id_text UNIQUE (topic_id, text), 
	CONSTRAINT fk_term_topic_id FOREIGN KEY(topic_id) REFERENCES topic (id)
);
CREATE TABLE site (
	id INTEGER NOT NULL, 
	topic_id INTEGER NOT NULL, 
	host VARCHAR(260) NOT NULL, 
	name VARCHAR(200) NOT NULL, 
	role VARCHAR(32) NOT NULL, 
	tier SMALLINT NOT NULL, 
	region VARCHAR(100) NOT NULL, 
	kind VARCHAR(32) NOT NULL, 
	start_url TEXT NOT NULL, 
	render BOOLEAN NOT NULL, 
	note TEXT NOT NULL, 
	position INTEGER NOT NULL, 
	CONSTRAINT pk_site PRIMARY KEY (id), 
	CONSTRAINT uq_site_topic_id_host UNIQUE (topic_id, host), 
	CONSTRAINT fk_site_topic_id FOREIGN KEY(topic_id) REFERENCES topic (id)
);
CREATE TABLE sample (
	id INTEGER NOT NULL, 
	topic_id INTEGER NOT NULL, 
	name VARCHAR(200) NOT NULL, 
	title TEXT NOT NULL, 
	text TEXT NOT NULL, 
	relevant BOOLEAN NOT NULL, 
	position INTEGER NOT NULL, 
	CONSTRAINT pk_sample PRIMARY KEY (id), 
	CONSTRAINT uq_sample_topic_id_name UNIQUE (topic_id, name), 
	CONSTRAINT fk_sample_topic_id FOREIGN KEY(topic_id) REFERENCES topic (id)
);
CREATE TABLE run (
	id INTEGER NOT NULL, 
	spider VARCHAR(64) NOT NULL, 
	topic_id INTEGER, 
	arguments TEXT NOT NULL, 
	pid INTEGER NOT NULL, 
	machine VARCHAR(255) NOT NULL, 
	started_at DATETIME NOT NULL, 
	finished_at DATETIME, 
	reason VARCHAR(200) NOT NULL, 
	remaining INTEGER, 
	stats TEXT NOT NULL, 
	CONSTRAINT pk_run PRIMARY KEY (id), 
	CONSTRAINT fk_run_topic_id FOREIGN KEY(topic_id) REFERENCES topic (id)
);
CREATE TABLE "query" (
	id INTEGER NOT NULL, 
	topic_id INTEGER NOT NULL, 
	"key" BLOB NOT NULL, 
	engine VARCHAR(64) NOT NULL, 
	term VARCHAR(200) NOT NULL, 
	site VARCHAR(260) NOT NULL, 
	page INTEGER NOT NULL, 
	state VARCHAR(32) NOT NULL, 
	hits INTEGER NOT NULL, 
	new_urls INTEGER NOT NULL, 
	message TEXT NOT NULL, 
	planned_at DATETIME NOT NULL, 
	asked_at DATETIME, period VARCHAR(32) DEFAULT '' NOT NULL, also VARCHAR(500) DEFAULT '' NOT NULL, tries INTEGER DEFAULT '0' NOT NULL, bad_in_a_row INTEGER DEFAULT '0' NOT NULL, due_at DATETIME, total INTEGER, asked_weight DOUBLE DEFAULT '0' NOT NULL, new_weight DOUBLE DEFAULT '0' NOT NULL, url_key BLOB, 
	CONSTRAINT pk_query PRIMARY KEY (id), 
	CONSTRAINT fk_query_topic_id FOREIGN KEY(topic_id) REFERENCES topic (id), 
	CONSTRAINT uq_query_key UNIQUE ("key")
);
CREATE TABLE host (
	id INTEGER NOT NULL, 
	name VARCHAR(260) NOT NULL, 
	CONSTRAINT pk_host PRIMARY KEY (id), 
	CONSTRAINT uq_host_name UNIQUE (name)
);
CREATE TABLE url (
	id INTEGER NOT NULL, 
	"key" BLOB NOT NULL, 
	url TEXT NOT NULL, 
	host_id INTEGER NOT NULL, 
	queue VARCHAR(16) NOT NULL, 
	topic_id INTEGER NOT NULL, 
	state SMALLINT NOT NULL, 
	outcome VARCHAR(32), 
	reason VARCHAR(500), 
	score DOUBLE NOT NULL, 
	depth INTEGER NOT NULL, 
	parent_key BLOB, 
	anchor TEXT NOT NULL, 
	context TEXT NOT NULL, 
	payload TEXT NOT NULL, 
	discovered_at DATETIME NOT NULL, 
	run_id INTEGER, 
	lease_token INTEGER, 
	lease_until DOUBLE, 
	not_before DOUBLE NOT NULL, 
	attempts INTEGER NOT NULL, 
	failures INTEGER NOT NULL, 
	crashes INTEGER NOT NULL, 
	fetched_at DATETIME, 
	done_at DATETIME, 
	http_status SMALLINT, 
	redirect_key BLOB, 
	CONSTRAINT pk_url PRIMARY KEY (id), 
	CONSTRAINT uq_url_key UNIQUE ("key"), 
	CONSTRAINT fk_url_host_id FOREIGN KEY(host_id) REFERENCES host (id), 
	CONSTRAINT fk_url_topic_id FOREIGN KEY(topic_id) REFERENCES topic (id), 
	CONSTRAINT fk_url_run_id FOREIGN KEY(run_id) REFERENCES run (id)
);
CREATE TABLE page_source (
	id INTEGER NOT NULL, 
	url_id INTEGER NOT NULL, 
	digest BLOB NOT NULL, 
	final_url TEXT NOT NULL, 
	http_status SMALLINT NOT NULL, 
	headers TEXT NOT NULL, 
	content_type VARCHAR(200) NOT NULL, 
	charset VARCHAR(64) NOT NULL, 
	body_bytes INTEGER NOT NULL, 
	truncated BOOLEAN NOT NULL, 
	fetched_at DATETIME NOT NULL, 
	last_seen_at DATETIME NOT NULL, 
	body BLOB NOT NULL, record_id INTEGER CONSTRAINT fk_page_source_record_id REFERENCES page_record (id), 
	CONSTRAINT pk_page_source PRIMARY KEY (id), 
	CONSTRAINT uq_page_source_url_id_digest UNIQUE (url_id, digest), 
	CONSTRAINT fk_page_source_url_id FOREIGN KEY(url_id) REFERENCES url (id)
);
CREATE TABLE article (
	id INTEGER NOT NULL, 
	url_id INTEGER NOT NULL, 
	page_source_id INTEGER, 
	site VARCHAR(260) NOT NULL, 
	title TEXT NOT NULL, 
	published_at DATETIME, 
	author VARCHAR(200) NOT NULL, 
	source VARCHAR(200) NOT NULL, 
	channel VARCHAR(200) NOT NULL, 
	keywords TEXT NOT NULL, 
	description TEXT NOT NULL, 
	anchor TEXT NOT NULL, 
	language VARCHAR(16) NOT NULL, 
	charset VARCHAR(64) NOT NULL, 
	method VARCHAR(64) NOT NULL, 
	body_digest BLOB NOT NULL, 
	title_tokens TEXT NOT NULL, 
	truncated BOOLEAN NOT NULL, 
	fetched_at DATETIME NOT NULL, 
	updated_at DATETIME NOT NULL, 
	text TEXT NOT NULL, html BLOB, engagement TEXT, comments TEXT, kind VARCHAR(32) DEFAULT 'article' NOT NULL, modified_at DATETIME, 
	CONSTRAINT pk_article PRIMARY KEY (id), 
	CONSTRAINT uq_article_url_id UNIQUE (url_id), 
	CONSTRAINT fk_article_url_id FOREIGN KEY(url_id) REFERENCES url (id), 
	CONSTRAINT fk_article_page_source_id FOREIGN KEY(page_source_id) REFERENCES page_source (id)
);
CREATE TABLE relevance (
	article_id INTEGER NOT NULL, 
	topic_id INTEGER NOT NULL, 
	score DOUBLE NOT NULL, 
	relevant BOOLEAN NOT NULL, 
	method VARCHAR(64) NOT NULL, 
	terms TEXT NOT NULL, 
	CONSTRAINT pk_relevance PRIMARY KEY (article_id, topic_id), 
	CONSTRAINT fk_relevance_article_id FOREIGN KEY(article_id) REFERENCES article (id), 
	CONSTRAINT fk_relevance_topic_id FOREIGN KEY(topic_id) REFERENCES topic (id)
)
 WITHOUT ROWID

;
CREATE TABLE title_term (
	article_id INTEGER NOT NULL, 
	term VARCHAR(100) NOT NULL, 
	count INTEGER NOT NULL, 
	weight DOUBLE NOT NULL, 
	CONSTRAINT pk_title_term PRIMARY KEY (article_id, term), 
	CONSTRAINT fk_title_term_article_id FOREIGN KEY(article_id) REFERENCES article (id)
)
 WITHOUT ROWID

;
CREATE TABLE term_weight (
	term VARCHAR(100) NOT NULL, 
	df INTEGER NOT NULL, 
	weight DOUBLE NOT NULL, 
	CONSTRAINT pk_term_weight PRIMARY KEY (term)
)
 WITHOUT ROWID

;
CREATE TABLE verdict (
	article_id INTEGER NOT NULL, 
	kind VARCHAR(32) NOT NULL, 
	of_article_id INTEGER, 
	group_id INTEGER NOT NULL, 
	similarity DOUBLE NOT NULL, 
	why VARCHAR(500) NOT NULL, 
	method VARCHAR(64) NOT NULL, snapshot INTEGER DEFAULT '0' NOT NULL, 
	CONSTRAINT pk_verdict PRIMARY KEY (article_id), 
	CONSTRAINT fk_verdict_article_id FOREIGN KEY(article_id) REFERENCES article (id), 
	CONSTRAINT fk_verdict_of_article_id FOREIGN KEY(of_article_id) REFERENCES article (id), 
	CONSTRAINT fk_verdict_group_id FOREIGN KEY(group_id) REFERENCES article (id)
);
CREATE TABLE site_template (
	host VARCHAR(260) NOT NULL, 
	pages INTEGER NOT NULL, 
	redesigns INTEGER NOT NULL, 
	updated_at DATETIME NOT NULL, 
	template TEXT NOT NULL, 
	CONSTRAINT pk_site_template PRIMARY KEY (host)
);
CREATE TABLE article_part (
	url_id INTEGER NOT NULL, 
	first_key BLOB NOT NULL, 
	number SMALLINT NOT NULL, 
	parts SMALLINT NOT NULL, 
	reads_alone BOOLEAN NOT NULL, 
	page_source_id INTEGER, 
	digest BLOB NOT NULL, 
	note VARCHAR(500) NOT NULL, 
	about TEXT NOT NULL, 
	text TEXT NOT NULL, html BLOB, 
	CONSTRAINT pk_article_part PRIMARY KEY (url_id), 
	CONSTRAINT fk_article_part_url_id FOREIGN KEY(url_id) REFERENCES url (id), 
	CONSTRAINT fk_article_part_page_source_id FOREIGN KEY(page_source_id) REFERENCES page_source (id)
);
CREATE TABLE url_alias (
	host VARCHAR(260) NOT NULL, 
	rules SMALLINT NOT NULL, 
	updated_at DATETIME NOT NULL, 
	votes TEXT NOT NULL, 
	CONSTRAINT pk_url_alias PRIMARY KEY (host)
);
CREATE TABLE aliased_url (
	url_id INTEGER NOT NULL, 
	preferred_key BLOB NOT NULL, 
	CONSTRAINT pk_aliased_url PRIMARY KEY (url_id), 
	CONSTRAINT fk_aliased_url_url_id FOREIGN KEY(url_id) REFERENCES url (id)
);
CREATE TABLE title_clock (
	id INTEGER NOT NULL, 
	snapshot INTEGER NOT NULL, 
	CONSTRAINT pk_title_clock PRIMARY KEY (id)
);
CREATE TABLE title_entry (
	seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	"key" BLOB NOT NULL, 
	article_id INTEGER, 
	title TEXT NOT NULL, 
	host VARCHAR(260) NOT NULL, 
	published_at DATETIME, 
	source VARCHAR(200) NOT NULL, 
	body_digest BLOB NOT NULL, 
	body_simhash BLOB, 
	body_sketch BLOB NOT NULL, 
	text_chars INTEGER NOT NULL, 
	taken_out BOOLEAN NOT NULL, 
	CONSTRAINT uq_title_entry_key UNIQUE ("key"), 
	CONSTRAINT fk_title_entry_article_id FOREIGN KEY(article_id) REFERENCES article (id)
);
CREATE TABLE idf_snapshot (
	version INTEGER NOT NULL, 
	created_at DATETIME NOT NULL, 
	documents INTEGER NOT NULL, 
	note VARCHAR(200) NOT NULL, 
	CONSTRAINT pk_idf_snapshot PRIMARY KEY (version)
);
CREATE TABLE idf_term (
	version INTEGER NOT NULL, 
	term VARCHAR(100) NOT NULL, 
	df INTEGER NOT NULL, 
	CONSTRAINT pk_idf_term PRIMARY KEY (version, term), 
	CONSTRAINT fk_idf_term_version FOREIGN KEY(version) REFERENCES idf_snapshot (version)
)
 WITHOUT ROWID

;
CREATE TABLE visit (
	seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	topic_id INTEGER NOT NULL, 
	queue VARCHAR(16) NOT NULL, 
	url_id INTEGER NOT NULL, 
	token INTEGER NOT NULL, 
	attempt INTEGER NOT NULL, 
	depth INTEGER NOT NULL, 
	relevance DOUBLE NOT NULL, 
	relevant BOOLEAN NOT NULL, 
	at DOUBLE NOT NULL, 
	links BLOB NOT NULL, 
	CONSTRAINT uq_visit_url_id_token_attempt UNIQUE (url_id, token, attempt), 
	CONSTRAINT fk_visit_topic_id FOREIGN KEY(topic_id) REFERENCES topic (id), 
	CONSTRAINT fk_visit_url_id FOREIGN KEY(url_id) REFERENCES url (id)
);
CREATE TABLE decision (
	url_id INTEGER NOT NULL, 
	strategy VARCHAR(64) NOT NULL, 
	score DOUBLE NOT NULL, 
	place INTEGER, 
	waiting INTEGER, 
	parts TEXT NOT NULL, 
	at DOUBLE NOT NULL, 
	CONSTRAINT pk_decision PRIMARY KEY (url_id), 
	CONSTRAINT fk_decision_url_id FOREIGN KEY(url_id) REFERENCES url (id)
);
CREATE TABLE order_model (
	version INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	topic_id INTEGER NOT NULL, 
	host VARCHAR(260) NOT NULL, 
	strategy VARCHAR(64) NOT NULL, 
	format SMALLINT NOT NULL, 
	pages INTEGER NOT NULL, 
	upto INTEGER NOT NULL, 
	created_at DATETIME NOT NULL, 
	digest BLOB NOT NULL, 
	model BLOB NOT NULL, 
	CONSTRAINT fk_order_model_topic_id FOREIGN KEY(topic_id) REFERENCES topic (id)
);
CREATE TABLE judgement (
	topic_id INTEGER NOT NULL, 
	"key" BLOB NOT NULL, 
	url TEXT NOT NULL, 
	relevant BOOLEAN NOT NULL, 
	note VARCHAR(500) NOT NULL, 
	judged_at DATETIME NOT NULL, 
	CONSTRAINT pk_judgement PRIMARY KEY (topic_id, "key"), 
	CONSTRAINT fk_judgement_topic_id FOREIGN KEY(topic_id) REFERENCES topic (id)
)
 WITHOUT ROWID

;
CREATE TABLE query_answer (
	query_id INTEGER NOT NULL, 
	slot SMALLINT NOT NULL, 
	asked_at DATETIME NOT NULL, 
	state VARCHAR(32) NOT NULL, 
	hits INTEGER NOT NULL, 
	new_urls INTEGER NOT NULL, 
	message VARCHAR(300) NOT NULL, 
	CONSTRAINT pk_query_answer PRIMARY KEY (query_id, slot), 
	CONSTRAINT fk_query_answer_query_id FOREIGN KEY(query_id) REFERENCES "query" (id)
)
 WITHOUT ROWID

;
CREATE TABLE engine_day (
	engine VARCHAR(64) NOT NULL, 
	day VARCHAR(10) NOT NULL, 
	asked INTEGER NOT NULL, 
	CONSTRAINT pk_engine_day PRIMARY KEY (engine, day)
)
 WITHOUT ROWID

;
CREATE TABLE proxy (
	id INTEGER NOT NULL, 
	scheme VARCHAR(8) NOT NULL, 
	host VARCHAR(260) NOT NULL, 
	port INTEGER NOT NULL, 
	login VARCHAR(100) NOT NULL, 
	password_env VARCHAR(100) NOT NULL, 
	note VARCHAR(200) NOT NULL, 
	added_at DATETIME NOT NULL, 
	successes DOUBLE NOT NULL, 
	failures DOUBLE NOT NULL, 
	latency_seconds DOUBLE NOT NULL, 
	failures_in_row INTEGER NOT NULL, 
	resting_until DOUBLE NOT NULL, 
	CONSTRAINT pk_proxy PRIMARY KEY (id), 
	CONSTRAINT uq_proxy_scheme_host_port_login UNIQUE (scheme, host, port, login)
);
CREATE TABLE account (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	site VARCHAR(64) NOT NULL, 
	name VARCHAR(100) NOT NULL, 
	state VARCHAR(16) NOT NULL, 
	reason VARCHAR(500) NOT NULL, 
	secret BLOB NOT NULL, 
	session BLOB NOT NULL, 
	logged_in_at DATETIME, 
	rests_until DATETIME, 
	updated_at DATETIME NOT NULL, 
	CONSTRAINT uq_account_site_name UNIQUE (site, name)
);
CREATE TABLE rendering (
	"key" BLOB NOT NULL, 
	host VARCHAR(260) NOT NULL, 
	form VARCHAR(200) NOT NULL, 
	gained INTEGER NOT NULL, 
	in_vain INTEGER NOT NULL, 
	plain INTEGER NOT NULL, 
	voted_at DOUBLE NOT NULL, 
	CONSTRAINT pk_rendering PRIMARY KEY ("key")
);
CREATE TABLE url_form (
	"key" BLOB NOT NULL, 
	host VARCHAR(260) NOT NULL, 
	form VARCHAR(400) NOT NULL, 
	credit DOUBLE NOT NULL, 
	fetched INTEGER NOT NULL, 
	stories INTEGER NOT NULL, 
	trees INTEGER NOT NULL, 
	updated_at DOUBLE NOT NULL, listed INTEGER DEFAULT '0' NOT NULL, cut VARCHAR(200) DEFAULT '' NOT NULL, 
	CONSTRAINT pk_url_form PRIMARY KEY ("key")
)
 WITHOUT ROWID

;
CREATE TABLE missing_page (
	host VARCHAR(260) NOT NULL, 
	title VARCHAR(500) NOT NULL, 
	digest BLOB NOT NULL, 
	simhash BLOB NOT NULL, 
	updated_at DOUBLE NOT NULL, 
	CONSTRAINT pk_missing_page PRIMARY KEY (host)
);
CREATE TABLE watched_page (
	topic_id INTEGER NOT NULL, 
	url_id INTEGER NOT NULL, 
	kind VARCHAR(16) NOT NULL, 
	name VARCHAR(200) NOT NULL, 
	weight DOUBLE NOT NULL, 
	since DOUBLE NOT NULL, 
	next_at DOUBLE NOT NULL, 
	last_at DOUBLE, 
	changed_at DOUBLE, 
	rate DOUBLE NOT NULL, 
	wait_hours DOUBLE NOT NULL, 
	visits INTEGER NOT NULL, 
	changes INTEGER NOT NULL, 
	news INTEGER NOT NULL, 
	failures INTEGER NOT NULL, 
	etag VARCHAR(500) NOT NULL, 
	modified VARCHAR(64) NOT NULL, 
	digest BLOB, 
	memory BLOB NOT NULL, 
	CONSTRAINT pk_watched_page PRIMARY KEY (topic_id, url_id), 
	CONSTRAINT fk_watched_page_topic_id FOREIGN KEY(topic_id) REFERENCES topic (id), 
	CONSTRAINT fk_watched_page_url_id FOREIGN KEY(url_id) REFERENCES url (id)
)
 WITHOUT ROWID

;
CREATE TABLE watched_article (
	url_id INTEGER NOT NULL, 
	topic_id INTEGER NOT NULL, 
	published DOUBLE NOT NULL, 
	next_at DOUBLE NOT NULL, 
	etag VARCHAR(500) NOT NULL, 
	modified VARCHAR(64) NOT NULL, 
	CONSTRAINT pk_watched_article PRIMARY KEY (url_id), 
	CONSTRAINT fk_watched_article_url_id FOREIGN KEY(url_id) REFERENCES url (id), 
	CONSTRAINT fk_watched_article_topic_id FOREIGN KEY(topic_id) REFERENCES topic (id)
)
 WITHOUT ROWID

;
CREATE TABLE watch_hour (
	host_id INTEGER NOT NULL, 
	hour SMALLINT NOT NULL, 
	articles DOUBLE NOT NULL, 
	CONSTRAINT pk_watch_hour PRIMARY KEY (host_id, hour), 
	CONSTRAINT fk_watch_hour_host_id FOREIGN KEY(host_id) REFERENCES host (id)
)
 WITHOUT ROWID

;
CREATE TABLE watch_day (
	topic_id INTEGER NOT NULL, 
	day INTEGER NOT NULL, 
	host_id INTEGER NOT NULL, 
	pages INTEGER NOT NULL, 
	articles INTEGER NOT NULL, 
	looks INTEGER NOT NULL, 
	CONSTRAINT pk_watch_day PRIMARY KEY (topic_id, day, host_id), 
	CONSTRAINT fk_watch_day_topic_id FOREIGN KEY(topic_id) REFERENCES topic (id), 
	CONSTRAINT fk_watch_day_host_id FOREIGN KEY(host_id) REFERENCES host (id)
)
 WITHOUT ROWID

;
CREATE TABLE revision (
	id INTEGER NOT NULL, 
	url_id INTEGER NOT NULL, 
	kind VARCHAR(16) NOT NULL, 
	at DATETIME NOT NULL, 
	page_source_id INTEGER, 
	note VARCHAR(500) NOT NULL, 
	title TEXT NOT NULL, 
	published_at DATETIME, 
	body_digest BLOB NOT NULL, 
	text TEXT NOT NULL, 
	CONSTRAINT pk_revision PRIMARY KEY (id), 
	CONSTRAINT fk_revision_url_id FOREIGN KEY(url_id) REFERENCES url (id), 
	CONSTRAINT fk_revision_page_source_id FOREIGN KEY(page_source_id) REFERENCES page_source (id)
);
CREATE TABLE host_turn (
	host VARCHAR(260) NOT NULL, 
	last_at DOUBLE NOT NULL, 
	delay DOUBLE NOT NULL, 
	parked_until DOUBLE NOT NULL, 
	busy INTEGER NOT NULL, 
	CONSTRAINT pk_host_turn PRIMARY KEY (host)
)
 WITHOUT ROWID

;
CREATE INDEX ix_site_host ON site (host);
CREATE INDEX ix_query_topic_id_engine_state ON "query" (topic_id, engine, state);
CREATE INDEX ix_url_frontier ON url (queue, topic_id, state, host_id, score DESC, id);
CREATE INDEX ix_article_page_source_id ON article (page_source_id);
CREATE INDEX ix_relevance_topic_id_relevant_score ON relevance (topic_id, relevant, score);
CREATE INDEX ix_title_term_term ON title_term (term);
CREATE INDEX ix_verdict_kind ON verdict (kind);
CREATE INDEX ix_verdict_of_article_id ON verdict (of_article_id);
CREATE INDEX ix_verdict_group_id ON verdict (group_id);
CREATE INDEX ix_article_part_page_source_id ON article_part (page_source_id);
CREATE INDEX ix_article_part_first_key_number ON article_part (first_key, number);
CREATE INDEX ix_aliased_url_preferred_key ON aliased_url (preferred_key);
CREATE INDEX ix_title_entry_article_id ON title_entry (article_id);
CREATE INDEX ix_visit_topic_id_queue_seq_token ON visit (topic_id, queue, seq, token);
CREATE INDEX ix_order_model_topic_id_strategy_host_version ON order_model (topic_id, strategy, host, version);
CREATE INDEX ix_query_url_key ON "query" (url_key);
CREATE INDEX ix_rendering_voted_at ON rendering (voted_at);
CREATE INDEX ix_url_form_updated_at ON url_form (updated_at);
CREATE INDEX ix_watched_page_topic_id_next_at ON watched_page (topic_id, next_at);
CREATE INDEX ix_watched_page_url_id ON watched_page (url_id);
CREATE INDEX ix_watched_article_topic_id_next_at ON watched_article (topic_id, next_at);
CREATE INDEX ix_revision_page_source_id ON revision (page_source_id);
CREATE INDEX ix_revision_url_id ON revision (url_id);
CREATE TABLE excerpt (
	url_id INTEGER NOT NULL, 
	number SMALLINT NOT NULL, 
	target_key BLOB NOT NULL, 
	opening VARCHAR(64) NOT NULL, 
	share DOUBLE NOT NULL, 
	stands BOOLEAN NOT NULL, 
	CONSTRAINT pk_excerpt PRIMARY KEY (url_id, number), 
	CONSTRAINT fk_excerpt_url_id FOREIGN KEY(url_id) REFERENCES url (id)
);
CREATE INDEX ix_excerpt_target_key ON excerpt (target_key);
CREATE TABLE lexicon_decision (
	id INTEGER NOT NULL, 
	topic_id INTEGER NOT NULL, 
	text VARCHAR(100) NOT NULL, 
	action VARCHAR(16) NOT NULL, 
	weight DOUBLE, 
	kind VARCHAR(32) NOT NULL, 
	synonym_of VARCHAR(100) NOT NULL, 
	note TEXT NOT NULL, 
	decided_by VARCHAR(100) NOT NULL, 
	decided_at DATETIME NOT NULL, 
	earlier TEXT, 
	undone_at DATETIME, 
	CONSTRAINT pk_lexicon_decision PRIMARY KEY (id), 
	CONSTRAINT fk_lexicon_decision_topic_id FOREIGN KEY(topic_id) REFERENCES topic (id)
);
CREATE INDEX ix_lexicon_decision_topic_id ON lexicon_decision (topic_id);
CREATE TABLE query_hit (
	query_id INTEGER NOT NULL, 
	"key" BLOB NOT NULL, 
	CONSTRAINT pk_query_hit PRIMARY KEY (query_id, "key"), 
	CONSTRAINT fk_query_hit_query_id FOREIGN KEY(query_id) REFERENCES "query" (id)
)
 WITHOUT ROWID

;
CREATE TABLE console_user (
	id INTEGER NOT NULL, 
	name VARCHAR(64) NOT NULL, 
	password VARCHAR(200) NOT NULL, 
	role VARCHAR(32) NOT NULL, 
	must_change BOOLEAN NOT NULL, 
	created_at DATETIME NOT NULL, 
	disabled_at DATETIME, 
	CONSTRAINT pk_console_user PRIMARY KEY (id), 
	CONSTRAINT uq_console_user_name UNIQUE (name)
);
CREATE TABLE console_session (
	digest BLOB NOT NULL, 
	user_id INTEGER NOT NULL, 
	created_at DATETIME NOT NULL, 
	last_seen_at DATETIME NOT NULL, 
	address VARCHAR(64) NOT NULL, 
	CONSTRAINT pk_console_session PRIMARY KEY (digest), 
	CONSTRAINT fk_console_session_user_id FOREIGN KEY(user_id) REFERENCES console_user (id)
)
 WITHOUT ROWID

;
CREATE INDEX ix_console_session_user_id ON console_session (user_id);
CREATE TABLE login_failure (
	id INTEGER NOT NULL, 
	name_key BLOB NOT NULL, 
	address VARCHAR(64) NOT NULL, 
	failed_at DATETIME NOT NULL, 
	CONSTRAINT pk_login_failure PRIMARY KEY (id)
);
CREATE INDEX ix_login_failure_failed_at ON login_failure (failed_at);
CREATE TABLE audit_entry (
	id INTEGER NOT NULL, 
	at DATETIME NOT NULL, 
	user_name VARCHAR(64) NOT NULL, 
	address VARCHAR(64) NOT NULL, 
	action VARCHAR(64) NOT NULL, 
	target VARCHAR(500) NOT NULL, 
	"before" TEXT, 
	"after" TEXT, 
	CONSTRAINT pk_audit_entry PRIMARY KEY (id)
);
CREATE INDEX ix_audit_entry_at ON audit_entry (at);
CREATE TABLE api_token (
	id INTEGER NOT NULL, 
	digest BLOB NOT NULL, 
	user_id INTEGER NOT NULL, 
	name VARCHAR(100) NOT NULL, 
	created_at DATETIME NOT NULL, 
	last_used_at DATETIME, 
	CONSTRAINT pk_api_token PRIMARY KEY (id), 
	CONSTRAINT uq_api_token_digest UNIQUE (digest), 
	CONSTRAINT fk_api_token_user_id FOREIGN KEY(user_id) REFERENCES console_user (id)
);
CREATE INDEX ix_api_token_user_id ON api_token (user_id);
CREATE TABLE saved_search (
	id INTEGER NOT NULL, 
	user_id INTEGER NOT NULL, 
	name VARCHAR(100) NOT NULL, 
	"query" TEXT NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_saved_search PRIMARY KEY (id), 
	CONSTRAINT uq_saved_search_user_id_name UNIQUE (user_id, name), 
	CONSTRAINT fk_saved_search_user_id FOREIGN KEY(user_id) REFERENCES console_user (id)
);
CREATE TABLE article_mark (
	url_id INTEGER NOT NULL, 
	starred BOOLEAN NOT NULL, 
	note TEXT NOT NULL, 
	marked_by VARCHAR(64) NOT NULL, 
	marked_at DATETIME NOT NULL, 
	CONSTRAINT pk_article_mark PRIMARY KEY (url_id), 
	CONSTRAINT fk_article_mark_url_id FOREIGN KEY(url_id) REFERENCES url (id)
);
CREATE INDEX ix_article_mark_starred_marked_at ON article_mark (starred, marked_at);
CREATE TABLE article_tag (
	url_id INTEGER NOT NULL, 
	tag VARCHAR(50) NOT NULL, 
	CONSTRAINT pk_article_tag PRIMARY KEY (url_id, tag), 
	CONSTRAINT fk_article_tag_url_id FOREIGN KEY(url_id) REFERENCES url (id)
)
 WITHOUT ROWID

;
CREATE INDEX ix_article_tag_tag ON article_tag (tag);
CREATE INDEX ix_article_published_at_fetched_at ON article (published_at, fetched_at, site);
CREATE INDEX ix_article_site_fetched_at ON article (site, fetched_at, published_at);
CREATE INDEX ix_article_fetched_at_published_at ON article (fetched_at, published_at, site);
CREATE INDEX ix_article_updated_at ON article (updated_at);
CREATE INDEX ix_url_outcome_done_at ON url (outcome, done_at) WHERE outcome = 'dead';
CREATE TABLE job_schedule (
	id INTEGER NOT NULL, 
	spider VARCHAR(32) NOT NULL, 
	topic VARCHAR(64) NOT NULL, 
	arguments TEXT NOT NULL, 
	settings TEXT NOT NULL, 
	server VARCHAR(100) NOT NULL, 
	times VARCHAR(200) NOT NULL, 
	zone VARCHAR(64) NOT NULL, 
	is_on BOOLEAN NOT NULL, 
	when_missed VARCHAR(8) NOT NULL, 
	next_at DOUBLE NOT NULL, 
	last_at DOUBLE, 
	last_result VARCHAR(32) NOT NULL, 
	created_by VARCHAR(100) NOT NULL, 
	created_at DATETIME NOT NULL, 
	since_at DOUBLE, 
	CONSTRAINT pk_job_schedule PRIMARY KEY (id)
);
CREATE INDEX ix_job_schedule_next_at ON job_schedule (next_at);
CREATE TABLE job (
	id INTEGER NOT NULL, 
	schedule_id INTEGER, 
	spider VARCHAR(32) NOT NULL, 
	topic VARCHAR(64) NOT NULL, 
	arguments TEXT NOT NULL, 
	settings TEXT NOT NULL, 
	server VARCHAR(100) NOT NULL, 
	machine VARCHAR(255) NOT NULL, 
	state VARCHAR(16) NOT NULL, 
	token VARCHAR(32) NOT NULL, 
	attempts SMALLINT NOT NULL, 
	pid INTEGER, 
	exit_code INTEGER, 
	log VARCHAR(500) NOT NULL, 
	message VARCHAR(500) NOT NULL, 
	requested_by VARCHAR(100) NOT NULL, 
	created_at DATETIME NOT NULL, 
	started_at DATETIME, 
	ended_at DATETIME, 
	missing_since DOUBLE, 
	CONSTRAINT pk_job PRIMARY KEY (id), 
	CONSTRAINT fk_job_schedule_id FOREIGN KEY(schedule_id) REFERENCES job_schedule (id)
);
CREATE INDEX ix_job_state ON job (state);
CREATE INDEX ix_job_schedule_id ON job (schedule_id);
CREATE TABLE page_store (
	id INTEGER NOT NULL, 
	address VARCHAR(400) NOT NULL, 
	mark VARCHAR(32) NOT NULL, 
	holder VARCHAR(200) NOT NULL, 
	held_until DOUBLE NOT NULL, 
	CONSTRAINT pk_page_store PRIMARY KEY (id), 
	CONSTRAINT uq_page_store_address UNIQUE (address)
);
CREATE TABLE page_file (
	id INTEGER NOT NULL, 
	store_id INTEGER NOT NULL, 
	name VARCHAR(100) NOT NULL, 
	state SMALLINT NOT NULL, 
	file_bytes INTEGER NOT NULL, 
	created_at DATETIME NOT NULL, 
	retired_at DATETIME, 
	CONSTRAINT pk_page_file PRIMARY KEY (id), 
	CONSTRAINT fk_page_file_store_id FOREIGN KEY(store_id) REFERENCES page_store (id), 
	CONSTRAINT uq_page_file_name UNIQUE (name)
);
CREATE INDEX ix_page_file_state ON page_file (store_id, state);
CREATE TABLE page_record (
	id INTEGER NOT NULL, 
	digest BLOB NOT NULL, 
	file_id INTEGER NOT NULL, 
	offset_bytes INTEGER NOT NULL, 
	length_bytes INTEGER NOT NULL, 
	fault VARCHAR(200) NOT NULL, 
	CONSTRAINT pk_page_record PRIMARY KEY (id), 
	CONSTRAINT uq_page_record_digest UNIQUE (digest), 
	CONSTRAINT fk_page_record_file_id FOREIGN KEY(file_id) REFERENCES page_file (id)
);
CREATE INDEX ix_page_record_place ON page_record (file_id, offset_bytes);
CREATE TABLE page_picture (
	page_source_id INTEGER NOT NULL, 
	media_type VARCHAR(32) NOT NULL, 
	width INTEGER NOT NULL, 
	height INTEGER NOT NULL, 
	cut BOOLEAN NOT NULL, 
	taken_at DATETIME NOT NULL, 
	picture BLOB NOT NULL, 
	record_id INTEGER, 
	CONSTRAINT pk_page_picture PRIMARY KEY (page_source_id), 
	CONSTRAINT fk_page_picture_page_source_id FOREIGN KEY(page_source_id) REFERENCES page_source (id) ON DELETE CASCADE, 
	CONSTRAINT fk_page_picture_record_id FOREIGN KEY(record_id) REFERENCES page_record (id)
);
CREATE INDEX ix_page_picture_record_id ON page_picture (record_id);
CREATE TABLE story_clock (
	id INTEGER NOT NULL, 
	version INTEGER NOT NULL, 
	title_seq INTEGER NOT NULL, 
	next_id INTEGER NOT NULL, 
	minute INTEGER NOT NULL, 
	day INTEGER NOT NULL, 
	learnt INTEGER NOT NULL, 
	CONSTRAINT pk_story_clock PRIMARY KEY (id)
);
CREATE TABLE story (
	id INTEGER NOT NULL, 
	title VARCHAR(500) NOT NULL, 
	head_url_id INTEGER, 
	state VARCHAR(16) NOT NULL, 
	merged_into INTEGER, 
	opened INTEGER NOT NULL, 
	touched INTEGER NOT NULL, 
	first_published DATETIME, 
	last_published DATETIME, 
	articles INTEGER NOT NULL, 
	voices INTEGER NOT NULL, 
	likeness INTEGER NOT NULL, 
	checked INTEGER NOT NULL, 
	by_hand BOOLEAN NOT NULL, 
	apart TEXT NOT NULL, 
	words TEXT NOT NULL, 
	signature BLOB NOT NULL, 
	CONSTRAINT pk_story PRIMARY KEY (id), 
	CONSTRAINT fk_story_head_url_id FOREIGN KEY(head_url_id) REFERENCES url (id)
);
CREATE INDEX ix_story_last_published ON story (last_published);
CREATE INDEX ix_story_head_url_id ON story (head_url_id);
CREATE INDEX ix_story_state_touched ON story (state, touched);
CREATE TABLE story_article (
	url_id INTEGER NOT NULL, 
	story_id INTEGER, 
	voice_url_id INTEGER NOT NULL, 
	minute INTEGER NOT NULL, 
	published DOUBLE, 
	words TEXT NOT NULL, 
	`vector` BLOB, 
	CONSTRAINT pk_story_article PRIMARY KEY (url_id), 
	CONSTRAINT fk_story_article_url_id FOREIGN KEY(url_id) REFERENCES url (id), 
	CONSTRAINT fk_story_article_story_id FOREIGN KEY(story_id) REFERENCES story (id), 
	CONSTRAINT fk_story_article_voice_url_id FOREIGN KEY(voice_url_id) REFERENCES url (id)
);
CREATE INDEX ix_story_article_voice_url_id ON story_article (voice_url_id);
CREATE INDEX ix_story_article_story_id ON story_article (story_id);
CREATE TABLE story_change (
	id INTEGER NOT NULL, 
	minute INTEGER NOT NULL, 
	story_id INTEGER NOT NULL, 
	kind VARCHAR(16) NOT NULL, 
	other_id INTEGER, 
	url_ids TEXT NOT NULL, 
	score DOUBLE NOT NULL, 
	words TEXT NOT NULL, 
	by_hand BOOLEAN NOT NULL, 
	CONSTRAINT pk_story_change PRIMARY KEY (id)
);
CREATE INDEX ix_story_change_minute ON story_change (minute);
CREATE INDEX ix_story_change_story_id ON story_change (story_id);
CREATE TABLE story_correction (
	id INTEGER NOT NULL, 
	kind VARCHAR(16) NOT NULL, 
	url_ids TEXT NOT NULL, 
	other_url_ids TEXT NOT NULL, 
	corrected_by VARCHAR(100) NOT NULL, 
	corrected_at DATETIME NOT NULL, 
	minute INTEGER, 
	CONSTRAINT pk_story_correction PRIMARY KEY (id)
);
CREATE INDEX ix_story_correction_minute ON story_correction (minute);
CREATE TABLE story_background (
	id INTEGER NOT NULL, 
	minute INTEGER, 
	articles INTEGER NOT NULL, 
	data BLOB NOT NULL, 
	CONSTRAINT pk_story_background PRIMARY KEY (id)
);
CREATE TABLE story_follow (
	url_id INTEGER NOT NULL, 
	followed_by VARCHAR(100) NOT NULL, 
	followed_at DATETIME NOT NULL, 
	CONSTRAINT pk_story_follow PRIMARY KEY (url_id), 
	CONSTRAINT fk_story_follow_url_id FOREIGN KEY(url_id) REFERENCES url (id)
);
CREATE TABLE story_warning (
	id INTEGER NOT NULL, 
	opened_for VARCHAR(64) NOT NULL, 
	story VARCHAR(64) NOT NULL, 
	severity VARCHAR(16) NOT NULL, 
	status VARCHAR(16) NOT NULL, 
	changed_at DATETIME NOT NULL, 
	record TEXT NOT NULL, 
	CONSTRAINT pk_story_warning PRIMARY KEY (id), 
	CONSTRAINT uq_story_warning_opened_for UNIQUE (opened_for), 
	CONSTRAINT uq_story_warning_story UNIQUE (story)
);
CREATE INDEX ix_story_warning_changed_at ON story_warning (changed_at);
CREATE TABLE warning_message (
	id INTEGER NOT NULL, 
	message_id VARCHAR(32) NOT NULL, 
	channel VARCHAR(64) NOT NULL, 
	severity VARCHAR(16) NOT NULL, 
	title TEXT NOT NULL, 
	body TEXT NOT NULL, 
	created_at DATETIME NOT NULL, 
	state VARCHAR(16) NOT NULL, 
	attempts SMALLINT NOT NULL, 
	next_at DOUBLE NOT NULL, 
	sent_at DATETIME, 
	sent_chars INTEGER DEFAULT '0' NOT NULL, 
	error VARCHAR(500) NOT NULL, 
	CONSTRAINT pk_warning_message PRIMARY KEY (id), 
	CONSTRAINT uq_warning_message_message_id UNIQUE (message_id)
);
CREATE INDEX ix_warning_message_state_next_at ON warning_message (state, next_at);
CREATE TABLE article_name (
	url_id INTEGER NOT NULL, 
	kind VARCHAR(16) NOT NULL, 
	name VARCHAR(100) NOT NULL, 
	mentions INTEGER NOT NULL, 
	CONSTRAINT pk_article_name PRIMARY KEY (url_id, kind, name), 
	CONSTRAINT fk_article_name_url_id FOREIGN KEY(url_id) REFERENCES url (id)
);
CREATE INDEX ix_article_name_kind_name ON article_name (kind, name);
CREATE TABLE node (
	id INTEGER NOT NULL, 
	name VARCHAR(100) NOT NULL, 
	address VARCHAR(300) NOT NULL, 
	login_env VARCHAR(100) NOT NULL, 
	weight DOUBLE NOT NULL, 
	spiders VARCHAR(200) NOT NULL, 
	topics VARCHAR(500) NOT NULL, 
	is_draining BOOLEAN NOT NULL, 
	version VARCHAR(64) NOT NULL, 
	deployed_at DATETIME, 
	added_at DATETIME NOT NULL, 
	away_since DOUBLE, 
	CONSTRAINT pk_node PRIMARY KEY (id), 
	CONSTRAINT uq_node_name UNIQUE (name)
);
CREATE TABLE collector (
	token INTEGER NOT NULL, 
	crawl INTEGER NOT NULL, 
	run_id INTEGER, 
	weight DOUBLE NOT NULL, 
	fetch_seconds DOUBLE NOT NULL, 
	pages INTEGER NOT NULL, 
	pages_per_minute DOUBLE NOT NULL, 
	turns DOUBLE NOT NULL, 
	started_at DOUBLE NOT NULL, 
	seen_at DOUBLE NOT NULL, 
	CONSTRAINT pk_collector PRIMARY KEY (token)
);
CREATE INDEX ix_collector_run_id ON collector (run_id);
CREATE INDEX ix_collector_crawl ON collector (crawl);
CREATE TABLE host_round (
	crawl INTEGER NOT NULL, 
	at DOUBLE NOT NULL, 
	CONSTRAINT pk_host_round PRIMARY KEY (crawl)
);
CREATE TABLE host_owner (
	crawl INTEGER NOT NULL, 
	host_id INTEGER NOT NULL, 
	token INTEGER NOT NULL, 
	CONSTRAINT pk_host_owner PRIMARY KEY (crawl, host_id)
)
 WITHOUT ROWID

;
CREATE INDEX ix_host_owner_crawl_token ON host_owner (crawl, token);
CREATE TABLE briefing (
	id INTEGER NOT NULL, 
	topic_id INTEGER NOT NULL, 
	since_at DATETIME NOT NULL, 
	before_at DATETIME NOT NULL, 
	made_at DATETIME NOT NULL, 
	articles INTEGER NOT NULL, 
	stories TEXT NOT NULL, 
	CONSTRAINT pk_briefing PRIMARY KEY (id), 
	CONSTRAINT fk_briefing_topic_id FOREIGN KEY(topic_id) REFERENCES topic (id)
);
CREATE INDEX ix_briefing_topic_id_before_at ON briefing (topic_id, before_at);
CREATE TABLE briefing_file (
	briefing_id INTEGER NOT NULL, 
	ending VARCHAR(8) NOT NULL, 
	data BLOB NOT NULL, 
	CONSTRAINT pk_briefing_file PRIMARY KEY (briefing_id, ending), 
	CONSTRAINT fk_briefing_file_briefing_id FOREIGN KEY(briefing_id) REFERENCES briefing (id)
);
CREATE TABLE warning_rule (
	id INTEGER NOT NULL, 
	name VARCHAR(100) NOT NULL, 
	record TEXT NOT NULL, 
	revision INTEGER NOT NULL, 
	changed_by VARCHAR(100) NOT NULL, 
	changed_at DATETIME NOT NULL, 
	CONSTRAINT pk_warning_rule PRIMARY KEY (id), 
	CONSTRAINT uq_warning_rule_name UNIQUE (name)
);
CREATE TABLE quiet_hours (
	id INTEGER NOT NULL, 
	record TEXT NOT NULL, 
	changed_by VARCHAR(100) NOT NULL, 
	changed_at DATETIME NOT NULL, 
	CONSTRAINT pk_quiet_hours PRIMARY KEY (id)
);
CREATE TABLE warning_notice (
	message_id INTEGER NOT NULL, 
	opened_for VARCHAR(64) NOT NULL, 
	CONSTRAINT pk_warning_notice PRIMARY KEY (message_id, opened_for), 
	CONSTRAINT fk_warning_notice_message_id FOREIGN KEY(message_id) REFERENCES warning_message (id)
);
CREATE INDEX ix_warning_notice_opened_for ON warning_notice (opened_for);
CREATE TABLE article_class (
	url_id INTEGER NOT NULL, 
	topic_id INTEGER NOT NULL, 
	name VARCHAR(32) NOT NULL, 
	certainty DOUBLE NOT NULL, 
	words TEXT NOT NULL, 
	model VARCHAR(16) NOT NULL, 
	marked_by VARCHAR(100) NOT NULL, 
	marked_at DATETIME, 
	CONSTRAINT pk_article_class PRIMARY KEY (url_id, topic_id), 
	CONSTRAINT fk_article_class_url_id FOREIGN KEY(url_id) REFERENCES url (id), 
	CONSTRAINT fk_article_class_topic_id FOREIGN KEY(topic_id) REFERENCES topic (id)
);
CREATE INDEX ix_article_class_topic_id_name ON article_class (topic_id, name);
CREATE INDEX ix_article_class_model_name ON article_class (model, name);
CREATE INDEX ix_page_source_record_id ON page_source (record_id);
CREATE TABLE page_dictionary (
	id INTEGER NOT NULL, 
	host_id INTEGER NOT NULL, 
	pages INTEGER NOT NULL, 
	learnt_at DATETIME NOT NULL, 
	content BLOB NOT NULL, 
	CONSTRAINT pk_page_dictionary PRIMARY KEY (id), 
	CONSTRAINT fk_page_dictionary_host_id FOREIGN KEY(host_id) REFERENCES host (id)
);
CREATE INDEX ix_page_dictionary_host_id ON page_dictionary (host_id);
CREATE TABLE title_mark (
	mark BLOB NOT NULL, 
	seq INTEGER NOT NULL, 
	CONSTRAINT pk_title_mark PRIMARY KEY (mark)
)
 WITHOUT ROWID

;
