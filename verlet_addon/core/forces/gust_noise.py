"""Gusts of force fields: random factors, the same as Blender's for each seed and frame."""


def gust_factor(seed: int, frame: int) -> float:
    """Factor from −1 to 1 on a field's noise setting, another one in every frame.

    The first number that Blender draws in that frame, by the generator of POSIX `drand48`.
    """
    state = (((seed + abs(frame)) & 0xFFFFFFFF) << 16) | 0x330E
    draws = []
    for _ in range(2):
        state = (state * 0x5DEECE66D + 0xB) & (2**48 - 1)
        draws.append(state >> 17)
    level = (draws[0] + 1) % 128
    return (1.0 if level > 64 else -1.0) * level / (1.0 + draws[1] / 2**31) / 128.0
