import SwiftDiagnostics
import SwiftSyntax

/// Types that code often has and no attribute can hold, with the one to declare instead.
enum UnstorableType {
  /// The attribute type that holds the values of a type, or nil for a type that is not known here.
  static func replacement(for type: TypeSyntax) -> (type: String, why: String)? {
    let spelled = type.trimmedDescription
    let name = spelled.split(separator: ".").last.map(String.init) ?? spelled
    return table[name]
  }

  private static let table: [String: (type: String, why: String)] = [
    "Int8": ("Int16", integers), "UInt8": ("Int16", integers), "UInt16": ("Int32", integers),
    "UInt32": ("Int64", integers), "UInt64": ("Int64", integers), "UInt": ("Int", integers),
    "CGFloat": ("Double", "it is a Double"), "TimeInterval": ("Double", "it is a Double"),
    "Float16": ("Float", "it has no attribute type of its own"),
    "Float32": ("Float", "it is a Float"), "Float64": ("Double", "it is a Double"),
    "Character": ("String", "text is stored as String"), "Substring": ("String", "text is stored as String"),
    "NSDecimalNumber": ("Decimal", objects), "NSString": ("String", objects), "NSDate": ("Date", objects),
    "NSData": ("Data", objects), "NSUUID": ("UUID", objects), "NSURL": ("URL", objects),
    "NSNumber": ("Int", "\(objects); Bool, Double and the other numbers do as well"),
  ]

  private static let integers = "attributes are signed integers of 16, 32 or 64 bits"
  private static let objects = "attributes have Swift's types"
}

extension PropertyTypeReader {
  /// The error for a type that is known to be no attribute type, whatever the marker; nil for others.
  static func unstorable(_ name: String, _ shape: TypeShape, at type: TypeSyntax) -> Diagnostic? {
    guard let found = UnstorableType.replacement(for: shape.wrapped) else { return nil }
    let spelled = found.type + (shape.isOptional ? "?" : "")
    return .make(
      "unstorableType", at: type,
      "`\(name)` cannot be stored as `\(type.trimmedDescription)`: \(found.why). Declare it as `\(spelled)`, "
        + "and convert it in a computed property where another type is wanted.",
      fixIts: [.replacing("Declare it as `\(spelled)`", type, with: spelled)])
  }
}
