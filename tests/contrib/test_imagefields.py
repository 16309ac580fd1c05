"""The adapter for plain models: the shared contract on the demonstration site, and what is special to it."""

from __future__ import annotations

import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.apps import apps
from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.core import serializers
from django.core.files.base import ContentFile
from django.db import connection, models

from alttext import plain, tasks
from alttext.adapters import Alt, ChangedElsewhere, Context, NotThere
from alttext.contrib.imagefields import entries, setting
from alttext.contrib.imagefields.adapter import ImageFieldsAdapter
from alttext.models import Job, Placement
from alttext.project.demo.models import Illustration
from tests.contrib.adapter_contract import AdapterContract, record

ILLUSTRATION = {"model": "demo.Illustration", "image": "image", "alt": "alt_text", "decorative": "decorative"}


class DemoStage:
    """The demonstration site with one illustrated page."""

    language = "de"
    page_title = "Motorräder & mehr"
    context = Context(
        title="Motorräder & mehr",
        headings=("Erst schauen",),
        before="Vorher steht dies.\n\nUnd das.",
        after="Nachher < nichts.",
        caption="Ein Gast",
        link_target="/pages/x/",
        link_label="Zur Seite",
        link_text_visible=True,
    )

    def __init__(self, make_illustration, make_image, make_user, settings):
        self.adapter = ImageFieldsAdapter()
        self.make, self.settings, self.data = make_illustration, settings, make_image()
        self.row = make_illustration(
            data=self.data,
            title=self.page_title,
            language="de",
            heading="Erst schauen",
            text_before="Vorher steht dies.\n\nUnd das.",
            text_after="Nachher < nichts.",
            caption="Ein Gast",
            link_url="/pages/x/",
            link_label="Zur Seite",
            link_text_visible=True,
        )
        self.key = f"demo.illustration:{self.row.pk}:image"
        self.editor, self.superuser, self.stranger = make_user("author"), make_user("admin"), make_user("outsider")

    def change(self, text: str) -> None:
        Illustration.objects.filter(pk=self.row.pk).update(alt_text=text)

    def edit_page(self) -> None:
        self.row.article.title = "Ein neuer Titel"
        self.row.article.save()

    def add(self) -> None:
        self.make()

    def remove(self) -> None:
        self.row.delete()

    def lose_file(self) -> None:
        Path(self.row.image.path).unlink()

    def narrow(self) -> tuple[str, int]:
        """The link label as alt column: a CharField of 200."""
        self.settings.ALTTEXT = {**self.settings.ALTTEXT, "IMAGE_FIELDS": [{**ILLUSTRATION, "alt": "link_label"}]}
        Illustration.objects.filter(pk=self.row.pk).update(link_label="")
        return self.key, 200


@pytest.fixture
def stage(make_illustration, make_image, make_user, settings):
    return DemoStage(make_illustration, make_image, make_user, settings)


@pytest.fixture
def configure(settings):
    """Put entries into ALTTEXT["IMAGE_FIELDS"]."""

    def put(*given):
        settings.ALTTEXT = {**settings.ALTTEXT, "IMAGE_FIELDS": list(given)}
        return ImageFieldsAdapter()

    return put


class TestContract(AdapterContract):
    """The contract, on the demonstration site."""


class TestKeys:
    @pytest.mark.parametrize("pk", ["007", "7.0", " 7", "seven", "-1", "9" * 40, "", "7:image:7"])
    def test_a_row_has_one_spelling_of_its_key(self, make_illustration, pk):
        make_illustration(pk=7)
        with pytest.raises(NotThere):
            ImageFieldsAdapter().place(f"demo.illustration:{pk}:image")

    def test_a_row_without_a_file_is_no_place(self, make_illustration):
        row = make_illustration()
        Illustration.objects.update(image="")
        assert list(ImageFieldsAdapter().places()) == []
        with pytest.raises(NotThere):
            ImageFieldsAdapter().place(f"demo.illustration:{row.pk}:image")

    def test_rows_outside_the_filter_are_no_places(self, make_illustration, configure):
        kept, left = make_illustration(caption="keep"), make_illustration()
        adapter = configure({**ILLUSTRATION, "filter": {"caption": "keep"}})
        assert [place.key for place in adapter.places()] == [f"demo.illustration:{kept.pk}:image"]
        with pytest.raises(NotThere):
            adapter.apply(f"demo.illustration:{left.pk}:image", alt=Alt("x"), expected=Alt(), by=None)

    def test_the_file_that_cannot_be_read_is_named(self, stage):
        stage.lose_file()
        with pytest.raises(NotThere, match=Path(stage.row.image.name).name):
            stage.adapter.read_image(stage.key)


class TestRaces:
    @pytest.mark.django_db(transaction=True)
    def test_one_of_many_writers_wins_and_the_others_are_told(self, make_illustration):
        row = make_illustration()
        key, barrier = f"demo.illustration:{row.pk}:image", threading.Barrier(8)

        def write(number: int) -> str:
            barrier.wait(timeout=30)
            try:
                ImageFieldsAdapter().apply(key, alt=Alt(f"Text {number}"), expected=Alt(), by=None)
            except ChangedElsewhere:
                return ""
            finally:
                connection.close()
            return f"Text {number}"

        with ThreadPoolExecutor(8) as threads:
            written = [text for text in threads.map(write, range(8)) if text]
        row.refresh_from_db()
        assert written == [row.alt_text]


class TestValues:
    def test_defaults_need_no_paths(self, make_illustration, configure):
        row = make_illustration()
        place = next(configure(ILLUSTRATION).places())
        assert (place.page_title, place.language, place.page_url, place.role) == (str(row), "en", "", "")
        assert place.context == Context(title=str(row))

    def test_a_literal_and_a_callable_give_values(self, make_illustration, configure):
        row = make_illustration()
        entry = {**ILLUSTRATION, "language": "=pl", "title": "article.slug.upper", "url": "article.get_absolute_url"}
        place = next(configure(entry).places())
        assert (place.language, place.page_title) == ("pl", row.article.slug.upper())
        assert place.page_url == row.article.get_absolute_url()

    def test_a_role_that_nobody_knows_counts_as_not_declared(self, make_illustration, configure):
        make_illustration(caption="ornamental", role="functional")
        assert next(configure({**ILLUSTRATION, "role": "caption"}).places()).role == ""
        assert next(configure({**ILLUSTRATION, "role": "role"}).places()).role == "functional"

    def test_headings_may_be_one_string_with_lines(self, make_illustration, configure):
        make_illustration(text_before="One\n\n Two ")
        assert next(configure({**ILLUSTRATION, "headings": "text_before"}).places()).context.headings == ("One", "Two")

    def test_a_method_that_changes_data_is_never_called(self, make_illustration):
        row = make_illustration()
        with pytest.raises(entries.WrongEntry):
            entries.follow(row, "article.delete")
        assert Illustration.objects.filter(pk=row.pk).exists()

    def test_a_decorative_row_has_no_text_whatever_its_column_holds(self, make_illustration, configure):
        make_illustration(alt_text="left over", link_text_visible=True)
        place = next(configure({**ILLUSTRATION, "decorative": "link_text_visible"}).places())
        assert place.alt == Alt(decorative=True)

    def test_relations_of_the_paths_are_fetched_with_the_rows(self, make_illustration, django_assert_num_queries):
        for _ in range(3):
            make_illustration()
        with django_assert_num_queries(1):
            assert len(list(ImageFieldsAdapter().places())) == 3


class TestPlainText:
    @pytest.mark.parametrize(
        ("html", "text"),
        [
            ("<p>One</p><p>two</p>", "One\ntwo"),
            ("one<br>two<br/>three", "one\ntwo\nthree"),
            ("<ul><li>a<li>b</ul>", "a\nb"),
            ("<table><tr><td>1</td><td>2</td></tr></table>", "1\n2"),
            ("<p>in<b>side</b> a <em>word</em></p>", "inside a word"),
            ("<p>a word<img src=x alt='other image'>next</p>", "a word\nnext"),
            ("<p>Fish &amp; chips &#8211; &eacute;&nbsp;&#x41;</p>", "Fish & chips – é A"),
            ("Fish &amp; chips", "Fish & chips"),
            ("<script>alert(1)</script><style>p{}</style><p>x</p>", "x"),
            ("wo<!-- a comment -->rd <!-- open", "word"),
            ("e\u0301", "é"),
            ("a < b, AT&T, x<y", "a < b, AT&T, x<y"),
            ("  plain\n\ntext ", "plain\n\ntext"),
            ("<p>never closed <b>x", "never closed x"),
            (None, ""),
            (7, "7"),
        ],
    )
    def test_html_and_plain_text_become_plain_text(self, html, text):
        assert plain.text(html) == text

    @pytest.mark.parametrize(
        "broken",
        ["<!--", "<!---->", "<", "</", "<a ", "<a x='", "<![CDATA[", "<svg>", "<?", "&#", "<script>", "<p><b>"],
    )
    def test_broken_markup_is_read_in_linear_time(self, broken):
        import time

        started = time.process_time()
        plain.text("<p>" + broken * (200_000 // len(broken)))
        assert time.process_time() - started < 5  # measured 0.2 s; quadratic reading of "<!--" took 18 s

    def test_a_long_text_is_cut_before_it_is_parsed(self):
        assert len(plain.text("word " * 100_000)) <= plain.MOST_CHARS


class TestPermission:
    def test_a_queryset_narrows_who_may_edit_what(self, make_illustration, make_user, configure):
        mine, other = make_illustration(caption="mine"), make_illustration()
        adapter = configure({**ILLUSTRATION, "editable": f"{__name__}.captioned_mine"})
        for row in (mine, other):
            _placement(adapter, f"demo.illustration:{row.pk}:image")
        allowed = Placement.objects.filter(adapter.editable(make_user("author")))
        assert [placement.key for placement in allowed] == [f"demo.illustration:{mine.pk}:image"]
        assert Placement.objects.filter(adapter.editable(make_user("admin"))).count() == 2
        assert not Placement.objects.filter(adapter.editable(make_user("outsider"))).exists()

    def test_the_condition_is_one_query(self, make_illustration, make_user, configure, django_assert_num_queries):
        make_illustration(caption="mine")
        adapter = configure({**ILLUSTRATION, "editable": f"{__name__}.captioned_mine"})
        user = make_user("author")
        user.has_perm("demo.change_illustration")
        with django_assert_num_queries(1):
            list(Placement.objects.filter(adapter.editable(user)))


def captioned_mine(user):
    """What `editable` of an entry may name."""
    return Illustration.objects.filter(caption="mine")


class TestSetting:
    def test_the_demonstration_site_is_configured_well(self):
        assert setting.problems() == []

    @pytest.mark.parametrize(
        ("change", "named"),
        [
            ({"model": "demo.Nothing"}, "demo.Nothing"),
            ({"model": "nonsense"}, "nonsense"),
            ({"image": "caption"}, "'caption' as 'image'"),
            ({"image": ""}, "'image'"),
            ({"alt": "article"}, "'article' as 'alt'"),
            ({"alt": "alt"}, "'alt'"),
            ({"decorative": "caption"}, "'caption' as 'decorative'"),
            ({"title": "article.name"}, "'name'"),
            ({"title": "artikel.title"}, "'artikel'"),
            ({"url": "article.delete"}, "changes data"),
            ({"before": 7}, "'before'"),
            ({"colour": "x"}, "'colour'"),
            ({"filter": "x"}, "filter"),
            ({"editable": "no.such.thing"}, "no.such.thing"),
            ({"editable": "alttext.conf.__name__"}, "cannot be"),
        ],
    )
    def test_each_mistake_is_named_and_nothing_runs_with_it(self, configure, change, named):
        adapter = configure({**ILLUSTRATION, **change})
        problems = adapter.problems()
        assert len(problems) == 1
        assert named in problems[0]
        with pytest.raises(entries.WrongEntry):
            list(adapter.places())
        adapter.connect()  # `manage.py check` has to start, or nobody could read the problem

    def test_two_entries_for_one_field_are_a_mistake(self, configure):
        assert "same image field" in configure(ILLUSTRATION, {**ILLUSTRATION, "alt": "caption"}).problems()[0]

    def test_something_else_than_a_dict_is_a_mistake(self, configure):
        assert configure("demo.Illustration").problems() == ["IMAGE_FIELDS entry 1 is not a dict."]


class TestSignals:
    def test_a_saved_image_is_queued_after_the_commit(
        self, make_illustration, settings, django_capture_on_commit_callbacks
    ):
        settings.ALTTEXT = {**settings.ALTTEXT, "AUTOMATIC": True}
        with django_capture_on_commit_callbacks() as told:
            row = make_illustration()
            assert not Placement.objects.exists()
        for tell in told:
            tell()
        placement = Placement.objects.get(key=f"demo.illustration:{row.pk}:image")
        assert Job.objects.filter(placement=placement, state="QUEUED").count() == 1
        row.refresh_from_db()
        assert (row.alt_text, row.decorative) == ("", False)

    def test_without_automatic_jobs_nothing_is_asked(
        self, make_illustration, settings, django_capture_on_commit_callbacks
    ):
        settings.ALTTEXT = {**settings.ALTTEXT, "AUTOMATIC": False}
        with django_capture_on_commit_callbacks(execute=True):
            make_illustration()
        assert not Job.objects.exists()
        assert Placement.objects.count() == 1  # known to the queue all the same

    def test_loading_a_fixture_tells_nothing(self, make_illustration, django_capture_on_commit_callbacks):
        stored = serializers.serialize("json", [make_illustration()])
        with django_capture_on_commit_callbacks() as told:
            for item in serializers.deserialize("json", stored):
                item.save()
        assert told == []

    def test_our_own_write_tells_nothing(self, stage, django_capture_on_commit_callbacks):
        with django_capture_on_commit_callbacks() as told:
            stage.adapter.apply(stage.key, alt=Alt("By the workbench"), expected=Alt(), by=stage.editor)
        assert told == []
        with django_capture_on_commit_callbacks() as told:
            stage.row.save()
        assert len(told) == 1

    @pytest.mark.parametrize("how", ["delete", "clear"])
    def test_a_removed_image_leaves_the_queue(self, make_illustration, django_capture_on_commit_callbacks, how):
        with django_capture_on_commit_callbacks(execute=True):
            row = make_illustration()
        with django_capture_on_commit_callbacks(execute=True):
            if how == "delete":
                row.delete()
            else:
                row.image = ""
                row.save()
        assert Placement.objects.get().state == Placement.State.GONE

    def test_a_failing_queue_does_not_reach_the_author(
        self, make_illustration, django_capture_on_commit_callbacks, monkeypatch, caplog
    ):
        def fail(**_):
            raise OSError("no broker")

        monkeypatch.setattr(tasks, "enqueue_place", fail)
        with django_capture_on_commit_callbacks(execute=True):
            make_illustration()
        assert "no broker" in caplog.text
        assert Illustration.objects.count() == 1


@pytest.fixture(scope="module")
def poster_model(django_db_setup, django_db_blocker):
    """A model unlike the demonstration's: UUID keys, two images, a narrow alt, no mark, an automatic date."""

    class Poster(models.Model):
        id = models.UUIDField(primary_key=True, default=uuid.uuid4)
        front = models.FileField(upload_to="posters/")
        front_alt = models.CharField(max_length=20, null=True)  # noqa: DJ001 (old sites have such columns)
        back = models.FileField(upload_to="posters/", null=True)
        back_alt = models.CharField(max_length=20, default="")
        body = models.TextField(default="")
        illustration = models.OneToOneField(Illustration, null=True, on_delete=models.CASCADE)
        changed_at = models.DateTimeField(auto_now=True)

        class Meta:
            app_label = "demo"

        def __str__(self):
            return "A poster"

    with django_db_blocker.unblock(), connection.schema_editor() as editor:
        editor.create_model(Poster)
    yield Poster
    with django_db_blocker.unblock(), connection.schema_editor() as editor:
        editor.delete_model(Poster)
    del apps.all_models["demo"]["poster"]
    apps.clear_cache()


@pytest.fixture
def make_poster(poster_model, configure, make_image, db):
    def make(**names):
        poster = poster_model(**names)
        poster.front.save("front.png", ContentFile(make_image()), save=False)
        poster.back.save("back.png", ContentFile(make_image()), save=False)
        poster.save()
        return poster

    configure(
        {
            "model": "demo.Poster",
            "image": "front",
            "alt": "front_alt",
            "before": "body",
            "title": "illustration.caption",
        },
        {"model": "demo.Poster", "image": "back", "alt": "back_alt"},
    )
    yield make
    ContentType.objects.clear_cache()  # the row for this model goes with the transaction


class TestAnotherModel:
    def test_each_image_field_is_a_place_of_its_own(self, make_poster):
        poster = make_poster()
        adapter = ImageFieldsAdapter()
        keys = [f"demo.poster:{poster.pk.hex}:front", f"demo.poster:{poster.pk.hex}:back"]
        assert [place.key for place in adapter.places()] == keys == entries.keys_of(poster)
        adapter.apply(keys[1], alt=Alt("Back"), expected=Alt(), by=None)
        assert [adapter.place(key).alt for key in keys] == [Alt(), Alt("Back")]
        assert adapter.read_image(keys[0]) != adapter.read_image(keys[1])

    def test_a_row_with_one_file_is_one_place(self, make_poster, poster_model):
        make_poster()
        poster_model.objects.update(back=None)
        assert [place.key.rpartition(":")[2] for place in ImageFieldsAdapter().places()] == ["front"]

    @pytest.mark.parametrize("back", [{}, {"editable": f"{__name__}.all_posters"}], ids=["model", "rows"])
    def test_permission_for_one_image_field_says_nothing_of_the_other(self, make_poster, make_user, configure, back):
        poster = make_poster()
        adapter = configure(
            {"model": "demo.Poster", "image": "front", "alt": "front_alt", "editable": f"{__name__}.no_posters"},
            {"model": "demo.Poster", "image": "back", "alt": "back_alt", **back},
        )
        for key in entries.keys_of(poster):
            _placement(adapter, key)
        user = make_user("outsider")
        kind = ContentType.objects.get_for_model(type(poster))
        user.user_permissions.add(Permission.objects.create(codename="change_poster", name="x", content_type=kind))
        allowed = Placement.objects.filter(adapter.editable(user))
        assert [placement.key for placement in allowed] == [f"demo.poster:{poster.pk.hex}:back"]

    def test_an_empty_column_reads_as_no_text(self, make_poster):
        make_poster(front_alt=None)
        assert next(ImageFieldsAdapter().places()).alt == Alt()

    def test_html_around_the_image_becomes_plain_text(self, make_poster):
        make_poster(body="<p>One &amp;</p><p>two</p>")
        assert next(ImageFieldsAdapter().places()).context.before == "One &\ntwo"

    def test_an_empty_relation_gives_the_default(self, make_poster):
        make_poster()
        assert next(ImageFieldsAdapter().places()).page_title == "A poster"

    def test_without_a_mark_decorative_is_an_empty_text(self, make_poster):
        poster = make_poster(front_alt="Words")
        adapter, key = ImageFieldsAdapter(), f"demo.poster:{poster.pk.hex}:front"
        adapter.apply(key, alt=Alt(decorative=True), expected=Alt("Words"), by=None)
        assert adapter.place(key).alt == Alt()
        assert not adapter.place(key).stores_decorative

    def test_the_automatic_date_follows_a_write_and_other_columns_stay(self, make_poster, poster_model):
        poster = make_poster()
        before = poster.changed_at
        poster_model.objects.filter(pk=poster.pk).update(body="written by somebody else")
        ImageFieldsAdapter().apply(f"demo.poster:{poster.pk.hex}:front", alt=Alt("x"), expected=Alt(), by=None)
        poster.refresh_from_db()
        assert poster.changed_at > before
        assert poster.body == "written by somebody else"


def no_posters(user):
    return apps.get_model("demo.Poster").objects.none()


def all_posters(user):
    return apps.get_model("demo.Poster").objects.all()


class _Row:
    """As much of a stage as `record` reads."""

    def __init__(self, adapter, key):
        self.adapter, self.key = adapter, key


def _placement(adapter, key) -> Placement:
    return record(_Row(adapter, key))
