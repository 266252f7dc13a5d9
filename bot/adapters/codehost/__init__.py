"""Pull requests of code hosts over HTTP."""
