"""From public sets and authors' decisions to what is trained on. Each step counts what it dropped, and why."""
