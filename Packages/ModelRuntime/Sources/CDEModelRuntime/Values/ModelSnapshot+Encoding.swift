@_spi(CDE) internal import CDEPredicates
internal import CDEStore
internal import Foundation

/// A property's name in code as a key of JSON.
private struct NameKey: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }
  init(_ name: String) { stringValue = name }
  init?(stringValue: String) { self.init(stringValue) }
  init?(intValue: Int) { nil }
}

extension ModelSnapshot: Encodable {
  /// Encodes the stored values under their names in code, nil as null.
  ///
  /// Raw values are encoded as such, codable values as their stored JSON, transformed values as their bytes,
  /// compositions as objects, and related objects as handles. To-many relationships are encoded if they were
  /// requested. Transient properties are omitted, and so are properties outside a descriptor's
  /// `propertiesToFetch`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: NameKey.self)
    let binding = binding
    for (name, persistentName) in zip(Item.__cdSwiftNames, Item.__cdPropertyNames) {
      guard let info = binding.property(persistentName), !info.isTransient,
        extras?.encoded?.contains(info.slot) ?? true
      else { continue }
      let key = NameKey(name)
      switch info.kind {
      case .toOne: try container.encode(reference(info).map(uri), forKey: key)
      case .toMany:
        if let members = extras?.members[info.slot] { try container.encode(members.map(uri), forKey: key) }
      case .attribute, .composite:
        try encode(info, Item.__cdMeta(forSwiftPath: name)?.storageMethod ?? .default, key, in: &container)
      }
    }
  }

  private func encode(
    _ info: PropertyInfo, _ method: StorageMethod, _ key: NameKey,
    in container: inout KeyedEncodingContainer<NameKey>
  ) throws {
    switch method {
    case .codable:
      let data = try row.bytes(of: info, external: externalData)
      try container.encode(data.map { try JSONDecoder().decode(JSONValue.self, from: $0) }, forKey: key)
    case .transformed:
      try container.encode(try row.bytes(of: info, external: externalData), forKey: key)
    case .composition:
      guard case .object(let box) = try row.value(of: info, external: externalData),
        let values = box.value as? [String: Any]
      else {
        return try container.encodeNil(forKey: key)
      }
      var fields = container.nestedContainer(keyedBy: NameKey.self, forKey: key)
      for (name, persistentName) in fieldNames(behind: key.stringValue) {
        try Self.encode(PredicateConstant(values[persistentName]) ?? .null, NameKey(name), in: &fields)
      }
    case .default, .raw:
      if case .attribute(.float) = info.kind,
        case .real(let value) = try row.value(of: info, external: externalData)
      {
        // As a float it has exactly the digits that were given.
        return try container.encode(Float(value), forKey: key)
      }
      try Self.encode(try constant(info), key, in: &container)
    }
  }

  private static func encode(
    _ constant: PredicateConstant, _ key: NameKey, in container: inout KeyedEncodingContainer<NameKey>
  ) throws {
    if let scalar = constant.scalar {
      try container.encode(scalar, forKey: key)
    } else {
      try container.encodeNil(forKey: key)
    }
  }

  /// Names of a composition's fields, in code and in the store, sorted.
  private func fieldNames(behind name: String) -> [(String, String)] {
    Item.__cdFieldTable.values.filter { $0.swiftPath.count == 2 && $0.swiftPath[0] == name }
      .map { ($0.swiftPath[1], $0.persistentPath[1]) }.sorted { $0.0 < $1.0 }
  }

  private func uri(_ member: SnapshotExtras.Member) -> URL {
    ModelHandle<Item>(
      store: store.identifier, entity: model.entities[member.entity].name, key: member.key
    ).uriRepresentation
  }

  /// An attribute's stored value in the type that the attribute declares.
  private func constant(_ info: PropertyInfo) throws -> PredicateConstant {
    guard case .attribute(let type) = info.kind else { return .null }
    if type == .transformable {
      return try row.bytes(of: info, external: externalData).map { .data($0) } ?? .null
    }
    return try row.value(of: info, external: externalData).constant(as: type) ?? .null
  }

  /// The elements of a composite, and those of composites among them.
  private static func plainValues(_ elements: [String: Any]) -> [String: any Sendable] {
    elements.compactMapValues { element -> (any Sendable)? in
      (element as? [String: Any]).map(plainValues) ?? PredicateConstant(element)?.scalar
    }
  }

  /// A property's stored value, for people and for programs that do not know its type.
  func plainValue(_ info: PropertyInfo) -> (any Sendable)? {
    switch info.kind {
    case .toOne: return reference(info).map(uri)
    case .toMany: return nil
    case .composite:
      guard case .object(let box) = value(of: info), let values = box.value as? [String: Any] else {
        return nil
      }
      return Self.plainValues(values)
    case .attribute:
      do { return try constant(info).scalar } catch {
        Diagnostics.report(
          "\(binding.name).\(info.name) of \(handle.uriRepresentation.absoluteString) could not be read: \(error)"
        )
        return nil
      }
    }
  }
}

/// Any JSON value, decoded from a stored value and encoded by another encoder.
private enum JSONValue: Codable {
  case constant(PredicateConstant)
  /// A whole number above those of 64 bits with a sign. As a decimal, other encoders than JSON's would write its parts.
  case unsigned(UInt64)
  case list([JSONValue])
  case object([String: JSONValue])

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .constant(.null)
    } else if let value = try? container.decode(Bool.self) {
      self = .constant(.bool(value))
    } else if let value = try? container.decode(Int64.self) {
      self = .constant(.integer(value))
    } else if let value = try? container.decode(UInt64.self) {
      self = .unsigned(value)
    } else if let value = try? container.decode(Double.self) {
      // A number with more digits than a Double can represent is a decimal.
      let exact = try? container.decode(Decimal.self)
      self = .constant(
        exact.flatMap { $0 == Decimal(string: "\(value)") ? nil : .decimal($0) } ?? .double(value))
    } else if let value = try? container.decode(String.self) {
      self = .constant(.string(value))
    } else if let values = try? container.decode([JSONValue].self) {
      self = .list(values)
    } else {
      self = .object(try container.decode([String: JSONValue].self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .list(let values): try container.encode(values)
    case .object(let values): try container.encode(values)
    case .unsigned(let value): try container.encode(value)
    case .constant(let constant):
      if let scalar = constant.scalar { try container.encode(scalar) } else { try container.encodeNil() }
    }
  }
}
