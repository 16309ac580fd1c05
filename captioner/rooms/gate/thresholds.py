"""Calibrated numbers of the gate. `docs/evaluation.md` says on which images they were chosen and what they cost."""

DETECTOR_DEFAULT = 0.5
DETECTOR = {"person": 0.4}
AGREE_DETECTOR = 0.3
AGREE_TAGS = 0.3
LEAF = 0.8
LEAF_NAMED = 0.4
ANCESTOR = 0.7
STRICT_DETECTOR = 0.6
STRICT_LEAF = 0.9
STRICT_ANCESTOR = 0.9
