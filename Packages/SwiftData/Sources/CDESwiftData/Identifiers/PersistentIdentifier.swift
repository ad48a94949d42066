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
      /// The identifier of the store; nil for a temporary identifier.
      let store: String?
      let entity: String
      /// `p` and a number in a store of rows, any text in a custom store; `t` and a UUID for a temporary identifier.
      let primaryKey: String

      /// The key of a row; nil for a temporary identifier, and for a key that is no number.
      var rowKey: Int64? { primaryKey.first == "p" ? Int64(primaryKey.dropFirst()) : nil }
    }

    let storage: Storage
  }

  /// The identity itself, which is comparable and can be kept without knowledge of this type.
  public let id: ID

  /// The identity of a managed object.
  init(_ objectID: NSManagedObjectID) {
    // A custom store has named its models itself.
    id = CustomStores.identifier(of: objectID)?.id ?? ID(storage: .object(objectID))
  }

  /// The identity of a new model, for a store that has not saved it.
  static func temporary(_ entity: String) -> PersistentIdentifier {
    PersistentIdentifier(ID.Parts(store: nil, entity: entity, primaryKey: "t\(UUID().uuidString)"))
  }

  private init(_ parts: ID.Parts) { id = ID(storage: .named(parts)) }

  /// The managed object's ID, for an identifier that a context gave; nil for one that was decoded, made of its parts, or given by a
  /// custom store.
  var objectID: NSManagedObjectID? {
    if case .object(let objectID) = id.storage { objectID } else { nil }
  }

  /// The number of the row, of an identifier that was decoded or made of its parts.
  var decodedKey: Int64? {
    if case .named(let parts) = id.storage, parts.store != nil { parts.rowKey } else { nil }
  }

  /// Whether the model was not saved when the identifier was taken.
  var isTemporary: Bool {
    switch id.storage {
    case .object(let objectID): objectID.isTemporaryID
    case .named(let parts): parts.store == nil
    }
  }

  /// The identity as the URI of a managed object's ID.
  var uri: URL? {
    switch id.storage {
    case .object(let objectID): objectID.uriRepresentation()
    case .named(let parts):
      URL(
        string:
          "x-coredata://\(encoded(parts.store ?? ""))/\(encoded(parts.entity))/\(encoded(parts.primaryKey))")
    }
  }

  /// The parts of custom stores may be any text.
  private func encoded(_ part: String) -> String {
    part.addingPercentEncoding(withAllowedCharacters: Self.plainCharacters) ?? ""
  }

  private static let plainCharacters = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-_."))

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

  /// Makes the identifier of a saved model.
  ///
  /// - Parameters:
  ///   - storeIdentifier: the identifier of the store: ``DataStore/identifier``, or that in the metadata of a store of rows.
  ///   - entityName: the name of the model's entity.
  ///   - primaryKey: what distinguishes the models of the entity in the store. In a store of rows the number of the row, or the text
  ///     `p` with the number.
  /// - Throws: ``SwiftDataError`` with code `.unreadable` if the store or the key has no text, or the number is none of a row.
  public static func identifier(
    for storeIdentifier: String, entityName: String, primaryKey: some Hashable & Encodable & Sendable
  ) throws -> PersistentIdentifier {
    var text = "\(primaryKey)"
    if let number = Int64(text), number > 0 { text = "p" + text }
    let parts = ID.Parts(store: ID.Parts.store(storeIdentifier), entity: entityName, primaryKey: text)
    guard parts.isUsable else {
      throw SwiftDataError(
        .unreadable,
        "The primary key of a model is a number above 0, or a text that is not empty, and its store has an identifier. This key is "
          + "of type \(type(of: primaryKey)). Take it from an identifier of a saved model.",
        entity: entityName)
    }
    return PersistentIdentifier(parts)
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
      store: isTemporary ? nil : store.map(ID.Parts.store),
      entity: try values.decode(String.self, forKey: .entityName), primaryKey: primaryKey)
    guard isTemporary ? primaryKey.first == "t" : parts.isUsable else {
      throw DecodingError.dataCorruptedError(
        forKey: .primaryKey, in: values,
        debugDescription:
          "The key of a saved model is a text, which has a number above 0 if it is p with a number, and it has the identifier of a "
          + "store.")
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

extension PersistentIdentifier.ID.Parts {
  /// Whether the parts are those of a saved model.
  fileprivate var isUsable: Bool {
    !primaryKey.isEmpty && store?.isEmpty == false && rowKey ?? 1 > 0
  }

  /// The identifier of a store in one spelling: UUIDs are in upper case.
  fileprivate static func store(_ text: String) -> String {
    UUID(uuidString: text) == nil ? text : text.uppercased()
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
