import SwiftDiagnostics
import SwiftSyntax

/// One persisted property of a `@Model` class, as its declaration spells it.
struct SwiftDataProperty {
  let identifier: TokenSyntax
  let type: TypeSyntax?
  let initialValue: ExprSyntax?
  /// `@Attribute` or `@Relationship`; nil for a property without one.
  let marker: AttributeSyntax?
  let variable: VariableDeclSyntax

  var name: String { identifier.bareName }

  /// Whether an initialiser has to set the property.
  var needsValue: Bool {
    guard initialValue == nil else { return false }
    return type.map { !TypeShape($0).isOptional } ?? true
  }

  /// Whether a transformer stores the value, whose type need not be Codable.
  var isTransformable: Bool {
    marker?.labeledArguments.contains { $0.expression.trimmedDescription.contains(".transformable(") }
      ?? false
  }

  /// Whether the property may be an array of models, as far as its declaration says.
  var isArray: Bool {
    guard let array = type?.as(ArrayTypeSyntax.self), !isTransformable else { return false }
    return TypeShape(array.element).primitive == nil
  }

  /// The declaration of an option in the schema: `.init(.unique, originalName: "old")`; nil without a marker.
  func metadata(in className: String) -> String? {
    guard let marker else { return nil }
    let kind = marker.shortName == "Relationship" ? "Relationship" : "Attribute"
    let arguments = marker.labeledArguments.map { argument in
      let value = argument.expression.trimmedDescription
      return argument.label.map { "\($0.text): \(value)" } ?? value
    }
    return "CDESwiftData.Schema.\(kind)(\(arguments.joined(separator: ", ")))"
  }
}

extension SwiftDataProperty {
  /// What a variable of a `@Model` class is.
  enum Role {
    case persisted(SwiftDataProperty)
    /// A stored property that the store does not keep.
    case kept(VariableDeclSyntax)
    /// A computed property, or one of the class itself.
    case other
    case refused(Diagnostic)
  }

  static func role(of variable: VariableDeclSyntax) -> Role {
    let modifiers = variable.modifiers
    if modifiers.contains(.static) || modifiers.contains(.class) { return .other }
    let marker =
      variable.attributes.first(named: "Attribute") ?? variable.attributes.first(named: "Relationship")
    guard let binding = variable.bindings.first else { return .other }
    if variable.bindings.allSatisfy(\.isComputed) { return .other }
    if variable.attributes.contains(named: "Transient") { return .kept(variable) }
    if variable.bindingSpecifier.tokenKind == .keyword(.let) {
      if let marker { return .refused(constant(variable, marker)) }
      return .kept(variable)
    }
    if modifiers.contains(.lazy) || modifiers.contains(.weak) || modifiers.contains(.unowned) {
      return .refused(modified(variable, binding))
    }
    guard variable.bindings.count == 1, let pattern = binding.pattern.as(IdentifierPatternSyntax.self) else {
      return .refused(
        .make(
          "severalProperties", at: variable.bindings,
          "@Model gives each persisted property its own accessors; declare each of these in a declaration of its own."
        ))
    }
    if let type = binding.typeAnnotation?.type,
      let problem = SwiftDataUnstorable.problem(type, pattern.identifier, variable)
    {
      return .refused(problem)
    }
    return .persisted(
      SwiftDataProperty(
        identifier: pattern.identifier, type: binding.typeAnnotation?.type.trimmed,
        initialValue: binding.initializer?.value.trimmed, marker: marker, variable: variable))
  }

  /// A fix-it that leaves the property out of the store.
  static func leavingOut(_ variable: VariableDeclSyntax) -> FixIt {
    .inserting("Leave it out of the store with @Transient", "@Transient ", before: variable)
  }

  private static func constant(_ variable: VariableDeclSyntax, _ marker: AttributeSyntax) -> Diagnostic {
    .make(
      "persistedConstant", at: variable.bindingSpecifier,
      "A persisted property is a `var`, because fetched models set it; @\(marker.shortName) cannot be attached to a "
        + "`let`.",
      fixIts: [.replacing("Declare a `var`", variable.bindingSpecifier, with: "var")])
  }

  private static func modified(
    _ variable: VariableDeclSyntax, _ binding: PatternBindingSyntax
  ) -> Diagnostic {
    let modifier = variable.modifiers.first {
      [.keyword(.lazy), .keyword(.weak), .keyword(.unowned)].contains($0.name.tokenKind)
    }
    let spelled = modifier?.name.text ?? ""
    return .make(
      "persistedModifier", at: binding.pattern,
      "`\(binding.pattern.trimmedDescription)` is `\(spelled)` and cannot be persisted; remove `\(spelled)`, or mark the "
        + "property with @Transient.", fixIts: [leavingOut(variable)])
  }
}
