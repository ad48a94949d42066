import SwiftSyntax

/// One persisted property: an attribute or a relationship.
struct ModelProperty {
  enum Kind {
    case attribute(AttributeOptions, any AttributeStorage)
    case toOne(RelationshipOptions, target: String)
    case toManySet(RelationshipOptions, target: String)
    case toManyArray(RelationshipOptions, target: String)
  }

  /// The name as code spells it, backticks included.
  let identifier: String
  /// The name without backticks.
  let name: String
  let kind: Kind
  let type: TypeSyntax
  let shape: TypeShape
  /// Source text of the declared default.
  let defaultExpression: String?
  let declaration: VariableDeclSyntax

  var persistentName: String {
    switch kind {
    case .attribute(let options, _): options.persistentName ?? name
    case .toOne(let options, _), .toManySet(let options, _), .toManyArray(let options, _):
      options.persistentName ?? name
    }
  }

  var isAttribute: Bool {
    if case .attribute = kind { return true }
    return false
  }

  var isTransient: Bool {
    if case .attribute(let options, _) = kind { return options.isTransient }
    return false
  }

  var isToMany: Bool {
    switch kind {
    case .attribute, .toOne: false
    case .toManySet, .toManyArray: true
    }
  }

  /// The type name of a relationship's target.
  var target: String? {
    switch kind {
    case .attribute: nil
    case .toOne(_, let target), .toManySet(_, let target), .toManyArray(_, let target): target
    }
  }

  /// The name of the generated count of a to-many relationship.
  var countName: String { name + "Count" }
}

/// A property that is kept out of the store but takes part in the generated initialiser.
struct IgnoredProperty {
  let identifier: String
  let name: String
  let type: TypeSyntax?
  let declaration: VariableDeclSyntax
}
