"""Words of no language: hundreds that are all different."""

WORDS = [f"{a}{b}{c}u" for a in "bdfgklmnprst" for b in "aeiou" for c in "bdfgklmnprst"]
