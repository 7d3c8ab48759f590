"""What detectors know besides the training texts, from less to more; comparisons are by these."""

FROM_SCRATCH = "from scratch"
WORDS = "word frequencies or vectors"
PRE_TRAINED = "pre-trained"
REGIMES = FROM_SCRATCH, WORDS, PRE_TRAINED
