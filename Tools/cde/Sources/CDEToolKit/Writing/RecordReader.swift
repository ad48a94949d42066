import CDEManagedModel
import CDEModelRuntime
import Foundation

/// Turns the values of a record into those of an entity's properties.
struct RecordReader {
  let entity: NSEntityDescription

  /// The values of the attributes that the record names.
  func attributes(_ record: JSONValue) throws(ToolError) -> [(String, Any?)] {
    guard case .object(let members) = record else { throw ToolError("The record is no object.") }
    var result: [(String, Any?)] = []
    for member in members where member.key != entity.identifierKey {
      if let attribute = entity.attributesByName[member.key] {
        // The store computes these.
        if attribute is NSDerivedAttributeDescription || attribute.isTransient { continue }
        if member.key == "id", case .string(let text) = member.value,
          text.wholeMatch(of: #/[^\/:]+\/p[0-9]+/#) != nil,
          attribute.attributeType != .stringAttributeType
        {
          continue
        }
        result.append((member.key, try value(member.value, attribute)))
      } else if entity.relationshipsByName[member.key] == nil {
        let all = entity.propertiesByName.keys.sorted().joined(separator: ", ")
        throw ToolError("\(entity.name ?? "") has no property \(member.key). It has \(all).")
      }
    }
    return result
  }

  func isEqual(_ old: Any?, _ new: Any?, _ name: String) -> Bool {
    guard let attribute = entity.attributesByName[name] else { return false }
    return ValueText.cell(old, attribute).json == ValueText.cell(new, attribute).json
  }

  /// Sets the relationships that the record names.
  func relate(_ object: NSManagedObject, _ record: JSONValue, _ find: (String) throws -> NSManagedObject)
    throws
  {
    for relationship in entity.shownRelationships {
      guard let value = record[relationship.name] else { continue }
      let ids = try Self.ids(value, relationship)
      let others = try ids.map { id in
        let other = try find(id)
        guard let destination = relationship.destinationEntity, other.entity.isKindOf(entity: destination)
        else {
          throw ToolError(
            "\(id) is no object of \(relationship.destinationEntity?.name ?? "the entity"), which \(relationship.name) refers to."
          )
        }
        return other
      }
      let old = object.objectIDs(forRelationshipNamed: relationship.name)
      let new = others.map(\.objectID)
      if relationship.isOrdered ? old == new : Set(old) == Set(new) { continue }
      if !relationship.isToMany {
        object.setValue(others.first, forKey: relationship.name)
      } else if relationship.isOrdered {
        object.setValue(NSOrderedSet(array: others), forKey: relationship.name)
      } else {
        object.setValue(NSSet(array: others), forKey: relationship.name)
      }
    }
  }

  private static func ids(_ value: JSONValue, _ relationship: NSRelationshipDescription) throws(ToolError)
    -> [String]
  {
    switch value {
    case .null: return []
    case .string(let text):
      return relationship.isToMany ? text.split(separator: " ").map(String.init) : [text]
    case .array(let values) where relationship.isToMany:
      var ids: [String] = []
      for value in values {
        guard case .string(let id) = value else {
          throw ToolError("\(relationship.name) has to be a list of IDs.")
        }
        ids.append(id)
      }
      return ids
    case .object:
      if case .string(let id)? = value["$id"] ?? value["id"] { return [id] }
      fallthrough
    default:
      throw ToolError(
        "\(relationship.name) has to be the ID of an object, such as Entity/p1\(relationship.isToMany ? ", or a list of them" : "")."
      )
    }
  }

  // MARK: Values

  private func value(_ json: JSONValue, _ attribute: NSAttributeDescription) throws(ToolError) -> Any? {
    if json == .null { return nil }
    if let composite = attribute as? NSCompositeAttributeDescription { return try elements(json, composite) }
    let text: String
    switch json {
    case .string(let value), .number(let value): text = value
    case .bool(let flag): text = flag ? "true" : "false"
    default: text = json.text(indented: false)
    }
    func wrong(_ expected: String) -> ToolError {
      ToolError("\(entity.name ?? "").\(attribute.name) has to be \(expected), and is \(text.prefix(40)).")
    }
    switch attribute.attributeType {
    case .stringAttributeType: return text
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
      guard let number = Int64(text) else { throw wrong("a whole number") }
      let range: ClosedRange<Int64> =
        switch attribute.attributeType {
        case .integer16AttributeType: Int64(Int16.min)...Int64(Int16.max)
        case .integer32AttributeType: Int64(Int32.min)...Int64(Int32.max)
        default: Int64.min...Int64.max
        }
      guard range.contains(number) else { throw wrong("between \(range.lowerBound) and \(range.upperBound)") }
      return NSNumber(value: number)
    case .doubleAttributeType, .floatAttributeType:
      guard let number = Double(text),
        number.isFinite || text.contains(where: \.isLetter) && !text.contains(where: \.isNumber)
      else { throw wrong("a number that fits into 64 bits") }
      guard attribute.attributeType == .floatAttributeType else { return NSNumber(value: number) }
      guard Float(number).isFinite || !number.isFinite else { throw wrong("a number that fits into 32 bits") }
      return NSNumber(value: Float(number))
    case .decimalAttributeType:
      // Foundation reads what stands before the first other character.
      guard text.wholeMatch(of: #/[+\-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+\-]?[0-9]+)?/#) != nil,
        let number = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")), !number.isNaN,
        !number.isZero || Double(text) == 0
      else { throw wrong("a decimal number of the range of Decimal") }
      return NSDecimalNumber(decimal: number)
    case .booleanAttributeType:
      switch text.lowercased() {
      case "true", "yes", "1": return true as NSNumber
      case "false", "no", "0": return false as NSNumber
      default: throw wrong("true or false")
      }
    case .dateAttributeType:
      guard let date = DateText.date(text) else { throw wrong("a date such as 2026-01-31T08:00:00Z") }
      return date
    case .UUIDAttributeType:
      guard let id = UUID(uuidString: text) else { throw wrong("a UUID") }
      return id
    case .URIAttributeType:
      guard let url = URL(string: text) else { throw wrong("a URL") }
      return url
    case .binaryDataAttributeType:
      guard let data = Data(base64Encoded: text) else { throw wrong("bytes in Base64") }
      return data
    case .transformableAttributeType:
      if json["$archive"] != nil {
        throw ToolError(
          "\(entity.name ?? "").\(attribute.name) is an archive of a class that this program does not have. Leave it out, or copy the store's file."
        )
      }
      return Self.transformable(json)
    default:
      throw ToolError(
        "\(entity.name ?? "").\(attribute.name) has a type that can't be imported. Leave it out.")
    }
  }

  private func elements(_ json: JSONValue, _ composite: NSCompositeAttributeDescription) throws(ToolError)
    -> Any?
  {
    guard case .object(let members) = json else {
      throw ToolError("\(entity.name ?? "").\(composite.name) has to be an object.")
    }
    var result: [String: Any] = [:]
    for member in members {
      guard let element = composite.elements.first(where: { $0.name == member.key }) else {
        throw ToolError(
          "\(composite.name) has no element \(member.key). It has \(composite.elements.map(\.name).joined(separator: ", "))."
        )
      }
      if let value = try value(member.value, element) { result[member.key] = value }
    }
    return result.isEmpty ? nil : result
  }

  /// The value of a transformable attribute. A text that is a list or an object in JSON stands for that.
  static func transformable(_ json: JSONValue) -> Any? {
    if case .string(let text) = json, let first = text.first, first == "[" || first == "{",
      let value = try? JSONValue(reading: Data(text.utf8))
    {
      return plain(value)
    }
    return json == .null ? nil : plain(json)
  }

  private static func plain(_ json: JSONValue) -> Any {
    switch json {
    case .null: NSNull()
    case .bool(let flag): NSNumber(value: flag)
    case .number(let text): Int64(text).map { NSNumber(value: $0) } ?? NSNumber(value: Double(text) ?? 0)
    case .string(let text): text as NSString
    case .array(let values): values.map(plain) as NSArray
    case .object(let members):
      Dictionary(members.map { ($0.key, plain($0.value)) }) { first, _ in first } as NSDictionary
    }
  }
}
