"""Room 4 over two families: padding, cache and the moving of rows against the whole model of transformers."""

from __future__ import annotations

import pytest
import torch

from captioner.rooms.decode import search
from captioner.rooms.decode.language_model import LanguageModel, cache_of

from . import tiny


def close(found: torch.Tensor, wanted: torch.Tensor) -> None:
    torch.testing.assert_close(found, wanted, atol=1e-4, rtol=1e-4)


def written(model: LanguageModel, prompt: torch.Tensor, tokens: list[int]) -> torch.Tensor:
    """(V,) logits after `prompt` and `tokens`, everything read at once."""
    return tiny.plain_logits(model, torch.cat([prompt, model.embed(torch.tensor(tokens, dtype=torch.long))]))[-1]


def test_a_model_is_loaded_frozen_and_in_eval_mode(model):
    assert not model.model.training
    assert not any(values.requires_grad for values in model.model.parameters())
    assert model.width == tiny.WIDTH
    assert model.scale == pytest.approx(0.25, rel=0.05)  # the deviation it was made with
    assert model.end == 2


def test_text_comes_back_from_its_ids(model):
    text = "A dog – «Hund» 犬 🐕"
    ids = model.ids(text)
    assert len(ids) == model.count(text) == len(text.encode())
    assert model.text([1, *ids, 2]) == text


def test_a_padded_batch_equals_single_rows(model):
    prompts = tiny.prompt_rows(model, [3, 9, 6])
    steps = model.start(prompts)
    assert steps.mask.sum(-1).tolist() == [3, 9, 6]
    for row, prompt in enumerate(prompts):
        close(steps.logits[row], tiny.plain_logits(model, prompt)[-1])
    paths: list[list[int]] = [[], [], []]
    for tokens in ([40, 41, 42], [50, 51, 52], [60, 61, 62]):
        steps.step(torch.tensor(tokens))
        for row, (path, token) in enumerate(zip(paths, tokens, strict=True)):
            path.append(token)
            close(steps.logits[row], written(model, prompts[row], path))


def test_a_padded_row_is_written_on_like_a_single_one(model):
    prompts = tiny.prompt_rows(model, [4, 11])
    together = search.greedy(model.start(prompts), model.end, max_tokens=8)
    for prompt, one in zip(prompts, together, strict=True):
        [alone] = search.greedy(model.start([prompt]), model.end, max_tokens=8)
        assert one.tokens == alone.tokens
        assert one.log_probabilities == pytest.approx(alone.log_probabilities, abs=1e-4)


def test_each_step_reads_one_position_only(model, forwards):
    shapes = forwards(model)
    steps = model.start(tiny.prompt_rows(model, [7, 5]))
    for _ in range(3):
        steps.step(torch.tensor([30, 31]))
    assert shapes == [(2, 7), (2, 1), (2, 1), (2, 1)]


def test_repeated_rows_go_their_own_ways(model):
    prompts = tiny.prompt_rows(model, [5, 3])
    steps = model.start(prompts)
    before = steps.logits.clone()
    steps.repeat(3)
    assert steps.rows == 6
    close(steps.logits, before[[0, 0, 0, 1, 1, 1]])
    tokens = [10, 20, 30, 40, 50, 60]
    steps.step(torch.tensor(tokens))
    for row, token in enumerate(tokens):
        close(steps.logits[row], written(model, prompts[row // 3], [token]))


def test_selected_rows_keep_their_past(model):
    prompts = tiny.prompt_rows(model, [5, 3, 4])
    steps = model.start(prompts)
    steps.step(torch.tensor([10, 20, 30]))
    steps.select(torch.tensor([2, 0, 2, 2]))
    assert steps.rows == 4
    steps.step(torch.tensor([11, 12, 13, 14]))
    paths = ((2, [30, 11]), (0, [10, 12]), (2, [30, 13]), (2, [30, 14]))
    for row, (prompt, path) in enumerate(paths):
        close(steps.logits[row], written(model, prompts[prompt], path))


def test_a_beam_over_a_model_scores_what_it_says(model):
    """The score of each text equals the log-probabilities of reading it at once."""
    [prompt] = tiny.prompt_rows(model, [6])
    for one in search.beam(model.start([prompt]), model.end, beams=4, max_tokens=5):
        tokens = [*one.tokens, *([model.end] if one.ended else [])]
        every = tiny.plain_logits(model, torch.cat([prompt, model.embed(torch.tensor(tokens))])).log_softmax(-1)
        wanted = [float(every[len(prompt) - 1 + at, token]) for at, token in enumerate(tokens)]
        assert one.log_probabilities == pytest.approx(wanted, abs=1e-4)


def test_hidden_states_without_a_cache_are_the_same(model):
    [prompt] = tiny.prompt_rows(model, [6])
    mask = torch.ones(1, 6, dtype=torch.long)
    with torch.inference_mode():
        kept, cache = model.hidden(prompt[None], mask)
        free, nothing = model.hidden(prompt[None], mask, keep=False)
    close(kept, free)
    assert nothing is None
    assert cache.get_seq_length() == 6
    close(model.head(free)[0], tiny.plain_logits(model, prompt))


def test_the_cache_is_found_under_both_of_its_names():
    class New:
        cache, past_key_values = "new", None

    class Old:
        past_key_values = "old"

    assert (cache_of(New()), cache_of(Old())) == ("new", "old")


def test_control_tokens_without_a_role_are_known_too(model):
    assert {"<|im_start|>", "<|im_end|>", "<|endoftext|>", "<repo_name>"} <= set(model.control_tokens)
    assert "a" not in model.control_tokens


def test_a_pickle_is_no_model(weights, tmp_path):
    """A folder with nothing but pytorch_model.bin: unpickling it would leave a file behind."""
    import pickle
    import shutil

    class Malice:
        def __reduce__(self):
            return (open, (str(tmp_path / "opened"), "w"))

    folder = tmp_path / "model"
    shutil.copytree(weights / "llama", folder)
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Malice()))
    with pytest.raises(OSError, match="safetensors"):
        LanguageModel.load(folder)
    assert not (tmp_path / "opened").exists()
