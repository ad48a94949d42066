// The sources of this module are those of Sources/Notes, rewritten by the plug-in.
