"""HTML pages, and the colours of words on them."""
