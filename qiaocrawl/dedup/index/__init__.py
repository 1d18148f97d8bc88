"""The index of titles: its rows, postings and vocabulary, and the model that judges a pair."""
