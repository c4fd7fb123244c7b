"""The readout of a wire detector: three planes of channels, each a row of samples; always the same."""

import numpy as np

CHANNELS = (800, 800, 960)
TICKS = 6000
THRESHOLD = 5


def readout():
    """Samples of every plane as int16: noise of 0 to 4, and one or two pulses of 1 to 37 ticks a channel."""
    planes = []
    ticks = np.arange(TICKS)
    for plane, n in enumerate(CHANNELS):
        channels = np.arange(n)[:, np.newaxis]
        samples = ((channels * 31 + ticks * 17 + plane * 7) % 5).astype(np.int16)
        for channel in range(n):
            for pulse in range(1 + (channel + plane) % 4 // 3):
                length = 1 + (channel * 5 + plane * 3 + pulse * 11) % 37
                start = (channel * 29 + plane * 1013 + pulse * 3001) % (TICKS // 2 - 40) + pulse * (
                    TICKS // 2
                )
                samples[channel, start : start + length] = 6 + (np.arange(length) * 7 + channel) % 40
        planes.append(samples)
    return planes
