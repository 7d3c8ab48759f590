"""Pages of HTML, and the shades of words on them."""
