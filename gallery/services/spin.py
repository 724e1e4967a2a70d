"""A noisy neighbour: uses one core for 80 ms of each 100 ms, for at most two minutes."""
import time

end = time.monotonic() + 120
while time.monotonic() < end:
    pause = time.monotonic() + 0.08
    while time.monotonic() < pause:
        pass
    time.sleep(0.02)
