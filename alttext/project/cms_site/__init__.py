"""The example site in django CMS: pages with images in every place where they can stand."""
