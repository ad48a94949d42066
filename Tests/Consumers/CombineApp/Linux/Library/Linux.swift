// The sources of this module are those of Sources/Library.
