internal import CDEStore

/// A shape in files of schemas: the name of its case, and what the case has.
extension ValueShape: Codable {
  private enum CodingKeys: String, CodingKey {
    case scalar, wrapped, rawEnumeration, enumeration, composite, json, archive
  }

  private enum ValueKeys: String, CodingKey { case value = "_0" }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    guard container.allKeys.count == 1, let key = container.allKeys.first else {
      throw DecodingError.dataCorrupted(
        .init(
          codingPath: container.codingPath, debugDescription: "A shape has one of the keys that name shapes.")
      )
    }
    let values = try container.nestedContainer(keyedBy: ValueKeys.self, forKey: key)
    func kind() throws -> StoreAttributeType {
      let name = try values.decode(String.self, forKey: .value)
      guard let kind = Self.kind(named: name) else {
        throw DecodingError.dataCorruptedError(
          forKey: .value, in: values, debugDescription: "There is no column of the kind \(name).")
      }
      return kind
    }
    switch key {
    case .scalar: self = .scalar(try kind())
    case .wrapped: self = .wrapped(try kind())
    case .rawEnumeration: self = .rawEnumeration(try kind())
    case .enumeration: self = .enumeration(try values.decode([Case].self, forKey: .value))
    case .composite: self = .composite(try values.decode([Element].self, forKey: .value))
    case .json: self = .json
    case .archive: self = .archive(try values.decode(String.self, forKey: .value))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    func encode(_ value: (any Encodable)?, _ key: CodingKeys) throws {
      var values = container.nestedContainer(keyedBy: ValueKeys.self, forKey: key)
      if let value { try values.encode(value, forKey: .value) }
    }
    switch self {
    case .scalar(let kind): try encode(Self.name(of: kind), .scalar)
    case .wrapped(let kind): try encode(Self.name(of: kind), .wrapped)
    case .rawEnumeration(let kind): try encode(Self.name(of: kind), .rawEnumeration)
    case .enumeration(let cases): try encode(cases, .enumeration)
    case .composite(let elements): try encode(elements, .composite)
    case .json: try encode(nil, .json)
    case .archive(let type): try encode(type, .archive)
    }
  }

  // Two kinds have the names of their Swift types.
  private static func name(of kind: StoreAttributeType) -> String {
    kind == .binary ? "data" : kind == .uri ? "url" : kind.rawValue
  }

  private static func kind(named name: String) -> StoreAttributeType? {
    if name == "data" { return .binary }
    if name == "url" { return .uri }
    return StoreAttributeType(rawValue: name).flatMap {
      $0.isScalar && $0 != .binary && $0 != .uri ? $0 : nil
    }
  }
}
