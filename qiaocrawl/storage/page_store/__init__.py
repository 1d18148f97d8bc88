"""Raw pages and pictures as WARC records in files outside the database (QIAO_PAGE_STORE)."""
