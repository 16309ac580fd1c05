"""A GGUF of a tiny model, written with the reference library, becomes a folder that the production loader reads."""

from __future__ import annotations

import pytest
import torch
import transformers

from captioner.rooms.decode import conversion
from captioner.rooms.decode.language_model import LanguageModel

from . import tiny

gguf = pytest.importorskip("gguf", reason="converting needs the gguf package")

HEADS, KEY_HEADS = 4, 2
NAMES = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def gguf_name(name: str) -> str:
    for theirs, ours in NAMES.items():
        name = name.replace(theirs, ours)
    return name.replace("model.layers.", "blk.")


def interleaved(weight, heads: int):
    """Rows in the order of llama.cpp, which turns neighbours where transformers turns halves of a head."""
    return weight.reshape(heads, 2, weight.shape[0] // heads // 2, weight.shape[1]).swapaxes(1, 2).reshape(weight.shape)


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    """(file, name -> values after Q4_1): as the packaged model, rows in blocks of 32, norms in float32."""
    file = tmp_path_factory.mktemp("gguf") / "tiny.gguf"
    tokens = tiny.tokenizer(bos=False, template=tiny.CHATML)
    config = transformers.LlamaConfig(
        vocab_size=len(tokens) + 1,
        hidden_size=tiny.WIDTH,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=HEADS,
        num_key_value_heads=KEY_HEADS,
        tie_word_embeddings=True,
    )
    model = tiny.spread(transformers.LlamaForCausalLM(config))
    writer = gguf.GGUFWriter(str(file), "llama")
    _describe(writer, config, tokens)
    wanted = {}
    for name, values in model.state_dict().items():
        if name == "lm_head.weight":
            continue
        array = values.numpy()
        if "q_proj" in name or "k_proj" in name:
            array = interleaved(array, HEADS if "q_proj" in name else KEY_HEADS)
        if values.dim() == 1:
            writer.add_tensor(gguf_name(name), array)
            wanted[name] = values
            continue
        kind = gguf.GGMLQuantizationType.Q4_1
        writer.add_tensor(gguf_name(name), gguf.quants.quantize(array, kind), raw_dtype=kind)
        plain = gguf.quants.dequantize(gguf.quants.quantize(values.numpy(), kind), kind)
        wanted[name] = torch.from_numpy(plain)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file, wanted


def _describe(writer, config, tokens) -> None:
    writer.add_context_length(512)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KEY_HEADS)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(10000.0)
    writer.add_rope_dimension_count(config.hidden_size // HEADS)
    writer.add_vocab_size(config.vocab_size)
    vocabulary = [*(tokens.convert_ids_to_tokens(at) for at in range(len(tokens))), "ab"]
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(vocabulary)
    writer.add_token_types([3] * 6 + [1] * (len(vocabulary) - 6))  # control, then normal
    writer.add_token_merges(["a b"])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_pad_token_id(2)
    writer.add_chat_template(tiny.CHATML)


@pytest.mark.slow
def test_a_packaged_model_becomes_a_folder_of_safetensors(packed, tmp_path, caplog):
    """Values are those of the blocks, rounded once to bfloat16; the tokenizer and its chat form come along."""
    file, wanted = packed
    conversion.from_gguf(file, tmp_path / "model")
    model = LanguageModel.load(tmp_path / "model", dtype=torch.bfloat16)
    found = model.model.state_dict()
    for name, values in wanted.items():
        assert torch.equal(found[name], values.to(torch.bfloat16)), name
    assert torch.equal(found["lm_head.weight"], found["model.embed_tokens.weight"])
    assert model.ids("<|im_start|>ab!") == [1, len(model.tokenizer) - 1, model.tokenizer.convert_tokens_to_ids("!")]
    assert model.end == 2
    assert model.tokenizer.chat_template == tiny.CHATML
    assert {"<|im_end|>", "<repo_name>"} <= set(model.control_tokens)
    conversion.from_gguf(file, tmp_path / "again")
    for path in (tmp_path / "model").iterdir():  # a checkpoint names its language model by the bytes of its file
        assert path.read_bytes() == (tmp_path / "again" / path.name).read_bytes(), path.name
