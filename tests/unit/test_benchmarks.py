"""What the benchmarks' ratios rest on."""

from benchmarks.harness import update_flop

from chorus.networks.torsos import ConvLayer, ConvTorso


def test_the_work_of_an_update_by_hand():
    # 5 x 5 x 2 pixels, 3 kernels of 3 x 3 x 2 at 3 x 3 places: 2 · 54 · 9 = 972. Dense 27 to 4: 216; 4 to 2: 16.
    # Five passes of all but one of the first layer: 5 · 1204 - 972 = 5048, for 7 transitions and 10 members.
    torso = ConvTorso(convolutions=(ConvLayer(features=3, kernel=3),), dense=(4,))
    assert update_flop(torso, (5, 5, 2), actions=2, members=10, batch=7) == 70 * 5048
