"""Articles published as files: PDF, Word (.docx) and Excel (.xlsx)."""
