import CDEDiagrams
import CDEManagedModel
import Foundation

extension ModelResolver {
  /// Nil for an attribute that the class can't have; a remark says why.
  mutating func resolve(
    _ attribute: NSAttributeDescription, of entity: String, isUnique: Bool
  ) -> ResolvedAttribute? {
    let name = attribute.name
    let rule = section.attributeRules[entity]?[name] ?? AttributeRule()
    let place = "attributeRules.\(entity).\(name)"
    var resolved = ResolvedAttribute(
      persistentName: name,
      swiftName: rule.swiftName ?? (kind == .persistentModel ? SwiftNaming.property(name) : name),
      typeName: attribute.typeName, swiftType: "", isOptional: attribute.isOptional, storage: .default)
    resolved.isUnique = isUnique
    resolved.isTransient = attribute.isTransient
    resolved.isPreserved = attribute.preservesValueInHistoryOnDeletion
    resolved.decodeFailurePolicy = rule.decodeFailurePolicy
    resolved.ignoresOptionality = rule.ignoreOptionality
    resolved.hasChosenName = rule.swiftName != nil
    resolved.hasChosenType = rule.swiftType != nil || section.typeMappings[attribute.typeName] != nil
    if let former = attribute.renamingIdentifier, former != name { resolved.formerName = former }
    if !SwiftNaming.isName(name) {
      problem(
        place,
        "The attribute “\(name)” of \(entity) has a name that is none in Swift. Rename it in the model.")
    }
    guard isExpressible(attribute, of: entity) else { return nil }
    let accepted = proposals.enumerations.first { $0.accepted && $0.entity == entity && $0.attribute == name }
    let method = rule.storageMethod ?? (accepted == nil ? Self.usual(attribute) : .raw)
    resolved.storage = method
    resolved.hasChosenStorage = rule.storageMethod != nil || accepted != nil
    let type = rule.swiftType ?? accepted?.swiftType
    switch method {
    case .default: resolveDefault(&resolved, attribute, type, place, entity)
    case .raw: resolveRaw(&resolved, attribute, type, place, entity)
    case .codable:
      need(attribute, [.binaryDataAttributeType], "codable", "Binary Data", place)
      resolved.swiftType = required(type, "codable", place)
    case .transformed:
      need(attribute, [.transformableAttributeType], "transformed", "Transformable", place)
      let usual = NSValueTransformerName.secureUnarchiveFromDataTransformerName.rawValue
      let given = attribute.valueTransformerName.flatMap { $0.isEmpty ? nil : $0 }
      resolved.transformerName = rule.transformerName ?? given ?? usual
      resolved.hasChosenTransformer = rule.transformerName != nil || given != nil
      resolved.swiftType = type ?? Self.className(attribute) ?? "NSObject"
    case .composition: resolveComposition(&resolved, attribute, type, place, entity)
    }
    checkDecoding(&resolved, attribute, rule, place, entity)
    return resolved
  }

  private static func usual(_ attribute: NSAttributeDescription) -> StorageMethod {
    switch attribute.attributeType {
    case .transformableAttributeType: .transformed
    case .compositeAttributeType: .composition
    default: .default
    }
  }

  /// A type as code can name it.
  private static func className(_ attribute: NSAttributeDescription) -> String? {
    guard var name = attribute.attributeValueClassName, !name.isEmpty else { return nil }
    if name.hasPrefix(".") { name.removeFirst() }
    let signs = "[]<>.,:& "
    let fits = name.unicodeScalars.allSatisfy {
      SwiftNaming.isNamePart($0) || signs.unicodeScalars.contains($0)
    }
    return fits ? name : nil
  }

  private mutating func isExpressible(_ attribute: NSAttributeDescription, of entity: String) -> Bool {
    let name = attribute.name
    let isStored = !attribute.isTransient
    if attribute is NSDerivedAttributeDescription {
      remark(entity, name, "is derived, and no class derives a value", changesVersion: true)
      return false
    }
    switch attribute.attributeType {
    case .undefinedAttributeType, .objectIDAttributeType:
      remark(
        entity, name, "has the type \(attribute.typeName), which no property has", changesVersion: isStored)
      return false
    case .compositeAttributeType where !Self.isFlat(attribute):
      remark(
        entity, name, "is a composite of composites or of other types than values, which no structure is",
        changesVersion: isStored)
      return false
    case .transformableAttributeType where attribute.isTransient && kind == .persistentModel:
      remark(entity, name, "is transformable and transient; declare it with @Ignore")
      return false
    default: break
    }
    guard kind == .persistentModel else { return true }
    remarkFormerName(attribute.renamingIdentifier, of: name, entity, name)
    if attribute.versionHashModifier != nil {
      remark(entity, name, "has a hash modifier, which no property has", changesVersion: isStored)
    }
    if attribute.allowsExternalBinaryDataStorage, !attribute.preservesValueInHistoryOnDeletion {
      remark(
        entity, name, "may be stored in files of its own, which no property says", changesVersion: isStored)
    }
    return true
  }

  private static func isFlat(_ attribute: NSAttributeDescription) -> Bool {
    guard let composite = attribute as? NSCompositeAttributeDescription else { return false }
    return composite.elements.allSatisfy { AttributeTypes.swiftTypes[$0.typeName] != nil }
  }

  // MARK: Storage methods

  private mutating func resolveDefault(
    _ resolved: inout ResolvedAttribute, _ attribute: NSAttributeDescription, _ type: String?,
    _ place: String, _ entity: String
  ) {
    let usual = AttributeTypes.swiftTypes[attribute.typeName] ?? []
    guard let first = usual.first else {
      resolved.swiftType = type ?? "NSObject"
      return problem(
        place,
        "\(entity).\(attribute.name) is \(attribute.typeName), which has no default storage. Name another “storageMethod”."
      )
    }
    resolved.swiftType = type ?? section.typeMappings[attribute.typeName] ?? first
    if let type, !usual.contains(type) {
      problem(
        place,
        "\(entity).\(attribute.name) is \(attribute.typeName), which is \(usual.joined(separator: " or ")) in Swift and not \(type). Correct “swiftType”, or name a “storageMethod”."
      )
    }
    resolved.defaultText = DefaultLiteral.text(of: attribute)
    if attribute.defaultValue != nil, resolved.defaultText == nil {
      remark(entity, attribute.name, "has a default that Swift can't write")
    }
    guard kind == .persistentModel else { return }
    let found = ValidationRules(attribute)
    resolved.rules = found.traits
    if found.hasOthers {
      remark(entity, attribute.name, "has conditions for its values that no trait of @Attribute says")
    }
  }

  private mutating func resolveRaw(
    _ resolved: inout ResolvedAttribute, _ attribute: NSAttributeDescription, _ type: String?,
    _ place: String, _ entity: String
  ) {
    need(attribute, AttributeTypes.rawTypes, "raw", "String, Integer 16, Integer 32 or Integer 64", place)
    resolved.swiftType = required(type, "raw", place)
    resolved.rawDefault = DefaultLiteral.text(of: attribute)
    let enumeration = result.enumerations.first { $0.name == resolved.swiftType }
    if let literal = resolved.rawDefault {
      if let found = enumeration?.cases.first(where: { $0.literal == literal }) {
        resolved.defaultText = "." + SwiftNaming.escaped(found.name)
      } else {
        remark(entity, attribute.name, "has the default \(literal), whose case only the enumeration knows")
      }
    }
  }

  private mutating func resolveComposition(
    _ resolved: inout ResolvedAttribute, _ attribute: NSAttributeDescription, _ type: String?,
    _ place: String, _ entity: String
  ) {
    need(
      attribute, [.compositeAttributeType, .transformableAttributeType], "composition",
      "Composite or Transformable", place)
    if let composite = attribute as? NSCompositeAttributeDescription {
      resolved.swiftType = addComposition(composite, named: type, of: entity)
      resolved.elements = composite.elements.map { .init(name: $0.name, typeName: $0.typeName) }
      return
    }
    resolved.swiftType = required(type, "composition", place)
    resolved.transformerName = nil
    let rules = section.compositionRules[resolved.swiftType] ?? [:]
    // With the types of all fields the structure is generated. Otherwise the sources have it.
    guard !rules.isEmpty, rules.values.allSatisfy({ $0.swiftType != nil }),
      !result.compositions.contains(where: { $0.name == resolved.swiftType })
    else { return }
    let fields = rules.sorted { $0.key < $1.key }.map { name, rule in
      ResolvedComposition.Field(
        persistentName: name, swiftName: rule.swiftName ?? name, declaredType: "\(rule.swiftType ?? "")?")
    }
    for (name, rule) in rules where AttributeTypes.name(forSwiftType: rule.swiftType ?? "") == nil {
      problem(
        "compositionRules.\(resolved.swiftType).\(name)",
        "\(rule.swiftType ?? "") is no type of a field; the types are those of attributes without a storage method."
      )
    }
    result.compositions.append(.init(name: resolved.swiftType, fields: fields, owner: entity))
  }

  /// The structure of a composite attribute. Attributes with the same elements share one.
  private mutating func addComposition(
    _ composite: NSCompositeAttributeDescription, named name: String?, of entity: String
  ) -> String {
    var chosen = name ?? SwiftNaming.type(SwiftNaming.capitalized(composite.name))
    if name == nil, classNames.values.contains(chosen) { chosen = entity + chosen }
    func fields(of type: String) -> [ResolvedComposition.Field] {
      let rules = section.compositionRules[type] ?? [:]
      return composite.elements.map { element in
        let rule = rules[element.name]
        let usual = AttributeTypes.swiftTypes[element.typeName] ?? []
        let mapped = section.typeMappings[element.typeName] ?? usual.first ?? "Data"
        return .init(
          persistentName: element.name, swiftName: rule?.swiftName ?? SwiftNaming.property(element.name),
          declaredType: (rule?.swiftType ?? mapped) + (element.isOptional ? "?" : ""))
      }.sorted { $0.swiftName < $1.swiftName }
    }
    if composite.elements.contains(where: { !$0.isOptional }) {
      remark(
        entity, composite.name, "has required elements, and those of a class are optional",
        changesVersion: true)
    }
    let found = result.compositions.first { $0.name == chosen }
    if let found, found.fields == fields(of: chosen) { return chosen }
    if found != nil {
      guard name == nil else {
        problem(
          "attributeRules.\(entity).\(composite.name)",
          "Two composites with different elements have the Swift type \(chosen). Give one of them another “swiftType”."
        )
        return chosen
      }
      chosen = entity + chosen
    }
    result.compositions.append(.init(name: chosen, fields: fields(of: chosen), owner: entity))
    return chosen
  }

  // MARK: Checks

  private mutating func need(
    _ attribute: NSAttributeDescription, _ types: Set<NSAttributeType>, _ method: String, _ names: String,
    _ place: String
  ) {
    guard !types.contains(attribute.attributeType) else { return }
    problem(
      "\(place).storageMethod",
      "The storage method \(method) needs an attribute of type \(names), and \(attribute.name) is \(attribute.typeName). Change the rule or the model."
    )
  }

  private mutating func required(_ type: String?, _ method: String, _ place: String) -> String {
    if let type { return type }
    problem(place, "The storage method \(method) needs the Swift type. Add “swiftType”.")
    return "NSObject"
  }

  /// What `@Attribute` refuses: a decoded property that is not optional, a policy without decoding, a stored trait of a
  /// transient attribute.
  private mutating func checkDecoding(
    _ resolved: inout ResolvedAttribute, _ attribute: NSAttributeDescription, _ rule: AttributeRule,
    _ place: String, _ entity: String
  ) {
    guard kind == .persistentModel else { return }
    if rule.decodeFailurePolicy != nil, !resolved.storage.decodes {
      problem(
        "\(place).decodeFailurePolicy",
        "A decode failure policy goes with the storage methods raw, codable and transformed. Remove it.")
      resolved.decodeFailurePolicy = nil
    }
    if [.codable, .transformed, .composition].contains(resolved.storage), !resolved.isOptional {
      // The hash of a composite has its elements only.
      let isComposite = attribute is NSCompositeAttributeDescription
      remark(
        entity, attribute.name, "is required, and a property that is decoded is optional",
        changesVersion: !isComposite)
      resolved.isOptional = true
    }
    if resolved.isTransient, resolved.storage != .default {
      problem(
        "\(place).storageMethod",
        "\(attribute.name) is transient, and a transient attribute has no storage method. Remove “storageMethod”."
      )
    }
    if resolved.isTransient, resolved.isUnique {
      remark(entity, attribute.name, "is transient and unique, and what is not stored is not unique")
      resolved.isUnique = false
    }
  }
}
