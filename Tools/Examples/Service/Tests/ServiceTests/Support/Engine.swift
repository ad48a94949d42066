import CoreDataEvolution
import PackageModel
import Testing

@_spi(CDE) import CDESQLiteFaults

#if PostgreSQL
  import CDEPostgreSQL
#endif

/// The databases that the tests run over.
enum Engine: String, CaseIterable, Sendable, CustomTestStringConvertible {
  case sqlite
  case postgresql

  var testDescription: String { rawValue }

  /// A server's URL, where the tests were given one.
  static let server: URL? = ProcessInfo.processInfo.environment["CDE_POSTGRESQL_URL"].flatMap {
    URL(string: $0)
  }

  static var available: [Engine] {
    #if PostgreSQL
      server == nil ? [.sqlite] : allCases
    #else
      [.sqlite]
    #endif
  }

  /// The place of a store that does not exist.
  func newPlace() -> IndexPlace {
    switch self {
    case .sqlite: .file(ProcessFolder.newURL("service").appendingPathExtension("sqlite"))
    case .postgresql:
      .server(
        Self.server!, schema: "service_" + UUID().uuidString.lowercased().replacing("-", with: "").prefix(16))
    }
  }
}

extension IndexPlace {
  /// The options of the program that name the place.
  var arguments: [String] {
    switch self {
    case .file(let url): ["--store", url.path]
    case .server(let url, let schema): ["--postgresql", url.absoluteString, "--schema", schema]
    }
  }

  /// Removes the store. Files are removed with the process's folder.
  func remove() {
    #if PostgreSQL
      guard case .server(let url, let schema) = self, let model = try? PackageStore.model() else { return }
      try? NSPersistentStoreCoordinator(managedObjectModel: model).destroyPersistentStore(
        at: url, ofType: CDEPostgreSQLStoreType, options: [CDEPostgreSQLSchemaOption: schema])
    #endif
  }
}
