"""One episode of a trained run as a film."""

import warnings
from pathlib import Path

import numpy as np

from chorus.errors import ChorusError
from chorus.player import Player
from chorus.training.train import evaluation_keys

_FRAMES_A_SECOND = 15


def film(player: Player, path: Path, seed: int) -> int:
    """Play one episode and write it as an .mp4; the number of frames."""
    if path.suffix != ".mp4":
        raise ChorusError(f"--video {path} does not end in .mp4; only that format is written")
    if not path.parent.is_dir():
        raise ChorusError(f"--video {path}: the folder {path.parent} does not exist; make it first")
    pictures = record(player, seed)
    write(path, pictures)
    return len(pictures)


def record(player: Player, seed: int) -> list[np.ndarray]:
    evaluator = player.assembly.evaluator(slots=1, render=True)
    stay = evaluator.stepper.start(evaluation_keys(seed, 0, player.policy_name))
    pictures: list[np.ndarray] = []
    try:
        while True:
            stay, steps = evaluator.advance(player.params, player.policy, stay)
            pictures += evaluator.stepper.pictures(stay, steps)
            ended = np.flatnonzero((steps.terminated | steps.truncated)[:, 0])
            if len(ended):
                return pictures[: len(pictures) - len(steps.reward) + int(ended[0]) + 1]
    finally:
        stay.close()


def write(path: Path, pictures: list[np.ndarray]) -> None:
    import imageio_ffmpeg

    height, width = pictures[0].shape[:2]
    writer = imageio_ffmpeg.write_frames(
        str(path), (width, height), fps=_FRAMES_A_SECOND, macro_block_size=2, ffmpeg_log_level="error"
    )
    with warnings.catch_warnings():
        # JAX warns of any fork; this one is followed by exec at once.
        warnings.filterwarnings("ignore", message="os.fork", category=RuntimeWarning)
        writer.send(None)
    for picture in pictures:
        writer.send(np.ascontiguousarray(picture))
    writer.close()
