"""Low-rank weights: how many, and that they are nothing at first, part of the model when merged, off when asked."""

from __future__ import annotations

import pytest
import torch
import transformers

from captioner.rooms.decode.language_model import LanguageModel, LoraConfig

from . import tiny

LAYERS = 32  # of Llama-3-8B


def logits(model: LanguageModel) -> torch.Tensor:
    return model.start(tiny.prompt_rows(model, [7])).logits


def stirred(model: LanguageModel, config: LoraConfig | None = None) -> LanguageModel:
    """`model` with low-rank weights that say something."""
    model.attach_lora(config or LoraConfig(rank=4, alpha=8))
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for values in model.lora_parameters():
            values.normal_(0, 0.1, generator=generator)
    return model


@pytest.mark.parametrize(
    ("rank", "targets", "wanted"),
    [
        (16, ("q_proj", "v_proj"), 6_815_744),
        (16, ("q_proj", "k_proj", "v_proj", "o_proj"), 13_631_488),
        (16, ("all-linear",), 41_943_040),
        (8, ("all-linear",), 20_971_520),
    ],
)
def test_low_rank_weights_of_llama_3_8b_weigh_what_is_stated(rank, targets, wanted):
    """A layer (in, out) holds rank * (in + out). q, o: 4096, 4096; k, v: 4096, 1024; gate, up: 4096, 14336; down back.

    q and v: 16 * (8192 + 5120) = 212,992, times 32 layers 6,815,744. One layer is built, without storage.
    """
    config = transformers.LlamaConfig(
        vocab_size=16,
        hidden_size=4096,
        intermediate_size=14336,
        num_hidden_layers=1,
        num_attention_heads=32,
        num_key_value_heads=8,
    )
    with torch.device("meta"):
        model = LanguageModel(transformers.LlamaForCausalLM(config), None)
        assert LAYERS * model.attach_lora(LoraConfig(rank=rank, targets=targets)) == wanted


def test_equal_seeds_give_equal_fresh_low_rank_weights(weights):
    """Whatever was drawn before, and nobody else's draws change."""

    def fresh(seed: int, *, drawn: int) -> dict[str, torch.Tensor]:
        model = LanguageModel.load(weights / "llama")
        torch.manual_seed(drawn)
        before = torch.random.get_rng_state()
        model.attach_lora(LoraConfig(rank=4), seed=seed)
        assert torch.equal(torch.random.get_rng_state(), before)
        return model.lora_state()

    one, again, other = fresh(5, drawn=1), fresh(5, drawn=2), fresh(6, drawn=1)
    first = [name for name in one if "lora_A" in name]
    assert first
    assert all(torch.equal(values, again[name]) for name, values in one.items())
    assert not any(torch.equal(one[name], other[name]) for name in first)


def test_fresh_low_rank_weights_change_nothing(llama):
    before = logits(llama)
    llama.attach_lora(LoraConfig(rank=4))
    torch.testing.assert_close(logits(llama), before, atol=1e-6, rtol=1e-6)


def test_only_low_rank_weights_can_learn(llama):
    number = llama.attach_lora(LoraConfig(rank=4))
    learning = [values for values in llama.model.parameters() if values.requires_grad]
    assert number == sum(values.numel() for values in learning) > 0
    assert {id(values) for values in learning} == {id(values) for values in llama.lora_parameters()}


def test_merged_weights_give_the_logits_of_attached_ones(llama):
    plain = logits(llama)
    stirred(llama)
    attached = logits(llama)
    llama.merge_lora()
    assert not torch.allclose(attached, plain, atol=0.1)
    torch.testing.assert_close(logits(llama), attached, atol=1e-4, rtol=1e-4)
    assert llama.lora is None
    assert llama.lora_parameters() == []
    assert llama.lora_state() == {}
    assert not any(values.requires_grad for values in llama.model.parameters())


def test_without_lora_the_base_model_answers(llama):
    plain = logits(llama)
    stirred(llama)
    attached = logits(llama)
    with llama.without_lora():
        torch.testing.assert_close(logits(llama), plain, atol=1e-6, rtol=1e-6)
    torch.testing.assert_close(logits(llama), attached)


def test_a_model_that_never_had_any_can_be_merged_and_left_without(llama):
    plain = logits(llama)
    llama.merge_lora()
    with llama.without_lora():
        torch.testing.assert_close(logits(llama), plain)


def test_weights_move_to_another_copy_of_the_model(weights, llama):
    stirred(llama)
    other = LanguageModel.load(weights / "llama")
    other.attach_lora(LoraConfig(rank=4, alpha=8))
    other.load_lora(llama.lora_state())
    torch.testing.assert_close(logits(other), logits(llama))


@pytest.mark.parametrize("harm", ["missing", "extra", "shape"])
def test_weights_that_do_not_fit_are_refused_by_name(llama, harm):
    stirred(llama)
    before, state = logits(llama), llama.lora_state()
    name = sorted(state)[0]
    state = {key: torch.zeros_like(values) for key, values in state.items()}
    if harm == "missing":
        del state[name]
    elif harm == "extra":
        name = "base_model.model.elsewhere.lora_A.weight"
        state[name] = torch.zeros(1)
    else:
        state[name] = state[name][:-1]
    with pytest.raises(ValueError, match=name.replace(".", r"\.")):
        llama.load_lora(state)
    torch.testing.assert_close(logits(llama), before)  # and nothing of it was taken over


def test_alpha_over_rank_is_how_much_they_count(weights):
    """Twice the alpha, twice the change of a linear layer: seen on the query weights after merging."""
    changes = []
    for alpha in (4, 8):
        model = LanguageModel.load(weights / "llama")
        query = model.model.model.layers[0].self_attn.q_proj.weight.clone()
        stirred(model, LoraConfig(rank=4, alpha=alpha, targets=("q_proj",)))
        model.merge_lora()
        changes.append(model.model.model.layers[0].self_attn.q_proj.weight - query)
    torch.testing.assert_close(changes[1], 2 * changes[0], atol=1e-5, rtol=1e-4)
    assert changes[0].abs().max() > 1e-3
