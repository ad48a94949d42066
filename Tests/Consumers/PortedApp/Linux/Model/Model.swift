// The sources of this module are those of Sources/Model, rewritten by the plug-in.
