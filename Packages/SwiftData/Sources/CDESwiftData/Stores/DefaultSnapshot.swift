@_spi(CDE) internal import CDEManagedModel
@_spi(CDE) internal import CDEModelRuntime
@_spi(CDE) internal import CDEPredicates
internal import Foundation

/// The values of a model of any class.
///
/// It is encoded with the key `persistentIdentifier`, and each property under its own name: attributes as the values that they are,
/// models as their identifiers. While it is decoded, the class is found by the name of
/// its entity: of the container whose store decodes, and elsewhere of the one that was made last.
public struct DefaultSnapshot: DataStoreSnapshot, @unchecked Sendable {
  // Guard: immutable. The stored forms of values are numbers, texts, dates, bytes, and collections of those.

  /// The identity of the model.
  public let persistentIdentifier: PersistentIdentifier
  let shape: SnapshotShape
  /// Attributes in the form of key-value coding.
  let values: [String: Any]
  /// The models of relationships. One to many without an entry is not known, and one to one is nil.
  let references: [String: [PersistentIdentifier]]

  init(
    _ id: PersistentIdentifier, _ shape: SnapshotShape, values: [String: Any],
    references: [String: [PersistentIdentifier]]
  ) {
    persistentIdentifier = id
    self.shape = shape
    self.values = values
    self.references = references
  }

  /// Takes the values of a model.
  ///
  /// A value that its transformer makes no bytes of is left out, and reported.
  ///
  /// - Parameters:
  ///   - backingData: the values.
  ///   - relatedBackingDatas: gets those of the models that it leads to, unless they are there.
  public init(
    from backingData: any BackingData, relatedBackingDatas: inout [PersistentIdentifier: any BackingData]
  ) {
    let object = backingData._$object
    let shape = SnapshotShape.of(object.info)
    var values: [String: Any] = [:]
    var references: [String: [PersistentIdentifier]] = [:]
    for property in shape.properties {
      switch property.kind {
      case .attribute(_, nil):
        values[property.name] = object.transformed(property.name)
      case .attribute:
        values[property.name] = object.value(forKey: property.name)
      case .toOne, .toMany:
        guard let ordinal = object.info.ordinal(named: property.name) else { continue }
        let others = object.related(ordinal, isToMany: property.isToMany)
        references[property.name] = others.map { other in
          let id = other.persistentIdentifier
          if relatedBackingDatas[id] == nil { relatedBackingDatas[id] = other.backing() }
          return id
        }
      }
    }
    self.init(backingData.persistentModelID, shape, values: values, references: references)
  }

  /// The same values with other identities.
  ///
  /// - Parameters:
  ///   - persistentIdentifier: the identity of the copy.
  ///   - remappedIdentifiers: replacements for the identities of models that the values lead to.
  public func copy(
    persistentIdentifier: PersistentIdentifier,
    remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]? = nil
  ) -> DefaultSnapshot {
    DefaultSnapshot(
      persistentIdentifier, shape, values: values,
      references: references.mapValues { ids in
        remappedIdentifiers.map { remapped in ids.map { remapped[$0] ?? $0 } } ?? ids
      })
  }
}

extension SnapshotShape.Property {
  var isToMany: Bool { if case .toMany = kind { true } else { false } }
}

extension _ModelObject {
  /// The bytes that the transformer makes of an attribute.
  fileprivate func transformed(_ name: String) -> Data? {
    do {
      return try TransformableCoding.encode(
        value(forKey: name), transformer: entity.attributesByName[name]?.valueTransformerName,
        entity: entity.name ?? "", property: name)
    } catch {
      ModelReport.send("\(entity.name ?? "").\(name) is missing in a snapshot: \(error)")
      return nil
    }
  }

  /// The objects of a relationship.
  func related(_ ordinal: Int, isToMany: Bool) -> [_ModelObject] {
    if isToMany { return _cdToManyArray(CDOrdinal(ordinal)) }
    let one: _ModelObject? = _cdToOne(CDOrdinal(ordinal))
    return one.map { [$0] } ?? []
  }

  /// The identity of the object, which a snapshot that is being made may have given it.
  var persistentIdentifier: PersistentIdentifier {
    let id = objectID
    if id.rowKey == 0, let known = SnapshotBacking.identifier(of: self) { return known }
    return PersistentIdentifier(id)
  }

  /// The values of the object.
  func backing() -> any BackingData {
    func make<Model: PersistentModel>(_ type: Model.Type) -> any BackingData {
      DefaultBackingData<Model>(_$object: self)
    }
    return make(info.type)
  }
}

// MARK: Coding

extension DefaultSnapshot {
  private static let identifierKey = NamedKey("persistentIdentifier")

  /// Encodes the identifier, and each property under its name.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: NamedKey.self)
    try container.encode(persistentIdentifier, forKey: Self.identifierKey)
    for property in shape.properties {
      let key = NamedKey(property.name)
      switch property.kind {
      case .attribute(_, nil):
        if let bytes = values[property.name] as? Data { try container.encode(bytes, forKey: key) }
      case .attribute(let type, .some(let shape)):
        guard let type = type as? any Decodable.Type else { continue }
        guard let stored = values[property.name] else {
          // A missing key stands for the default of the property.
          try container.encodeNil(forKey: key)
          continue
        }
        try Self.encode(stored, as: type, shape, key, &container)
      case .toOne: try container.encodeIfPresent(references[property.name]?.first, forKey: key)
      case .toMany: try container.encodeIfPresent(references[property.name], forKey: key)
      }
    }
  }

  /// Encodes the value itself and not its stored form, so that the encoder's strategies for dates and so on apply.
  private static func encode<T: Decodable>(
    _ stored: Any, as type: T.Type, _ shape: ValueShape, _ key: NamedKey,
    _ container: inout KeyedEncodingContainer<NamedKey>
  ) throws {
    let value = try ValueCoding.decode(stored, as: type, shape, name: key.stringValue)
    guard let value = value as? any Encodable else {
      throw SwiftDataError(
        .valueCoding, "\(key.stringValue) of type \(type) is not Encodable. Conform it.",
        property: key.stringValue)
    }
    try container.encode(value, forKey: key)
  }

  /// Decodes what ``encode(to:)`` wrote. A property that came later has its default value.
  ///
  /// - Throws: `DecodingError` for an entity without a class, and for a missing value of a property that needs one.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: NamedKey.self)
    let id = try container.decode(PersistentIdentifier.self, forKey: Self.identifierKey)
    let info =
      StoreScope.prepared?.info(named: id.entityName) ?? PreparedSchema.lastInfo(named: id.entityName)
    guard let info else {
      throw DecodingError.dataCorruptedError(
        forKey: Self.identifierKey, in: container,
        debugDescription:
          "There is no model class for the entity \(id.entityName). Make a container with it before its snapshots are decoded."
      )
    }
    let shape = SnapshotShape.of(info)
    var values: [String: Any] = [:]
    var references: [String: [PersistentIdentifier]] = [:]
    for property in shape.properties {
      let key = NamedKey(property.name)
      switch property.kind {
      case .attribute(_, nil):
        values[property.name] = try container.decodeIfPresent(Data.self, forKey: key)
      case .attribute(let type, .some(let shape)):
        guard let type = type as? any Decodable.Type else { continue }
        values[property.name] = try Self.decode(type, shape, property, key, container)
      case .toOne:
        references[property.name] = try container.decodeIfPresent(PersistentIdentifier.self, forKey: key)
          .map { [$0] }
      case .toMany:
        references[property.name] = try container.decodeIfPresent([PersistentIdentifier].self, forKey: key)
      }
    }
    self.init(id, shape, values: values, references: references)
  }

  /// The stored form of a value. A property that came later has its default.
  private static func decode<T: Decodable>(
    _ type: T.Type, _ shape: ValueShape, _ property: SnapshotShape.Property, _ key: NamedKey,
    _ container: KeyedDecodingContainer<NamedKey>
  ) throws -> Any? {
    if let value = try container.decodeIfPresent(T.self, forKey: key) {
      return try ValueCoding.encode(value, shape, name: property.name)
    }
    if TypeFields.isOptional(type), container.contains(key) { return nil }
    if let value = property.defaultValue {
      return try ValueCoding.encode(value, shape, name: property.name)
    }
    if TypeFields.isOptional(type) { return nil }
    throw DecodingError.keyNotFound(
      key,
      DecodingError.Context(
        codingPath: container.codingPath,
        debugDescription:
          "A snapshot has no \(property.name), and the property has no default value. Declare one, or make the property optional."
      ))
  }
}
