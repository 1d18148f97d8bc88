"""What is learnt of a site from its pages, and how it is used on the next one."""
