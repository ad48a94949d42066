@_spi(CDE) internal import CDEPredicates
internal import Foundation

extension ObjectTree: Codable {
  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }

    static let entity = Key(stringValue: "$entity")
    static let name = Key(stringValue: "$name")
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    self.init(nil)
    for key in container.allKeys {
      switch key.stringValue {
      case Key.entity.stringValue: entity = try container.decode(String.self, forKey: key)
      case Key.name.stringValue: name = try container.decode(String.self, forKey: key)
      default: values[key.stringValue] = try container.decode(TreeValue.self, forKey: key)
      }
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encodeIfPresent(entity, forKey: .entity)
    try container.encodeIfPresent(name, forKey: .name)
    for (key, value) in values { try container.encode(value, forKey: Key(stringValue: key)) }
  }
}

extension TreeValue: Codable {
  /// Numbers, texts, lists and objects are what they are; what else a text may stand for, the attribute's type
  /// decides.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Int64.self) {
      self = .integer(value)
    } else if let value = try? container.decode(Double.self) {
      self = .real(value)
    } else if let value = try? container.decode(String.self) {
      self = .text(value)
    } else if let value = try? container.decode([TreeValue].self) {
      self = .list(value)
    } else {
      self = .object(try container.decode(ObjectTree.self))
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .object(let value): try container.encode(value)
    case .list(let values): try container.encode(values)
    case .constant(let constant): try encode(constant, &container)
    }
  }

  private func encode(_ constant: PredicateConstant, _ container: inout any SingleValueEncodingContainer)
    throws
  {
    switch constant {
    case .decimal(let value): try container.encode("\(value)")
    case .date(let value):
      if let text = TreeDate.exactText(value) {
        try container.encode(text)
      } else {
        try container.encode(value.timeIntervalSinceReferenceDate)
      }
    case .data(let value): try container.encode(value.base64EncodedString())
    case .uuid(let value): try container.encode(value.uuidString)
    case .url(let value): try container.encode(value.absoluteString)
    default:
      if let scalar = constant.scalar { try container.encode(scalar) } else { try container.encodeNil() }
    }
  }
}
