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
	body BLOB NOT NULL, 
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
	text TEXT NOT NULL, 
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
	text TEXT NOT NULL, 
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
CREATE INDEX ix_article_fetched_at ON article (fetched_at);
CREATE INDEX ix_article_published_at ON article (published_at);
CREATE INDEX ix_article_site ON article (site);
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
