"""The starter against BLIP-base with random weights, image by image in turns on the same cores. Prints JSON."""

from __future__ import annotations

import io
import json
import statistics
import time

import torch
from PIL import Image
from transformers import BlipConfig, BlipForConditionalGeneration

from captioner import CaptionRequest, load_captioner
from captioner.prepare import images
from tests.bench import pictures

TOKENS = 20


def main() -> None:
    torch.manual_seed(0)
    blip = BlipForConditionalGeneration(BlipConfig()).eval()
    starter = load_captioner("starter")
    times: dict[str, list[float]] = {"starter": [], "blip": []}
    for number, data in enumerate([pictures()[0], *pictures()]):  # the first one warms both up
        derivative = images.take_in(data).large
        begun = time.perf_counter()
        starter.describe([CaptionRequest(str(number), image=derivative)])
        middle = time.perf_counter()
        with torch.inference_mode():
            pixels = _pixels(derivative)
            blip.generate(
                pixel_values=pixels, max_new_tokens=TOKENS, min_new_tokens=TOKENS, num_beams=1, do_sample=False
            )
        ended = time.perf_counter()
        if number:
            times["starter"].append(middle - begun)
            times["blip"].append(ended - middle)
    means = {name: round(statistics.mean(values), 3) for name, values in times.items()}
    ratio = round(sum(times["starter"]) / sum(times["blip"]), 3)
    print(
        json.dumps({"images": len(times["blip"]), "seconds_each": means, "starter_over_blip": ratio, "tokens": TOKENS})
    )


def _pixels(data: bytes) -> torch.Tensor:
    """(1, 3, 384, 384), mean 0 and deviation 1 as far as random weights care."""
    picture = Image.open(io.BytesIO(data)).resize((384, 384))
    values = torch.frombuffer(bytearray(picture.tobytes()), dtype=torch.uint8).reshape(1, 384, 384, 3)
    return values.permute(0, 3, 1, 2).float() / 127.5 - 1


if __name__ == "__main__":
    main()
