"""Robot dynamics by two routes, energies and recursions: the package that the book runs on."""

__version__ = "0.1.0"
