import SwiftDiagnostics
import SwiftSyntax

/// Decides from a property's type and marker whether it is an attribute or a relationship.
struct PropertyTypeReader {
  let variable: VariableDeclSyntax
  let binding: PatternBindingSyntax
  let name: String
  let shape: TypeShape

  private static let relationshipForm =
    "@Relationship(persistentName: ..., inverse: ..., deleteRule: ...)"

  func kind(model: inout [Diagnostic], attribute: inout [Diagnostic]) -> ModelProperty.Kind? {
    let relationship = variable.attributes.first(named: "Relationship")
    if let marker = variable.attributes.first(named: "Attribute") {
      if let relationship {
        model.append(
          .make(
            "attributeAndRelationship", at: relationship,
            "`\(name)` cannot be both an @Attribute and a @Relationship; remove one of the two.",
            fixIts: [
              .removing("Remove @Relationship", relationship), .removing("Remove @Attribute", marker),
            ]))
        return nil
      }
      return attributeKind(marker, &attribute)
    }
    if let relationship { return relationshipKind(relationship, &model) }
    if let primitive = shape.primitive {
      if let value = binding.initializer?.value,
        let problem = DefaultValue(name: name, primitive: primitive, expression: value).problem([])
      {
        model.append(problem)
        return nil
      }
      return .attribute(
        AttributeOptions(), DefaultStorage(primitive: primitive, isOptional: shape.isOptional))
    }
    model.append(missingMarker())
    return nil
  }

  private func attributeKind(
    _ marker: AttributeSyntax, _ diagnostics: inout [Diagnostic]
  ) -> ModelProperty.Kind? {
    var found: [Diagnostic] = []
    let options = AttributeOptions(marker, diagnostics: &found)
    let reader = AttributeStorageReader(marker: marker, options: options, shape: shape, binding: binding)
    let storage = reader.storage(&found)
    diagnostics += found
    guard found.isEmpty, let storage else { return nil }
    return .attribute(options, storage)
  }

  private func relationshipKind(
    _ marker: AttributeSyntax, _ diagnostics: inout [Diagnostic]
  ) -> ModelProperty.Kind? {
    var found: [Diagnostic] = []
    let options = RelationshipOptions(marker, diagnostics: &found)
    let type = binding.typeAnnotation?.type ?? shape.wrapped
    let kind: ModelProperty.Kind?
    switch shape.kind {
    case .primitive:
      found.append(noModel(marker, type, "is an attribute type. Remove @Relationship."))
      kind = nil
    case .set(let element) where TypeShape(element).primitive != nil,
      .array(let element) where TypeShape(element).primitive != nil:
      found.append(
        noModel(
          marker, type,
          "holds values. Store them as JSON, with `@Attribute(storageMethod: .codable)` and an optional type."
        ))
      kind = nil
    case .set(let element):
      found += toManyProblems(type)
      kind = .toManySet(options, target: element.trimmedDescription)
    case .array(let element):
      found += toManyProblems(type)
      kind = .toManyArray(options, target: element.trimmedDescription)
    case .other:
      if !shape.isOptional { found.append(nonOptionalToOne(type)) }
      found += toOneDefaultProblems()
      kind = .toOne(options, target: shape.wrapped.trimmedDescription)
    }
    diagnostics += found
    return found.isEmpty ? kind : nil
  }

  private func noModel(_ marker: AttributeSyntax, _ type: TypeSyntax, _ what: String) -> Diagnostic {
    .make(
      "relationshipType", at: marker,
      "@Relationship requires a relationship type (a model class as `T?`, `Set<T>` or `[T]`); "
        + "`\(type.trimmedDescription)` \(what)",
      fixIts: [.removing("Remove @Relationship", marker)])
  }

  private func toManyProblems(_ type: TypeSyntax) -> [Diagnostic] {
    var found: [Diagnostic] = []
    if shape.isOptional {
      found.append(
        .make(
          "optionalToMany", at: type,
          "Optional to-many relationship `\(name)` is not supported: without related objects it is "
            + "empty, never nil. Use `\(shape.wrapped.trimmedDescription)`.",
          fixIts: [
            .replacing("Remove the optional", type, with: shape.wrapped.trimmedDescription)
          ]))
    }
    if let initializer = binding.initializer {
      found.append(
        .make(
          "toManyDefault", at: initializer,
          "To-many relationship `\(name)` must not declare a default value; it starts empty.",
          fixIts: [.trimming("Remove the default value", initializer)]))
    }
    return found
  }

  private func nonOptionalToOne(_ type: TypeSyntax) -> Diagnostic {
    .make(
      "nonOptionalToOne", at: type,
      "To-one relationship properties must be optional, because the related object may be deleted; "
        + "declare `\(name)` as `\(optionalSpelling)`.",
      fixIts: [.replacing("Make it optional", type, with: optionalSpelling)])
  }

  private func toOneDefaultProblems() -> [Diagnostic] {
    guard let initializer = binding.initializer, !initializer.value.isNilLiteral else { return [] }
    return [
      .make(
        "toOneDefault", at: initializer,
        "To-one relationship `\(name)` must not declare a default value other than nil.",
        fixIts: [.trimming("Remove the default value", initializer)])
    ]
  }

  /// A type that only a relationship or a custom storage could hold, with no marker at all.
  private func missingMarker() -> Diagnostic {
    let type = binding.typeAnnotation?.type ?? shape.wrapped
    let relationship = FixIt.inserting("Insert @Relationship", relationshipText, before: variable)
    let ignore = PropertyReader.ignoring(variable)
    if let unstorable = Self.unstorable(name, shape, at: type) { return unstorable }
    switch shape.kind {
    case .array(let element) where TypeShape(element).primitive != nil,
      .set(let element) where TypeShape(element).primitive != nil:
      return .make(
        "primitiveCollection", at: type,
        "`\(name)` holds values, not models, and `\(type.trimmedDescription)` is no attribute type by "
          + "itself; store it as JSON with `@Attribute(storageMethod: .codable)` and an optional type, or "
          + "mark it with @Ignore.", fixIts: [storedAsJSON(type), ignore])
    case .array, .set:
      guard shape.isOptional else { break }
      let fixed = FixIt.replacingAll(
        "Insert @Relationship, and remove the optional",
        [(Syntax(type), shape.wrapped.trimmedDescription)], inserting: relationshipText, before: variable)
      return .make(
        "optionalToMany", at: type,
        "Optional to-many relationship `\(name)` is not supported: without related objects it is empty, never "
          + "nil. Declare it as `\(shape.wrapped.trimmedDescription)`; it must declare "
          + "\(Self.relationshipForm). Values, not models, are stored with "
          + "`@Attribute(storageMethod: .codable)`.", fixIts: [fixed, storedAsJSON(type), ignore])
    case .other where isValue(type):
      return .make(
        "valueWithoutStorage", at: type,
        Self.waysToStore(type, others: ", a @Composition struct `.composition`"),
        fixIts: [storedRaw, storedAsJSON(type), ignore])
    case .other where !shape.isOptional:
      return .make(
        "nonOptionalToOne", at: type,
        Self.waysToStore(type)
          + " If it is a model: To-one relationship properties must be optional, and must declare "
          + "\(Self.relationshipForm).",
        fixIts: [storedRaw, ignore, .replacing("Make it optional", type, with: optionalSpelling)])
    default: break
    }
    return .make(
      "missingRelationship", at: variable,
      "Relationship property `\(name)` must declare \(Self.relationshipForm). If "
        + "`\(type.trimmedDescription)` is no model: an enumeration with raw values is stored with "
        + "`@Attribute(storageMethod: .raw)`, a Codable type with `.codable`; a property that is not "
        + "persisted is marked with @Ignore.",
      fixIts: [relationship, ignore, storedRaw, storedAsJSON(type)])
  }

  /// What a message says about a type that has no column of its own.
  private static func waysToStore(_ type: TypeSyntax, others: String = "") -> String {
    "`\(type.trimmedDescription)` is not stored as it is; say how: an enumeration with raw values "
      + "`@Attribute(storageMethod: .raw)`, a Codable type `@Attribute(storageMethod: .codable)` with an "
      + "optional property\(others). A property that is not persisted is marked with @Ignore."
  }

  /// Whether the type is surely no model: it is spelled as no class is, or has a default, which no relationship has.
  private func isValue(_ type: TypeSyntax) -> Bool {
    if let initializer = binding.initializer, !initializer.value.isNilLiteral { return true }
    return shape.wrapped.is(DictionaryTypeSyntax.self) || shape.wrapped.is(TupleTypeSyntax.self)
      || shape.wrapped.is(FunctionTypeSyntax.self)
  }

  private var storedRaw: FixIt {
    .inserting("Store it by its raw value", "@Attribute(storageMethod: .raw) ", before: variable)
  }

  private func storedAsJSON(_ type: TypeSyntax) -> FixIt {
    let text = "@Attribute(storageMethod: .codable) "
    guard !shape.isOptional else { return .inserting("Store it as JSON", text, before: variable) }
    return .replacingAll(
      "Store it as JSON", [(Syntax(type), optionalSpelling)], inserting: text, before: variable)
  }

  private var relationshipText: String {
    "@Relationship(inverse: \"<#inverse#>\", deleteRule: .nullify)\n"
      + variable.leadingTrivia.lastLineIndentation
  }

  private var optionalSpelling: String {
    let spelled = shape.wrapped.trimmedDescription
    return spelled.contains(" ") ? "(\(spelled))?" : "\(spelled)?"
  }
}
