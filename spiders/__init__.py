"""The spiders: `scrapy crawl search`, `scrapy crawl site`, `scrapy crawl pages`."""
