// The sources of this module are those of Tests/JournalTests, rewritten by the plug-in.
