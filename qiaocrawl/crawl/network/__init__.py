"""Between Scrapy and the network: addresses, names, pacing, proxies, limits of HTTP."""
