/// Makes entities of model classes and of those that they reach.
struct SchemaCollector {
  private(set) var entities: [Schema.Entity] = []
  private(set) var types: [String: any PersistentModel.Type] = [:]
  private(set) var problems: [SwiftDataError] = []

  mutating func add(_ type: any PersistentModel.Type) {
    let name = Schema.entityName(for: type)
    if let known = types[name] {
      guard known != type else { return }
      problems.append(
        SwiftDataError(
          .invalidSchema,
          "The schema has two classes named \(name): \(String(reflecting: known)) and \(String(reflecting: type)). Entities "
            + "are named by the class alone. Rename one, or use each in a schema of its own version.",
          entity: name))
      return
    }
    types[name] = type
    let parent = _getSuperclass(type) as? any PersistentModel.Type
    if let parent { add(parent) }

    let inherited = Set(Self.chain(above: type).flatMap { $0.schemaMetadata.map(\.name) })
    var properties: [any SchemaProperty] = []
    var constraints: [[String]] = []
    var indexes: [Schema.IndexNames] = []
    var reached: [any PersistentModel.Type] = []
    for entry in type.schemaMetadata {
      if let unique = entry.metadata as? any ConstraintPaths {
        for paths in unique.paths { names(of: paths, in: type, "#Unique").map { constraints.append($0) } }
      } else if let index = entry.metadata as? any IndexPaths {
        for (paths, isSpatial) in index.paths {
          names(of: paths, in: type, "#Index").map {
            indexes.append(Schema.IndexNames(names: $0, isSpatial: isSpatial))
          }
        }
      } else if !inherited.contains(entry.name) {
        let (property, destination) = property(entry, of: name)
        properties.append(property)
        if let destination { reached.append(destination) }
      }
    }
    // A class may repeat the entries of the one above.
    let above = ancestors(parent.map { Schema.entityName(for: $0) })
    constraints.removeAll { constraint in above.contains { $0.uniquenessConstraints.contains(constraint) } }
    indexes.removeAll { index in above.contains { $0.indexNames.contains(index) } }
    entities.append(
      Schema.Entity(
        name, superentity: parent.map { Schema.entityName(for: $0) }, properties: properties,
        constraints: constraints, indexes: indexes))
    // After the entity itself, so that entities stand in the order of their discovery.
    for type in reached { add(type) }
  }

  private mutating func property(
    _ entry: Schema.PropertyMetadata, of entity: String
  ) -> (any SchemaProperty, (any PersistentModel.Type)?) {
    func note(_ text: String) {
      problems.append(
        SwiftDataError(
          .invalidSchema, "\(entity).\(entry.name) \(text)", entity: entity, property: entry.name))
    }
    if let target = ModelReference(entry.valueType) {
      if entry.metadata is Schema.Attribute {
        note("has @Attribute, and its value is a model. Write @Relationship instead.")
      }
      let written = entry.metadata as? Schema.Relationship
      let bound = Schema.Relationship(
        name: entry.name, originalName: written?.originalName.nonEmpty, options: written?.options ?? [],
        valueType: entry.valueType, keypath: entry.keypath, inverseName: written?.inverseName,
        inverseKeyPath: written?.inverseKeyPath, deleteRule: written?.deleteRule ?? .nullify,
        minimumModelCount: written?.minimumModelCount, maximumModelCount: written?.maximumModelCount,
        hashModifier: written?.hashModifier)
      return (bound, target.type)
    }
    if entry.metadata is Schema.Relationship {
      note(
        "has @Relationship, and \(entry.valueType) is no model. Give it a model, an array of models, or an optional of one of "
          + "them, or remove the attribute.")
    }
    let written = entry.metadata as? Schema.Attribute
    let bound = Schema.Attribute(
      name: entry.name, originalName: written?.originalName.nonEmpty, options: written?.options ?? [],
      valueType: entry.valueType, defaultValue: entry.defaultValue ?? written?.defaultValue,
      hashModifier: written?.hashModifier)
    return (bound, nil)
  }

  /// The names of the properties that key paths lead to; nil with a problem noted if one leads elsewhere.
  private mutating func names(
    of paths: [AnyKeyPath], in type: any PersistentModel.Type, _ macro: String
  ) -> [String]? {
    let entries = ([type] + Self.chain(above: type)).flatMap { $0.schemaMetadata }
    var names: [String] = []
    for path in paths {
      guard let name = ValuePaths.name(of: path, among: entries) else {
        problems.append(
          SwiftDataError.unsupportedKeyPath.about(
            "\(macro) of \(Schema.entityName(for: type)) has a key path to a value of type \(Swift.type(of: path).valueType), "
              + "which is no persisted property. Name a stored property, by the class that declares it.",
            entity: Schema.entityName(for: type)))
        return nil
      }
      names.append(name)
    }
    return names
  }

  /// The entities with a name and above it, which are made before those below.
  private func ancestors(_ name: String?) -> [Schema.Entity] {
    guard let entity = entities.first(where: { $0.name == name }) else { return [] }
    return [entity] + ancestors(entity.superentityName)
  }

  /// The model classes that a class inherits from, the nearest first.
  static func chain(above type: any PersistentModel.Type) -> [any PersistentModel.Type] {
    guard let parent = _getSuperclass(type) as? any PersistentModel.Type else { return [] }
    return [parent] + chain(above: parent)
  }
}

extension String {
  /// The text, or nil if it is empty.
  fileprivate var nonEmpty: String? { isEmpty ? nil : self }
}
