CREATE TABLE `account` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `site` varchar(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `name` varchar(100) NOT NULL,
  `state` varchar(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `reason` varchar(500) NOT NULL,
  `secret` longblob NOT NULL,
  `session` longblob NOT NULL,
  `logged_in_at` datetime(6) DEFAULT NULL,
  `rests_until` datetime(6) DEFAULT NULL,
  `updated_at` datetime(6) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `uq_account_site_name` (`site`,`name`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `alembic_version` (
  `version_num` varchar(32) NOT NULL,
  PRIMARY KEY (`version_num`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
CREATE TABLE `audit_entry` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `at` datetime(6) NOT NULL,
  `user_name` varchar(64) NOT NULL,
  `address` varchar(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `action` varchar(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `target` varchar(500) NOT NULL,
  `before` longtext DEFAULT NULL,
  `after` longtext DEFAULT NULL,
  PRIMARY KEY (`id`),
  KEY `ix_audit_entry_at` (`at`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `collector` (
  `token` bigint(20) NOT NULL,
  `crawl` bigint(20) NOT NULL,
  `run_id` bigint(20) DEFAULT NULL,
  `weight` double NOT NULL,
  `fetch_seconds` double NOT NULL,
  `pages` int(11) NOT NULL,
  `pages_per_minute` double NOT NULL,
  `turns` double NOT NULL,
  `started_at` double NOT NULL,
  `seen_at` double NOT NULL,
  PRIMARY KEY (`token`),
  KEY `ix_collector_run_id` (`run_id`),
  KEY `ix_collector_crawl` (`crawl`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `console_user` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `name` varchar(64) NOT NULL,
  `password` varchar(200) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `role` varchar(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `must_change` tinyint(1) NOT NULL,
  `created_at` datetime(6) NOT NULL,
  `disabled_at` datetime(6) DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `uq_console_user_name` (`name`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `api_token` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `digest` varbinary(64) NOT NULL,
  `user_id` bigint(20) NOT NULL,
  `name` varchar(100) NOT NULL,
  `created_at` datetime(6) NOT NULL,
  `last_used_at` datetime(6) DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `uq_api_token_digest` (`digest`),
  KEY `ix_api_token_user_id` (`user_id`),
  CONSTRAINT `fk_api_token_user_id` FOREIGN KEY (`user_id`) REFERENCES `console_user` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `console_session` (
  `digest` varbinary(64) NOT NULL,
  `user_id` bigint(20) NOT NULL,
  `created_at` datetime(6) NOT NULL,
  `last_seen_at` datetime(6) NOT NULL,
  `address` varchar(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  PRIMARY KEY (`digest`),
  KEY `ix_console_session_user_id` (`user_id`),
  CONSTRAINT `fk_console_session_user_id` FOREIGN KEY (`user_id`) REFERENCES `console_user` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `engine_day` (
  `engine` varchar(64) NOT NULL,
  `day` varchar(10) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `asked` int(11) NOT NULL,
  PRIMARY KEY (`engine`,`day`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `host` (
  `id` bigint(20) NOT NULL,
  `name` varchar(260) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `uq_host_name` (`name`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `host_owner` (
  `crawl` bigint(20) NOT NULL,
  `host_id` bigint(20) NOT NULL,
  `token` bigint(20) NOT NULL,
  PRIMARY KEY (`crawl`,`host_id`),
  KEY `ix_host_owner_crawl_token` (`crawl`,`token`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `host_round` (
  `crawl` bigint(20) NOT NULL,
  `at` double NOT NULL,
  PRIMARY KEY (`crawl`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `host_turn` (
  `host` varchar(260) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `last_at` double NOT NULL,
  `delay` double NOT NULL,
  `parked_until` double NOT NULL,
  `busy` int(11) NOT NULL,
  PRIMARY KEY (`host`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `idf_snapshot` (
  `version` int(11) NOT NULL,
  `created_at` datetime(6) NOT NULL,
  `documents` bigint(20) NOT NULL,
  `note` varchar(200) NOT NULL,
  PRIMARY KEY (`version`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `idf_term` (
  `version` int(11) NOT NULL,
  `term` varchar(100) NOT NULL,
  `df` int(11) NOT NULL,
  PRIMARY KEY (`version`,`term`),
  CONSTRAINT `fk_idf_term_version` FOREIGN KEY (`version`) REFERENCES `idf_snapshot` (`version`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `job_schedule` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `spider` varchar(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `topic` varchar(64) NOT NULL,
  `arguments` text NOT NULL,
  `settings` text NOT NULL,
  `server` varchar(100) NOT NULL,
  `times` varchar(200) NOT NULL,
  `zone` varchar(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `is_on` tinyint(1) NOT NULL,
  `when_missed` varchar(8) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `next_at` double NOT NULL,
  `last_at` double DEFAULT NULL,
  `last_result` varchar(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `created_by` varchar(100) NOT NULL,
  `created_at` datetime(6) NOT NULL,
  `since_at` double DEFAULT NULL,
  PRIMARY KEY (`id`),
  KEY `ix_job_schedule_next_at` (`next_at`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `job` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `schedule_id` bigint(20) DEFAULT NULL,
  `spider` varchar(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `topic` varchar(64) NOT NULL,
  `arguments` text NOT NULL,
  `settings` text NOT NULL,
  `server` varchar(100) NOT NULL,
  `machine` varchar(255) NOT NULL,
  `state` varchar(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `token` varchar(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `attempts` smallint(6) NOT NULL,
  `pid` int(11) DEFAULT NULL,
  `exit_code` int(11) DEFAULT NULL,
  `log` varchar(500) NOT NULL,
  `message` varchar(500) NOT NULL,
  `requested_by` varchar(100) NOT NULL,
  `created_at` datetime(6) NOT NULL,
  `started_at` datetime(6) DEFAULT NULL,
  `ended_at` datetime(6) DEFAULT NULL,
  `missing_since` double DEFAULT NULL,
  PRIMARY KEY (`id`),
  KEY `ix_job_state` (`state`),
  KEY `ix_job_schedule_id` (`schedule_id`),
  CONSTRAINT `fk_job_schedule_id` FOREIGN KEY (`schedule_id`) REFERENCES `job_schedule` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `login_failure` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `name_key` binary(16) NOT NULL,
  `address` varchar(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `failed_at` datetime(6) NOT NULL,
  PRIMARY KEY (`id`),
  KEY `ix_login_failure_failed_at` (`failed_at`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `missing_page` (
  `host` varchar(260) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `title` varchar(500) NOT NULL,
  `digest` binary(16) NOT NULL,
  `simhash` varbinary(8) NOT NULL,
  `updated_at` double NOT NULL,
  PRIMARY KEY (`host`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `node` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `name` varchar(100) NOT NULL,
  `address` varchar(300) NOT NULL,
  `login_env` varchar(100) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `weight` double NOT NULL,
  `spiders` varchar(200) NOT NULL,
  `topics` varchar(500) NOT NULL,
  `is_draining` tinyint(1) NOT NULL,
  `version` varchar(64) NOT NULL,
  `deployed_at` datetime(6) DEFAULT NULL,
  `added_at` datetime(6) NOT NULL,
  `away_since` double DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `uq_node_name` (`name`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `page_dictionary` (
  `id` bigint(20) NOT NULL,
  `host_id` bigint(20) NOT NULL,
  `pages` bigint(20) NOT NULL,
  `learnt_at` datetime(6) NOT NULL,
  `content` longblob NOT NULL,
  PRIMARY KEY (`id`),
  KEY `ix_page_dictionary_host_id` (`host_id`),
  CONSTRAINT `fk_page_dictionary_host_id` FOREIGN KEY (`host_id`) REFERENCES `host` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `page_store` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `address` varchar(400) NOT NULL,
  `mark` varchar(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `holder` varchar(200) NOT NULL,
  `held_until` double NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `uq_page_store_address` (`address`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `page_file` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `store_id` bigint(20) NOT NULL,
  `name` varchar(100) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `state` smallint(6) NOT NULL,
  `file_bytes` bigint(20) NOT NULL,
  `created_at` datetime(6) NOT NULL,
  `retired_at` datetime(6) DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `uq_page_file_name` (`name`),
  KEY `ix_page_file_state` (`store_id`,`state`),
  CONSTRAINT `fk_page_file_store_id` FOREIGN KEY (`store_id`) REFERENCES `page_store` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `page_record` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `digest` varbinary(64) NOT NULL,
  `file_id` bigint(20) NOT NULL,
  `offset_bytes` bigint(20) NOT NULL,
  `length_bytes` int(11) NOT NULL,
  `fault` varchar(200) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `uq_page_record_digest` (`digest`),
  KEY `ix_page_record_place` (`file_id`,`offset_bytes`),
  CONSTRAINT `fk_page_record_file_id` FOREIGN KEY (`file_id`) REFERENCES `page_file` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `proxy` (
  `id` int(11) NOT NULL AUTO_INCREMENT,
  `scheme` varchar(8) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `host` varchar(260) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `port` int(11) NOT NULL,
  `login` varchar(100) NOT NULL,
  `password_env` varchar(100) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `note` varchar(200) NOT NULL,
  `added_at` datetime(6) NOT NULL,
  `successes` double NOT NULL,
  `failures` double NOT NULL,
  `latency_seconds` double NOT NULL,
  `failures_in_row` int(11) NOT NULL,
  `resting_until` double NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `uq_proxy_scheme_host_port_login` (`scheme`,`host`,`port`,`login`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `quiet_hours` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `record` longtext NOT NULL,
  `changed_by` varchar(100) NOT NULL,
  `changed_at` datetime(6) NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `rendering` (
  `key` binary(16) NOT NULL,
  `host` varchar(260) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `form` varchar(200) NOT NULL,
  `gained` int(11) NOT NULL,
  `in_vain` int(11) NOT NULL,
  `plain` int(11) NOT NULL,
  `voted_at` double NOT NULL,
  PRIMARY KEY (`key`),
  KEY `ix_rendering_voted_at` (`voted_at`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `saved_search` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `user_id` bigint(20) NOT NULL,
  `name` varchar(100) NOT NULL,
  `query` text NOT NULL,
  `created_at` datetime(6) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `uq_saved_search_user_id_name` (`user_id`,`name`),
  CONSTRAINT `fk_saved_search_user_id` FOREIGN KEY (`user_id`) REFERENCES `console_user` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `site_template` (
  `host` varchar(260) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `pages` int(11) NOT NULL,
  `redesigns` int(11) NOT NULL,
  `updated_at` datetime(6) NOT NULL,
  `template` longtext NOT NULL,
  PRIMARY KEY (`host`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `story_background` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `minute` int(11) DEFAULT NULL,
  `articles` int(11) NOT NULL,
  `data` longblob NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `story_change` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `minute` int(11) NOT NULL,
  `story_id` bigint(20) NOT NULL,
  `kind` varchar(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `other_id` bigint(20) DEFAULT NULL,
  `url_ids` longtext NOT NULL,
  `score` double NOT NULL,
  `words` text NOT NULL,
  `by_hand` tinyint(1) NOT NULL,
  PRIMARY KEY (`id`),
  KEY `ix_story_change_minute` (`minute`),
  KEY `ix_story_change_story_id` (`story_id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `story_clock` (
  `id` int(11) NOT NULL,
  `version` bigint(20) NOT NULL,
  `title_seq` bigint(20) NOT NULL,
  `next_id` bigint(20) NOT NULL,
  `minute` int(11) NOT NULL,
  `day` int(11) NOT NULL,
  `learnt` int(11) NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `story_correction` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `kind` varchar(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `url_ids` longtext NOT NULL,
  `other_url_ids` longtext NOT NULL,
  `corrected_by` varchar(100) NOT NULL,
  `corrected_at` datetime(6) NOT NULL,
  `minute` int(11) DEFAULT NULL,
  PRIMARY KEY (`id`),
  KEY `ix_story_correction_minute` (`minute`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `story_warning` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `opened_for` varchar(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `story` varchar(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `severity` varchar(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `status` varchar(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `changed_at` datetime(6) NOT NULL,
  `record` longtext NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `uq_story_warning_opened_for` (`opened_for`),
  UNIQUE KEY `uq_story_warning_story` (`story`),
  KEY `ix_story_warning_changed_at` (`changed_at`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `term_weight` (
  `term` varchar(100) NOT NULL,
  `df` int(11) NOT NULL,
  `weight` double NOT NULL,
  PRIMARY KEY (`term`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `title_clock` (
  `id` int(11) NOT NULL,
  `snapshot` int(11) NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `title_mark` (
  `mark` binary(16) NOT NULL,
  `seq` bigint(20) NOT NULL,
  PRIMARY KEY (`mark`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `topic` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `name` varchar(64) NOT NULL,
  `title` varchar(200) NOT NULL,
  `description` text NOT NULL,
  `language` varchar(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `threshold` double NOT NULL,
  `created_at` datetime(6) NOT NULL,
  `updated_at` datetime(6) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `uq_topic_name` (`name`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `briefing` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `topic_id` bigint(20) NOT NULL,
  `since_at` datetime(6) NOT NULL,
  `before_at` datetime(6) NOT NULL,
  `made_at` datetime(6) NOT NULL,
  `articles` int(11) NOT NULL,
  `stories` longtext NOT NULL,
  PRIMARY KEY (`id`),
  KEY `ix_briefing_topic_id_before_at` (`topic_id`,`before_at`),
  CONSTRAINT `fk_briefing_topic_id` FOREIGN KEY (`topic_id`) REFERENCES `topic` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `briefing_file` (
  `briefing_id` bigint(20) NOT NULL,
  `ending` varchar(8) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `data` longblob NOT NULL,
  PRIMARY KEY (`briefing_id`,`ending`),
  CONSTRAINT `fk_briefing_file_briefing_id` FOREIGN KEY (`briefing_id`) REFERENCES `briefing` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `judgement` (
  `topic_id` bigint(20) NOT NULL,
  `key` binary(16) NOT NULL,
  `url` text NOT NULL,
  `relevant` tinyint(1) NOT NULL,
  `note` varchar(500) NOT NULL,
  `judged_at` datetime(6) NOT NULL,
  PRIMARY KEY (`topic_id`,`key`),
  CONSTRAINT `fk_judgement_topic_id` FOREIGN KEY (`topic_id`) REFERENCES `topic` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `lexicon_decision` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `topic_id` bigint(20) NOT NULL,
  `text` varchar(100) NOT NULL,
  `action` varchar(16) NOT NULL,
  `weight` double DEFAULT NULL,
  `kind` varchar(32) NOT NULL,
  `synonym_of` varchar(100) NOT NULL,
  `note` text NOT NULL,
  `decided_by` varchar(100) NOT NULL,
  `decided_at` datetime(6) NOT NULL,
  `earlier` text DEFAULT NULL,
  `undone_at` datetime(6) DEFAULT NULL,
  PRIMARY KEY (`id`),
  KEY `ix_lexicon_decision_topic_id` (`topic_id`),
  CONSTRAINT `fk_lexicon_decision_topic_id` FOREIGN KEY (`topic_id`) REFERENCES `topic` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `order_model` (
  `version` bigint(20) NOT NULL AUTO_INCREMENT,
  `topic_id` bigint(20) NOT NULL,
  `host` varchar(260) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `strategy` varchar(64) NOT NULL,
  `format` smallint(6) NOT NULL,
  `pages` bigint(20) NOT NULL,
  `upto` bigint(20) NOT NULL,
  `created_at` datetime(6) NOT NULL,
  `digest` binary(16) NOT NULL,
  `model` longblob NOT NULL,
  PRIMARY KEY (`version`),
  KEY `ix_order_model_topic_id_strategy_host_version` (`topic_id`,`strategy`,`host`,`version`),
  CONSTRAINT `fk_order_model_topic_id` FOREIGN KEY (`topic_id`) REFERENCES `topic` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `query` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `topic_id` bigint(20) NOT NULL,
  `key` binary(16) NOT NULL,
  `engine` varchar(64) NOT NULL,
  `term` varchar(200) NOT NULL,
  `site` varchar(260) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `page` int(11) NOT NULL,
  `state` varchar(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `hits` int(11) NOT NULL,
  `new_urls` int(11) NOT NULL,
  `message` text NOT NULL,
  `planned_at` datetime(6) NOT NULL,
  `asked_at` datetime(6) DEFAULT NULL,
  `period` varchar(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
  `also` varchar(500) NOT NULL DEFAULT '',
  `tries` int(11) NOT NULL DEFAULT 0,
  `bad_in_a_row` int(11) NOT NULL DEFAULT 0,
  `due_at` datetime(6) DEFAULT NULL,
  `total` bigint(20) DEFAULT NULL,
  `asked_weight` double NOT NULL DEFAULT 0,
  `new_weight` double NOT NULL DEFAULT 0,
  `url_key` binary(16) DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `uq_query_key` (`key`),
  KEY `ix_query_topic_id_engine_state` (`topic_id`,`engine`,`state`),
  KEY `ix_query_url_key` (`url_key`),
  CONSTRAINT `fk_query_topic_id` FOREIGN KEY (`topic_id`) REFERENCES `topic` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `query_answer` (
  `query_id` bigint(20) NOT NULL,
  `slot` smallint(6) NOT NULL,
  `asked_at` datetime(6) NOT NULL,
  `state` varchar(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `hits` int(11) NOT NULL,
  `new_urls` int(11) NOT NULL,
  `message` varchar(300) NOT NULL,
  PRIMARY KEY (`query_id`,`slot`),
  CONSTRAINT `fk_query_answer_query_id` FOREIGN KEY (`query_id`) REFERENCES `query` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `query_hit` (
  `query_id` bigint(20) NOT NULL,
  `key` binary(16) NOT NULL,
  PRIMARY KEY (`query_id`,`key`),
  CONSTRAINT `fk_query_hit_query_id` FOREIGN KEY (`query_id`) REFERENCES `query` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `run` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `spider` varchar(64) NOT NULL,
  `topic_id` bigint(20) DEFAULT NULL,
  `arguments` text NOT NULL,
  `pid` int(11) NOT NULL,
  `machine` varchar(255) NOT NULL,
  `started_at` datetime(6) NOT NULL,
  `finished_at` datetime(6) DEFAULT NULL,
  `reason` varchar(200) NOT NULL,
  `remaining` bigint(20) DEFAULT NULL,
  `stats` longtext NOT NULL,
  PRIMARY KEY (`id`),
  KEY `fk_run_topic_id` (`topic_id`),
  CONSTRAINT `fk_run_topic_id` FOREIGN KEY (`topic_id`) REFERENCES `topic` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `sample` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `topic_id` bigint(20) NOT NULL,
  `name` varchar(200) NOT NULL,
  `title` text NOT NULL,
  `text` longtext NOT NULL,
  `relevant` tinyint(1) NOT NULL,
  `position` int(11) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `uq_sample_topic_id_name` (`topic_id`,`name`),
  CONSTRAINT `fk_sample_topic_id` FOREIGN KEY (`topic_id`) REFERENCES `topic` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `site` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `topic_id` bigint(20) NOT NULL,
  `host` varchar(260) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `name` varchar(200) NOT NULL,
  `role` varchar(32) NOT NULL,
  `tier` smallint(6) NOT NULL,
  `region` varchar(100) NOT NULL,
  `kind` varchar(32) NOT NULL,
  `start_url` text NOT NULL,
  `render` tinyint(1) NOT NULL,
  `note` text NOT NULL,
  `position` int(11) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `uq_site_topic_id_host` (`topic_id`,`host`),
  KEY `ix_site_host` (`host`),
  CONSTRAINT `fk_site_topic_id` FOREIGN KEY (`topic_id`) REFERENCES `topic` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `term` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `topic_id` bigint(20) NOT NULL,
  `text` varchar(100) NOT NULL,
  `kind` varchar(32) NOT NULL,
  `weight` double NOT NULL,
  `note` text NOT NULL,
  `position` int(11) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `uq_term_topic_id_text` (`topic_id`,`text`),
  CONSTRAINT `fk_term_topic_id` FOREIGN KEY (`topic_id`) REFERENCES `topic` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `url` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `key` binary(16) NOT NULL,
  `url` text NOT NULL,
  `host_id` bigint(20) NOT NULL,
  `queue` varchar(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `topic_id` bigint(20) NOT NULL,
  `state` smallint(6) NOT NULL,
  `outcome` varchar(32) CHARACTER SET ascii COLLATE ascii_bin DEFAULT NULL,
  `reason` varchar(500) DEFAULT NULL,
  `score` double NOT NULL,
  `depth` int(11) NOT NULL,
  `parent_key` binary(16) DEFAULT NULL,
  `anchor` text NOT NULL,
  `context` text NOT NULL,
  `payload` text NOT NULL,
  `discovered_at` datetime(6) NOT NULL,
  `run_id` bigint(20) DEFAULT NULL,
  `lease_token` bigint(20) DEFAULT NULL,
  `lease_until` double DEFAULT NULL,
  `not_before` double NOT NULL,
  `attempts` int(11) NOT NULL,
  `failures` int(11) NOT NULL,
  `crashes` int(11) NOT NULL,
  `fetched_at` datetime(6) DEFAULT NULL,
  `done_at` datetime(6) DEFAULT NULL,
  `http_status` smallint(6) DEFAULT NULL,
  `redirect_key` binary(16) DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `uq_url_key` (`key`),
  KEY `fk_url_host_id` (`host_id`),
  KEY `fk_url_topic_id` (`topic_id`),
  KEY `fk_url_run_id` (`run_id`),
  KEY `ix_url_frontier` (`queue`,`topic_id`,`state`,`host_id`,`score` DESC,`id`),
  KEY `ix_url_outcome_done_at` (`outcome`,`done_at`),
  CONSTRAINT `fk_url_host_id` FOREIGN KEY (`host_id`) REFERENCES `host` (`id`),
  CONSTRAINT `fk_url_run_id` FOREIGN KEY (`run_id`) REFERENCES `run` (`id`),
  CONSTRAINT `fk_url_topic_id` FOREIGN KEY (`topic_id`) REFERENCES `topic` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `aliased_url` (
  `url_id` bigint(20) NOT NULL,
  `preferred_key` binary(16) NOT NULL,
  PRIMARY KEY (`url_id`),
  KEY `ix_aliased_url_preferred_key` (`preferred_key`),
  CONSTRAINT `fk_aliased_url_url_id` FOREIGN KEY (`url_id`) REFERENCES `url` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `article_class` (
  `url_id` bigint(20) NOT NULL,
  `topic_id` bigint(20) NOT NULL,
  `name` varchar(32) NOT NULL,
  `certainty` double NOT NULL,
  `words` text NOT NULL,
  `model` varchar(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `marked_by` varchar(100) NOT NULL,
  `marked_at` datetime(6) DEFAULT NULL,
  PRIMARY KEY (`url_id`,`topic_id`),
  KEY `ix_article_class_topic_id_name` (`topic_id`,`name`),
  KEY `ix_article_class_model_name` (`model`,`name`),
  CONSTRAINT `fk_article_class_topic_id` FOREIGN KEY (`topic_id`) REFERENCES `topic` (`id`),
  CONSTRAINT `fk_article_class_url_id` FOREIGN KEY (`url_id`) REFERENCES `url` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `article_mark` (
  `url_id` bigint(20) NOT NULL,
  `starred` tinyint(1) NOT NULL,
  `note` text NOT NULL,
  `marked_by` varchar(64) NOT NULL,
  `marked_at` datetime(6) NOT NULL,
  PRIMARY KEY (`url_id`),
  KEY `ix_article_mark_starred_marked_at` (`starred`,`marked_at`),
  CONSTRAINT `fk_article_mark_url_id` FOREIGN KEY (`url_id`) REFERENCES `url` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `article_name` (
  `url_id` bigint(20) NOT NULL,
  `kind` varchar(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `name` varchar(100) NOT NULL,
  `mentions` int(11) NOT NULL,
  PRIMARY KEY (`url_id`,`kind`,`name`),
  KEY `ix_article_name_kind_name` (`kind`,`name`),
  CONSTRAINT `fk_article_name_url_id` FOREIGN KEY (`url_id`) REFERENCES `url` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `article_tag` (
  `url_id` bigint(20) NOT NULL,
  `tag` varchar(50) NOT NULL,
  PRIMARY KEY (`url_id`,`tag`),
  KEY `ix_article_tag_tag` (`tag`),
  CONSTRAINT `fk_article_tag_url_id` FOREIGN KEY (`url_id`) REFERENCES `url` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `decision` (
  `url_id` bigint(20) NOT NULL,
  `strategy` varchar(64) NOT NULL,
  `score` double NOT NULL,
  `place` int(11) DEFAULT NULL,
  `waiting` int(11) DEFAULT NULL,
  `parts` text NOT NULL,
  `at` double NOT NULL,
  PRIMARY KEY (`url_id`),
  CONSTRAINT `fk_decision_url_id` FOREIGN KEY (`url_id`) REFERENCES `url` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `excerpt` (
  `url_id` bigint(20) NOT NULL,
  `number` smallint(6) NOT NULL,
  `target_key` binary(16) NOT NULL,
  `opening` varchar(64) NOT NULL,
  `share` double NOT NULL,
  `stands` tinyint(1) NOT NULL,
  PRIMARY KEY (`url_id`,`number`),
  KEY `ix_excerpt_target_key` (`target_key`),
  CONSTRAINT `fk_excerpt_url_id` FOREIGN KEY (`url_id`) REFERENCES `url` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `page_source` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `url_id` bigint(20) NOT NULL,
  `digest` binary(16) NOT NULL,
  `final_url` text NOT NULL,
  `http_status` smallint(6) NOT NULL,
  `headers` text NOT NULL,
  `content_type` varchar(200) NOT NULL,
  `charset` varchar(64) NOT NULL,
  `body_bytes` bigint(20) NOT NULL,
  `truncated` tinyint(1) NOT NULL,
  `fetched_at` datetime(6) NOT NULL,
  `last_seen_at` datetime(6) NOT NULL,
  `body` longblob NOT NULL,
  `record_id` bigint(20) DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `uq_page_source_url_id_digest` (`url_id`,`digest`),
  KEY `ix_page_source_record_id` (`record_id`),
  CONSTRAINT `fk_page_source_record_id` FOREIGN KEY (`record_id`) REFERENCES `page_record` (`id`),
  CONSTRAINT `fk_page_source_url_id` FOREIGN KEY (`url_id`) REFERENCES `url` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `article` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `url_id` bigint(20) NOT NULL,
  `page_source_id` bigint(20) DEFAULT NULL,
  `site` varchar(260) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `title` text NOT NULL,
  `published_at` datetime(6) DEFAULT NULL,
  `author` varchar(200) NOT NULL,
  `source` varchar(200) NOT NULL,
  `channel` varchar(200) NOT NULL,
  `keywords` text NOT NULL,
  `description` text NOT NULL,
  `anchor` text NOT NULL,
  `language` varchar(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `charset` varchar(64) NOT NULL,
  `method` varchar(64) NOT NULL,
  `body_digest` varbinary(64) NOT NULL,
  `title_tokens` text NOT NULL,
  `truncated` tinyint(1) NOT NULL,
  `fetched_at` datetime(6) NOT NULL,
  `updated_at` datetime(6) NOT NULL,
  `text` longblob NOT NULL,
  `html` longblob DEFAULT NULL,
  `engagement` text DEFAULT NULL,
  `comments` longtext DEFAULT NULL,
  `kind` varchar(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'article',
  `modified_at` datetime(6) DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `uq_article_url_id` (`url_id`),
  KEY `ix_article_page_source_id` (`page_source_id`),
  KEY `ix_article_published_at_fetched_at` (`published_at`,`fetched_at`,`site`),
  KEY `ix_article_site_fetched_at` (`site`,`fetched_at`,`published_at`),
  KEY `ix_article_fetched_at_published_at` (`fetched_at`,`published_at`,`site`),
  KEY `ix_article_updated_at` (`updated_at`),
  CONSTRAINT `fk_article_page_source_id` FOREIGN KEY (`page_source_id`) REFERENCES `page_source` (`id`),
  CONSTRAINT `fk_article_url_id` FOREIGN KEY (`url_id`) REFERENCES `url` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `article_part` (
  `url_id` bigint(20) NOT NULL,
  `first_key` binary(16) NOT NULL,
  `number` smallint(6) NOT NULL,
  `parts` smallint(6) NOT NULL,
  `reads_alone` tinyint(1) NOT NULL,
  `page_source_id` bigint(20) DEFAULT NULL,
  `digest` binary(16) NOT NULL,
  `note` varchar(500) NOT NULL,
  `about` longtext NOT NULL,
  `text` longblob NOT NULL,
  `html` longblob DEFAULT NULL,
  PRIMARY KEY (`url_id`),
  KEY `ix_article_part_page_source_id` (`page_source_id`),
  KEY `ix_article_part_first_key_number` (`first_key`,`number`),
  CONSTRAINT `fk_article_part_page_source_id` FOREIGN KEY (`page_source_id`) REFERENCES `page_source` (`id`),
  CONSTRAINT `fk_article_part_url_id` FOREIGN KEY (`url_id`) REFERENCES `url` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `page_picture` (
  `page_source_id` bigint(20) NOT NULL,
  `media_type` varchar(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `width` int(11) NOT NULL,
  `height` int(11) NOT NULL,
  `cut` tinyint(1) NOT NULL,
  `taken_at` datetime(6) NOT NULL,
  `picture` longblob NOT NULL,
  `record_id` bigint(20) DEFAULT NULL,
  PRIMARY KEY (`page_source_id`),
  KEY `ix_page_picture_record_id` (`record_id`),
  CONSTRAINT `fk_page_picture_page_source_id` FOREIGN KEY (`page_source_id`) REFERENCES `page_source` (`id`) ON DELETE CASCADE,
  CONSTRAINT `fk_page_picture_record_id` FOREIGN KEY (`record_id`) REFERENCES `page_record` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `relevance` (
  `article_id` bigint(20) NOT NULL,
  `topic_id` bigint(20) NOT NULL,
  `score` double NOT NULL,
  `relevant` tinyint(1) NOT NULL,
  `method` varchar(64) NOT NULL,
  `terms` text NOT NULL,
  PRIMARY KEY (`article_id`,`topic_id`),
  KEY `ix_relevance_topic_id_relevant_score` (`topic_id`,`relevant`,`score`),
  CONSTRAINT `fk_relevance_article_id` FOREIGN KEY (`article_id`) REFERENCES `article` (`id`),
  CONSTRAINT `fk_relevance_topic_id` FOREIGN KEY (`topic_id`) REFERENCES `topic` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `revision` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `url_id` bigint(20) NOT NULL,
  `kind` varchar(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `at` datetime(6) NOT NULL,
  `page_source_id` bigint(20) DEFAULT NULL,
  `note` varchar(500) NOT NULL,
  `title` text NOT NULL,
  `published_at` datetime(6) DEFAULT NULL,
  `body_digest` varbinary(64) NOT NULL,
  `text` longblob NOT NULL,
  PRIMARY KEY (`id`),
  KEY `ix_revision_url_id` (`url_id`),
  KEY `ix_revision_page_source_id` (`page_source_id`),
  CONSTRAINT `fk_revision_page_source_id` FOREIGN KEY (`page_source_id`) REFERENCES `page_source` (`id`),
  CONSTRAINT `fk_revision_url_id` FOREIGN KEY (`url_id`) REFERENCES `url` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `story` (
  `id` bigint(20) NOT NULL,
  `title` varchar(500) NOT NULL,
  `head_url_id` bigint(20) DEFAULT NULL,
  `state` varchar(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `merged_into` bigint(20) DEFAULT NULL,
  `opened` int(11) NOT NULL,
  `touched` int(11) NOT NULL,
  `first_published` datetime(6) DEFAULT NULL,
  `last_published` datetime(6) DEFAULT NULL,
  `articles` int(11) NOT NULL,
  `voices` int(11) NOT NULL,
  `likeness` bigint(20) NOT NULL,
  `checked` int(11) NOT NULL,
  `by_hand` tinyint(1) NOT NULL,
  `apart` text NOT NULL,
  `words` text NOT NULL,
  `signature` varbinary(64) NOT NULL,
  PRIMARY KEY (`id`),
  KEY `ix_story_last_published` (`last_published`),
  KEY `ix_story_head_url_id` (`head_url_id`),
  KEY `ix_story_state_touched` (`state`,`touched`),
  CONSTRAINT `fk_story_head_url_id` FOREIGN KEY (`head_url_id`) REFERENCES `url` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `story_article` (
  `url_id` bigint(20) NOT NULL,
  `story_id` bigint(20) DEFAULT NULL,
  `voice_url_id` bigint(20) NOT NULL,
  `minute` int(11) NOT NULL,
  `published` double DEFAULT NULL,
  `words` text NOT NULL,
  `vector` longblob DEFAULT NULL,
  PRIMARY KEY (`url_id`),
  KEY `ix_story_article_voice_url_id` (`voice_url_id`),
  KEY `ix_story_article_story_id` (`story_id`),
  CONSTRAINT `fk_story_article_story_id` FOREIGN KEY (`story_id`) REFERENCES `story` (`id`),
  CONSTRAINT `fk_story_article_url_id` FOREIGN KEY (`url_id`) REFERENCES `url` (`id`),
  CONSTRAINT `fk_story_article_voice_url_id` FOREIGN KEY (`voice_url_id`) REFERENCES `url` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `story_follow` (
  `url_id` bigint(20) NOT NULL,
  `followed_by` varchar(100) NOT NULL,
  `followed_at` datetime(6) NOT NULL,
  PRIMARY KEY (`url_id`),
  CONSTRAINT `fk_story_follow_url_id` FOREIGN KEY (`url_id`) REFERENCES `url` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `title_entry` (
  `seq` bigint(20) NOT NULL AUTO_INCREMENT,
  `key` binary(16) NOT NULL,
  `article_id` bigint(20) DEFAULT NULL,
  `title` text NOT NULL,
  `host` varchar(260) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `published_at` datetime(6) DEFAULT NULL,
  `source` varchar(200) NOT NULL,
  `body_digest` varbinary(64) NOT NULL,
  `body_simhash` varbinary(8) DEFAULT NULL,
  `body_sketch` varbinary(300) NOT NULL,
  `text_chars` int(11) NOT NULL,
  `taken_out` tinyint(1) NOT NULL,
  PRIMARY KEY (`seq`),
  UNIQUE KEY `uq_title_entry_key` (`key`),
  KEY `ix_title_entry_article_id` (`article_id`),
  CONSTRAINT `fk_title_entry_article_id` FOREIGN KEY (`article_id`) REFERENCES `article` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `title_term` (
  `article_id` bigint(20) NOT NULL,
  `term` varchar(100) NOT NULL,
  `count` int(11) NOT NULL,
  `weight` double NOT NULL,
  PRIMARY KEY (`article_id`,`term`),
  KEY `ix_title_term_term` (`term`),
  CONSTRAINT `fk_title_term_article_id` FOREIGN KEY (`article_id`) REFERENCES `article` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `url_alias` (
  `host` varchar(260) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `rules` smallint(6) NOT NULL,
  `updated_at` datetime(6) NOT NULL,
  `votes` text NOT NULL,
  PRIMARY KEY (`host`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `url_form` (
  `key` binary(16) NOT NULL,
  `host` varchar(260) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `form` varchar(400) NOT NULL,
  `credit` double NOT NULL,
  `fetched` int(11) NOT NULL,
  `stories` int(11) NOT NULL,
  `trees` int(11) NOT NULL,
  `updated_at` double NOT NULL,
  `listed` int(11) NOT NULL DEFAULT 0,
  `cut` varchar(200) NOT NULL DEFAULT '',
  PRIMARY KEY (`key`),
  KEY `ix_url_form_updated_at` (`updated_at`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `verdict` (
  `article_id` bigint(20) NOT NULL,
  `kind` varchar(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `of_article_id` bigint(20) DEFAULT NULL,
  `group_id` bigint(20) NOT NULL,
  `similarity` double NOT NULL,
  `why` varchar(500) NOT NULL,
  `method` varchar(64) NOT NULL,
  `snapshot` int(11) NOT NULL DEFAULT 0,
  PRIMARY KEY (`article_id`),
  KEY `ix_verdict_group_id` (`group_id`),
  KEY `ix_verdict_of_article_id` (`of_article_id`),
  KEY `ix_verdict_kind` (`kind`),
  CONSTRAINT `fk_verdict_article_id` FOREIGN KEY (`article_id`) REFERENCES `article` (`id`),
  CONSTRAINT `fk_verdict_group_id` FOREIGN KEY (`group_id`) REFERENCES `article` (`id`),
  CONSTRAINT `fk_verdict_of_article_id` FOREIGN KEY (`of_article_id`) REFERENCES `article` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `visit` (
  `seq` bigint(20) NOT NULL AUTO_INCREMENT,
  `topic_id` bigint(20) NOT NULL,
  `queue` varchar(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `url_id` bigint(20) NOT NULL,
  `token` bigint(20) NOT NULL,
  `attempt` int(11) NOT NULL,
  `depth` int(11) NOT NULL,
  `relevance` double NOT NULL,
  `relevant` tinyint(1) NOT NULL,
  `at` double NOT NULL,
  `links` longblob NOT NULL,
  PRIMARY KEY (`seq`),
  UNIQUE KEY `uq_visit_url_id_token_attempt` (`url_id`,`token`,`attempt`),
  KEY `ix_visit_topic_id_queue_seq_token` (`topic_id`,`queue`,`seq`,`token`),
  CONSTRAINT `fk_visit_topic_id` FOREIGN KEY (`topic_id`) REFERENCES `topic` (`id`),
  CONSTRAINT `fk_visit_url_id` FOREIGN KEY (`url_id`) REFERENCES `url` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `warning_message` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `message_id` varchar(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `channel` varchar(64) NOT NULL,
  `severity` varchar(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `title` text NOT NULL,
  `body` longtext NOT NULL,
  `created_at` datetime(6) NOT NULL,
  `state` varchar(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `attempts` smallint(6) NOT NULL,
  `next_at` double NOT NULL,
  `sent_at` datetime(6) DEFAULT NULL,
  `sent_chars` int(11) NOT NULL DEFAULT 0,
  `error` varchar(500) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `uq_warning_message_message_id` (`message_id`),
  KEY `ix_warning_message_state_next_at` (`state`,`next_at`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `warning_notice` (
  `message_id` bigint(20) NOT NULL,
  `opened_for` varchar(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  PRIMARY KEY (`message_id`,`opened_for`),
  KEY `ix_warning_notice_opened_for` (`opened_for`),
  CONSTRAINT `fk_warning_notice_message_id` FOREIGN KEY (`message_id`) REFERENCES `warning_message` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `warning_rule` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `name` varchar(100) NOT NULL,
  `record` longtext NOT NULL,
  `revision` int(11) NOT NULL,
  `changed_by` varchar(100) NOT NULL,
  `changed_at` datetime(6) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `uq_warning_rule_name` (`name`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `watch_day` (
  `topic_id` bigint(20) NOT NULL,
  `day` int(11) NOT NULL,
  `host_id` bigint(20) NOT NULL,
  `pages` int(11) NOT NULL,
  `articles` int(11) NOT NULL,
  `looks` int(11) NOT NULL,
  PRIMARY KEY (`topic_id`,`day`,`host_id`),
  KEY `fk_watch_day_host_id` (`host_id`),
  CONSTRAINT `fk_watch_day_host_id` FOREIGN KEY (`host_id`) REFERENCES `host` (`id`),
  CONSTRAINT `fk_watch_day_topic_id` FOREIGN KEY (`topic_id`) REFERENCES `topic` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `watch_hour` (
  `host_id` bigint(20) NOT NULL,
  `hour` smallint(6) NOT NULL,
  `articles` double NOT NULL,
  PRIMARY KEY (`host_id`,`hour`),
  CONSTRAINT `fk_watch_hour_host_id` FOREIGN KEY (`host_id`) REFERENCES `host` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `watched_article` (
  `url_id` bigint(20) NOT NULL,
  `topic_id` bigint(20) NOT NULL,
  `published` double NOT NULL,
  `next_at` double NOT NULL,
  `etag` varchar(500) NOT NULL,
  `modified` varchar(64) NOT NULL,
  PRIMARY KEY (`url_id`),
  KEY `ix_watched_article_topic_id_next_at` (`topic_id`,`next_at`),
  CONSTRAINT `fk_watched_article_topic_id` FOREIGN KEY (`topic_id`) REFERENCES `topic` (`id`),
  CONSTRAINT `fk_watched_article_url_id` FOREIGN KEY (`url_id`) REFERENCES `url` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
CREATE TABLE `watched_page` (
  `topic_id` bigint(20) NOT NULL,
  `url_id` bigint(20) NOT NULL,
  `kind` varchar(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `name` varchar(200) NOT NULL,
  `weight` double NOT NULL,
  `since` double NOT NULL,
  `next_at` double NOT NULL,
  `last_at` double DEFAULT NULL,
  `changed_at` double DEFAULT NULL,
  `rate` double NOT NULL,
  `wait_hours` double NOT NULL,
  `visits` int(11) NOT NULL,
  `changes` int(11) NOT NULL,
  `news` int(11) NOT NULL,
  `failures` int(11) NOT NULL,
  `etag` varchar(500) NOT NULL,
  `modified` varchar(64) NOT NULL,
  `digest` binary(16) DEFAULT NULL,
  `memory` varbinary(250) NOT NULL,
  PRIMARY KEY (`topic_id`,`url_id`),
  KEY `ix_watched_page_url_id` (`url_id`),
  KEY `ix_watched_page_topic_id_next_at` (`topic_id`,`next_at`),
  CONSTRAINT `fk_watched_page_topic_id` FOREIGN KEY (`topic_id`) REFERENCES `topic` (`id`),
  CONSTRAINT `fk_watched_page_url_id` FOREIGN KEY (`url_id`) REFERENCES `url` (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC;
