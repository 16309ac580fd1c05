"""From the files that packages carry to the files on our shelf: names as timm's, safetensors instead of pickles.

Runs once, while fetching, and only on bytes whose sha256 was checked before. Knows no network and no paths of its own.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import timm
import torch

from captioner.types import WeightsMissing

ENCODER = "tf_efficientnet_lite2"  # 6.1 M parameters, ImageNet-1k, 260 px


def encoder_tensors(pickled: Path) -> dict[str, np.ndarray]:
    """EfficientNet-Lite2 state under timm's key names.

    The package names its keys differently from timm, but order, leaf names and shapes are equal: map by order and
    check each pair. `weights_only` keeps the unpickler from running code.

    :raises WeightsMissing: the file does not fit timm's model key by key.
    """
    theirs = torch.load(pickled, map_location="cpu", weights_only=True)
    ours = timm.create_model(ENCODER, pretrained=False).state_dict()
    if len(theirs) != len(ours):
        raise WeightsMissing(f"{pickled.name} holds {len(theirs)} tensors, {ENCODER} needs {len(ours)}")
    for (their_name, value), (our_name, slot) in zip(theirs.items(), ours.items(), strict=True):
        same_leaf = their_name.rpartition(".")[2] == our_name.rpartition(".")[2]
        if not same_leaf or value.shape != slot.shape:
            raise WeightsMissing(f"{their_name} {tuple(value.shape)} does not fit {our_name} {tuple(slot.shape)}")
    # the pickle holds channels-last strides, and safetensors writes a strided numpy array in the wrong order, silently
    return {name: value.contiguous().numpy() for name, value in zip(ours, theirs.values(), strict=True)}


def graph_tensors(graph: bytes, weights: bytes) -> dict[str, np.ndarray]:
    """The constants of a TensorFlow.js graph model, by node name, in the dtype they are stored in.

    :raises WeightsMissing: the manifest asks for more or fewer bytes than there are, or for an unknown dtype.
    """
    tensors, offset = {}, 0
    for entry in (entry for group in json.loads(graph)["weightsManifest"] for entry in group["weights"]):
        stored = entry.get("quantization", {}).get("dtype", entry["dtype"])
        if stored not in ("float16", "float32", "int32"):  # 8-bit quantisation would need scale and minimum
            raise WeightsMissing(f"{entry['name']} is stored as {stored}, which is not supported")
        dtype = np.dtype(stored).newbyteorder("<")
        count = int(np.prod(entry["shape"], dtype=np.int64))
        if offset + count * dtype.itemsize > len(weights):
            raise WeightsMissing(f"{entry['name']} lies beyond the end of the weights")
        values = np.frombuffer(weights, dtype, count, offset)
        tensors[entry["name"]] = values.reshape(entry["shape"]).copy()
        offset += count * dtype.itemsize
    if offset != len(weights):
        raise WeightsMissing(f"{len(weights) - offset} bytes of weights belong to no node")
    return tensors
