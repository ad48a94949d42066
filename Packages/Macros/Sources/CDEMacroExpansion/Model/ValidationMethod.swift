import SwiftSyntax
import SwiftSyntaxBuilder

/// A method `validate<Key>` of a model, which checks the value of one property, as in Core Data.
struct ValidationMethod {
  /// The method's name.
  let name: String
  /// The property's name in the model. Several where the declaration does not tell, because the property is a parent's.
  let keys: [String]

  /// - Returns: nil for another member.
  init?(_ member: DeclSyntax, of properties: [ModelProperty]) {
    guard let function = member.as(FunctionDeclSyntax.self), Self.hasForm(function) else { return nil }
    name = function.name.text
    let end = String(name.dropFirst(Self.prefix.count))
    let first = end.prefix(1)
    if let property = properties.first(where: { $0.name.prefix(1).uppercased() + $0.name.dropFirst() == end })
    {
      keys = [property.persistentName]
    } else {
      keys = [first.lowercased() + end.dropFirst(), end]
    }
  }

  private static let prefix = "validate"

  private static func hasForm(_ function: FunctionDeclSyntax) -> Bool {
    let name = function.name.text
    guard name.hasPrefix(prefix), let first = name.dropFirst(prefix.count).first, !first.isLowercase,
      // A method that overrides another one is called by it.
      !function.modifiers.contains(where: { ["static", "class", "override"].contains($0.name.text) }),
      function.signature.effectSpecifiers?.throwsClause != nil,
      function.signature.effectSpecifiers?.asyncSpecifier == nil,
      let parameter = function.signature.parameterClause.parameters.first,
      function.signature.parameterClause.parameters.count == 1, parameter.firstName.text == "_"
    else { return false }
    let type = parameter.type.trimmedDescription
    return type.contains("UnsafeMutablePointer<AnyObject?>")
  }

  /// The members that make the methods known to the runtime.
  static func members(of model: ModelDeclaration) -> [DeclSyntax] {
    let access = model.overridableAccess
    let keys = model.validators.flatMap(\.keys).map(\.quoted).joined(separator: ", ")
    let cases = model.validators.map { method in
      "case \(method.keys.map(\.quoted).joined(separator: ", ")):\n    try \(method.name)(value)"
    }
    return [
      """
      \(raw: access)nonisolated override class var _cdValidatedKeys: [Swift.String] {
        super._cdValidatedKeys + [\(raw: keys)]
      }
      """,
      """
      \(raw: access)nonisolated override func _cdValidate(\
      _ value: Swift.UnsafeMutablePointer<Swift.AnyObject?>, forKey key: Swift.String) throws {
        switch key {
        \(raw: cases.joined(separator: "\n  "))
        default:
          try super._cdValidate(value, forKey: key)
        }
      }
      """,
    ]
  }
}
