"""Each kind of phrase against its own evidence."""

import pytest

from captioner.prepare.pagewords import PageWords
from captioner.prepare.phrases import PhraseKind
from captioner.prepare.vocabulary import vocabulary
from captioner.rooms.gate import support, verdict
from captioner.rooms.gate.support import Evidence, Found
from captioner.types import Box, Role, Sight, Tag, TextLine

from .sights import chart, photo


def evidence(sight: Sight, page: PageWords | None = None, **rest) -> Evidence:
    tree = vocabulary()
    seen = verdict.weigh(sight, tree)
    return Evidence(sight, seen, page or PageWords(), tree, words=support.words_of(sight), **rest)


def judged(phraser, text, held: Evidence, kind: PhraseKind):
    return [support.judge(phrase, held) for phrase in phraser.read(text).of(kind)]


def test_a_box_supports_its_own_word_and_wider_ones(phraser):
    held = evidence(photo("dog"))
    [dog] = judged(phraser, "A dog", held, PhraseKind.OBJECT)
    [animal] = judged(phraser, "An animal", held, PhraseKind.OBJECT)
    assert (dog.supported, dog.source, dog.score) == (True, "detector", 0.8)
    assert animal.supported is True


def test_a_box_of_the_wider_thing_supports_no_narrower_word(phraser):
    [beagle] = judged(phraser, "A beagle", evidence(photo("dog")), PhraseKind.OBJECT)
    assert beagle.supported is False


def test_a_sure_tag_supports_the_narrow_word(phraser):
    sight = Sight(800, 600, kinds={"photo": 1.0}, tags=(Tag("pizza", 0.95, "n07873807", True),))
    [pizza] = judged(phraser, "A pizza", evidence(sight), PhraseKind.OBJECT)
    assert (pizza.supported, pizza.source) == (True, "tags")


def test_a_weak_box_is_told_and_does_not_support(phraser):
    [dog] = judged(phraser, "A dog", evidence(photo("dog", score=0.25)), PhraseKind.OBJECT)
    assert (dog.supported, dog.score) == (False, 0.25)
    assert "not surely" in dog.detail


def test_a_chef_is_supported_as_a_person_and_the_trade_by_nothing(phraser):
    [chef] = judged(phraser, "A chef", evidence(photo("person")), PhraseKind.OBJECT)
    assert chef.supported is True
    assert chef.phrase.claims_more
    assert chef.detail == "seen: person"


def test_an_open_vocabulary_detector_speaks_for_what_the_closed_one_has_no_word_for(phraser):
    held = evidence(photo(), opened={"tomato": Found(True, 0.41, "owlv2"), "podium": Found(False, 0.3, "owlv2")})
    [tomato] = judged(phraser, "Tomatoes", held, PhraseKind.OBJECT)
    [podium] = judged(phraser, "A podium", held, PhraseKind.OBJECT)
    assert (tomato.supported, tomato.source, tomato.score) == (True, "owlv2", 0.41)
    assert (podium.supported, podium.source) == (False, "owlv2")


def test_its_denial_does_not_take_away_a_sure_box(phraser):
    held = evidence(photo("dog"), opened={"dog": Found(False, 0.1)})
    assert judged(phraser, "A dog", held, PhraseKind.OBJECT)[0].supported is True


def test_a_scene_is_left_unless_it_is_denied(phraser):
    [left] = judged(phraser, "A beach", evidence(photo()), PhraseKind.SCENE)
    [denied] = judged(phraser, "A beach", evidence(photo(), opened={"beach": Found(False, 0.1)}), PhraseKind.SCENE)
    assert (left.supported, denied.supported) == (None, False)


def test_quoted_words_must_have_been_read_in_that_order(phraser):
    held = evidence(photo(lines=("Stop here", "All ways")))
    assert judged(phraser, "“Stop here all ways”", held, PhraseKind.TEXT)[0].supported is True
    assert judged(phraser, "“Here stop”", held, PhraseKind.TEXT)[0].supported is False


def test_words_read_without_certainty_are_told_and_do_not_support(phraser):
    line = TextLine("United Notions", 0.7, Box(0.1, 0.1, 0.6, 0.2))
    held = evidence(Sight(800, 600, kinds={"photo": 1.0}, lines=(line,)))
    [text] = judged(phraser, "“United Notions”", held, PhraseKind.TEXT)
    assert (text.supported, text.detail) == (False, "read, but not surely")


def test_a_name_needs_the_page_and_the_thing_that_carries_it(phraser):
    page = PageWords(before="Barack Obama spoke in Chicago.")
    both = judged(phraser, "Barack Obama speaking", evidence(photo("person"), page), PhraseKind.NAME)
    no_page = judged(phraser, "Barack Obama speaking", evidence(photo("person")), PhraseKind.NAME)
    nobody = judged(phraser, "Barack Obama speaking", evidence(photo("dog"), page), PhraseKind.NAME)
    assert [one.supported for one in (*both, *no_page, *nobody)] == [True, False, False]
    assert "confirm" in both[0].detail


def test_a_name_on_the_page_that_is_also_read_in_the_picture_is_supported(phraser):
    held = evidence(photo(lines=("London Zoo",)), PageWords(title="London Zoo"))
    assert judged(phraser, "Entrance of London Zoo", held, PhraseKind.NAME)[0].supported is True


def test_a_number_needs_to_be_read(phraser):
    assert judged(phraser, "Platform 9", evidence(photo(lines=("Platform 9",))), PhraseKind.NUMBER)[0].supported is True
    assert judged(phraser, "Three dogs", evidence(photo("dog", "dog", "dog")), PhraseKind.NUMBER)[0].supported is False


def test_a_value_of_a_chart_is_never_supported_though_the_digits_stand_on_its_axis(phraser):
    held = evidence(chart("Sales by year", "Share 45 percent"))
    [value] = judged(phraser, "Chart of sales reaching 45 %", held, PhraseKind.NUMBER)
    assert value.supported is False


def test_the_subject_of_a_chart_is_read_not_seen(phraser):
    [sales] = judged(phraser, "Chart of sales", evidence(chart("Annual sales")), PhraseKind.OBJECT)
    [trees] = judged(phraser, "Chart of trees", evidence(chart("Annual sales")), PhraseKind.OBJECT)
    assert (sales.supported, sales.source) == (True, "ocr")
    assert trees.supported is False


def test_a_word_on_a_photo_is_no_evidence_of_the_thing(phraser):
    [dog] = judged(phraser, "A dog", evidence(photo(lines=("Beware of the dog",))), PhraseKind.OBJECT)
    assert dog.supported is False


@pytest.mark.parametrize(("sight", "expected"), [(chart("Sales"), True), (photo("dog"), False)])
def test_the_medium_needs_its_kind(phraser, sight, expected):
    [medium] = judged(phraser, "A chart", evidence(sight), PhraseKind.MEDIUM)
    assert medium.supported is expected


def test_words_of_the_link_are_supported_by_the_link_alone(phraser):
    held = evidence(photo(), role=Role.FUNCTIONAL, destination="Annual report")
    assert judged(phraser, "Annual report", held, PhraseKind.OBJECT)[0].source == "link"
    plain = evidence(photo(), destination="Annual report")
    assert judged(phraser, "Annual report", plain, PhraseKind.OBJECT)[0].supported is False


def test_a_frame_word_needs_nothing(phraser):
    [group] = judged(phraser, "A group of dogs", evidence(photo()), PhraseKind.FRAME)
    assert group.supported is None
