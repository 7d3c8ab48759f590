"""From documents to numbers: cleaning, words, word pieces, word vectors, document vectors."""
