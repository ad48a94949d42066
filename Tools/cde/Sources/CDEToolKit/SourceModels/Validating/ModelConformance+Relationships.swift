import CDESourceFacts

extension ModelConformance {
  mutating func check(
    _ relationship: ResolvedRelationship, _ property: SourceFacts.Property, _ file: SourceTree.File,
    _ entity: ResolvedEntity
  ) {
    let subject = "\(entity.name).\(relationship.persistentName)"
    if relationship.hasChosenName, property.name != relationship.swiftName {
      add(
        file, property.place, .name, subject,
        "\(subject) is named `\(property.name)`, and the rules say `\(relationship.swiftName)`.",
        "Rename the property, or change “swiftName” of the rule.")
    }
    guard let written = property.type else { return }
    let fits = checkType(relationship, written, file, subject)
    guard let marker = property.attribute("Relationship") else {
      let rule = AttributeText.rule(of: relationship)
      var changes: [AttributeFix.Change] = []
      if property.name != relationship.persistentName {
        changes.append(
          .set(label: "persistentName", value: DefaultLiteral.string(relationship.persistentName)))
      }
      changes += [
        .set(label: "inverse", value: DefaultLiteral.string(relationship.inverse)),
        .set(label: "deleteRule", value: ".\(rule)"),
      ]
      if let count = relationship.minimumCount {
        changes.append(.set(label: "minimumModelCount", value: "\(count)"))
      }
      if let count = relationship.maximumCount {
        changes.append(.set(label: "maximumModelCount", value: "\(count)"))
      }
      let isFree = fits && property.attribute("Attribute") == nil && property.initialValue == nil
      return add(
        file, property.place, .missingRelationship, subject,
        "\(subject) is a relationship and has no @Relationship.",
        "Add `@Relationship(inverse: \"\(relationship.inverse)\", deleteRule: .\(rule))`.",
        fixes: isFree ? fixes(property, "Relationship", changes, file) : [])
    }
    let inverse = marker["inverse"]
    if inverse?.string != relationship.inverse {
      add(
        file, inverse?.place ?? marker.place, .inverse, subject,
        "\(subject) has the inverse \(inverse?.string ?? "none"), and the model's is \(relationship.inverse).",
        "Write `inverse: \"\(relationship.inverse)\"`.",
        fixes: fixes(
          property, "Relationship",
          [.set(label: "inverse", value: DefaultLiteral.string(relationship.inverse))], file))
    }
    let rule = marker["deleteRule"]
    let name = rule?.text.split(separator: ".").last.map(String.init)
    if relationship.deleteRule != "noAction", name != relationship.deleteRule {
      add(
        file, rule?.place ?? marker.place, .deleteRule, subject,
        "\(subject) has the delete rule \(name ?? "none"), and the model's is \(relationship.deleteRule).",
        "Write `deleteRule: .\(relationship.deleteRule)`.",
        fixes: fixes(
          property, "Relationship", [.set(label: "deleteRule", value: ".\(relationship.deleteRule)")], file))
    }
    checkCounts(relationship, marker, file, subject)
  }

  private mutating func checkType(
    _ relationship: ResolvedRelationship, _ written: SourceFacts.Text, _ file: SourceTree.File,
    _ subject: String
  ) -> Bool {
    let type = TypeText(written.text)
    let found: (element: String, isRight: Bool)
    switch type.shape {
    case .plain(let name): found = (name, !relationship.isToMany && type.isOptional)
    case .set(let element):
      found = (element, relationship.isToMany && !relationship.isOrdered && !type.isOptional)
    case .array(let element):
      found = (element, relationship.isToMany && relationship.isOrdered && !type.isOptional)
    }
    let last = found.element.split(separator: ".").last.map(String.init) ?? found.element
    if found.isRight, last == relationship.destinationClass { return true }
    let what = relationship.isToMany ? relationship.isOrdered ? "ordered to-many" : "to-many" : "to-one"
    add(
      file, written.place, .type, subject,
      "\(subject) is \(what) to \(relationship.destination), and the property is \(written.text).",
      "Declare it as `\(relationship.declaredType)`, or change the model.")
    return false
  }

  mutating func checkCounts(
    _ relationship: ResolvedRelationship, _ marker: SourceFacts.Attribute?, _ file: SourceTree.File,
    _ subject: String
  ) {
    guard let marker else { return }
    let counts = [
      ("minimumModelCount", relationship.minimumCount ?? 0, "least"),
      ("maximumModelCount", relationship.isToMany ? relationship.maximumCount ?? 0 : 0, "greatest"),
    ]
    for (label, expected, what) in counts {
      let argument = marker[label]
      let actual = argument.flatMap { Int($0.text.filter { $0 != "_" }) } ?? 0
      // To one is at most one, whether it is written or not.
      if actual == expected || (!relationship.isToMany && label == "maximumModelCount") { continue }
      add(
        file, argument?.place ?? marker.place, .count, subject,
        "\(subject) has \(expected == 0 ? "no \(what) count" : "the \(what) count \(expected)") in the model, and the property has \(actual == 0 ? "none" : "\(actual)").",
        expected == 0 ? "Remove `\(label):`." : "Write `\(label): \(expected)`.")
    }
  }
}
