"""The clips of the films of samples: captions, and what is shown under them."""

from .shot import Shot

WIDTH, HEIGHT, RATE = 1600, 900, 12
"""Size of a film [pixels], and its frames a second."""
DUSK, MOSS, SAND, PLUM = (
    (0.20, 0.36, 0.46),
    (0.30, 0.45, 0.33),
    (0.80, 0.55, 0.36),
    (0.36, 0.26, 0.44),
)

FILMS = {
    "film_2_garments": {
        "Garments in layers": Shot(
            "dancer", 12, (1.0, -4.0, 1.2), (0.05, 0, 0.82), 40, 1.6, DUSK, last=108
        ),
        "Skirts and ponytails of bones": Shot(
            "girl", 1, (1.4, -3.4, 1.3), (0, 0, 1.0), 33, 1.6, PLUM, last=96
        ),
    },
    "film_3_cloth": {
        "Wind, gusts and eddies": Shot(
            "flag_in_wind", 36, (-0.1, -4.6, 1.7), (0.35, 0, 2.25), 54, 1.6, SAND, last=100
        ),
        "Cloth that falls on things": Shot(
            "covered_table", 6, (1.3, -2.6, 1.5), (0, 0, 0.55), 44, 1.2, MOSS, last=72
        ),
        "Curtains in folds": Shot(
            "curtain", 6, (1.2, -4.4, 1.3), (0, 0, 1.0), 38, 1.8, DUSK, last=72
        ),
    },
    "film_4_soft": {
        "Jelly": Shot("jellies", 1, (0.4, -3.6, 1.2), (0.05, 0, 0.75), 42, 1.4, SAND, last=44),
        "Water": Shot("pond", 1, (0.9, -4.2, 2.4), (0.35, 0.1, 0.2), 40, 2.5, DUSK, last=60),
        "Hair": Shot("long_hair", 34, (0.75, -1.25, 1.55), (0, 0, 1.45), 50, 0.5, PLUM, last=92),
        "Bones that follow through": Shot(
            "fox", 1, (1.9, 0.9, 0.8), (0, -0.02, 0.36), 38, 0.8, MOSS, last=44
        ),
    },
}
"""Each film: captions, and what is shown under them."""
