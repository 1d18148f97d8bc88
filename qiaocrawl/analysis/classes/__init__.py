"""Which of a topic's classes an article belongs to, learnt from its terms and from people."""
