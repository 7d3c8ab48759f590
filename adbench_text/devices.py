"""Where networks are computed, and in which precision; the command line reads it without NumPy."""

from typing import Literal, get_args

#: ``auto`` is a GPU where there is one.
Device = Literal["auto", "cpu", "cuda"]
DEVICES: tuple[Device, ...] = get_args(Device)

#: ``auto`` is bfloat16 where the hardware multiplies in it.
Precision = Literal["auto", "bf16", "fp32"]
PRECISIONS: tuple[Precision, ...] = get_args(Precision)
