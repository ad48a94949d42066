import CDESourceFacts

/// Compares classes with a model and its rules.
struct ModelConformance {
  let model: ResolvedModel
  let tree: SourceTree
  /// What stands for the place of something that no source has.
  let modelPath: String
  private(set) var findings: [SourceFinding] = []
  /// The class that is compared, for names of types in it.
  private(set) var scope = ""

  init(_ model: ResolvedModel, _ tree: SourceTree, modelPath: String) {
    self.model = model
    self.tree = tree
    self.modelPath = modelPath
  }

  /// The findings in the order of files and lines.
  static func findings(_ model: ResolvedModel, _ tree: SourceTree, modelPath: String) -> [SourceFinding] {
    var conformance = ModelConformance(model, tree, modelPath: modelPath)
    conformance.run()
    return conformance.findings
  }

  private mutating func run() {
    for file in tree.files {
      for problem in file.facts.problems {
        add(
          file, problem.place, .syntax, "", "The source can't be parsed: \(problem.message).",
          "Correct it; what follows may be incomplete.")
      }
    }
    let matching = ClassMatching(tree, model.kind)
    for found in matching.classes where model.entity(found.entityName) == nil {
      add(
        found.file, found.type.place, .unknownClass, found.entityName,
        "The model has no entity \(found.entityName).",
        model.kind == .persistentModel
          ? "Add the entity to the model, correct `entityName:`, or remove the class."
          : "Add the entity to the model, or remove the class.")
    }
    for entity in model.entities {
      guard let found = matching.find(entity) else {
        missing(entity)
        continue
      }
      scope = found.type.name
      if model.kind == .persistentModel {
        check(found, entity, matching.persisted(found.type))
      } else {
        checkModelClass(found, entity, matching.persisted(found.type))
      }
    }
    findings.sort {
      ($0.file, $0.line, $0.column, $0.rule.rawValue) < ($1.file, $1.line, $1.column, $1.rule.rawValue)
    }
  }

  mutating func add(
    _ file: SourceTree.File, _ place: SourceFacts.Place, _ rule: SourceFinding.Rule, _ subject: String,
    _ message: String, _ remedy: String, fixes: [AttributeFix] = [], edit: SourceEdit? = nil
  ) {
    findings.append(
      SourceFinding(
        file: file.path, line: place.line, column: place.column, rule: rule, subject: subject,
        message: message,
        remedy: remedy, fixes: fixes, edit: edit))
  }

  private mutating func missing(_ entity: ResolvedEntity) {
    for file in tree.files {
      if let type = file.facts.types.first(where: {
        $0.kind == .class && [entity.className, entity.name].contains($0.name)
      }) {
        return add(
          file, type.place, .missingClass, entity.name,
          "The class \(type.name) of the entity \(entity.name) has no @\(model.kind.macro).",
          "Add the macro, or name the entity's class otherwise.")
      }
    }
    findings.append(
      SourceFinding(
        file: modelPath, line: 1, column: 1, rule: .missingClass, subject: entity.name,
        message: "The entity \(entity.name) has no class with @\(model.kind.macro).",
        remedy: "`cde model generate` writes it."))
  }

  // MARK: Classes with @PersistentModel

  private mutating func check(
    _ found: ClassMatching.Class, _ entity: ResolvedEntity, _ properties: [SourceFacts.Property]
  ) {
    checkClass(found, entity)
    var rest = properties
    for attribute in entity.attributes {
      guard
        let property = match(
          attribute.persistentName, attribute.swiftName, "Attribute", entity, found.file, &rest)
      else {
        missingProperty(found, entity, attribute.persistentName, Self.declaration(of: attribute))
        continue
      }
      check(attribute, property, found.file, entity)
    }
    for relationship in entity.relationships {
      guard
        let property = match(
          relationship.persistentName, relationship.swiftName, "Relationship", entity, found.file, &rest)
      else {
        missingProperty(found, entity, relationship.persistentName, Self.declaration(of: relationship))
        continue
      }
      check(relationship, property, found.file, entity)
    }
    unknown(rest, found, entity)
  }

  private mutating func checkClass(_ found: ClassMatching.Class, _ entity: ResolvedEntity) {
    checkSuperclass(found, entity, root: "NSManagedObject")
    let isAbstract = found.type.attribute("PersistentModel")?["isAbstract"]?.text == "true"
    if isAbstract != entity.isAbstract {
      add(
        found.file, found.type.place, .entityOption, entity.name,
        "The entity \(entity.name) is \(entity.isAbstract ? "" : "not ")abstract, and the class is\(isAbstract ? "" : " not").",
        entity.isAbstract ? "Add `isAbstract: true` to @PersistentModel." : "Remove `isAbstract: true`.")
    }
  }

  mutating func checkSuperclass(_ found: ClassMatching.Class, _ entity: ResolvedEntity, root: String?) {
    let written = found.type.inherited.first.map {
      $0.text.split(separator: ".").last.map(String.init) ?? $0.text
    }
    let parents = Set(model.entities.map(\.className) + ["NSManagedObject"])
    let actual = written.flatMap { root != nil || parents.contains($0) ? $0 : nil }
    let expected = entity.parentClass ?? root
    if actual != expected {
      add(
        found.file, found.type.inherited.first?.place ?? found.type.place, .superclass, entity.name,
        "The class of \(entity.name) inherits from \(actual ?? "no other class"), and the model says \(expected ?? "none").",
        "Correct the superclass, or the parent entity in the model.")
    }
  }

  /// The property of a persistent name, or the one of the expected name that lacks it.
  private mutating func match(
    _ persistentName: String, _ swiftName: String, _ attribute: String, _ entity: ResolvedEntity,
    _ file: SourceTree.File, _ rest: inout [SourceFacts.Property]
  ) -> SourceFacts.Property? {
    if let index = rest.firstIndex(where: { ClassMatching.persistentName($0) == persistentName }) {
      return rest.remove(at: index)
    }
    let others = Set(
      entity.attributes.map(\.persistentName) + entity.relationships.map(\.persistentName))
    guard
      let index = rest.firstIndex(where: {
        $0.name == swiftName && !others.contains(ClassMatching.persistentName($0))
      })
    else { return nil }
    let property = rest.remove(at: index)
    let change: AttributeFix.Change =
      property.name == persistentName
      ? .remove(label: "persistentName")
      : .set(label: "persistentName", value: DefaultLiteral.string(persistentName))
    add(
      file, property.place, .persistentName, "\(entity.name).\(persistentName)",
      "`\(property.name)` has the persistent name \(ClassMatching.persistentName(property)), and the model's is \(persistentName).",
      change == .remove(label: "persistentName")
        ? "Remove `persistentName:`." : "Add `persistentName: \"\(persistentName)\"`.",
      fixes: fixes(property, attribute, [change], file))
    return property
  }

  /// No fix for one of several properties of a declaration.
  func fixes(
    _ property: SourceFacts.Property, _ attribute: String, _ changes: [AttributeFix.Change],
    _ file: SourceTree.File
  ) -> [AttributeFix] {
    guard property.siblings == 1, file.facts.problems.isEmpty else { return [] }
    return changes.map {
      AttributeFix(file: file.path, declaration: property.declaration.start, attribute: attribute, change: $0)
    }
  }

  mutating func missingProperty(
    _ found: ClassMatching.Class, _ entity: ResolvedEntity, _ name: String, _ declaration: String
  ) {
    add(
      found.file, found.type.place, .missingProperty, "\(entity.name).\(name)",
      "The class of \(entity.name) lacks the property \(name).", "Add `\(declaration)`.")
  }

  mutating func unknown(
    _ properties: [SourceFacts.Property], _ found: ClassMatching.Class, _ entity: ResolvedEntity
  ) {
    for property in properties where !entity.omitted.contains(ClassMatching.persistentName(property)) {
      add(
        found.file, property.place, .unknownProperty, "\(entity.name).\(property.name)",
        "The model's \(entity.name) has no property \(ClassMatching.persistentName(property)).",
        "Add it to the model, correct its name, or mark it with @\(model.kind == .persistentModel ? "Ignore" : "Transient")."
      )
    }
  }

  private static func declaration(of attribute: ResolvedAttribute) -> String {
    DeclarationLayout.property(
      attribute: AttributeText.arguments(of: attribute).isEmpty
        ? nil : ("Attribute", AttributeText.arguments(of: attribute)),
      "var \(SwiftNaming.escaped(attribute.swiftName)): \(attribute.declaredType)",
      value: attribute.defaultText,
      indentation: ""
    ).joined(separator: " ")
  }

  private static func declaration(of relationship: ResolvedRelationship) -> String {
    "@Relationship(\(AttributeText.arguments(of: relationship).joined(separator: ", "))) var \(SwiftNaming.escaped(relationship.swiftName)): \(relationship.declaredType)"
  }
}
