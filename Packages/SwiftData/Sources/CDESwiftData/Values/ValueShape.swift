@_spi(CDE) internal import CDEManagedModel
internal import CDEStore
internal import Foundation

/// How the values of a type are stored in an attribute.
///
/// The forms are those of the files that Apple's SwiftData writes, as far as they are known. The forms that are not known are
/// ``json`` and ``wrapped(_:)``.
indirect enum ValueShape: Hashable, Sendable {
  /// One column with the value itself.
  case scalar(StoreAttributeType)
  /// One column with the only value that a type encodes.
  case wrapped(StoreAttributeType)
  /// A composite of one element, which has the attribute's own name and the raw value.
  case rawEnumeration(StoreAttributeType)
  /// A composite with an element for each case, of which one has a value: the case's name, or its associated values as JSON.
  case enumeration([Case])
  /// A composite with an element for each key that a type encodes.
  case composite([Element])
  /// One column of bytes with the value as JSON.
  case json
  /// One column of bytes with an archive of a collection, as of a transformable attribute. The name is that of its type.
  case archive(String)

  struct Case: Hashable, Sendable, Codable {
    let name: String
    let hasPayload: Bool
  }

  struct Element: Hashable, Sendable, Codable {
    let name: String
    let shape: ValueShape
  }

  /// Whether the attribute is a composite.
  var isComposite: Bool {
    switch self {
    case .rawEnumeration, .enumeration, .composite: true
    case .scalar, .wrapped, .json, .archive: false
    }
  }

  /// The key path below the attribute at which the raw value of an enumeration stands, for predicates and sort orders.
  func rawValuePath(name: String) -> String? {
    if case .rawEnumeration = self { "\(name).\(name)" } else { nil }
  }

  /// The element with a name.
  func element(_ name: String) -> Element? {
    guard case .composite(let elements) = self else { return nil }
    return elements.first { $0.name == name }
  }
}

extension ValueShape {
  /// The parts of a composite, with the type that a column of each shape holds.
  func parts(name: String) -> [(name: String, type: any Any.Type, shape: ValueShape)] {
    switch self {
    case .rawEnumeration(let kind): [(name, kind.optionalType, .scalar(kind))]
    case .enumeration(let cases):
      cases.map {
        ($0.name, $0.hasPayload ? Data?.self : String?.self, $0.hasPayload ? .json : .scalar(.string))
      }
    case .composite(let elements):
      elements.map { element in
        switch element.shape {
        case .scalar(let kind), .wrapped(let kind): (element.name, kind.optionalType, element.shape)
        case .json, .archive: (element.name, Data?.self, element.shape)
        case .rawEnumeration, .enumeration, .composite: (element.name, [String: Any]?.self, element.shape)
        }
      }
    case .scalar, .wrapped, .json, .archive: []
    }
  }

  /// A description of an attribute with values of this shape.
  func makeAttribute(name: String) -> NSAttributeDescription {
    let attribute = isComposite ? NSCompositeAttributeDescription() : NSAttributeDescription()
    attribute.name = name
    switch self {
    case .scalar(let kind), .wrapped(let kind): attribute.attributeType = NSAttributeType(kind)
    case .json: attribute.attributeType = .binaryDataAttributeType
    case .archive(let type):
      attribute.attributeType = .transformableAttributeType
      attribute.valueTransformerName = NSValueTransformerName.secureUnarchiveFromDataTransformerName.rawValue
      attribute.attributeValueClassName = type
    case .rawEnumeration(let kind):
      attribute.userInfo = ["EnumType": 1]
      (attribute as? NSCompositeAttributeDescription)?.elements = [
        ValueShape.scalar(kind).makeAttribute(name: name)
      ]
    case .enumeration(let cases):
      attribute.userInfo = ["EnumType": 1, "enum": cases.map(\.name)]
      (attribute as? NSCompositeAttributeDescription)?.elements = cases.map { item in
        (item.hasPayload ? ValueShape.json : .scalar(.string)).makeAttribute(name: item.name)
      }
    case .composite(let elements):
      (attribute as? NSCompositeAttributeDescription)?.elements = elements.map {
        $0.shape.makeAttribute(name: $0.name)
      }
    }
    return attribute
  }
}
