"""What detectors know besides the training texts, from less to more; comparisons are by these."""

FROM_SCRATCH = "from scratch"
WORDS = "word frequencies or vectors"
PRE_TRAINED = "pre-trained"
#: The scores of a text depend on the other texts of the test set: compare it with this kind only.
TEST_BATCH = "unlabelled test batch"
REGIMES = FROM_SCRATCH, WORDS, PRE_TRAINED, TEST_BATCH
