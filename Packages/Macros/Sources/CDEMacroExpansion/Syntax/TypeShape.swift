import SwiftSyntax

/// The types an attribute stores as they are, and the name of each in the runtime schema.
enum Primitive: String, CaseIterable {
  case string = "String"
  case bool = "Bool"
  case int = "Int"
  case int16 = "Int16"
  case int32 = "Int32"
  case int64 = "Int64"
  case float = "Float"
  case double = "Double"
  case decimal = "Decimal"
  case date = "Date"
  case data = "Data"
  case uuid = "UUID"
  case url = "URL"

  /// The case of `CDRuntimePrimitiveAttributeType`.
  var schemaCase: String { self == .int ? "int64" : "\(self)" }

  static var list: String { allCases.map(\.rawValue).joined(separator: ", ") }
}

/// What a declared type means to the model: an optional or not, and what it wraps.
struct TypeShape {
  enum Kind {
    case primitive(Primitive)
    case set(element: TypeSyntax)
    case array(element: TypeSyntax)
    case other
  }

  let isOptional: Bool
  /// The type without its optional layer.
  let wrapped: TypeSyntax
  let kind: Kind

  init(_ type: TypeSyntax) {
    let (wrapped, isOptional) = TypeShape.unwrap(TypeShape.withoutParentheses(type))
    self.isOptional = isOptional
    self.wrapped = wrapped
    if let array = wrapped.as(ArrayTypeSyntax.self) {
      kind = .array(element: array.element.trimmed)
    } else if let element = TypeShape.argument(of: "Array", in: wrapped) {
      kind = .array(element: element)
    } else if let element = TypeShape.argument(of: "Set", in: wrapped) {
      kind = .set(element: element)
    } else if let primitive = Primitive(rawValue: TypeShape.withoutModule(wrapped)) {
      kind = .primitive(primitive)
    } else {
      kind = .other
    }
  }

  var primitive: Primitive? {
    if case .primitive(let primitive) = kind { return primitive }
    return nil
  }

  private static func withoutParentheses(_ type: TypeSyntax) -> TypeSyntax {
    guard let tuple = type.as(TupleTypeSyntax.self), tuple.elements.count == 1,
      let only = tuple.elements.first, only.firstName == nil
    else { return type.trimmed }
    return withoutParentheses(only.type)
  }

  private static func unwrap(_ type: TypeSyntax) -> (TypeSyntax, Bool) {
    if let optional = type.as(OptionalTypeSyntax.self) {
      return (withoutParentheses(optional.wrappedType), true)
    }
    if let optional = type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
      return (withoutParentheses(optional.wrappedType), true)
    }
    if let wrapped = argument(of: "Optional", in: type) { return (withoutParentheses(wrapped), true) }
    return (type, false)
  }

  /// The only generic argument of `name<X>` or `Swift.name<X>`.
  private static func argument(of name: String, in type: TypeSyntax) -> TypeSyntax? {
    let clause: GenericArgumentClauseSyntax?
    if let identifier = type.as(IdentifierTypeSyntax.self), identifier.name.text == name {
      clause = identifier.genericArgumentClause
    } else if let member = type.as(MemberTypeSyntax.self), member.name.text == name,
      member.baseType.trimmedDescription == "Swift"
    {
      clause = member.genericArgumentClause
    } else {
      clause = nil
    }
    guard let arguments = clause?.arguments, arguments.count == 1,
      case .type(let argument)? = arguments.first?.argument
    else { return nil }
    return argument.trimmed
  }

  private static func withoutModule(_ type: TypeSyntax) -> String {
    let spelled = type.trimmedDescription
    for module in ["Swift.", "Foundation."] where spelled.hasPrefix(module) {
      return String(spelled.dropFirst(module.count))
    }
    return spelled
  }
}
