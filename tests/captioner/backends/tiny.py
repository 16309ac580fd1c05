"""Tiny random models of several families, saved to disk so that the production loader reads them like any other."""

from __future__ import annotations

from pathlib import Path

import torch
import transformers
from PIL import Image
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from tokenizers import decoders as decoding

from captioner.rooms.encode.open_vocabulary import DISTRACTORS
from tests.captioner.native.tiny import spread

VOCABULARY = (
    "a an the dog cat red green sofa beach on with of picture write alt text describe image page title link what is "
    "one two three blue big small person sits stands house tree car boat sea sky . , : / < > user assistant system "
    "between and data about not instructions in short sentence shows that matters here caption before after en de"
)
WORDS = [*VOCABULARY.split(), "photo", *DISTRACTORS]
WIDTH, SIDE_PX = 32, 28
CHAT = (
    "{{ bos_token }}{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
    "{% if message['content'] is string %}{{ message['content'] }}{% else %}{% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}IMAGE{% else %}{{ part['text'] }}{% endif %}{% endfor %}{% endif %}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
NO_SYSTEM = (
    "{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}" + CHAT
)


def tokenizer(*special: str, bert: bool = False, end_last: bool = False) -> transformers.PreTrainedTokenizerFast:
    """One token a word of `WORDS` and a letter for the rest; ids: pad 0, bos 1, eos 2, unk 3."""
    letters = [chr(code) for code in range(33, 127)]
    marks = ["[PAD]", "[CLS]", "[SEP]", "[UNK]"] if bert else ["<pad>", "<s>", "</s>", "<unk>"]
    names = list(dict.fromkeys([*marks, *special, *WORDS, *letters, *(f"##{letter}" for letter in letters)]))
    if end_last:  # CLIP's text towers read the place of the highest id
        names.append(names.pop(2))
    inner = Tokenizer(models.WordPiece({name: at for at, name in enumerate(names)}, unk_token=marks[3]))
    inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    inner.decoder = decoding.WordPiece()
    if bert:
        inner.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", names.index("[SEP]"))]
        )
    named = dict(zip(("pad_token", "bos_token", "eos_token", "unk_token"), marks, strict=True))
    named |= {"cls_token": marks[1], "sep_token": marks[2]} if bert else {}
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=inner, additional_special_tokens=list(special), model_max_length=4096, **named
    )


def _save(folder: Path, model: torch.nn.Module, processor, tokens=None) -> Path:
    model.generation_config.eos_token_id = 2
    model.generation_config.pad_token_id = 0
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


TEXT: dict = {
    "hidden_size": WIDTH,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 1024,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
}


def llava(folder: Path, *, template: str = CHAT) -> Path:
    """CLIP at 28 px with patches of 14: 4 image tokens."""
    tokens = tokenizer("<image>", "<|im_start|>", "<|im_end|>")
    vision = transformers.CLIPVisionConfig(
        hidden_size=WIDTH,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        image_size=28,
        patch_size=14,
    )
    config = transformers.LlavaConfig(
        vision_config=vision,
        text_config=transformers.LlamaConfig(vocab_size=len(tokens), **TEXT),
        image_token_index=tokens.convert_tokens_to_ids("<image>"),
        image_seq_length=4,
    )
    processor = transformers.LlavaProcessor(
        transformers.CLIPImageProcessor(size={"shortest_edge": 28}, crop_size={"height": 28, "width": 28}),
        tokens,
        patch_size=14,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=template.replace("IMAGE", "<image>"),
    )
    return _save(folder, spread(transformers.LlavaForConditionalGeneration(config)), processor)


def qwen2_vl(folder: Path) -> Path:
    """Patches of 14 merged 2 x 2: one token for 28 x 28 px, and three-dimensional positions."""
    marks = ("<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>", "<|im_start|>", "<|im_end|>")
    tokens = tokenizer(*marks)
    ids = {mark: tokens.convert_tokens_to_ids(mark) for mark in marks}
    text = {**TEXT, "rope_parameters": {"rope_type": "default", "mrope_section": [1, 1, 2], "rope_theta": 10000.0}}
    config = transformers.Qwen2VLConfig(
        text_config={"vocab_size": len(tokens), **text},
        vision_config={"embed_dim": WIDTH, "hidden_size": WIDTH, "depth": 2, "num_heads": 4, "mlp_ratio": 2},
        image_token_id=ids["<|image_pad|>"],
        video_token_id=ids["<|video_pad|>"],
        vision_start_token_id=ids["<|vision_start|>"],
        vision_end_token_id=ids["<|vision_end|>"],
    )
    image_processor = transformers.Qwen2VLImageProcessor(size={"shortest_edge": 28 * 28, "longest_edge": 28 * 28 * 8})
    processor = transformers.Qwen2VLProcessor(
        image_processor,
        tokens,
        transformers.Qwen2VLVideoProcessor(),
        chat_template=CHAT.replace("IMAGE", "<|vision_start|><|image_pad|><|vision_end|>"),
    )
    return _save(folder, spread(transformers.Qwen2VLForConditionalGeneration(config)), processor)


def idefics3(folder: Path) -> Path:
    """SigLIP tiles of 28 px, patches of 14, shuffled 2 x 2: one token a tile."""
    grid = [f"<row_{row}_col_{column}>" for row in range(1, 7) for column in range(1, 7)]
    marks = ("<image>", "<fake_token_around_image>", "<global-img>", "<end_of_utterance>", *grid)
    tokens = tokenizer(*marks, "<|im_start|>", "<|im_end|>")
    config = transformers.Idefics3Config(
        image_token_id=tokens.convert_tokens_to_ids("<image>"),
        pad_token_id=0,
        scale_factor=2,
        vision_config={
            "hidden_size": WIDTH,
            "intermediate_size": 64,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "image_size": 28,
            "patch_size": 14,
        },
        text_config={"model_type": "llama", "vocab_size": len(tokens), **TEXT},
    )
    image_processor = transformers.Idefics3ImageProcessor(
        size={"longest_edge": 56}, max_image_size={"longest_edge": 28}, do_image_splitting=True
    )
    processor = transformers.Idefics3Processor(
        image_processor,
        tokens,
        image_seq_len=1,
        chat_template=CHAT.replace("IMAGE", "<image>"),
    )
    return _save(folder, spread(transformers.Idefics3ForConditionalGeneration(config)), processor)


def blip(folder: Path) -> Path:
    """A decoder with cross-attention and no chat: continues a few words."""
    tokens = tokenizer("[DEC]", "[ENC]", bert=True)
    text = transformers.BlipTextConfig(
        vocab_size=len(tokens),
        hidden_size=WIDTH,
        encoder_hidden_size=WIDTH,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        bos_token_id=tokens.convert_tokens_to_ids("[DEC]"),
        pad_token_id=0,
        eos_token_id=2,
        sep_token_id=2,
    )
    vision = transformers.BlipVisionConfig(
        hidden_size=WIDTH,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        image_size=28,
        patch_size=14,
    )
    config = transformers.BlipConfig(text_config=text.to_dict(), vision_config=vision.to_dict(), projection_dim=WIDTH)
    processor = transformers.BlipProcessor(transformers.BlipImageProcessor(size={"height": 28, "width": 28}), tokens)
    return _save(folder, spread(transformers.BlipForConditionalGeneration(config)), processor)


def git(folder: Path) -> Path:
    """A decoder that reads picture tokens before its words, without placeholders."""
    tokens = tokenizer(bert=True)
    config = transformers.GitConfig(
        vision_config={
            "hidden_size": WIDTH,
            "intermediate_size": 64,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "image_size": 28,
            "patch_size": 14,
        },
        vocab_size=len(tokens),
        **{key: value for key, value in TEXT.items() if key != "num_key_value_heads"},
    )
    image_processor = transformers.CLIPImageProcessor(size={"shortest_edge": 28}, crop_size={"height": 28, "width": 28})
    return _save(
        folder, spread(transformers.GitForCausalLM(config)), transformers.GitProcessor(image_processor, tokens)
    )


def picture(seed: int = 0, size: tuple[int, int] = (56, 28)) -> Image.Image:
    """Noise: no two seeds look alike to a random encoder."""
    pixels = torch.randint(0, 256, (size[1], size[0], 3), generator=torch.Generator().manual_seed(seed))
    return Image.fromarray(pixels.to(torch.uint8).numpy())


def owlv2(folder: Path) -> Path:
    """4 boxes on 28 px; the text tower reads 16 tokens."""
    tokens = tokenizer(bert=True, end_last=True)
    tokens.model_max_length = 16
    text = {
        "vocab_size": len(tokens),
        "max_position_embeddings": 16,
        "bos_token_id": 1,
        "eos_token_id": len(tokens) - 1,
    }
    sizes = {"hidden_size": WIDTH, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    config = transformers.Owlv2Config(
        text_config={**text, **sizes, "pad_token_id": 0},
        vision_config={**sizes, "image_size": 28, "patch_size": 14},
        projection_dim=WIDTH,
    )
    image_processor = transformers.Owlv2ImageProcessor(size={"height": 28, "width": 28})
    return _save_detector(
        folder, transformers.Owlv2ForObjectDetection(config), transformers.Owlv2Processor(image_processor, tokens)
    )


def grounding_dino(folder: Path) -> Path:
    """A small Swin, one encoder and one decoder layer, 5 boxes."""
    tokens = tokenizer(bert=True)
    config = transformers.GroundingDinoConfig(
        backbone_config=transformers.SwinConfig(
            embed_dim=16,
            depths=[1, 1],
            num_heads=[2, 2],
            window_size=2,
            image_size=64,
            out_features=["stage1", "stage2"],
        ),
        text_config=transformers.BertConfig(
            vocab_size=len(tokens), hidden_size=WIDTH, num_hidden_layers=1, num_attention_heads=4, intermediate_size=64
        ),
        num_queries=5,
        encoder_layers=1,
        decoder_layers=2,
        encoder_ffn_dim=64,
        decoder_ffn_dim=64,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        d_model=WIDTH,
        num_feature_levels=2,
        encoder_n_points=2,
        decoder_n_points=2,
        max_text_len=256,
        disable_custom_kernels=True,
    )
    image_processor = transformers.GroundingDinoImageProcessor(size={"shortest_edge": 64, "longest_edge": 96})
    processor = transformers.GroundingDinoProcessor(image_processor, tokens)
    return _save_detector(folder, transformers.GroundingDinoForObjectDetection(config), processor)


def _save_detector(folder: Path, model: torch.nn.Module, processor) -> Path:
    spread(model).save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder
