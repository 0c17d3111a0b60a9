// A shared library needs a source of its own; everything comes from the static ones.
