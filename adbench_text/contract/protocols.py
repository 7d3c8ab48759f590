"""How the splits of a corpus are made."""

#: One class is normal, or those together that alone can be (CVDD, section 5.1).
ONE_VS_REST = "one-vs-rest"
#: All classes but one are normal (NLP-ADBench, section 3).
LEAVE_ONE_OUT = "leave-one-out"
#: The test part is ranked without a training part (TAD-Bench).
RANK_ALL = "rank-all"
#: Each seed draws the training documents anew.
REDRAWN = "redrawn"

PROTOCOLS = ONE_VS_REST, LEAVE_ONE_OUT, RANK_ALL, REDRAWN
