/// How the class of an entity, written by hand or by Xcode, declares its properties.
struct PropertyTypes {
  let model: Model
  let entity: Entity

  var isGenerated: Bool { entity.generation != .manual }

  /// The type of an attribute's property.
  func type(of attribute: Attribute) -> String {
    let mark = attribute.isOptional || isGenerated ? "?" : ""
    switch attribute.kind {
    case .string, .mode: return "String\(mark)"
    case .int16: return attribute.isScalar ? "Int16" : "NSNumber\(mark)"
    case .int32: return attribute.isScalar ? "Int32" : "NSNumber\(mark)"
    case .int64: return attribute.isScalar ? "Int64" : "NSNumber\(mark)"
    case .float: return attribute.isScalar ? "Float" : "NSNumber\(mark)"
    case .double: return attribute.isScalar ? "Double" : "NSNumber\(mark)"
    case .boolean: return attribute.isScalar ? "Bool" : "NSNumber\(mark)"
    case .decimal: return "NSDecimalNumber\(mark)"
    case .date:
      return attribute.isScalar ? "TimeInterval" : isOldFashioned(attribute) ? "NSDate\(mark)" : "Date\(mark)"
    case .binary: return isOldFashioned(attribute) ? "NSData\(mark)" : "Data\(mark)"
    case .uuid: return "UUID\(mark)"
    case .uri: return "URL\(mark)"
    case .strings: return "[String]\(mark)"
    case .archive: return isGenerated ? "NSObject?" : "NSDictionary\(mark)"
    case .state: return isGenerated ? "Int16" : "EntityState"
    case .level: return isGenerated ? "Int16" : "EntityLevel"
    }
  }

  /// Sources from before Swift 3 have Foundation's classes.
  func isOldFashioned(_ attribute: Attribute) -> Bool { !isGenerated && attribute.name.count % 5 == 4 }

  /// The type of a relationship's property.
  func type(of relationship: Relationship) -> String {
    let destination = model.entities[relationship.destination].swiftName
    let form = relationship.form
    if form == .toOne { return "\(destination)?" }
    if isGenerated { return form == .ordered ? "NSOrderedSet?" : "NSSet?" }
    switch relationship.spelling {
    case .foundationSet: return form == .ordered ? "NSOrderedSet" : "NSSet"
    case .optionalFoundationSet: return form == .ordered ? "NSOrderedSet?" : "NSSet?"
    case .typedSet: return form == .ordered ? "NSOrderedSet" : "Set<\(destination)>"
    case .optionalTypedSet: return form == .ordered ? "NSOrderedSet?" : "Set<\(destination)>?"
    }
  }

  /// The value that tests write, and expect to read.
  func value(of attribute: Attribute, in place: Int) -> String {
    switch attribute.kind {
    case .string:
      return attribute.name.hasSuffix("Key")
        ? #""\#(entity.name.lowercased()) \(number)""# : #""text \#(place)""#
    case .int16, .int32: return "\(place % 100 + 2)"
    case .int64:
      return attribute.isScalar
        ? "9_000_000_0\(place % 90 + 10)" : "NSNumber(value: 9_000_000_0\(place % 90 + 10) as Int64)"
    case .float, .double: return "\(place).25"
    case .boolean: return place % 2 == 0 ? "true" : "false"
    case .decimal: return #"NSDecimalNumber(string: "\#(place).75")"#
    case .date:
      let text = "timeIntervalSinceReferenceDate: \(place * 1000)"
      return attribute.isScalar
        ? "\(place * 1000)" : isOldFashioned(attribute) ? "NSDate(\(text))" : "Date(\(text))"
    case .binary:
      let data = "Data([1, 2, \(place % 200)])"
      return isOldFashioned(attribute) ? "\(data) as NSData" : data
    case .uuid:
      let digits = String(place)
      let tail = String(repeating: "0", count: 12 - digits.count) + digits
      return #"UUID(uuidString: "E621E1F8-C36C-495A-93FC-\#(tail)")!"#
    case .uri: return #"URL(string: "https://example.com/\#(place)")!"#
    case .strings: return #"["a", "\#(place)"]"#
    case .archive: return #"["count": \#(place)] as NSDictionary"#
    case .state: return isGenerated ? "1" : ".active"
    case .level: return isGenerated ? "2" : ".high"
    case .mode: return #""manual""#
    }
  }

  /// A name as a declaration has to write it.
  static func declared(_ name: String) -> String {
    ["default", "where", "repeat"].contains(name) ? "`\(name)`" : name
  }

  static func capitalised(_ name: String) -> String { name.prefix(1).uppercased() + name.dropFirst() }
}
