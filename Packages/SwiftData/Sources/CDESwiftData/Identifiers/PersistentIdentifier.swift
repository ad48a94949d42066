@_spi(CDE) internal import CDEModelRuntime
internal import Foundation

/// The identity of a model: its store, entity and key.
///
/// It is a value: it may be passed to other actors, kept, and encoded. Before the first save of its model it is temporary, and names
/// the model in its own context only. Identifiers are equal if they name the same row, whether or not they were encoded meanwhile.
public struct PersistentIdentifier: Hashable, Identifiable, Comparable, Codable, Sendable {
  /// The identifier without its type, for `Identifiable`.
  public struct ID: Hashable, Sendable {
    enum Storage: Sendable {
      case object(NSManagedObjectID)
      case named(Parts)
    }

    /// An identifier that was decoded, or made of its parts.
    struct Parts: Hashable, Sendable {
      let store: String?
      let entity: String
      /// `p` and a number; `t` and a UUID for a temporary identifier.
      let primaryKey: String

      /// The key of the row; nil for a temporary identifier.
      var rowKey: Int64? { primaryKey.first == "p" ? Int64(primaryKey.dropFirst()) : nil }
    }

    let storage: Storage
  }

  /// The identity itself, which is comparable and can be kept without knowledge of this type.
  public let id: ID

  /// The identity of a managed object.
  init(_ objectID: NSManagedObjectID) { id = ID(storage: .object(objectID)) }

  private init(_ parts: ID.Parts) { id = ID(storage: .named(parts)) }

  /// The managed object's ID, for an identifier that a context gave; nil for one that was decoded or made of its parts.
  var objectID: NSManagedObjectID? {
    if case .object(let objectID) = id.storage { objectID } else { nil }
  }

  /// Whether the model was not saved when the identifier was taken.
  var isTemporary: Bool {
    switch id.storage {
    case .object(let objectID): objectID.isTemporaryID
    case .named(let parts): parts.rowKey == nil
    }
  }

  /// The identity as the URI of a managed object's ID.
  var uri: URL? {
    switch id.storage {
    case .object(let objectID): objectID.uriRepresentation()
    case .named(let parts):
      URL(string: "x-coredata://\(parts.store ?? "")/\(parts.entity)/\(parts.primaryKey)")
    }
  }

  /// The name of the model's entity.
  public var entityName: String {
    switch id.storage {
    case .object(let objectID): objectID.entity.name ?? ""
    case .named(let parts): parts.entity
    }
  }

  /// The identifier of the store, which its metadata has; nil for a temporary identifier.
  public var storeIdentifier: String? {
    switch id.storage {
    case .object(let objectID): objectID.storeIdentifier
    case .named(let parts): parts.store
    }
  }

  private var primaryKey: String {
    switch id.storage {
    case .object(let objectID): objectID.uriRepresentation().lastPathComponent
    case .named(let parts): parts.primaryKey
    }
  }

  /// Makes the identifier of a row.
  ///
  /// - Parameters:
  ///   - storeIdentifier: the identifier of the store, which its metadata has.
  ///   - entityName: the name of the model's entity.
  ///   - primaryKey: the number of the row, or the text `p` with the number.
  /// - Throws: ``SwiftDataError`` with code `.unreadable` for another key.
  public static func identifier(
    for storeIdentifier: String, entityName: String, primaryKey: some Hashable & Encodable & Sendable
  ) throws -> PersistentIdentifier {
    let text = "\(primaryKey)"
    guard let number = Int64(text.first == "p" ? text.dropFirst() : text[...]), number > 0 else {
      throw SwiftDataError(
        .unreadable,
        "The primary key of a row is a number above 0. This one is of type \(type(of: primaryKey)). Take it from an "
          + "identifier of a saved model.", entity: entityName)
    }
    return PersistentIdentifier(
      ID.Parts(store: storeIdentifier.uppercased(), entity: entityName, primaryKey: "p\(number)"))
  }

  public static func == (first: PersistentIdentifier, second: PersistentIdentifier) -> Bool {
    first.id == second.id
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(id) }

  /// Orders identifiers by store, entity and key. Temporary ones come first.
  public static func < (first: PersistentIdentifier, second: PersistentIdentifier) -> Bool {
    let (one, other) = (first.order, second.order)
    return one < other || one == other && first.primaryKey < second.primaryKey
  }

  private var order: (String, String, Int64) {
    let key =
      switch id.storage {
      case .object(let objectID): max(objectID.rowKey, 0)
      case .named(let parts): parts.rowKey ?? 0
      }
    return (storeIdentifier ?? "", entityName, key)
  }

  // MARK: Coding, in the form of Apple's

  private enum CodingKeys: CodingKey { case implementation }

  private enum PartKeys: CodingKey {
    case primaryKey, uriRepresentation, isTemporary, storeIdentifier, entityName
  }

  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
      .nestedContainer(keyedBy: PartKeys.self, forKey: .implementation)
    let primaryKey = try values.decode(String.self, forKey: .primaryKey)
    let isTemporary = try values.decodeIfPresent(Bool.self, forKey: .isTemporary) ?? false
    let store = try values.decodeIfPresent(String.self, forKey: .storeIdentifier)
    let parts = ID.Parts(
      store: isTemporary ? nil : store?.uppercased(),
      entity: try values.decode(String.self, forKey: .entityName), primaryKey: primaryKey)
    guard isTemporary ? primaryKey.first == "t" : store != nil && parts.rowKey ?? 0 > 0 else {
      throw DecodingError.dataCorruptedError(
        forKey: .primaryKey, in: values,
        debugDescription:
          "The key of a saved model is p with a number above 0, and it has the identifier of a store.")
    }
    self.init(parts)
  }

  public func encode(to encoder: any Encoder) throws {
    var outer = encoder.container(keyedBy: CodingKeys.self)
    var values = outer.nestedContainer(keyedBy: PartKeys.self, forKey: .implementation)
    try values.encode(primaryKey, forKey: .primaryKey)
    try values.encodeIfPresent(uri, forKey: .uriRepresentation)
    try values.encode(isTemporary, forKey: .isTemporary)
    try values.encodeIfPresent(storeIdentifier, forKey: .storeIdentifier)
    try values.encode(entityName, forKey: .entityName)
  }
}

extension PersistentIdentifier.ID {
  public static func == (first: Self, second: Self) -> Bool {
    switch (first.storage, second.storage) {
    case (.object(let one), .object(let other)): one.isEqual(other)
    case (.named(let one), .named(let other)): one == other
    case (.object(let object), .named(let parts)), (.named(let parts), .object(let object)):
      // A temporary key is another text in each process, so a decoded one names no model.
      parts.rowKey == object.rowKey && parts.store == object.storeIdentifier
        && parts.entity == object.entity.name
    }
  }

  public func hash(into hasher: inout Hasher) {
    switch storage {
    case .object(let object):
      // Without a context an ID has no key, and equals only itself.
      if object.rowKey == 0 {
        hasher.combine(ObjectIdentifier(object))
      } else {
        hasher.combine(object.rowKey)
      }
    case .named(let parts):
      if let key = parts.rowKey { hasher.combine(key) } else { hasher.combine(parts.primaryKey) }
    }
  }
}

extension PersistentIdentifier: CustomStringConvertible {
  public var description: String { "<\(uri?.absoluteString ?? entityName)>" }
}
