// The sources of this module are those of Sources/Journal, rewritten by the plug-in.
