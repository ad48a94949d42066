import SwiftSyntax
import SwiftSyntaxBuilder

/// The count and the helpers of one to-many relationship.
struct RelationshipMembers {
  let model: ModelDeclaration
  let property: ModelProperty

  private var access: String { model.access.limited(to: property.declaration).prefix }
  private var ordinal: String { property.ordinal(in: model.name) }

  var declarations: [DeclSyntax] {
    let target = property.target ?? ""
    let name = property.name.withUppercasedFirstLetter
    var members: [DeclSyntax] = []
    if model.options.generateToManyCount, !model.clashingCounts.contains(property.name) {
      members.append(count)
    }
    let collection: String
    if case .toManyArray = property.kind {
      collection = "[\(target)]"
    } else {
      collection = "Swift.Set<\(target)>"
    }
    members += [
      helper("addTo\(name)(_ value: \(target))", "_cdAdd(\(ordinal), value)"),
      helper("addTo\(name)(_ values: \(collection))", "_cdAdd(\(ordinal), contentsOf: values)"),
      helper("removeFrom\(name)(_ value: \(target))", "_cdRemove(\(ordinal), value)"),
      helper("removeFrom\(name)(_ values: \(collection))", "_cdRemove(\(ordinal), contentsOf: values)"),
    ]
    if case .toManyArray = property.kind {
      members.append(
        helper(
          "insertInto\(name)(_ value: \(target), at index: Swift.Int)",
          "_cdInsert(\(ordinal), value, at: index)"))
    }
    return members
  }

  private var count: DeclSyntax {
    let path = model.options.isObserved ? "\(model.name).\(property.countName)" : nil
    return """
      \(raw: access)nonisolated var \(raw: property.countName): Swift.Int {
        \(raw: ModelProperty.getterBody("_cdToManyCount(\(ordinal))", observing: path))
      }
      """
  }

  private func helper(_ signature: String, _ body: String) -> DeclSyntax {
    """
    \(raw: access)nonisolated func \(raw: signature) {
      \(raw: body)
    }
    """
  }
}
