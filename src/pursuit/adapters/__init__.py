"""Our methods in the interfaces of other packages: a module for each, which imports that package alone."""
