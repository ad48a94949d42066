import SwiftSyntax
import SwiftSyntaxBuilder

/// Lets the compiler see that each relationship's inverse exists.
///
/// A macro sees one class only. So every model lists its relationships' persistent names as members of a
/// struct, and a model that names an inverse asks the other's struct for that member. A name that is not
/// there finds the struct's subscript for any name instead, which is deprecated with a message that says
/// what is wrong: a warning, because the model builder decides (and throws).
struct InverseCheck {
  let model: ModelDeclaration

  private var access: String { model.access.prefix }

  var names: [DeclSyntax] {
    if model.isInHierarchy { return inheritedNames }
    let members = model.relationships.map { "\(access)var \(escaped($0.persistentName)): Swift.Void { () }" }
    return [
      """
      @dynamicMemberLookup
      \(raw: access)nonisolated struct __CDRelationshipNames {
        \(raw: members.joined(separator: "\n  "))
        @available(*, deprecated, message: \(raw: message.quoted))
        \(raw: access)subscript(dynamicMember name: Swift.String) -> Swift.Void { () }
      }
      """
    ]
  }

  /// A class instead of a struct, so that the names of a parent are names of its children.
  private var inheritedNames: [DeclSyntax] {
    var members = model.relationships.map {
      "\(access)final var \(escaped($0.persistentName)): Swift.Void { () }"
    }
    var parent = ""
    var attribute = ""
    if let name = model.parent {
      parent = ": \(name).__CDInheritedRelationshipNames"
    } else {
      attribute = "@dynamicMemberLookup\n"
      members += [
        "\(access)init() {}",
        "@available(*, deprecated, message: \(message.quoted))\n  "
          + "\(access)final subscript(dynamicMember name: Swift.String) -> Swift.Void { () }",
      ]
    }
    return [
      """
      \(raw: attribute)\(raw: model.overridableAccess)nonisolated class __CDInheritedRelationshipNames\(raw: parent) {
        \(raw: members.joined(separator: "\n  "))
      }
      """,
      "\(raw: access)typealias __CDRelationshipNames = __CDInheritedRelationshipNames",
    ]
  }

  var check: DeclSyntax {
    let lines = model.relationships.compactMap { property -> String? in
      guard let target = property.target, let inverse = property.inverse else { return nil }
      // One expression, so that a target that is no model is one error.
      return
        "// \(model.name).\(property.name): \(target) must be a @PersistentModel class, with the inverse "
        + "\(inverse).\n  _CDRelationshipCheck.check(\(target).self, "
        + "inverse: \(target).__CDRelationshipNames().\(escaped(inverse)))"
    }
    return """
      private nonisolated static func __cdCheckRelationships() {
        \(raw: lines.joined(separator: "\n  "))
      }
      """
  }

  private var message: String {
    "\(model.name) has no relationship of this persistent name, but another model's @Relationship "
      + "names it as its inverse; correct `inverse:` there, or add the relationship to \(model.name)."
  }

  private func escaped(_ name: String) -> String { "`\(name)`" }
}

extension ModelProperty {
  /// The persistent name of a relationship's inverse.
  var inverse: String? {
    switch kind {
    case .attribute: nil
    case .toOne(let options, _), .toManySet(let options, _), .toManyArray(let options, _): options.inverse
    }
  }
}
