import SwiftSyntax

/// How one attribute's Swift value and its stored value relate: one strategy per storage method.
///
/// A strategy writes source text only; whether it fits the declaration was decided before it was made.
protocol AttributeStorage {
  /// The expression a generated getter returns; `ordinal` is the expression of the property's ordinal.
  func getter(ordinal: String) -> String
  /// The statement a generated setter runs; `newValue` is in scope.
  func setter(ordinal: String) -> String
  /// The getter of a property outside a model class, where no ordinals exist.
  func getter(key: String) -> String
  /// The setter of a property outside a model class.
  func setter(key: String) -> String
  /// The `CDRuntimeAttributeStorage` expression.
  var schema: String { get }
  /// An expression of the declared default's raw value, where only the type checker knows it.
  var defaultRawValue: String? { get }
}

extension AttributeStorage {
  var defaultRawValue: String? { nil }
}

/// A primitive stored as it is.
struct DefaultStorage: AttributeStorage {
  let primitive: Primitive
  let isOptional: Bool

  func getter(ordinal: String) -> String { isOptional ? "_cdValue(\(ordinal))" : "_cdRequired(\(ordinal))" }

  func setter(ordinal: String) -> String { "_cdSetValue(\(ordinal), newValue)" }

  func getter(key: String) -> String {
    "\(isOptional ? "_cdValue" : "_cdRequired")(forKey: \(key.quoted))"
  }

  func setter(key: String) -> String { "setValue(newValue, forKey: \(key.quoted))" }

  var schema: String { ".primitive(.\(primitive.schemaCase))" }
}
