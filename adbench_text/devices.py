"""The device and the precision of neural networks. The command line reads these names without NumPy."""

from typing import Literal, get_args

#: ``auto`` takes a GPU if there is one.
Device = Literal["auto", "cpu", "cuda"]
DEVICES: tuple[Device, ...] = get_args(Device)

#: ``auto`` takes bfloat16 if the hardware multiplies in it.
Precision = Literal["auto", "bf16", "fp32"]
PRECISIONS: tuple[Precision, ...] = get_args(Precision)
