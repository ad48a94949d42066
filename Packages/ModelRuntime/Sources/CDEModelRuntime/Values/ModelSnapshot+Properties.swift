internal import CDEStore
internal import Foundation

// Reading by the model's own paths: the compiler knows the types, the path knows how the value is stored.
extension ModelSnapshot {
  /// An attribute that always has a value.
  ///
  /// Where the row has none, this is the declared default, or the type's zero.
  public subscript<Value: CDPrimitive>(
    dynamicMember member: KeyPath<Item.PathRoot, CDPath<Item, Value>>
  ) -> Value {
    let info = property(Item.path[keyPath: member].persistentPath)
    return read(info) ?? Value._read(info.defaultValue.converted(for: Value._cellKind))
      ?? Value._zero as! Value
  }

  /// An attribute that may have no value.
  public subscript<Value: CDPrimitive>(
    dynamicMember member: KeyPath<Item.PathRoot, CDPath<Item, Value?>>
  ) -> Value? {
    read(property(Item.path[keyPath: member].persistentPath))
  }

  /// An attribute with a storage of its own: raw values, JSON, transformed values.
  ///
  /// What can't be decoded is nil. An attribute that is not optional then has its declared default; without
  /// one the read traps, as the object's own would.
  @_disfavoredOverload
  public subscript<Value>(dynamicMember member: KeyPath<Item.PathRoot, CDPath<Item, Value>>) -> Value {
    let path = Item.path[keyPath: member]
    return decode(property(path.persistentPath), path.storageMethod)
  }

  /// A composition as a whole.
  public subscript<Value, Composition>(
    dynamicMember member: KeyPath<Item.PathRoot, CDCompositionPath<Item, Value, Composition>>
  ) -> Value {
    decode(property(Item.path[keyPath: member].persistentPath), .composition)
  }

  /// The related object's handle.
  public subscript<Target: PersistentEntity>(
    dynamicMember member: KeyPath<Item.PathRoot, CDToOneRelationPath<Item, Target>>
  ) -> ModelHandle<Target>? {
    reference(property(Item.path[keyPath: member].persistentPath)).map(handle)
  }

  /// The related objects' handles, in the relationship's order if it has one; nil if they were not asked for
  /// when the snapshot was made.
  public subscript<Target: PersistentEntity>(
    dynamicMember member: KeyPath<Item.PathRoot, CDToManyRelationPath<Item, Target>>
  ) -> [ModelHandle<Target>]? {
    let info = binding.relationship(Item.path[keyPath: member].persistentPath)
    return extras?.members[info.slot]?.map(handle)
  }

  private func handle<Target>(_ member: SnapshotExtras.Member) -> ModelHandle<Target> {
    ModelHandle(store: store.identifier, entity: model.entities[member.entity].name, key: member.key)
  }

  // MARK: Cells

  func property(_ path: [String]) -> PropertyInfo {
    guard path.count == 1, let info = binding.property(path[0]) else {
      fatalError(
        "The model's entity \(binding.name) lacks \(path.joined(separator: ".")), which \(Item.self) declares. Load the "
          + "model made from this class, or name the property as the model does (persistentName:).")
    }
    return info
  }

  func read<Value: CDPrimitive>(_ info: PropertyInfo) -> Value? {
    if info.isDirect, let cell = info.cells.first,
      row.batch.layout.cells[cell].kind == Value._cellKind
    {
      return Value._read(row.batch, row.row, cell)
    }
    return Value._read(value(of: info).converted(for: Value._cellKind))
  }

  func value(of info: PropertyInfo) -> _PropertyValue { row.value(of: info, external: externalData) }

  func externalData(_ bytes: UnsafeRawBufferPointer) -> Data? {
    guard let value = ExternalValue(cell: bytes) else { return nil }
    do {
      return Data(try store.store.externalValue(value))
    } catch {
      // A read of a value can't throw; the object's own read reports it the same way.
      Diagnostics.report("An external value of \(binding.name) could not be read: \(error)")
      return nil
    }
  }

  func reference(_ info: PropertyInfo) -> SnapshotExtras.Member? {
    guard let cell = info.cells.first(where: { row.batch.layout.cells[$0].role == .key }),
      let key = row.batch.integer(row.row, cell)
    else { return nil }
    var entity = info.destination
    if let cell = info.entityCell(in: row.batch.layout), let concrete = row.batch.integer(row.row, cell),
      model.schema.entities[info.destination].subtree.contains(Int(concrete))
    {
      entity = Int(concrete)
    }
    return SnapshotExtras.Member(entity: entity, key: key)
  }

  // MARK: Decoding

  private func decode<Value>(_ info: PropertyInfo, _ method: StorageMethod) -> Value {
    let optional = Value.self as? any OptionalType.Type
    let type = optional?.wrapped ?? Value.self
    if let value = decoded(info, method, as: type) as? Value { return value }
    if let absent = optional?.absent as? Value { return absent }
    if method == .raw, let value = raw(info.defaultValue, as: type) as? Value { return value }
    fatalError(
      "\(binding.name).\(info.name) holds nothing that is a \(Value.self). Give the property a default, or "
        + "declare it optional.")
  }

  private func decoded(_ info: PropertyInfo, _ method: StorageMethod, as type: Any.Type) -> Any? {
    switch method {
    case .default:
      guard let type = type as? any CDPrimitive.Type else { return nil }
      return primitive(value(of: info), as: type)
    case .raw: return raw(value(of: info), as: type)
    case .codable:
      guard let type = type as? any Decodable.Type, case .data(let data) = value(of: info) else { return nil }
      return try? JSONDecoder().decode(type, from: data)
    case .transformed:
      guard case .object(let box) = value(of: info) else { return nil }
      return box.value
    case .composition:
      guard let type = type as? any CDCompositionValueCodable.Type,
        case .object(let box) = value(of: info), let values = box.value as? [String: Any]
      else { return nil }
      return type.__cdDecodeComposition(from: values)
    }
  }

  private func primitive<Value: CDPrimitive>(_ value: _PropertyValue, as type: Value.Type) -> Any? {
    Value._read(value.converted(for: Value._cellKind))
  }

  private func raw(_ value: _PropertyValue, as type: Any.Type) -> Any? {
    func make<Raw: RawRepresentable>(_ type: Raw.Type) -> Any? {
      guard let primitiveType = Raw.RawValue.self as? any CDPrimitive.Type,
        let rawValue = primitive(value, as: primitiveType) as? Raw.RawValue
      else { return nil }
      return Raw(rawValue: rawValue)
    }
    guard let type = type as? any RawRepresentable.Type else { return nil }
    return make(type)
  }
}

/// Takes an optional type apart where only `Any.Type` is known.
private protocol OptionalType {
  static var wrapped: Any.Type { get }
  static var absent: Any { get }
}

extension Optional: OptionalType {
  static var wrapped: Any.Type { Wrapped.self }
  static var absent: Any { Self.none as Any }
}
