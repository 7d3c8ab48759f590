"""How the splits of a corpus are made."""

from typing import Literal, get_args

ProtocolName = Literal["one-vs-rest", "leave-one-out", "rank-all", "redrawn"]
PROTOCOLS: tuple[ProtocolName, ...] = get_args(ProtocolName)

#: One class is normal, or the classes together that a dataset says are normal (CVDD, section 5.1).
ONE_VS_REST: ProtocolName
#: All classes but one are normal (NLP-ADBench, section 3).
LEAVE_ONE_OUT: ProtocolName
#: The test part is ranked without a training part (TAD-Bench).
RANK_ALL: ProtocolName
#: Each seed draws the training documents anew.
REDRAWN: ProtocolName
ONE_VS_REST, LEAVE_ONE_OUT, RANK_ALL, REDRAWN = PROTOCOLS
