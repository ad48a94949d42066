import SwiftSyntax

/// The source text of a model's `CDRuntimeEntitySchema`.
struct SchemaExpression {
  let model: ModelDeclaration

  var text: String {
    var arguments = [
      "entityName: \(model.entityName.quoted)",
      "managedObjectClassName: NSStringFromClass(\(model.name).self)",
      "attributes: \(list(model.attributes.map(attribute)))",
      "relationships: \(list(model.relationships.map(relationship)))",
    ]
    let unique = model.attributes.filter { property in
      if case .attribute(let options, _) = property.kind { return options.isUnique }
      return false
    }
    if !unique.isEmpty {
      let constraints = unique.map {
        "CDRuntimeUniquenessConstraint(persistentPropertyNames: [\($0.persistentName.quoted)])"
      }
      arguments.append("uniquenessConstraints: \(list(constraints))")
    }
    return "CDRuntimeEntitySchema(\n  \(arguments.joined(separator: ",\n  "))\n)"
  }

  private func list(_ elements: [String]) -> String {
    elements.isEmpty ? "[]" : "[\n    \(elements.joined(separator: ",\n    "))\n  ]"
  }

  private func attribute(_ property: ModelProperty) -> String {
    guard case .attribute(let options, let storage) = property.kind else { return "" }
    let arguments = [
      "swiftName: \(property.name.quoted)",
      "persistentName: \(property.persistentName.quoted)",
      "swiftTypeName: \(property.shape.wrapped.trimmedDescription.quoted)",
      "isOptional: \(property.shape.isOptional)",
      "defaultValueExpression: \(property.defaultExpression.map(\.quoted) ?? "nil")",
      "storage: \(storage.schema)",
      "isUnique: \(options.isUnique)",
      "isTransient: \(options.isTransient)",
    ]
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
