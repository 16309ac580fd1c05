#!/bin/sh
# The whole suite, as `make test` runs it: checks of the source, then the tests on SQLite, then the app's on PostgreSQL.
# BIN is the folder of the virtual environment's programs. With CI=true nothing may be missing.
set -eu
BIN=${BIN:-.venv/bin}
started=$(date +%s)
say() { printf '\n== %s (%s s)\n' "$1" "$(($(date +%s) - started))"; }
missing() { echo "missing: $1"; if [ "${CI:-}" = true ]; then exit 1; fi; }

say "system pieces"
command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || \
  missing "chromium, for the browser tests. On Debian: apt-get install chromium"
if command -v npm >/dev/null; then
  [ -x var/node/node_modules/.bin/html-validate ] || npm install --silent --no-audit --no-fund --prefix var/node html-validate@10 || \
    missing "html-validate, for the HTML tests; npm could not install it"
else
  missing "npm, for the HTML tests and the object detector. On Debian: apt-get install npm"
fi
"$BIN/python" -m captioner fetch starter-lm || missing "weights of the starter captioners; see the line above"

say "source"
"$BIN/ruff" check .
"$BIN/ruff" format --check .
"$BIN/lint-imports"
"$BIN/djlint" --lint --quiet templates
"$BIN/mypy"
for settings in settings profiles.djangocms profiles.wagtail profiles.both; do
  "$BIN/python" manage.py check --settings "alttext.project.$settings"
  "$BIN/python" manage.py makemigrations --check --dry-run --settings "alttext.project.$settings" \
    alttext demo $(case $settings in *djangocms|*both) echo cms_site;; esac) $(case $settings in *wagtail|*both) echo wagtail_site;; esac)
done

say "tests on SQLite"
# two processes, a file stays in one of them: the suite takes half as long on two cores
# COVERAGE=1 tells what the tests do not reach, for a fifth more time
"$BIN/python" -m pytest -n 2 --dist loadfile ${COVERAGE:+--cov --cov-report=term:skip-covered} --durations=10 "$@"

say "tests of the content systems on SQLite"
# without migrations: those of both systems take a minute a process; `makemigrations --check` above and the demos run them
"$BIN/python" -m pytest --ds=alttext.project.profiles.both --nomigrations -n 2 --dist loadfile --durations=10 \
  tests/contrib/djangocms tests/contrib/wagtail "$@"

if "$BIN/python" -c 'import socket; socket.create_connection(("127.0.0.1", 5432), 1)' 2>/dev/null; then
  say "tests of the app on PostgreSQL"
  DATABASE_URL=${ALTTEXT_POSTGRESQL:-postgresql://postgres@127.0.0.1/postgres} \
    "$BIN/python" -m pytest -n 2 --dist loadfile tests/alttext tests/contrib "$@" --ignore tests/alttext/test_rules.py \
    --ignore tests/alttext/test_rates.py --ignore tests/alttext/test_edits.py
  say "tests of the content systems on PostgreSQL"
  DATABASE_URL=${ALTTEXT_POSTGRESQL:-postgresql://postgres@127.0.0.1/postgres} \
    "$BIN/python" -m pytest --ds=alttext.project.profiles.both --nomigrations -n 2 --dist loadfile -m "not browser and not slow" \
    tests/contrib/djangocms/test_adapter.py tests/contrib/djangocms/test_permissions.py \
    tests/contrib/wagtail/test_adapter.py tests/contrib/wagtail/test_permissions.py "$@"
else
  missing "PostgreSQL on 127.0.0.1:5432; the tests ran on SQLite only. On Debian: apt-get install postgresql"
fi

say "tests by folder"
"$BIN/python" -m pytest --collect-only -q 2>/dev/null | sed -n 's/^\(tests\/[^/:]*\).*::.*/\1/p' | sort | uniq -c
say "done"
