"""Outside things, one file each, behind the ports."""
