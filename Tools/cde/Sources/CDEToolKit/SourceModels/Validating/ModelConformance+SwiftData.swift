import CDEDiagrams
import CDESourceFacts

/// Classes with `@Model`.
extension ModelConformance {
  mutating func checkModelClass(
    _ found: ClassMatching.Class, _ entity: ResolvedEntity, _ properties: [SourceFacts.Property]
  ) {
    checkSuperclass(found, entity, root: nil)
    let unique = Self.uniqueNames(found.type)
    var rest = properties
    func take(_ name: String) -> SourceFacts.Property? {
      rest.firstIndex { $0.name == name }.map { rest.remove(at: $0) }
    }
    for attribute in entity.attributes {
      guard let property = take(attribute.persistentName) else {
        // What is not stored may be absent.
        if !attribute.isTransient {
          missingProperty(
            found, entity, attribute.persistentName, "var \(attribute.swiftName): \(attribute.declaredType)")
        }
        continue
      }
      check(attribute, property, found.file, entity, isUnique: unique.contains(property.name))
    }
    for relationship in entity.relationships {
      guard let property = take(relationship.persistentName) else {
        missingProperty(
          found, entity, relationship.persistentName,
          "var \(relationship.swiftName): \(Self.modelType(of: relationship))")
        continue
      }
      checkModelRelationship(relationship, property, found.file, entity)
    }
    unknown(rest, found, entity)
  }

  /// The names of single properties in `#Unique`.
  private static func uniqueNames(_ type: SourceFacts.TypeDeclaration) -> Set<String> {
    var names: Set<String> = []
    for macro in type.macros where macro.name == "Unique" {
      for argument in macro.arguments {
        let parts = argument.value.text.matches(of: #/\\[A-Za-z_0-9.]*\.([A-Za-z_0-9]+)/#).map {
          String($0.1)
        }
        if parts.count == 1 { names.insert(parts[0]) }
      }
    }
    return names
  }

  // MARK: Attributes

  private mutating func check(
    _ attribute: ResolvedAttribute, _ property: SourceFacts.Property, _ file: SourceTree.File,
    _ entity: ResolvedEntity,
    isUnique: Bool
  ) {
    let subject = "\(entity.name).\(attribute.persistentName)"
    let marker = property.attribute("Attribute")
    if let written = property.type {
      let type = TypeText(written.text)
      if let usual = AttributeTypes.swiftTypes[attribute.typeName], !usual.contains(type.name) {
        add(
          file, written.place, .type, subject,
          "\(subject) is \(attribute.typeName), which is \(usual.joined(separator: " or ")), and the property is \(type.name).",
          "Declare it as `\(usual[0])\(attribute.isOptional ? "?" : "")`, or change the model.")
      }
      if !attribute.ignoresOptionality, type.isOptional != attribute.isOptional {
        add(
          file, written.place, .optionality, subject,
          "\(subject) is \(attribute.isOptional ? "optional" : "required") in the model, and the property is \(type.isOptional ? "optional" : "not").",
          "Declare it as `\(type.name)\(attribute.isOptional ? "?" : "")`, or change the model.")
      }
    }
    let hasTrait = marker?.hasTrait("unique") ?? false
    if (hasTrait || isUnique) != attribute.isUnique {
      add(
        file, marker?.place ?? property.place, .unique, subject,
        "\(subject) is \(attribute.isUnique ? "" : "not ")unique in the model, and the property is\(attribute.isUnique ? " not" : "").",
        attribute.isUnique
          ? "Add `.unique` to @Attribute." : "Remove `.unique`, or the property from #Unique.",
        fixes: attribute.isUnique
          ? fixes(property, "Attribute", [.addTrait(".unique")], file)
          : hasTrait ? fixes(property, "Attribute", [.removeTrait("unique")], file) : [])
    }
    if (marker?.hasTrait("ephemeral") ?? false) != attribute.isTransient {
      add(
        file, marker?.place ?? property.place, .transient, subject,
        "\(subject) is \(attribute.isTransient ? "" : "not ")transient in the model, and the property is\(attribute.isTransient ? " not" : "").",
        attribute.isTransient ? "Add `.ephemeral` to @Attribute." : "Remove `.ephemeral`.",
        fixes: fixes(
          property, "Attribute",
          [attribute.isTransient ? .addTrait(".ephemeral") : .removeTrait("ephemeral")], file))
    }
    checkFormerName(attribute.formerName, marker, "Attribute", property, file, subject)
  }

  private mutating func checkFormerName(
    _ expected: String?, _ marker: SourceFacts.Attribute?, _ attribute: String,
    _ property: SourceFacts.Property,
    _ file: SourceTree.File, _ subject: String
  ) {
    let actual = marker?["originalName"]
    guard actual?.string != expected else { return }
    add(
      file, actual?.place ?? property.place, .persistentName, subject,
      "\(subject) has \(expected.map { "the renaming identifier \($0)" } ?? "no renaming identifier") in the model, and the property has \(actual?.text ?? "none").",
      expected.map { "Write `originalName: \"\($0)\"`." } ?? "Remove `originalName:`.",
      fixes: fixes(
        property, attribute,
        [
          expected.map { .set(label: "originalName", value: DefaultLiteral.string($0)) }
            ?? .remove(label: "originalName")
        ],
        file))
  }

  // MARK: Relationships

  private static func modelType(of relationship: ResolvedRelationship) -> String {
    let element = relationship.isToMany ? "[\(relationship.destinationClass)]" : relationship.destinationClass
    return element + (relationship.isOptional ? "?" : "")
  }

  private mutating func checkModelRelationship(
    _ relationship: ResolvedRelationship, _ property: SourceFacts.Property, _ file: SourceTree.File,
    _ entity: ResolvedEntity
  ) {
    let subject = "\(entity.name).\(relationship.persistentName)"
    if let written = property.type {
      let type = TypeText(written.text)
      let found: (element: String, isMany: Bool)
      switch type.shape {
      case .plain(let name): found = (name, false)
      case .set(let element), .array(let element): found = (element, true)
      }
      let last = found.element.split(separator: ".").last.map(String.init) ?? found.element
      if found.isMany != relationship.isToMany || last != relationship.destinationClass
        || type.isOptional != relationship.isOptional
      {
        add(
          file, written.place, .type, subject,
          "\(subject) is \(relationship.isOptional ? "optional and " : "")\(relationship.isToMany ? "to-many" : "to-one") to \(relationship.destination), and the property is \(written.text).",
          "Declare it as `\(Self.modelType(of: relationship))`, or change the model.")
      }
    }
    let marker = property.attribute("Relationship")
    let rule = marker?["deleteRule"]
    let name = rule?.text.split(separator: ".").last.map(String.init) ?? "nullify"
    if name != relationship.deleteRule {
      add(
        file, rule?.place ?? property.place, .deleteRule, subject,
        "\(subject) has the delete rule \(name), and the model's is \(relationship.deleteRule).",
        "Write `deleteRule: .\(relationship.deleteRule)`.",
        fixes: fixes(
          property, "Relationship", [.set(label: "deleteRule", value: ".\(relationship.deleteRule)")], file))
    }
    checkModelInverse(relationship, marker, property, file, entity, subject)
    checkFormerName(relationship.formerName, marker, "Relationship", property, file, subject)
    checkCounts(relationship, marker, file, subject)
  }

  /// One side names the inverse. Neither does where there is only one that it can be.
  private mutating func checkModelInverse(
    _ relationship: ResolvedRelationship, _ marker: SourceFacts.Attribute?, _ property: SourceFacts.Property,
    _ file: SourceTree.File, _ entity: ResolvedEntity, _ subject: String
  ) {
    let written = "\\\(relationship.destinationClass).\(relationship.inverse)"
    if let argument = marker?["inverse"] {
      let name = argument.text.split(separator: ".").last.map(String.init) ?? ""
      guard name != relationship.inverse else { return }
      return add(
        file, argument.place, .inverse, subject,
        "\(subject) has the inverse \(name), and the model's is \(relationship.inverse.isEmpty ? "none" : relationship.inverse).",
        relationship.inverse.isEmpty ? "Remove `inverse:`." : "Write `inverse: \(written)`.",
        fixes: fixes(
          property, "Relationship",
          [relationship.inverse.isEmpty ? .remove(label: "inverse") : .set(label: "inverse", value: written)],
          file))
    }
    guard !relationship.inverse.isEmpty, let destination = model.entity(relationship.destination) else {
      return
    }
    let candidates = destination.relationships.filter { $0.destination == entity.name }
    let rivals = entity.relationships.filter { $0.destination == relationship.destination }
    guard candidates.count > 1 || rivals.count > 1 else { return }
    // Without a class there is nothing to name, and the missing class has a finding of its own.
    guard
      let other = ClassMatching(tree, .swiftData).find(destination)?.type.properties
        .first(where: { $0.name == relationship.inverse })
    else { return }
    // The other side has a finding of its own if what it names is wrong.
    if other.attribute("Relationship")?["inverse"] != nil { return }
    let isFirst = (entity.name, relationship.persistentName) <= (destination.name, relationship.inverse)
    guard isFirst else { return }
    add(
      file, property.place, .inverse, subject,
      "\(subject) may have several inverses, and neither side names one; the model's is \(relationship.inverse).",
      "Write `@Relationship(inverse: \(written))`.",
      fixes: fixes(property, "Relationship", [.set(label: "inverse", value: written)], file))
  }
}
