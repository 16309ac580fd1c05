"""Images in django CMS 5.1: plugins, rich text, filer defaults; its versions, languages and permissions."""
