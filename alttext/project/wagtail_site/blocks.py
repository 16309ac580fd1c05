"""What stands in the body of an article: every kind of block in which an image can be. Knows no page."""

from __future__ import annotations

from wagtail import blocks
from wagtail.images.blocks import ImageBlock, ImageChooserBlock

WORDS = ["h2", "h3", "bold", "italic", "ol", "ul", "link", "hr", "image"]  # features of rich text


class Figure(blocks.StructValue):
    """What a figure holds."""

    @property
    def href(self) -> str:
        """Where the link leads; empty for none."""
        page = self.get("link_page")
        return (page.url if page else self.get("link_url")) or ""


class FigureBlock(blocks.StructBlock):
    """An image with its caption; the link is around the image, its label beneath where it is to be seen."""

    image = ImageBlock()
    caption = blocks.CharBlock(required=False)
    link_page = blocks.PageChooserBlock(required=False)
    link_url = blocks.URLBlock(required=False)
    link_label = blocks.CharBlock(required=False, help_text="Words in the link, or the title of what it leads to")
    show_label = blocks.BooleanBlock(required=False, label="Show the label beside the image")

    class Meta:
        icon = "image"
        template = "wagtail_site/blocks/figure.html"
        value_class = Figure


class WordsBlock(blocks.StreamBlock):
    """A run of headings, text and images inside another block."""

    heading = blocks.CharBlock(icon="title", template="wagtail_site/blocks/subheading.html")
    paragraph = blocks.RichTextBlock(features=WORDS)
    image = ImageBlock(template="wagtail_site/blocks/image.html")

    class Meta:
        required = False


class ColumnsBlock(blocks.StructBlock):
    """Two columns side by side."""

    left = WordsBlock()
    right = WordsBlock()

    class Meta:
        icon = "grip"
        template = "wagtail_site/blocks/columns.html"


class PanelBlock(blocks.StructBlock):
    """One panel of an accordion."""

    title = blocks.CharBlock()
    content = WordsBlock()

    class Meta:
        icon = "collapse-down"


class BodyBlock(blocks.StreamBlock):
    """The body of an article."""

    heading = blocks.CharBlock(icon="title", template="wagtail_site/blocks/heading.html")
    paragraph = blocks.RichTextBlock(features=WORDS)
    image = ImageBlock(template="wagtail_site/blocks/image.html")
    figure = FigureBlock()
    columns = ColumnsBlock()
    accordion = blocks.ListBlock(PanelBlock(), icon="list-ul", template="wagtail_site/blocks/accordion.html")
    gallery = blocks.ListBlock(ImageBlock(), icon="image", template="wagtail_site/blocks/gallery.html")
    old_image = ImageChooserBlock(
        label="Image without a text of its own", template="wagtail_site/blocks/old_image.html"
    )
