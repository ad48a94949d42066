// The sources of this module are those of Tests/ModelTests, rewritten by the plug-in.
