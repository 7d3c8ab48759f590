"""What a plug-in may import, and how plug-ins are found."""
