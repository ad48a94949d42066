import SwiftSyntax
import SwiftSyntaxBuilder

/// The source text of the function that makes a model's `CDRuntimeEntitySchema`.
///
/// One statement per property: a literal of 200 of them takes the type checker seven times as long.
struct SchemaFunction {
  let model: ModelDeclaration

  static let name = "__cdMakeRuntimeEntitySchema"

  var declaration: DeclSyntax {
    let unique = model.attributes.filter { property in
      if case .attribute(let options, _) = property.kind { return options.isUnique }
      return false
    }.map {
      "CDRuntimeUniquenessConstraint(persistentPropertyNames: [\($0.persistentName.quoted)])"
    }
    var statements: [String] = []
    var arguments = [
      "entityName: \(model.entityName.quoted)",
      "managedObjectClassName: NSStringFromClass(\(model.name).self)",
    ]
    for (list, type, elements) in [
      ("attributes", "CDRuntimeAttributeSchema", model.attributes.map(attribute)),
      ("relationships", "CDRuntimeRelationshipSchema", model.relationships.map(relationship)),
      ("uniquenessConstraints", "CDRuntimeUniquenessConstraint", unique),
    ] {
      arguments.append("\(list): \(elements.isEmpty ? "[]" : list)")
      guard !elements.isEmpty else { continue }
      statements.append("var \(list): [\(type)] = []")
      statements += elements.map { "\(list).append(\($0))" }
    }
    if model.options.isAbstract { arguments.append("isAbstract: true") }
    statements.append("return CDRuntimeEntitySchema(\(arguments.joined(separator: ", ")))")
    return """
      private nonisolated static func \(raw: Self.name)() -> CDRuntimeEntitySchema {
        \(raw: statements.joined(separator: "\n  "))
      }
      """
  }

  private func attribute(_ property: ModelProperty) -> String {
    guard case .attribute(let options, let storage) = property.kind else { return "" }
    var arguments = [
      "swiftName: \(property.name.quoted)",
      "persistentName: \(property.persistentName.quoted)",
      "swiftTypeName: \(property.shape.wrapped.trimmedDescription.quoted)",
      "isOptional: \(property.shape.isOptional)",
      "defaultValueExpression: \(property.defaultExpression.map(\.quoted) ?? "nil")",
      "storage: \(storage.schema)",
      "isUnique: \(options.isUnique)",
      "isTransient: \(options.isTransient)",
    ]
    if let rawValue = storage.defaultRawValue { arguments.append("defaultRawValue: \(rawValue)") }
    if !options.validations.isEmpty {
      arguments.append("validations: [\(options.validations.map(\.schema).joined(separator: ", "))]")
    }
    if options.isPreserved { arguments.append("isPreservedOnDeletion: true") }
    return "CDRuntimeAttributeSchema(\(arguments.joined(separator: ", ")))"
  }

  private func relationship(_ property: ModelProperty) -> String {
    let options: RelationshipOptions
    let target: String
    let kind: String
    switch property.kind {
    case .attribute: return ""
    case .toOne(let found, let name): (options, target, kind) = (found, name, "toOne")
    case .toManySet(let found, let name): (options, target, kind) = (found, name, "toManySet")
    case .toManyArray(let found, let name): (options, target, kind) = (found, name, "toManyArray")
    }
    let arguments = [
      "swiftName: \(property.name.quoted)",
      "persistentName: \(property.persistentName.quoted)",
      "targetTypeName: \(target.quoted)",
      "inverseName: \(options.inverse.quoted)",
      "deleteRule: .\(options.deleteRule)",
      "minimumModelCount: \(options.minimumCount.map(String.init) ?? "nil")",
      "maximumModelCount: \(options.maximumCount.map(String.init) ?? "nil")",
      "kind: .\(kind)",
      // Always: an object may exist before it is related, and a target may be deleted.
      "isOptional: true",
    ]
    return "CDRuntimeRelationshipSchema(\(arguments.joined(separator: ", ")))"
  }
}
