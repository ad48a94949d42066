import CDESourceFacts

/// The class of an entity, and the properties that stand for the model's.
struct ClassMatching {
  struct Class {
    var file: SourceTree.File
    var type: SourceFacts.TypeDeclaration
    var entityName: String
  }

  let kind: ClassKind
  /// All classes with the macro.
  let classes: [Class]

  init(_ tree: SourceTree, _ kind: ClassKind) {
    self.kind = kind
    classes = tree.files.flatMap { file in
      file.facts.types.compactMap { type in
        guard type.kind == .class, let marker = type.attribute(kind.macro) else { return nil }
        return Class(file: file, type: type, entityName: Self.entityName(type, marker))
      }
    }
  }

  private static func entityName(
    _ type: SourceFacts.TypeDeclaration, _ marker: SourceFacts.Attribute
  ) -> String {
    if let name = marker["entityName"]?.string { return name }
    for attribute in type.attributes where ["objc", "_objcRuntimeName"].contains(attribute.name) {
      if let name = attribute.arguments.first?.value.text { return name }
    }
    return type.name.split(separator: ".").last.map(String.init) ?? type.name
  }

  /// The class of an entity. Of the versions of a schema it is the one that is most like the entity.
  func find(_ entity: ResolvedEntity) -> Class? {
    let names = Set(entity.attributes.map(\.persistentName) + entity.relationships.map(\.persistentName))
    return classes.filter { $0.entityName == entity.name }.enumerated().max { one, other in
      let (mine, theirs) = (Self.likeness(one.element, names), Self.likeness(other.element, names))
      return mine == theirs ? one.offset < other.offset : mine < theirs
    }?.element
  }

  private static func likeness(_ found: Class, _ names: Set<String>) -> Int {
    let own = Set(found.type.properties.map(persistentName))
    return 2 * own.intersection(names).count - own.union(names).count
  }

  static func persistentName(_ property: SourceFacts.Property) -> String {
    for name in ["Attribute", "Relationship"] {
      if let text = property.attribute(name)?["persistentName"]?.string { return text }
    }
    return property.name
  }

  /// The properties of a class that a model macro persists, as far as the source shows.
  func persisted(_ type: SourceFacts.TypeDeclaration) -> [SourceFacts.Property] {
    type.properties.filter { property in
      property.isStored && property.attribute("Ignore") == nil && property.attribute("Transient") == nil
        && property.attribute("NSManaged") == nil
        // Without a type SwiftData takes that of the default.
        && (property.type != nil || kind == .swiftData)
    }
  }
}
