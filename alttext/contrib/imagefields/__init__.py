"""Images in plain Django models: an ImageField, a text field for its alt, and attributes that tell the context."""
