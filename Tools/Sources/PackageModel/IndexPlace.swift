import CoreDataEvolution

#if PostgreSQL
  import CDEPostgreSQL
#endif

/// Where an index lies.
public enum IndexPlace: Sendable {
  case file(URL)
  /// A schema of a database of a PostgreSQL server.
  case server(URL, schema: String)

  /// Where the index lies unless the caller says otherwise.
  public static var standard: Self {
    .file(
      NSPersistentContainer.defaultDirectoryURL()
        .appendingPathComponent("CoreDataEvolutionDemo", isDirectory: true)
        .appendingPathComponent("Packages.sqlite"))
  }

  /// - Parameter text: a path, or a URL of a server.
  /// - Returns: nil for a URL that can't be read.
  public init?(_ text: String) {
    guard text.hasPrefix("postgresql://") || text.hasPrefix("postgres://") else {
      self = .file(URL(fileURLWithPath: text))
      return
    }
    guard let url = URL(string: text) else { return nil }
    self = .server(url, schema: "packages")
  }

  /// The place as the program names it. A password of the URL is left out.
  public var name: String {
    switch self {
    case .file(let url): return url.path
    case .server(let url, _):
      guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: false) else { return "the server" }
      parts.password = nil
      parts.queryItems = parts.queryItems?.filter { $0.name != "password" }
      return parts.string ?? "the server"
    }
  }

  /// A command that shows that the index is an ordinary database.
  public var command: String {
    switch self {
    case .file: "sqlite3 '\(name)' 'SELECT ZNAME FROM ZPACKAGE LIMIT 5'"
    case .server(_, let schema): "psql '\(name)' -c 'SELECT \"ZNAME\" FROM \(schema).\"ZPACKAGE\" LIMIT 5'"
    }
  }

  /// - Throws: ``NoServers`` if the program was built without the engine.
  public func description() throws -> NSPersistentStoreDescription {
    switch self {
    case .file(let url): return NSPersistentStoreDescription(url: url)
    case .server(let url, let schema):
      #if PostgreSQL
        let description = NSPersistentStoreDescription(url: url)
        description.type = CDEPostgreSQLStoreType
        description.setOption(schema as NSString, forKey: CDEPostgreSQLSchemaOption)
        return description
      #else
        throw NoServers()
      #endif
    }
  }
}

/// The program was built without the engine for servers.
public struct NoServers: Error, CustomStringConvertible {
  public var description: String {
    "This program was built without the trait PostgreSQL. Tools/demo builds it with the trait for such a --store."
  }
}
