"""Scrapy's commands as this project has them (COMMANDS_MODULE); each file is one command."""
