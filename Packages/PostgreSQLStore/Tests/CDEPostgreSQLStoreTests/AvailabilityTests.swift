import CDEPostgreSQLStore
import Testing

@Suite struct AvailabilityTests {
  @Test func `The engine is in the build exactly if the trait is on`() {
    #if PostgreSQL
      #expect(PostgreSQLEngine.isAvailable)
      #expect(ClientLibrary.version >= 100_000)
      if !TestServer.isNamed {
        print("CDE_POSTGRESQL_URL is not set: the tests that need a PostgreSQL server are skipped.")
      }
    #else
      #expect(!PostgreSQLEngine.isAvailable)
      print("The trait PostgreSQL is off: the tests of the PostgreSQL engine are not in this build.")
    #endif
  }
}
