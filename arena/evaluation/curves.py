"""The curves of the bundled evaluator: by tactic cards, time of claims, and whether both hands are seen.

`make calibration` writes this file; tests/tools/calibration.py says what was played for it.
"""

from typing import Final

from arena.evaluation.calibration import Curve
from engine.ruleset import ClaimTime

CURVES: Final = {
    (False, ClaimTime.AFTER_PLAY, False): Curve(constant=0.322, raw=0.872, raw_later=2.969),
    (False, ClaimTime.AFTER_PLAY, True): Curve(constant=0.033, raw=0.68, raw_later=3.696),
    (False, ClaimTime.TURN_START, False): Curve(constant=0.336, raw=1.183, raw_later=2.474),
    (False, ClaimTime.TURN_START, True): Curve(constant=0.033, raw=0.889, raw_later=3.351),
    (True, ClaimTime.AFTER_PLAY, False): Curve(constant=0.224, raw=0.935, raw_later=1.938),
    (True, ClaimTime.AFTER_PLAY, True): Curve(constant=-0.008, raw=0.904, raw_later=2.155),
    (True, ClaimTime.TURN_START, False): Curve(constant=0.243, raw=0.845, raw_later=2.595),
    (True, ClaimTime.TURN_START, True): Curve(constant=-0.009, raw=0.792, raw_later=3.001),
}
