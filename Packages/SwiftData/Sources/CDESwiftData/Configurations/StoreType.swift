internal import CDEManagedModel
internal import CDEModelRuntime
internal import Foundation

/// The engine of a configuration, with its options.
struct StoreType: Hashable, Sendable {
  /// The store type under which the engine is registered.
  let name: String
  let options: [String: any Sendable]

  init(name: String, options: [String: any Sendable]) {
    self.name = name
    self.options = options
  }

  /// The engine whose name is the scheme of a URL; nil for a file, and for a scheme without an engine.
  init?(of url: URL) {
    guard let scheme = url.scheme?.lowercased(), !url.isFileURL,
      let type = NSPersistentStoreCoordinator.registeredStoreEngines.keys.first(where: {
        $0.lowercased() == scheme || scheme == "postgres" && $0.lowercased() == "postgresql"
      })
    else { return nil }
    self.init(name: type, options: [:])
  }

  /// Values of options have no equality, so their texts are compared.
  private var texts: [String: String] { options.mapValues { "\($0)" } }

  static func == (first: StoreType, second: StoreType) -> Bool {
    first.name == second.name && first.texts == second.texts
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(name)
    hasher.combine(Set(options.keys))
  }
}

extension ModelConfiguration {
  /// Two stores of an engine may have one URL, and differ in an option.
  var place: StorePlace { StorePlace(url: url, engine: engine) }

  /// Makes a description of the store for its engine.
  ///
  /// - Throws: ``SwiftDataError/loadIssueModelContainer`` for a URL of a server without an engine.
  func set(_ description: NSPersistentStoreDescription) throws {
    description.url = url
    guard let engine else {
      guard url.isFileURL else {
        throw SwiftDataError.loadIssueModelContainer.about(
          "The URL of the configuration \(name) is not of a file, and no engine has the scheme \(url.scheme ?? "") as its store type. "
            + "Name the engine by ModelConfiguration(storeType:url:options:). For a PostgreSQL server the type is "
            + "CDEPostgreSQLStoreType of the product CDEPostgreSQL, which needs the trait PostgreSQL.")
      }
      return
    }
    description.type = engine.name
    for (key, value) in engine.options { description.setOption(value, forKey: key) }
    description.setOption(true, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
  }
}

/// Where the store of a configuration is.
struct StorePlace: Hashable {
  let url: URL
  let engine: StoreType?
}
