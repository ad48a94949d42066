#if PostgreSQL
  import CDEModelRuntime
  @_spi(CDE) import CDEExecutors
  @_spi(CDE) import CDEPostgreSQL
  @_spi(CDE) import CDESQLiteFaults
  import CDEStore
  import Foundation

  /// Makes all stores that tests open in files and in memory stores of the server that `CDE_POSTGRESQL_URL` names.
  ///
  /// Called before the first test if the environment has `CDE_ENGINE_UNDER_TEST=PostgreSQL`.
  @_cdecl("cde_use_engine_under_test")
  public func useEngineUnderTest() {
    let name = ProcessInfo.processInfo.environment["CDE_ENGINE_UNDER_TEST"] ?? ""
    guard name == "PostgreSQL" else {
      fatalError("CDE_ENGINE_UNDER_TEST names an unknown engine, \(name). PostgreSQL is the only one.")
    }
    guard let url = ProcessInfo.processInfo.environment["CDE_POSTGRESQL_URL"] else {
      fatalError("CDE_POSTGRESQL_URL is not set. Tools/lib/postgresql start prints a URL.")
    }
    let engine = PostgreSQLStoreEngine { description in
      // A path is a schema of the server. A store in memory is a new one each time.
      let path = description.url?.path ?? ""
      let isInMemory = description.type == NSInMemoryStoreType || path == "/dev/null"
      return (url, schema(isInMemory ? UUID().uuidString : path))
    }
    let files = NSPersistentStoreCoordinator.registeredStoreEngines[NSSQLiteStoreType]!
    for type in [NSSQLiteStoreType, NSInMemoryStoreType] {
      NSPersistentStoreCoordinator.registerStoreEngine(
        EngineUnderTest(server: engine, files: files), forStoreType: type)
    }
    StoresUnderTest.runSQL.withLock { $0 = { path, sql in RawServer.run(sql, in: schema(path), at: url) } }
  }

  /// The engine of the server, for all stores but the copies on which migrations by code work.
  private struct EngineUnderTest: StoreEngine {
    let server: PostgreSQLStoreEngine
    let files: any StoreEngine

    private func engine(_ description: NSPersistentStoreDescription) -> any StoreEngine {
      let folder = description.url?.deletingLastPathComponent()
      return folder?.pathExtension == "migration" ? files : server
    }

    func open(_ opening: StoreOpening) throws -> any Store { try engine(opening.description).open(opening) }

    func metadata(of description: NSPersistentStoreDescription) throws -> (
      identifier: String, metadata: StoreMetadata
    )? { try engine(description).metadata(of: description) }

    func migratable(_ opening: StoreOpening) throws -> (any MigratableStore)? {
      try engine(opening.description).migratable(opening)
    }

    func make(_ opening: StoreOpening, from copy: StoreCopy) throws {
      try engine(opening.description).make(opening, from: copy)
    }
  }

  private func schema(_ path: String) -> String { "test_" + String(hash(path), radix: 36) }

  /// The FNV-1a hash, the same in all processes.
  private func hash(_ text: String) -> UInt64 {
    text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }
#else
  /// Called before the first test if the environment has `CDE_ENGINE_UNDER_TEST`.
  @_cdecl("cde_use_engine_under_test")
  public func useEngineUnderTest() {
    fatalError(
      "CDE_ENGINE_UNDER_TEST is set, but the tests have no engine for a server. Build with --traits PostgreSQL."
    )
  }
#endif
