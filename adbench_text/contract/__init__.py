"""What a plug-in may import: detectors, datasets, their scores and labels."""
