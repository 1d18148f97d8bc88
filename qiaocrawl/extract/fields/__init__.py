"""Fields of an article beside its body: title, date, people, source, pictures, links."""
