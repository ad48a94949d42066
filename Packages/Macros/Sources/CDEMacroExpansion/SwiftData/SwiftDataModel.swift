import SwiftDiagnostics
import SwiftSyntax

/// The declaration of a `@Model` class.
struct SwiftDataModel {
  let declaration: ClassDeclSyntax
  let properties: [SwiftDataProperty]
  let deprecatedPaths: DeprecatedPaths
  /// The arguments of `#Unique` and `#Index` in the class, with the name of each.
  let constraints: [(name: String, arguments: String)]
  /// The model that the class inherits from, spelled as in the source; nil for a class that is the first of its kind.
  let parent: String?

  var name: String { declaration.name.text }
  var isFinal: Bool { declaration.modifiers.contains(.final) }
  var access: String { AccessLevel(of: declaration).prefix }

  /// Access of members that subclasses override, in other modules too.
  var overridableAccess: String {
    declaration.modifiers.contains(.open) ? "open " : access
  }

  /// Reads a declaration. What is wrong with it goes into `diagnostics`.
  ///
  /// - Parameter protocols: the protocols that the class does not have yet. A class that lacks none inherits from a model.
  init?(
    _ declaration: some DeclGroupSyntax, marker: AttributeSyntax, missing protocols: [TypeSyntax],
    diagnostics: inout [Diagnostic]
  ) {
    guard let type = declaration.as(ClassDeclSyntax.self) else {
      diagnostics.append(Self.noClass(declaration, marker))
      return nil
    }
    if let generics = type.genericParameterClause {
      diagnostics.append(
        .make(
          "genericModel", at: generics,
          "@Model cannot be attached to a generic class, because an entity has one set of properties; declare a class for "
            + "each."))
      return nil
    }
    self.declaration = type
    let inherits = !protocols.contains { $0.trimmedDescription.hasSuffix("PersistentModel") }
    parent = inherits ? type.inheritanceClause?.inheritedTypes.first?.type.trimmedDescription : nil
    var found: [SwiftDataProperty] = []
    var constraints: [(String, String)] = []
    for item in type.memberBlock.members {
      if let variable = item.decl.as(VariableDeclSyntax.self) {
        switch SwiftDataProperty.role(of: variable) {
        case .persisted(let property):
          found.append(property)
          diagnostics += RelationshipMarker(property, in: type.name.text)?.problems ?? []
        case .kept(let variable): diagnostics += Self.problems(ofKept: variable)
        case .refused(let problem): diagnostics.append(problem)
        case .other: break
        }
      } else if let macro = item.decl.as(MacroExpansionDeclSyntax.self),
        ["Unique", "Index"].contains(macro.macroName.text)
      {
        constraints.append((macro.macroName.text, macro.arguments.trimmedDescription))
      } else if let block = item.decl.as(IfConfigDeclSyntax.self) {
        diagnostics += Self.problems(ofConditional: block)
      }
    }
    properties = found
    deprecatedPaths = DeprecatedPaths(
      type: "_$Deprecated", of: found.map { (identifier: $0.identifier.text, variable: $0.variable) })
    self.constraints = constraints
    diagnostics += SwiftDataClassChecks(model: self).problems
    if let problem = missingInitialiser(marker) { diagnostics.append(problem) }
  }

  // MARK: Problems

  private static func noClass(_ declaration: some DeclGroupSyntax, _ marker: AttributeSyntax) -> Diagnostic {
    var fixIts: [FixIt] = []
    if let type = declaration.as(StructDeclSyntax.self) {
      fixIts = [.replacing("Declare a class", type.structKeyword, with: "final class")]
    } else if let type = declaration.as(ActorDeclSyntax.self) {
      fixIts = [.replacing("Declare a class", type.actorKeyword, with: "final class")]
    }
    return .make(
      "noClass", at: marker,
      "@Model can only be attached to a class, because a model has an identity that its context knows.",
      fixIts: fixIts)
  }

  /// A fetched model is made without the arguments of the class's initialisers.
  private static func problems(ofKept variable: VariableDeclSyntax) -> [Diagnostic] {
    let isConstant = variable.bindingSpecifier.tokenKind == .keyword(.let)
    return variable.bindings.compactMap { binding in
      guard binding.initializer == nil, !binding.isComputed,
        isConstant || !(binding.typeAnnotation.map { TypeShape($0.type).isOptional } ?? false)
      else { return nil }
      let name = binding.pattern.trimmedDescription
      return .make(
        "keptWithoutValue", at: binding.pattern,
        "`\(name)` is not stored, so a fetched model has no value for it; give it a default value"
          + (isConstant ? ", or declare a `var`, which is stored." : "."),
        fixIts: isConstant
          ? [.replacing("Declare a `var`", variable.bindingSpecifier, with: "var")] : [])
    }
  }

  private static func problems(ofConditional block: IfConfigDeclSyntax) -> [Diagnostic] {
    block.clauses.flatMap { clause -> [Diagnostic] in
      guard case .decls(let list)? = clause.elements else { return [] }
      return list.compactMap { item in
        guard let variable = item.decl.as(VariableDeclSyntax.self),
          case .persisted = SwiftDataProperty.role(of: variable)
        else { return nil }
        return .make(
          "conditionalProperty", at: variable,
          "A persisted property cannot stand inside `#if`, because the schema must be the same in every build; move it "
            + "out, or mark it with @Transient.", fixIts: [SwiftDataProperty.leavingOut(variable)])
      }
    }
  }

  private func missingInitialiser(_ marker: AttributeSyntax) -> Diagnostic? {
    let hasInitialiser = declaration.memberBlock.members.contains { $0.decl.is(InitializerDeclSyntax.self) }
    guard !hasInitialiser, parent == nil else { return nil }
    let needing = properties.filter(\.needsValue).map(\.name)
    guard !needing.isEmpty else { return nil }
    let parameters = needing.compactMap { name in
      properties.first { $0.name == name }?.type.map { "\(name): \($0)" }
    }
    let assignments = needing.map { "    self.\($0) = \($0)" }.joined(separator: "\n")
    let text =
      "\n\n  \(access)init(\(parameters.joined(separator: ", "))) {\n\(assignments)\n  }"
    let last = declaration.memberBlock.members.last
    return .make(
      "missingInitialiser", at: declaration.name,
      "@Model requires an initialiser that sets \(needing.map { "`\($0)`" }.joined(separator: ", ")), or default values for "
        + "them.",
      fixIts: parameters.count == needing.count
        ? last.map { [.inserting("Add an initialiser", text, after: $0)] } ?? [] : [])
  }
}

/// What `@Relationship` says of a property.
private struct RelationshipMarker {
  let problems: [Diagnostic]

  init?(_ property: SwiftDataProperty, in className: String) {
    guard let marker = property.marker else { return nil }
    var problems: [Diagnostic] = []
    if marker.shortName == "Attribute" {
      if let other = property.variable.attributes.first(named: "Relationship") {
        problems.append(
          .make(
            "twoMarkers", at: other,
            "`\(property.name)` is marked as an attribute and as a relationship; keep the one that its type is.",
            fixIts: [.removing("Remove @Relationship", other), .removing("Remove @Attribute", marker)]))
      }
      self.problems = problems
      return
    }
    // The type where it stands in the source, which fix-its change.
    if let type = property.variable.bindings.first?.typeAnnotation?.type {
      let shape = TypeShape(type)
      if let problem = Self.otherCollection(property, type, shape) {
        problems.append(problem)
      } else if TypeShape(Self.destination(shape)).primitive != nil {
        problems.append(
          .make(
            "noDestination", at: type,
            "@Relationship needs a model: `\(shape.wrapped)` is a value. Remove @Relationship, or use a class with @Model.",
            fixIts: [.removing("Remove @Relationship", marker)]))
      } else if let inverse = marker.argument("inverse") {
        problems += Self.problems(
          ofInverse: inverse, destination: Self.destination(shape).trimmedDescription, owner: className)
      }
    }
    self.problems = problems
  }

  /// The models of a relationship have no keys, and stand in an array.
  private static func otherCollection(
    _ property: SwiftDataProperty, _ type: TypeSyntax, _ shape: TypeShape
  ) -> Diagnostic? {
    var element: TypeSyntax?
    if case .set(let found) = shape.kind {
      element = found
    } else if !shape.wrapped.is(DictionaryTypeSyntax.self) {
      return nil
    }
    let spelled = element.map { "[\($0)]" + (shape.isOptional ? "?" : "") }
    return .make(
      "relationshipCollection", at: type,
      "The models of `\(property.name)` stand in an array: a relationship can't be read as `\(type)`.",
      fixIts: spelled.map { [.replacing("Use `\($0)`", type, with: $0)] } ?? [])
  }

  private static func destination(_ shape: TypeShape) -> TypeSyntax {
    switch shape.kind {
    case .array(let element), .set(let element): element
    default: shape.wrapped
    }
  }

  private static func problems(
    ofInverse inverse: ExprSyntax, destination: String, owner: String
  ) -> [Diagnostic] {
    if inverse.isNilLiteral { return [] }
    guard let path = inverse.as(KeyPathExprSyntax.self) else {
      return [
        .make(
          "inverseForm", at: inverse,
          "`inverse:` is a key path of the model on the other side, such as `\\\(destination).owner`.")
      ]
    }
    guard let rootSyntax = path.root?.trimmedDescription else { return [] }
    // The parser takes the inner types of `\Outer.Model.property` for steps of the path.
    let steps = path.components.map { $0.component.trimmedDescription }
    guard let property = steps.last else { return [] }
    let root = ([rootSyntax] + steps.dropLast()).joined(separator: ".")
    let (written, wanted) = (
      root.split(separator: ".").last ?? "", destination.split(separator: ".").last ?? ""
    )
    // The destination may be a type alias, of an array too, and the inverse a property of the class that it inherits from. A property
    // of the relationship's own class is the mistake that is made, and sure to be wrong.
    guard written != wanted, written == owner else { return [] }
    return [
      .make(
        "inverseRoot", .warning, at: inverse,
        "The inverse of a relationship to `\(destination)` is a property of `\(destination)`, not of `\(root)`.",
        fixIts: [.replacing("Use `\(destination)`", inverse, with: "\\\(destination).\(property)")])
    ]
  }
}
