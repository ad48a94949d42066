internal import CDEManagedModel
internal import CDEStore
@_spi(CDE) internal import CDEExecutors

extension ModelBinding {
  /// The binding of a model. A model has only one. Freezes the model.
  static func of(_ model: NSManagedObjectModel) throws -> ModelBinding {
    try of(model, defaultRow: EntityBinding.defaultRow)
  }

  /// Used instead of a model that can't be used.
  static let empty: ModelBinding = {
    do { return try of(NSManagedObjectModel()) } catch { fatalError("An empty model is valid: \(error)") }
  }()

  /// The entity whose objects are of a class.
  func binding(for type: NSManagedObject.Type) -> EntityBinding? {
    byClass.withLock { table in
      if let known = table[ObjectIdentifier(type)] { return known }
      ManagedObjectClasses.register(type)
      if type == NSManagedObject.self { return nil }
      let names = ManagedObjectClasses.names(of: type)
      let claimants = entities.filter { entity in
        names.contains(entity.description.managedObjectClassName ?? "")
      }
      // Several entities may share a class. The name of the class then selects one.
      let named = claimants.count == 1 ? claimants[0] : claimants.first { $0.name == names.last }
      if named == nil, claimants.count > 1 { return nil }
      let schemaName = (type as? any CDRuntimeSchemaProviding.Type)?.__cdRuntimeEntitySchema.entityName
      let found = named ?? schemaName.flatMap(entity(named:)) ?? entity(named: names.last ?? "")
      guard let found else { return nil }
      found.bind(type)
      table[ObjectIdentifier(type)] = found
      return found
    }
  }

  /// The entity of a class.
  ///
  /// - Throws: ``ManagedObjectError`` with code `.unknownEntity` when there is none, or several.
  func existingBinding(for type: NSManagedObject.Type) throws -> EntityBinding {
    if let found = binding(for: type) { return found }
    throw ManagedObjectError(
      .unknownEntity,
      "The model has no entity for \(type), or several. It has: "
        + entities.map(\.name).joined(separator: ", ") + ".")
  }
}

extension EntityBinding {
  /// One row with the values of a new object.
  fileprivate static func defaultRow(_ layout: RowLayout, _ properties: IndexedArray<SlotIndex, PropertyInfo>)
    -> RowBatch
  {
    var builder = RowBatchBuilder(layout: layout, rows: 1)
    builder.beginRow(key: 0, version: 0)
    for property in properties where !property.isTransient {
      builder.set(property.defaultValue, of: property)
    }
    return builder.finish()
  }
}
