"""The only door between the library and Scrapy: scheduler, handlers, resolver, wiring."""
