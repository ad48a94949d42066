import SwiftDiagnostics
import SwiftSyntax

/// Types of which the syntax alone tells that they are neither `Codable` nor models.
enum SwiftDataUnstorable {
  /// The error for a property of such a type; nil for other types, and for a property that a transformer stores.
  static func problem(
    _ type: TypeSyntax, _ identifier: TokenSyntax, _ variable: VariableDeclSyntax
  ) -> Diagnostic? {
    guard !isTransformable(variable), let found = find(in: type) else { return nil }
    var fixIts = [SwiftDataProperty.leavingOut(variable)]
    if let replacement = found.replacement {
      let spelled = type.trimmedDescription.replacing(found.node.trimmedDescription, with: replacement)
      fixIts.insert(.replacing("Store it as `\(spelled)`", type, with: spelled), at: 0)
    }
    return .make(
      "unstorableType", at: type,
      "`\(identifier.text)` is \(found.what), which is neither Codable nor a model, so it cannot be stored; use a Codable type, or "
        + "mark the property with @Transient.", fixIts: fixIts)
  }

  private static func isTransformable(_ variable: VariableDeclSyntax) -> Bool {
    variable.attributes.first(named: "Attribute")?.labeledArguments.contains {
      $0.expression.trimmedDescription.contains(".transformable(")
    } ?? false
  }

  private struct Found {
    let node: TypeSyntax
    let what: String
    var replacement: String?
  }

  private static func find(in type: TypeSyntax) -> Found? {
    let type = TypeShape(type).wrapped
    if type.is(FunctionTypeSyntax.self)
      || type.as(AttributedTypeSyntax.self)?.baseType.is(FunctionTypeSyntax.self) == true
    {
      return Found(node: type, what: "a closure")
    }
    if let tuple = type.as(TupleTypeSyntax.self), tuple.elements.count != 1 {
      return Found(node: type, what: "a tuple")
    }
    if type.is(SomeOrAnyTypeSyntax.self) {
      return Found(node: type, what: "a value of any type of a protocol")
    }
    if type.is(MetatypeTypeSyntax.self) { return Found(node: type, what: "a type") }
    if let parts = parts(of: type) { return parts.lazy.compactMap { find(in: $0) }.first }
    let name = type.trimmedDescription.split(separator: ".").last.map(String.init) ?? ""
    if let replacement = replacements[name] {
      return Found(node: type, what: "of type `\(name)`", replacement: replacement)
    }
    return anyTypes.contains(name) ? Found(node: type, what: "of type `\(name)`") : nil
  }

  /// The types of the elements of a collection.
  private static func parts(of type: TypeSyntax) -> [TypeSyntax]? {
    if let array = type.as(ArrayTypeSyntax.self) { return [array.element] }
    if let dictionary = type.as(DictionaryTypeSyntax.self) { return [dictionary.key, dictionary.value] }
    guard let named = type.as(IdentifierTypeSyntax.self),
      ["Array", "Set", "Dictionary", "Optional"].contains(named.name.text),
      let clause = named.genericArgumentClause
    else { return nil }
    return clause.arguments.compactMap { TypeSyntax($0.argument) }
  }

  private static let anyTypes: Set<String> = [
    "Any", "AnyObject", "AnyHashable", "Selector", "NSObject", "AnyKeyPath", "Task",
  ]

  /// Types that programs often have, and those that hold the same.
  private static let replacements = [
    "Character": "String", "Substring": "String", "NSString": "String", "NSDate": "Date", "NSData": "Data",
    "NSUUID": "UUID", "NSURL": "URL", "NSNumber": "Double", "NSAttributedString": "AttributedString",
    "UIImage": "Data", "NSImage": "Data", "CGImage": "Data", "UIColor": "String", "NSColor": "String",
  ]
}
