"""Find, configure and adapt plug-ins."""
