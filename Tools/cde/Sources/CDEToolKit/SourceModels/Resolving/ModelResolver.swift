import CDEDiagrams
import CDEManagedModel
import Foundation

/// Gives the entities and properties of a model their names, types and storage in Swift.
struct ModelResolver {
  let model: NSManagedObjectModel
  let section: SourceConfiguration.Section
  let proposals: Proposals
  let kind: ClassKind
  var result: ResolvedModel
  /// The names of classes by entity.
  private(set) var classNames: [String: String] = [:]

  init(
    _ model: NSManagedObjectModel, named name: String, _ section: SourceConfiguration.Section,
    _ proposals: Proposals
  ) {
    self.model = model
    self.section = section
    self.proposals = proposals
    kind = section.kind ?? .persistentModel
    result = ResolvedModel(
      name: name, versionChecksum: model.versionChecksum, kind: kind, moduleName: section.moduleName,
      accessLevel: section.accessLevel ?? .internal)
  }

  static func resolve(
    _ model: NSManagedObjectModel, named name: String, _ section: SourceConfiguration.Section,
    _ proposals: Proposals = Proposals()
  ) -> ResolvedModel {
    var resolver = ModelResolver(model, named: name, section, proposals)
    resolver.run()
    return resolver.result
  }

  private mutating func run() {
    nameClasses()
    checkRules()
    addEnumerations()
    for entity in model.sortedEntities { result.entities.append(resolve(entity)) }
    for index in result.entities.indices { addGroups(to: index) }
    checkNames()
    result.compositions.sort { $0.name < $1.name }
  }

  mutating func remark(
    _ entity: String, _ property: String?, _ text: String, changesVersion: Bool = false
  ) {
    result.remarks.append(
      .init(entity: entity, property: property, text: text, changesVersion: changesVersion))
  }

  /// Without its former name a renamed property is removed and added by a migration.
  mutating func remarkFormerName(_ former: String?, of name: String, _ entity: String, _ property: String?) {
    guard let former, former != name else { return }
    remark(entity, property, "has the renaming identifier \(former), which only a model's file has")
  }

  mutating func problem(_ place: String, _ text: String) {
    result.problems.append(.init(place: place, text: text))
  }

  // MARK: Classes

  private mutating func nameClasses() {
    var taken: Set<String> = []
    for entity in model.sortedEntities {
      let name = entity.name ?? ""
      let written = entity.managedObjectClassName ?? ""
      let own = written.split(separator: ".").last.map(String.init) ?? ""
      let isUsable =
        kind == .persistentModel && !["", "NSManagedObject"].contains(own) && SwiftNaming.isName(own)
      var chosen = isUsable && !taken.contains(own) ? own : name
      if kind == .persistentModel { chosen = SwiftNaming.type(chosen) }
      classNames[name] = chosen
      if !taken.insert(chosen).inserted {
        problem("", "Two entities have the class \(chosen). Give \(name) another class in the model.")
      }
      if !SwiftNaming.isName(name) {
        problem("", "The entity “\(name)” has a name that is none in Swift. Rename it in the model.")
      }
    }
  }

  private mutating func resolve(_ entity: NSEntityDescription) -> ResolvedEntity {
    let name = entity.name ?? ""
    var resolved = ResolvedEntity(
      name: name, className: classNames[name] ?? name, parentName: entity.superentity?.name,
      parentClass: entity.superentity?.name.flatMap { classNames[$0] }, isAbstract: entity.isAbstract,
      isFinal: entity.subentities.isEmpty && !entity.isAbstract)
    if entity.versionHashModifier != nil {
      remark(name, nil, "has a hash modifier, which no class has", changesVersion: true)
    }
    let inherited = entity.superentity?.uniquenessConstraints.map(Self.names) ?? []
    let constraints = entity.uniquenessConstraints.map(Self.names).filter { !inherited.contains($0) }
    resolved.compoundConstraints = constraints.filter { $0.count > 1 }
    if kind == .persistentModel {
      remarkFormerName(entity.renamingIdentifier, of: name, name, nil)
      for constraint in resolved.compoundConstraints {
        remark(
          name, nil, "is unique by \(constraint.joined(separator: " and ")) together, which no class says",
          changesVersion: true)
      }
      for index in entity.indexes {
        remark(name, nil, "has the index \(index.name), which only a model's file has")
      }
      let own = Set(entity.ownProperties(sorted: false).map(\.name))
      for constraint in constraints where constraint.count == 1 && !own.contains(constraint[0]) {
        remark(
          name, nil, "is unique by \(constraint[0]), which its parent declares, and no class says so",
          changesVersion: true)
      }
    }
    let unique = Set(constraints.filter { $0.count == 1 }.map { $0[0] })
    for property in entity.ownProperties(sorted: true) {
      switch property {
      case let attribute as NSAttributeDescription:
        if let found = resolve(attribute, of: name, isUnique: unique.contains(attribute.name)) {
          resolved.attributes.append(found)
        } else {
          resolved.omitted.insert(property.name)
        }
      case let relationship as NSRelationshipDescription:
        if unique.contains(relationship.name) {
          remark(
            name, relationship.name, "is a unique relationship, which no class says", changesVersion: true)
        }
        if let found = resolve(relationship, of: name) {
          resolved.relationships.append(found)
        } else {
          resolved.omitted.insert(property.name)
        }
      default:
        remark(name, property.name, "is a fetched property, which no class has")
        resolved.omitted.insert(property.name)
      }
    }
    let names = Set(entity.propertiesByName.keys)
    resolved.generatesCounts = !resolved.relationships.contains {
      $0.isToMany && names.contains($0.swiftName + "Count")
    }
    return resolved
  }

  static func names(_ constraint: [Any]) -> [String] {
    constraint.map { ($0 as? NSPropertyDescription)?.name ?? "\($0)" }
  }

  // MARK: Checks

  /// Rules for what the model does not have.
  private mutating func checkRules() {
    for (entity, rules) in section.attributeRules.sorted(by: { $0.key < $1.key }) {
      check(entity, rules.keys.sorted(), "attributeRules") { $0 is NSAttributeDescription }
    }
    for (entity, rules) in section.relationshipRules.sorted(by: { $0.key < $1.key }) {
      check(entity, rules.keys.sorted(), "relationshipRules") { $0 is NSRelationshipDescription }
    }
  }

  private mutating func check(
    _ entity: String, _ names: [String], _ key: String, _ fits: (NSPropertyDescription) -> Bool
  ) {
    guard let description = model.entitiesByName[entity] else {
      let known = model.sortedEntities.compactMap(\.name).joined(separator: ", ")
      return problem("\(key).\(entity)", "The model has no entity \(entity). It has \(known).")
    }
    let own = description.ownProperties(sorted: true)
    for name in names where !own.contains(where: { $0.name == name && fits($0) }) {
      let what = key == "attributeRules" ? "attribute" : "relationship"
      let known = own.filter(fits).map(\.name).joined(separator: ", ")
      problem(
        "\(key).\(entity).\(name)",
        "The entity \(entity) declares no \(what) \(name). Its own are \(known.isEmpty ? "none" : known).")
    }
  }

  /// Names that two declarations have.
  private mutating func checkNames() {
    for entity in result.entities {
      var seen: [String: String] = [:]
      let all =
        entity.attributes.map { ($0.swiftName, $0.persistentName) }
        + entity.relationships.map { ($0.swiftName, $0.persistentName) }
        + entity.groups.map { ($0.swiftName, $0.swiftName) }
      for (swiftName, persistentName) in all {
        if let other = seen.updateValue(persistentName, forKey: swiftName) {
          problem(
            "attributeRules.\(entity.name).\(persistentName)",
            "\(other) and \(persistentName) of \(entity.name) are both named \(swiftName) in Swift. Give one of them another “swiftName”."
          )
        }
      }
    }
    var types = Set(result.entities.map(\.className))
    let groups = result.entities.flatMap { $0.groups.map(\.swiftType) }
    for name in result.enumerations.map(\.name) + result.compositions.map(\.name) + groups
    where !types.insert(name).inserted {
      problem("", "Two types are named \(name). Give one of them another “swiftType”.")
    }
  }
}

extension NSEntityDescription {
  /// The properties that the entity itself declares, in the order of the model or by name.
  func ownProperties(sorted: Bool) -> [NSPropertyDescription] {
    let inherited = superentity?.propertiesByName ?? [:]
    let own = properties.filter { inherited[$0.name] == nil }
    return sorted ? own.sorted { $0.name < $1.name } : own
  }
}
