"""Images in Wagtail 8: blocks, rich text, foreign keys, the library's descriptions; drafts as the editor sees them."""
