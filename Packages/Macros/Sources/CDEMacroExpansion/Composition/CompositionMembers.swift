import SwiftSyntax
import SwiftSyntaxBuilder

/// The members that `@Composition` adds to a struct.
struct CompositionMembers {
  let composition: CompositionDeclaration

  private var access: String { composition.access.prefix }
  private var fields: [CompositionDeclaration.Field] { composition.fields }

  var declarations: [DeclSyntax] {
    [schema, decode, encode, predicateKey] + PathMembers(composition).declarations
  }

  private var schema: DeclSyntax {
    let elements = fields.map { field in
      let arguments = [
        "persistentName: \(field.persistentName.quoted)",
        "swiftTypeName: \(field.shape.wrapped.trimmedDescription.quoted)",
        "primitiveType: .\(field.primitive.schemaCase)",
        "isOptional: \(field.shape.isOptional)",
        "defaultValueExpression: \(field.defaultExpression.map(\.quoted) ?? "nil")",
      ]
      return "CDRuntimeCompositionFieldSchema(\(arguments.joined(separator: ", ")))"
    }
    return """
      \(raw: access)nonisolated static let __cdRuntimeCompositionFields: [CDRuntimeCompositionFieldSchema] = [
        \(raw: elements.joined(separator: ",\n  ")),
      ]
      """
  }

  private var decode: DeclSyntax {
    let reads = fields.map { field in
      let read = "_cdPrimitive(__cdValues[\(field.persistentName.quoted)])"
      let type = field.shape.wrapped.trimmedDescription
      return field.shape.isOptional
        ? "let \(field.identifier): \(type)? = \(read)"
        : "guard let \(field.identifier): \(type) = \(read) else {\n    return nil\n  }"
    }
    let arguments = fields.map { "\($0.identifier): \($0.identifier)" }
    return """
      \(raw: access)nonisolated static func __cdDecodeComposition(from __cdValues: [Swift.String: Any]) -> Self? {
        \(raw: reads.joined(separator: "\n  "))
        return Self(\(raw: arguments.joined(separator: ", ")))
      }
      """
  }

  private var encode: DeclSyntax {
    let writes = fields.map { field in
      let key = "__cdValues[\(field.persistentName.quoted)]"
      return field.shape.isOptional
        ? "if let __cdValue = self.\(field.identifier) {\n    \(key) = __cdValue\n  }"
        : "\(key) = self.\(field.identifier)"
    }
    return """
      \(raw: access)nonisolated var __cdEncodeComposition: [Swift.String: Any] {
        var __cdValues: [Swift.String: Any] = [:]
        \(raw: writes.joined(separator: "\n  "))
        return __cdValues
      }
      """
  }

  /// The key of a path that continues one to a composition, which is always optional in a model.
  private var predicateKey: DeclSyntax {
    let tests = fields.map { field in
      """
      if matches(\\.\(field.identifier), \\.?.\(field.identifier)) {
          return \(field.persistentName.quoted)
        }
      """
    }
    return """
      \(raw: access)nonisolated static func __cdPredicateKey(for keyPath: Swift.AnyKeyPath, after base: Swift.AnyKeyPath?) -> Swift.String? {
        func matches(_ field: Swift.PartialKeyPath<Self>, _ optionalField: Swift.PartialKeyPath<Self?>) -> Swift.Bool {
          base.map { $0.appending(path: optionalField) == keyPath } ?? (keyPath == field)
        }
        \(raw: tests.joined(separator: "\n  "))
        return nil
      }
      """
  }
}
