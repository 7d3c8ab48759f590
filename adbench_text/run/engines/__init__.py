"""Engines: where and how cells run; each file is a plug-in."""
