"""The example site in Wagtail: pages with images in every place where they can stand."""
