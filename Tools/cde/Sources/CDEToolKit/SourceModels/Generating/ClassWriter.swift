/// Writes the declarations of a resolved model for `@PersistentModel`.
struct ClassWriter {
  let model: ResolvedModel
  let generatesInit: Bool

  private var access: String { model.accessLevel.prefix }

  /// The declarations that belong to an entity: its class, and the types that it owns.
  func declarations(of entity: ResolvedEntity) -> String {
    var parts = [declaration(of: entity)]
    parts += entity.groups.map { structure(of: $0) }
    parts += model.enumerations.filter { $0.owner == entity.name }.map { declaration(of: $0) }
    parts += model.compositions.filter { $0.owner == entity.name }.map { declaration(of: $0) }
    return parts.map { $0.joined(separator: "\n") + "\n" }.joined(separator: "\n")
  }

  // MARK: Classes

  private func declaration(of entity: ResolvedEntity) -> [String] {
    var options: [String] = []
    if generatesInit { options.append("generateInit: true") }
    if !entity.generatesCounts { options.append("generateToManyCount: false") }
    if entity.className != entity.name { options.append("entityName: \(DefaultLiteral.string(entity.name))") }
    if entity.isAbstract { options.append("isAbstract: true") }
    let list = options.isEmpty ? "" : "(\(options.joined(separator: ", ")))"
    let name = SwiftNaming.escaped(entity.className)
    let parent = SwiftNaming.escaped(entity.parentClass ?? "NSManagedObject")
    let head = "\(access)\(entity.isFinal ? "final " : "")class \(name)"
    var body = remarks(entity, nil)
    let declared = Set(entity.attributes.map(\.persistentName) + entity.relationships.map(\.persistentName))
    for property in Set(model.remarks.filter { $0.entity == entity.name }.compactMap(\.property)).sorted()
    where !declared.contains(property) {
      body += remarks(entity, property)
    }
    for attribute in entity.attributes {
      body += remarks(entity, attribute.persistentName) + lines(of: attribute)
    }
    if !entity.relationships.isEmpty, !entity.attributes.isEmpty { body.append("") }
    for relationship in entity.relationships {
      body += remarks(entity, relationship.persistentName) + lines(of: relationship)
    }
    for group in entity.groups { body += [""] + property(of: group) }
    var lines = ["@PersistentModel\(list)"]
    let line = "\(head): \(parent) {"
    if body.isEmpty { return lines + [line.count < DeclarationLayout.width ? "\(line)}" : line] }
    if line.count <= DeclarationLayout.width {
      lines.append(line)
    } else {
      lines += ["\(head):", "  \(parent)", "{"]
    }
    return lines + body + ["}"]
  }

  private func remarks(_ entity: ResolvedEntity, _ property: String?) -> [String] {
    model.remarks.filter { $0.entity == entity.name && $0.property == property }
      .flatMap { DeclarationLayout.comment($0.sentence, "  ") }
  }

  private func lines(of attribute: ResolvedAttribute) -> [String] {
    let arguments = AttributeText.arguments(of: attribute)
    return DeclarationLayout.property(
      attribute: arguments.isEmpty ? nil : ("Attribute", arguments),
      "\(access)var \(SwiftNaming.escaped(attribute.swiftName)): \(attribute.declaredType)",
      value: attribute.defaultText, indentation: "  ")
  }

  private func lines(of relationship: ResolvedRelationship) -> [String] {
    DeclarationLayout.property(
      attribute: ("Relationship", AttributeText.arguments(of: relationship)),
      "\(access)var \(SwiftNaming.escaped(relationship.swiftName)): \(spelled(relationship))", value: nil,
      indentation: "  ")
  }

  private func spelled(_ relationship: ResolvedRelationship) -> String {
    var escaped = relationship
    escaped.destinationClass = SwiftNaming.escaped(relationship.destinationClass)
    return escaped.declaredType
  }

  // MARK: Other types

  private func declaration(of enumeration: ResolvedEnumeration) -> [String] {
    var lines = [
      "\(access)enum \(SwiftNaming.escaped(enumeration.name)): \(enumeration.rawType), CaseIterable, Sendable {"
    ]
    for element in enumeration.cases {
      let isPlain = element.literal == DefaultLiteral.string(element.name)
      lines.append("  case \(SwiftNaming.escaped(element.name))\(isPlain ? "" : " = \(element.literal)")")
    }
    return lines + ["}"]
  }

  private func declaration(of composition: ResolvedComposition) -> [String] {
    var lines = [
      "@Composition", "\(access)struct \(SwiftNaming.escaped(composition.name)): Equatable, Sendable {",
    ]
    for field in composition.fields {
      let isRenamed = field.persistentName != field.swiftName
      lines += DeclarationLayout.property(
        attribute: isRenamed
          ? ("CompositionField", ["persistentName: \(DefaultLiteral.string(field.persistentName))"]) : nil,
        "\(access)var \(SwiftNaming.escaped(field.swiftName)): \(field.declaredType)", value: nil,
        indentation: "  ")
    }
    return lines + ["}"]
  }

  // MARK: Groups

  private func property(of group: ResolvedGroup) -> [String] {
    func own(_ field: ResolvedGroup.Field) -> String { SwiftNaming.escaped(field.property) }
    let values = group.fields.map { "\($0.name): \(own($0))" }
    var getter = ["      \(group.swiftType)(\(values.joined(separator: ", ")))"]
    if getter[0].count > DeclarationLayout.width {
      getter = ["      \(group.swiftType)("] + DeclarationLayout.filled(values, "        ", closing: ")")
    }
    return [
      "  \(access)var \(SwiftNaming.escaped(group.swiftName)): \(SwiftNaming.escaped(group.swiftType)) {",
      "    get {",
    ] + getter + ["    }", "    set {"]
      + group.fields.map { "      \(own($0)) = newValue.\(SwiftNaming.escaped($0.name))" } + ["    }", "  }"]
  }

  private func structure(of group: ResolvedGroup) -> [String] {
    var lines = ["\(access)struct \(SwiftNaming.escaped(group.swiftType)) {"]
    lines += group.fields.map { "  \(access)var \(SwiftNaming.escaped($0.name)): \($0.declaredType)" }
    return lines + ["}"]
  }
}

/// The arguments of `@Attribute` and `@Relationship` in their order.
enum AttributeText {
  static func arguments(of attribute: ResolvedAttribute) -> [String] {
    var result: [String] = []
    if attribute.isUnique { result.append(".unique") }
    if attribute.isTransient { result.append(".transient") }
    if attribute.isPreserved { result.append(".preserveValueOnDeletion") }
    result += attribute.rules
    if attribute.swiftName != attribute.persistentName {
      result.append("persistentName: \(DefaultLiteral.string(attribute.persistentName))")
    }
    if let method = storage(of: attribute) { result.append("storageMethod: \(method)") }
    if let policy = attribute.decodeFailurePolicy {
      result.append("decodeFailurePolicy: .\(policy.rawValue)")
    }
    return result
  }

  /// The storage method as an argument; nil for the default.
  static func storage(of attribute: ResolvedAttribute) -> String? {
    switch attribute.storage {
    case .default: nil
    case .transformed: ".transformed(name: \(DefaultLiteral.string(attribute.transformerName ?? "")))"
    default: ".\(attribute.storage.rawValue)"
    }
  }

  /// The delete rule of a class: there is none that leaves references to deleted objects.
  static func rule(of relationship: ResolvedRelationship) -> String {
    relationship.deleteRule == "noAction" ? "nullify" : relationship.deleteRule
  }

  static func arguments(of relationship: ResolvedRelationship) -> [String] {
    var result: [String] = []
    if relationship.swiftName != relationship.persistentName {
      result.append("persistentName: \(DefaultLiteral.string(relationship.persistentName))")
    }
    result.append("inverse: \(DefaultLiteral.string(relationship.inverse))")
    result.append("deleteRule: .\(rule(of: relationship))")
    if let count = relationship.minimumCount { result.append("minimumModelCount: \(count)") }
    if let count = relationship.maximumCount { result.append("maximumModelCount: \(count)") }
    return result
  }
}
