internal import CDEStore

// Snapshots of models in a hierarchy. The class itself names the properties, including inherited ones.
extension ModelSnapshot where Item.PathRoot == CDHierarchyPaths {
  /// An attribute that always has a value.
  ///
  /// If the row has no value, this is the declared default, or the type's zero.
  public subscript<Value: CDPrimitive>(dynamicMember member: KeyPath<Item, Value>) -> Value {
    required(property(member).info)
  }

  /// An attribute that may have no value.
  public subscript<Value: CDPrimitive>(dynamicMember member: KeyPath<Item, Value?>) -> Value? {
    read(property(member).info)
  }

  /// An attribute in raw storage. The result is the same as that of the object's own property.
  public subscript<Value: RawRepresentable>(dynamicMember member: KeyPath<Item, Value>) -> Value
  where Value.RawValue: CDPrimitive {
    let (info, method) = property(member)
    return raw(info, method)
  }

  /// An attribute in raw storage that may have no value.
  public subscript<Value: RawRepresentable>(dynamicMember member: KeyPath<Item, Value?>) -> Value?
  where Value.RawValue: CDPrimitive {
    let (info, method) = property(member)
    return optionalRaw(info, method)
  }

  /// An attribute with its own storage: JSON, transformed values, compositions.
  @_disfavoredOverload
  public subscript<Value>(dynamicMember member: KeyPath<Item, Value>) -> Value {
    let (info, method) = property(member)
    return decode(info, method)
  }

  /// The related object's handle.
  public subscript<Target: PersistentEntity>(dynamicMember member: KeyPath<Item, Target?>)
    -> ModelHandle<Target>?
  { reference(property(member).info).map(handle) }

  /// The related objects' handles; nil if they were not requested when the snapshot was made.
  public subscript<Target: PersistentEntity>(dynamicMember member: KeyPath<Item, Set<Target>>)
    -> [ModelHandle<Target>]?
  { extras?.members[property(member).info.slot]?.map(handle) }

  /// The related objects' handles in their order; nil if they were not requested when the snapshot was made.
  public subscript<Target: PersistentEntity>(dynamicMember member: KeyPath<Item, [Target]>)
    -> [ModelHandle<Target>]?
  { extras?.members[property(member).info.slot]?.map(handle) }

  /// The snapshot with the type of a model that inherits from this one; nil if the object is not of that
  /// model.
  public func `as`<Child: PersistentEntity>(_ type: Child.Type) -> ModelSnapshot<Child>? {
    guard let wanted = model.binding(for: type),
      model.schema.entities[wanted.index].subtree.contains(binding.index)
    else { return nil }
    return ModelSnapshot<Child>(row: row, model: model, store: store, extras: extras)
  }

  private func property(_ member: PartialKeyPath<Item>) -> (info: PropertyInfo, method: StorageMethod) {
    let binding = binding
    if let place = binding.pathPlaces.find(member) { return (binding.properties[place.slot], place.method) }
    let field = Item.field(at: member)
    let info = property(field.persistentPath, of: binding)
    binding.pathPlaces.add(member, PathPlaces.Place(slot: info.slot, method: field.storageMethod))
    return (info, field.storageMethod)
  }
}

extension ModelChanges where Item.PathRoot == CDHierarchyPaths {
  /// Whether a property differs: `changes.contains(\.title)`.
  public func contains(_ member: PartialKeyPath<Item>) -> Bool {
    let name = Item.field(at: member).persistentPath.first
    return name.flatMap { old.binding.layout.slot(named: $0) }.map(properties.contains) ?? false
  }
}
