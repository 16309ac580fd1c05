"""Triggers that refuse changes to decisions. SQLite refuses updates; PostgreSQL updates and deletes."""

from django.db import migrations

POSTGRESQL = """
CREATE FUNCTION alttext_refuse_change() RETURNS trigger AS $$
BEGIN
  RAISE EXCEPTION 'alttext_decision is append-only';
END;
$$ LANGUAGE plpgsql;
CREATE TRIGGER alttext_decision_append_only BEFORE UPDATE OR DELETE ON alttext_decision
FOR EACH ROW EXECUTE FUNCTION alttext_refuse_change();
"""
POSTGRESQL_BACK = """
DROP TRIGGER alttext_decision_append_only ON alttext_decision;
DROP FUNCTION alttext_refuse_change();
"""
SQLITE = """
CREATE TRIGGER alttext_decision_append_only BEFORE UPDATE ON alttext_decision
BEGIN SELECT RAISE(ABORT, 'alttext_decision is append-only'); END;
"""
SQLITE_BACK = "DROP TRIGGER alttext_decision_append_only;"


def forwards(apps, schema_editor):
    with schema_editor.connection.cursor() as cursor:
        if schema_editor.connection.vendor == "postgresql":
            cursor.execute(POSTGRESQL)
        elif schema_editor.connection.vendor == "sqlite":
            cursor.execute(SQLITE)


def backwards(apps, schema_editor):
    with schema_editor.connection.cursor() as cursor:
        if schema_editor.connection.vendor == "postgresql":
            cursor.execute(POSTGRESQL_BACK)
        elif schema_editor.connection.vendor == "sqlite":
            cursor.execute(SQLITE_BACK)


class Migration(migrations.Migration):
    dependencies = [("alttext", "0001_initial")]
    operations = [migrations.RunPython(forwards, backwards)]
