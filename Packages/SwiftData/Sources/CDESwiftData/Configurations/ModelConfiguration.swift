public import Foundation
internal import CDEModelRuntime

/// Where a container has the rows of a schema, or of a part of it.
public struct ModelConfiguration: Identifiable, Hashable, Sendable {
  /// The name; the store's file has it if there is no other URL. "default" if none is given.
  public let name: String
  /// The part of the container's schema whose rows are here; nil for the whole schema.
  public var schema: Schema?
  /// The file of the store; `/dev/null` for a store in memory.
  public let url: URL
  /// Whether the store may be written.
  public let allowsSave: Bool
  /// Whether the rows are in memory, until the container ends.
  public let isStoredInMemoryOnly: Bool
  /// The folder in which the store's file is.
  public let groupContainer: GroupContainer
  /// Kept for other programs; without an effect on Linux.
  public let cloudKitDatabase: CloudKitDatabase
  /// The engine of the store; nil for SQLite.
  let engine: StoreType?

  /// The URL of the store.
  public var id: URL { url }
  /// The identifier of the group, if ``groupContainer`` has one.
  public var groupAppContainerIdentifier: String? { groupContainer.identifier }
  /// The identifier of the private database, if ``cloudKitDatabase`` has one.
  public var cloudKitContainerIdentifier: String? { cloudKitDatabase.identifier }

  /// Which CloudKit database has the same models. Kept for other programs; without an effect on Linux.
  public struct CloudKitDatabase: Hashable, Sendable {
    private enum Kind: Hashable { case automatic, none, `private`(String) }
    private let kind: Kind

    /// As the program's entitlements say.
    public static var automatic: CloudKitDatabase { CloudKitDatabase(kind: .automatic) }
    /// None.
    public static var none: CloudKitDatabase { CloudKitDatabase(kind: .none) }
    /// The private database of a container.
    public static func `private`(_ privateDBName: String) -> CloudKitDatabase {
      CloudKitDatabase(kind: .private(privateDBName))
    }

    fileprivate var identifier: String? {
      if case .private(let name) = kind { name } else { nil }
    }
  }

  /// The folder that several programs share.
  public struct GroupContainer: Hashable, Sendable {
    private enum Kind: Hashable { case automatic, none, identifier(String) }
    private let kind: Kind

    /// The program's own folder.
    public static var automatic: GroupContainer { GroupContainer(kind: .automatic) }
    /// The program's own folder.
    public static var none: GroupContainer { GroupContainer(kind: .none) }
    /// The folder of a group: the one of this name in the user's folder of application data.
    public static func identifier(_ groupName: String) -> GroupContainer {
      GroupContainer(kind: .identifier(groupName))
    }

    fileprivate var identifier: String? {
      if case .identifier(let name) = kind { name } else { nil }
    }
  }

  /// The store of the whole schema, in the program's own file or in memory.
  public init(isStoredInMemoryOnly: Bool) {
    self.init(nil, schema: nil, isStoredInMemoryOnly: isStoredInMemoryOnly)
  }

  /// The store of some models, in the program's own file or in memory.
  @_disfavoredOverload
  public init(for types: any PersistentModel.Type..., isStoredInMemoryOnly: Bool = false) {
    self.init(nil, schema: types.isEmpty ? nil : Schema(types), isStoredInMemoryOnly: isStoredInMemoryOnly)
  }

  /// A store in the folder of the program or of a group, or in memory.
  ///
  /// The file is `<name>.store` in a folder with the program's name, below `$XDG_DATA_HOME` or `~/.local/share`. On Apple's platforms
  /// it has no such folder of its own, because each app has a container.
  ///
  /// - Parameters:
  ///   - name: the name of the configuration and of the file.
  ///   - schema: the part of the container's schema whose rows are here; nil for the whole.
  ///   - isStoredInMemoryOnly: whether the rows are in memory, until the container ends.
  ///   - allowsSave: whether the store may be written.
  ///   - groupContainer: the folder of the file.
  ///   - cloudKitDatabase: kept for other programs.
  public init(
    _ name: String? = nil, schema: Schema? = nil, isStoredInMemoryOnly: Bool = false, allowsSave: Bool = true,
    groupContainer: GroupContainer = .automatic, cloudKitDatabase: CloudKitDatabase = .automatic
  ) {
    self.name = name ?? "default"
    self.schema = schema
    self.isStoredInMemoryOnly = isStoredInMemoryOnly
    self.allowsSave = allowsSave
    self.groupContainer = groupContainer
    self.cloudKitDatabase = cloudKitDatabase
    engine = nil
    url =
      isStoredInMemoryOnly
      ? URL(fileURLWithPath: "/dev/null")
      : NSPersistentContainer.defaultDirectoryURL()
        .appendingPathComponent(groupContainer.identifier ?? Self.programName, isDirectory: true)
        .appendingPathComponent("\(self.name).store", isDirectory: false)
  }

  /// A store in a file of its own.
  ///
  /// - Parameters:
  ///   - name: the name of the configuration.
  ///   - schema: the part of the container's schema whose rows are here; nil for the whole.
  ///   - url: the file.
  ///   - allowsSave: whether the store may be written.
  ///   - cloudKitDatabase: kept for other programs.
  public init(
    _ name: String? = nil, schema: Schema? = nil, url: URL, allowsSave: Bool = true,
    cloudKitDatabase: CloudKitDatabase = .automatic
  ) {
    self.name = name ?? "default"
    self.schema = schema
    self.url = url
    self.allowsSave = allowsSave
    self.cloudKitDatabase = cloudKitDatabase
    isStoredInMemoryOnly = false
    groupContainer = .none
    // The scheme may be the name of a registered engine.
    engine = StoreType(of: url)
  }

  /// A store of an engine that is registered under a store type, such as one on a server.
  ///
  /// Models, predicates, orders, merging and observation are those of every other store. The commits of other processes and machines
  /// reach the contexts of the container. Apple's SwiftData has no such configuration. With the product `CDEPostgreSQL`, whose constant
  /// registers its engine:
  ///
  /// ```text
  /// ModelConfiguration(
  ///   storeType: CDEPostgreSQLStoreType, url: URL(string: "postgresql://app@db.example.org/shop")!,
  ///   options: [CDEPostgreSQLSchemaOption: "bookmarks"])
  /// ```
  ///
  /// - Parameters:
  ///   - name: the name of the configuration.
  ///   - schema: the part of the container's schema whose rows are here; nil for the whole.
  ///   - storeType: the type under which the engine is registered.
  ///   - url: where the store is, as the engine understands it.
  ///   - options: options of the engine, by their keys.
  ///   - allowsSave: whether the store may be written.
  public init(
    _ name: String? = nil, schema: Schema? = nil, storeType: String, url: URL,
    options: [String: any Sendable] = [:], allowsSave: Bool = true
  ) {
    self.name = name ?? "default"
    self.schema = schema
    self.url = url
    self.allowsSave = allowsSave
    cloudKitDatabase = .none
    isStoredInMemoryOnly = false
    groupContainer = .none
    engine = StoreType(name: storeType, options: options)
  }

  /// Programs that begin without a name of their own would write one file together.
  private static let programName = Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName

  /// Checks that the name can be that of a file.
  ///
  /// - Throws: ``SwiftDataError/configurationFileNameTooLong`` or
  ///   ``SwiftDataError/configurationFileNameContainsInvalidCharacters``.
  public func validate() throws {
    // The longest file is <name>.store-wal, and file systems take 255 bytes.
    guard name.utf8.count <= 245 else { throw SwiftDataError.configurationFileNameTooLong }
    let isFolder = name.isEmpty || name == "." || name == ".."
    guard !isFolder, !name.utf8.contains(where: { $0 == 0 || $0 == UInt8(ascii: "/") }) else {
      throw SwiftDataError.configurationFileNameContainsInvalidCharacters
    }
  }
}

extension ModelConfiguration: CustomDebugStringConvertible {
  /// The name, the file and what differs from the standard.
  public var debugDescription: String {
    var parts = ["name: \(name)", isStoredInMemoryOnly ? "in memory" : "url: \(url.path)"]
    if let engine { parts.append("store type: \(engine.name)") }
    if let schema {
      parts.append("entities: \(schema.entities.map(\.name).sorted().joined(separator: ", "))")
    }
    if !allowsSave { parts.append("read only") }
    return "ModelConfiguration(\(parts.joined(separator: ", ")))"
  }
}
