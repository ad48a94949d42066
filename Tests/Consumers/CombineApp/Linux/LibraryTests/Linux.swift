// The sources of this module are those of Tests/LibraryTests.
