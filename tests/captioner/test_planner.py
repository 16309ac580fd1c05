"""Every value of the design texts within its rounding, what must rise and fall, and the command as a person uses it."""

import argparse
import json
import math
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from captioner import planner
from captioner.commands import plan, plan_tables
from captioner.planner import LANES, ImpossiblePlan, Lane, Latency, Machine, Work

works = st.builds(Work, st.integers(0, 2000), st.integers(1, 200), st.integers(0, 5), st.booleans())
shares = st.floats(0, 1)
rates = st.floats(0.01, 1e4)


def routed(text_share=0.08, plain=115.0, text=6.1):
    lanes = (Lane("plain", 64, 1 - text_share), Lane("text", 2880, text_share, tiles=5))
    return planner.measured(lanes, {"plain": plain, "text": text}, 2.50)


def run(*arguments):
    """The command with these options: exit status."""
    parser = argparse.ArgumentParser()
    plan.options(parser)
    return plan.run(parser.parse_args(arguments))


# ---- values of the design texts ----


def test_patches_of_the_encoder():
    assert planner.patches(336, 14) == 24 * 24 == 576
    assert 5 * planner.patches(336, 14) == 2880


def test_the_encoder_costs_382_gflop_of_which_the_last_block_is_not_used():
    flop, attention = planner.encoder_flop()
    assert flop / 1e9 == pytest.approx(381.92, abs=0.005)
    assert attention / flop == pytest.approx(0.0857, abs=5e-5)
    assert planner.encoder_flop(blocks=23)[0] / 1e9 == pytest.approx(366.0, abs=0.05)


def test_the_projector_counts_to_the_unit():
    assert planner.projector_parameters() == 20_979_712
    assert planner.projector_parameters() / 8e9 == pytest.approx(0.00262, abs=5e-6)


def test_memory_of_training():
    """Weights 16, gradients 16, Adam 64 GB; an fp32 copy 32 more. 42 M LoRA weights: 16 + .0419·10 = 16.42 GB."""
    assert planner.training_bytes(8e9) == 96e9
    assert planner.training_bytes(8e9, has_master=True) == 128e9
    assert planner.training_bytes(8e9, 41_943_040) == pytest.approx(16.42e9, abs=5e6)


@pytest.mark.parametrize(("rate", "cost"), [(27.78, 25.00), (115, 6.04), (6.1, 113.84), (6.097, 113.90)])
def test_the_cost_of_a_rate(rate, cost):
    assert planner.cost_per_million(2.50, rate) == pytest.approx(cost, abs=0.005)


def test_the_routed_rate_and_what_follows_from_it():
    row = routed()
    assert row.rate == pytest.approx(47.36, abs=0.005)
    assert row.cost == pytest.approx(14.66, abs=0.005)
    assert row.time_shares[1] == pytest.approx(0.621, abs=0.0005)
    assert 4950 / row.cost == pytest.approx(337.6, abs=0.05)
    images = planner.break_even(71_900, 0.00495, row.cost / 1e6)
    assert images / 1e6 == pytest.approx(14.57, abs=0.005)
    assert images / 365.25 / 1e3 == pytest.approx(39.9, abs=0.05)


@pytest.mark.parametrize(("price", "millions"), [(0.00495, 14.6), (0.0015, 48.4), (0.0005, 148), (0.0002, 388)])
def test_break_even_by_the_price_of_the_api(price, millions):
    even = planner.break_even(71_900, price, routed().cost / 1e6) / 1e6
    assert even == pytest.approx(millions, abs=0.5 if millions > 100 else 0.05)


def test_an_api_that_is_no_dearer_is_never_earned_back():
    assert planner.break_even(1, 1e-6, 1e-6) == math.inf
    assert planner.break_even(1, 0, 1e-6) == math.inf


@pytest.mark.parametrize(("tokens", "milliseconds"), [(576, 453), (64, 235)])
def test_the_latency_of_both_sizes(tokens, milliseconds):
    """Prefill .4258·(576+37) = 261 and .4258·(64+37) = 43; decode 4.8·25 = 120; rest 72."""
    assert Latency().of(tokens, Work(37)) == pytest.approx(milliseconds, abs=0.5)


def test_a_second_pass_adds_a_whole_decode_and_a_second_row_a_part():
    work, both = Work(37), Work(37, is_contrastive=True)
    assert Latency().of(64, both) - Latency().of(64, work) == pytest.approx(120)
    assert Latency(second=0.13).of(64, both) - Latency().of(64, work) == pytest.approx(15.6)


def test_rule_16_stands_between_its_exact_values():
    assert planner.ab_factor(0.8) == pytest.approx(15.70, abs=0.005)
    assert planner.ab_factor(0.9) == pytest.approx(21.01, abs=0.005)
    assert planner.ab_factor(0.8) == pytest.approx(2 * (norm.ppf(0.975) + norm.ppf(0.8)) ** 2)
    assert planner.ab_size(0.5, 0.01) == 4 * planner.ab_size(0.5, 0.02) == 40_000
    assert planner.ab_size(0.054, 0.012, planner.ab_factor(0.8)) == 5569  # 5,568.8: CHAIR_s .048 against .060


@pytest.mark.parametrize(
    ("false_positives", "share", "rate", "cost"), [(0.01, 0.088, 44.9, 15.48), (0.05, 0.124, 35.7, 19.45)]
)
def test_errors_of_the_router(false_positives, share, rate, cost):
    wrong = planner.with_router_errors(0.08, 0.02, false_positives)
    assert wrong == pytest.approx(share, abs=0.0005)
    assert routed(wrong).rate == pytest.approx(rate, abs=0.06)
    assert routed(wrong).cost == pytest.approx(cost, abs=0.005)


FLOP_TABLE = [
    (37, 120.9, 27.4, 5.9, 47.3, 14.67, 4.42),
    (150, 68.9, 23.4, 5.7, 36.6, 19.00, 2.95),
    (300, 43.9, 19.6, 5.5, 28.1, 24.74, 2.24),
    (600, 25.4, 14.8, 5.0, 19.2, 36.24, 1.72),
]


@pytest.mark.parametrize(("line", "expected"), list(zip(plan_tables.flop_table(), FLOP_TABLE, strict=True)))
def test_the_flop_table(line, expected):
    tokens, *rates, cost, ratio = expected
    assert line.text_tokens == tokens
    assert [line.at_64, line.at_576, line.at_2880, line.routed] == pytest.approx(rates, abs=0.0501)
    assert line.cost == pytest.approx(cost, abs=0.005)
    assert line.ratio == pytest.approx(ratio, abs=0.005)


@pytest.mark.parametrize(
    ("tokens", "tiles", "before", "after", "extra"),
    [
        (64, 1, Work(37), Work(37, is_contrastive=True), 0.41),
        (64, 1, Work(300), Work(300, is_contrastive=True), 0.79),
        (2880, 5, Work(37), Work(37, is_contrastive=True), 0.02),
        (64, 1, Work(37), Work(37, extra_samples=3), 0.50),
    ],
)
def test_what_contrast_and_samples_cost(tokens, tiles, before, after, extra):
    flop = [planner.lane_flop(tokens, work, Machine(), tiles) for work in (before, after)]
    assert flop[1] / flop[0] - 1 == pytest.approx(extra, abs=0.005)


def test_the_design_table_prints_every_value():
    gives = {line.what: line.gives for line in plan_tables.design_table()}
    joined = " | ".join(gives.values())
    for value in (
        "576; 577",
        "381.92, attention 8.57 %",
        "20,979,712; 0.262 %",
        "96 GB",
        "7.2 %; 32,767",
        "2,880 = 5 x 576",
        "25.00",
        "6.04",
        "113.84 (113.90 is 6.097 img/s)",
        "47.36 img/s, $14.66, text lane 62.1 %",
        "337.6x",
        "14.57 M, 39.9 k a day",
        "4.776",
        "93.96 %",
        "453; 235",
        "15.70; 21.01",
        "4x",
        "7.50",
        "3.5",
    ):
        assert value in joined


def test_eleven_flags_carry_their_figures():
    flags = plan_tables.flags()
    assert len(flags) == 11
    for flag, values in zip(
        flags,
        (
            ["66 % (576)", "18 % (64)"],
            ["276-299 TFLOP/s", "37.6"],
            ["58 %", "18 %"],
            ["120 ms", "+41 %", "+79 %", "+2 %"],
            ["+50 %"],
            ["8.8 %", "44.9 img/s", "$15.48", "12.4 %", "35.7", "$19.45"],
            ["3.28 GPU-years", "14.6 M", "1 %"],
            ["14.6 M at $0.00495", "48.4 M at $0.0015", "148 M at $0.0005", "388 M at $0.0002"],
            ["$604 to $11,384"],
            ["7.2 %"],
            ["96 GB", "382 GFLOP", "paired"],
        ),
        strict=True,
    ):
        assert all(value in flag for value in values), flag


# ---- what holds for any values ----


@given(shares, rates, rates)
def test_the_routed_cost_is_the_mean_of_the_lanes_by_traffic(share, plain, text):
    row = routed(share, plain, text)
    assert math.fsum(lane.share * cost for lane, cost in zip(row.lanes, row.lane_costs, strict=True)) == pytest.approx(
        row.cost
    )
    assert math.fsum(row.time_shares) == pytest.approx(1)
    assert min(plain, text) * (1 - 1e-9) <= row.rate <= max(plain, text) * (1 + 1e-9)


@given(works, st.integers(1, 500), st.integers(1, 3000))
def test_the_rate_falls_with_every_token_sample_and_pass(work, more, seen):
    def rate(work, tokens=seen, tiles=1):
        return planner.lane_rate(tokens, work, Machine(), tiles)

    text, output, samples, contrast = (
        work.text_tokens,
        work.output_tokens,
        work.extra_samples,
        work.is_contrastive,
    )
    assert rate(Work(text + more, output, samples, contrast)) < rate(work)
    assert rate(Work(text, output + more, samples, contrast)) < rate(work)
    assert rate(Work(text, output, samples + 1, contrast)) < rate(work)
    assert rate(Work(text, output, samples, True)) < rate(Work(text, output, samples, False))
    assert rate(work, seen + more) < rate(work)
    assert rate(work, tiles=2) < rate(work)


@given(shares, shares, st.floats(0, 0.5), st.floats(0.01, 0.5))
def test_false_positives_of_the_router_only_cost(share, misses, some, more):
    few, many = (planner.with_router_errors(share, misses, false) for false in (some, some + more))
    assert 0 <= few <= many <= 1
    assert routed(many).rate <= routed(few).rate * (1 + 1e-9)


@given(st.floats(1, 1e9), st.floats(0.1, 1000))
def test_enough_gpus_are_done_in_time_and_one_less_is_not(images, hours):
    row = routed()
    gpus = row.gpus(images, hours)
    assert row.gpu_hours(images) <= gpus * hours * (1 + 1e-6)
    assert gpus == 1 or row.gpu_hours(images) > (gpus - 1) * hours * (1 - 1e-6)


@given(st.floats(0.01, 0.99), st.floats(0.001, 0.4))
def test_half_the_effect_needs_four_times_the_items(base, difference):
    whole, half = planner.ab_size(base, difference), planner.ab_size(base, difference / 2)
    assert 4 * (whole - 1) <= half <= 4 * whole


def test_measured_rates_and_the_model_do_not_mix_in_a_row():
    with pytest.raises(ImpossiblePlan, match="no rate for lane text"):
        planner.measured(LANES, {"plain": 115}, 2.50)
    with pytest.raises(ImpossiblePlan, match="a rate for video"):
        planner.measured(LANES, {"plain": 115, "text": 6, "video": 1}, 2.50)


def test_measured_rates_do_not_change_with_the_tokens(capsys):
    rates = ["--rate", "plain=115", "--rate", "text=6.1", "--json"]
    measured = []
    for tokens in ("37", "600"):
        assert run(*rates, "--text-tokens", tokens) == 0
        rows = json.loads(capsys.readouterr().out)["rows"]
        assert [row["source"] for row in rows] == ["measured", "FLOP model"]
        measured.append(rows)
    assert measured[0][0] == measured[1][0]
    assert measured[0][1]["images_per_second"] > measured[1][1]["images_per_second"]


# ---- the command ----


def test_the_page_about_the_planner_shows_what_is_printed(capsys):
    page = (Path(planner.__file__).parents[1] / "docs" / "planner.md").read_text("utf-8")
    assert run() == 0
    assert capsys.readouterr().out in page


def test_a_plan_without_options_prints_tables_and_flags(capsys):
    assert run() == 0
    out = capsys.readouterr().out
    assert "FLOP model  routed          100.0 %  36.56  19.00" in out
    assert "Latency, not derived from the rates: plain 283 ms, text 1482 ms" in out
    assert "96 GB, 128 GB with fp32 master weights" in out
    assert "113.84 (113.90 is 6.097 img/s)" in out
    assert "11. 96 GB leaves out" in out


def test_a_whole_plan_as_json(capsys):
    """1e8 images at 47.36 a second: 586.5 GPU-hours, $1,466; in 100 hours 6 GPUs."""
    options = ["--rate", "plain=115", "--rate", "text=6.1", "--images", "1e8", "--hours", "100"]
    options += ["--api-price", "0.00495", "--fixed", "71900", "--ab-base", "0.1", "--ab-difference", "0.02"]
    assert run(*options, "--json") == 0
    answer = json.loads(capsys.readouterr().out)
    row = answer["rows"][0]
    assert row["gpu_hours"] == pytest.approx(586.5, abs=0.05)
    assert row["cost"] == pytest.approx(1466, abs=0.5)
    assert row["gpus"] == 6
    assert row["api_ratio"] == pytest.approx(337.6, abs=0.05)
    assert row["break_even_images"] == pytest.approx(14.57e6, abs=5e3)
    assert answer["ab_items_per_arm"] == 3600
    assert len(answer["flags"]) == 11
    assert [line["text_tokens"] for line in answer["flop_table"]] == [37, 150, 300, 600]
    assert run(*options) == 0
    out = capsys.readouterr().out
    assert "measured: 100,000,000 images take 586.5 GPU-hours, $1,466.30; 6 GPUs for 100 hours" in out
    assert "A/B test: 3,600 items an arm" in out


def test_no_break_even_is_null_and_never(capsys):
    cheap = ["--api-price", "0.000001", "--fixed", "10"]
    assert run(*cheap, "--json") == 0
    assert json.loads(capsys.readouterr().out)["rows"][0]["break_even_images"] is None
    assert run(*cheap) == 0
    assert "break-even never" in capsys.readouterr().out


def test_lanes_of_your_own(capsys):
    assert run("--lane", "all=576", "--text-tokens", "37", "--json") == 0
    [row] = json.loads(capsys.readouterr().out)["rows"]
    assert row["images_per_second"] == pytest.approx(27.38, abs=0.005)
    assert row["lanes"][0]["share"] == 1


def test_router_errors_change_the_shares(capsys):
    rates = ["--rate", "plain=115", "--rate", "text=6.1", "--json"]
    assert run(*rates, "--router-misses", "0.02", "--router-false", "0.01") == 0
    row = json.loads(capsys.readouterr().out)["rows"][0]
    assert row["cost_per_million"] == pytest.approx(15.48, abs=0.005)


WRONG = [
    (["--share", "plain=.5"], "the shares of the traffic (plain 0.5, text 0) sum to 0.5, not to 1"),
    (["--share", "plain=1.2", "--share", "text=-.2"], "lane plain has a share of 1.2"),
    (["--share", "video=1"], "a share for video, but the lanes are plain, text"),
    (["--share", "plain"], "--share plain: expected LANE=NUMBER"),
    (["--price", "-1"], "a price is 0 or more"),
    (["--price", "nan"], "a price is 0 or more"),
    (["--rate", "plain=3"], "do not mix: no rate for lane text"),
    (["--rate", "plain=0", "--rate", "text=1"], "lane plain has a rate of 0"),
    (["--rate", "plain=x", "--rate", "text=1"], "x is no number"),
    (["--rate", "plain=1", "--rate", "plain=2"], "names lane plain twice"),
    (["--rate", "plain=1e-320", "--rate", "text=1"], "too large or too small"),
    (["--lane", "a=12q"], "expected LANE=TOKENS"),
    (["--lane", "a=0"], "needs an image token"),
    (["--lane", "a=1", "--lane", "a=2"], "names a lane twice"),
    (["--lane", "a=1", "--lane", "b=2"], "sum to 0, not to 1"),
    (["--text-tokens", "-1"], "-1 text tokens"),
    (["--output-tokens", "0"], "0 output tokens"),
    (["--samples", "-1"], "-1 extra samples"),
    (["--images", "-5"], "-5 images"),
    (["--images", "inf"], "inf images"),
    (["--hours", "3"], "--hours needs --images"),
    (["--images", "3", "--hours", "0"], "0 hours"),
    (["--fixed", "3"], "--fixed needs --api-price"),
    (["--api-price", "-1"], "API price of $-1"),
    (["--api-price", "1", "--fixed", "-1"], "fixed cost of $-1"),
    (["--ab-base", ".1"], "--ab-base needs --ab-difference"),
    (["--ab-base", "1", "--ab-difference", ".1"], "a base of 1"),
    (["--ab-base", ".1", "--ab-difference", "0"], "a difference of 0"),
    (["--router-misses", "2"], "misses of 2"),
    (["--lane", "a=576", "--router-misses", ".1"], "need the lanes plain and text"),
    (["--flops", "0"], "0 FLOP/s"),
    (["--parameters", "-1"], "-1 parameters"),
    (["--rest-ms", "-1"], "milliseconds"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG)
def test_bad_values_get_one_clear_line(arguments, message, capsys):
    arguments = [f"{name}={value}" for name, value in zip(arguments[::2], arguments[1::2], strict=True)]
    assert run(*arguments) == 2
    written = capsys.readouterr()
    assert written.out == ""
    assert message in written.err
    assert written.err.startswith("captioner plan: ")
    assert written.err.count("\n") == 1


def test_planning_loads_no_model_library():
    heavy = "'torch', 'transformers', 'timm', 'peft', 'open_clip', 'numpy', 'django'"
    code = f"import sys; import captioner.commands.plan; sys.exit(any(name in sys.modules for name in ({heavy})))"
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0
