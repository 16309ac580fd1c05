"""Settings of the worked example sites: django CMS, Wagtail, and both in one process."""
