@_spi(CDE) internal import CDEExecutors
internal import CDEStore
internal import Foundation

// Properties by the model's own paths. The compiler has the types, and the path has the storage method.
extension ModelSnapshot {
  /// An attribute that always has a value.
  ///
  /// If the row has no value, this is the declared default, or the type's zero.
  public subscript<Value: CDPrimitive>(
    dynamicMember member: KeyPath<Item.PathRoot, CDPath<Item, Value>>
  ) -> Value {
    required(property(member).info)
  }

  /// An attribute that may have no value.
  public subscript<Value: CDPrimitive>(
    dynamicMember member: KeyPath<Item.PathRoot, CDPath<Item, Value?>>
  ) -> Value? {
    read(property(member).info)
  }

  /// An attribute in raw storage.
  ///
  /// If the stored value is no raw value of the type, the result is the declared default. Without a default
  /// it is the value of the object's own property: the case of zero or the first case.
  public subscript<Value: RawRepresentable>(
    dynamicMember member: KeyPath<Item.PathRoot, CDPath<Item, Value>>
  ) -> Value where Value.RawValue: CDPrimitive {
    let (info, method) = property(member)
    return raw(info, method)
  }

  /// An attribute in raw storage that may have no value. If the stored value is no raw value of the type, the
  /// result is the declared default, as in the object's own property, or nil.
  public subscript<Value: RawRepresentable>(
    dynamicMember member: KeyPath<Item.PathRoot, CDPath<Item, Value?>>
  ) -> Value? where Value.RawValue: CDPrimitive {
    let (info, method) = property(member)
    return optionalRaw(info, method)
  }

  /// An attribute with its own storage: raw values, JSON, transformed values.
  ///
  /// A value that can't be decoded gives nil. An attribute that is not optional then gives its declared
  /// default. Without a default the read traps, as the object's own property does.
  @_disfavoredOverload
  public subscript<Value>(dynamicMember member: KeyPath<Item.PathRoot, CDPath<Item, Value>>) -> Value {
    let (info, method) = property(member)
    return decode(info, method)
  }

  /// A whole composition.
  public subscript<Value, Composition>(
    dynamicMember member: KeyPath<Item.PathRoot, CDCompositionPath<Item, Value, Composition>>
  ) -> Value {
    decode(property(member).info, .composition)
  }

  /// The related object's handle.
  public subscript<Target: PersistentEntity>(
    dynamicMember member: KeyPath<Item.PathRoot, CDToOneRelationPath<Item, Target>>
  ) -> ModelHandle<Target>? {
    reference(property(member).info).map(handle)
  }

  /// The related objects' handles, in the relationship's order if it has one; nil if they were not requested
  /// when the snapshot was made.
  public subscript<Target: PersistentEntity>(
    dynamicMember member: KeyPath<Item.PathRoot, CDToManyRelationPath<Item, Target>>
  ) -> [ModelHandle<Target>]? {
    let info = property(member).info
    return extras?.members[info.slot]?.map(handle)
  }

  func handle<Target>(_ member: SnapshotExtras.Member) -> ModelHandle<Target> {
    ModelHandle(store: store.identifier, entity: model.entities[member.entity].name, key: member.key)
  }

  // MARK: Cells

  /// The property that a member names, and its storage method.
  private func property<Path: CDNamedPath>(
    _ member: KeyPath<Item.PathRoot, Path>
  ) -> (info: PropertyInfo, method: StorageMethod) {
    let binding = binding
    if let place = binding.pathPlaces.find(member) { return (binding.properties[place.slot], place.method) }
    let path = Item.path[keyPath: member]
    let info = property(path.persistentPath, of: binding)
    let method = (path as? any StoredPath)?.storageMethod ?? .default
    binding.pathPlaces.add(member, PathPlaces.Place(slot: info.slot, method: method))
    return (info, method)
  }

  func property(_ path: [String], of binding: EntityBinding) -> PropertyInfo {
    guard path.count == 1, let info = binding.property(path[0]) else {
      failPrecondition(
        "The model's entity \(binding.name) lacks \(path.joined(separator: ".")), which \(Item.self) declares. Load the "
          + "model made from this class, or name the property as the model does (persistentName:).")
    }
    return info
  }

  func required<Value: CDPrimitive>(_ info: PropertyInfo) -> Value {
    read(info) ?? Value._read(info.defaultValue.converted(for: Value._cellKind)) ?? Value._zero
  }

  func raw<Value: RawRepresentable>(_ info: PropertyInfo, _ method: StorageMethod) -> Value
  where Value.RawValue: CDPrimitive {
    if method == .raw, let raw: Value.RawValue = read(info), let value = Value(rawValue: raw) { return value }
    return decode(info, method)
  }

  func optionalRaw<Value: RawRepresentable>(_ info: PropertyInfo, _ method: StorageMethod) -> Value?
  where Value.RawValue: CDPrimitive {
    guard method == .raw else { return decode(info, method) }
    if let raw: Value.RawValue = read(info), let value = Value(rawValue: raw) { return value }
    return Value.RawValue._read(info.defaultValue.converted(for: Value.RawValue._cellKind))
      .flatMap(Value.init(rawValue:))
  }

  func read<Value: CDPrimitive>(_ info: PropertyInfo) -> Value? {
    if info.isDirect, let cell = info.cells.first,
      row.batch.layout.cells[cell].kind == Value._cellKind
    {
      return Value._read(row.batch, row.row, cell)
    }
    return Value._read(value(of: info).converted(for: Value._cellKind))
  }

  func value(of info: PropertyInfo) -> _PropertyValue {
    do {
      return try row.value(of: info, external: externalData)
    } catch {
      // A read of a value can't throw. The object's own property reports the error in the same way.
      Diagnostics.report(
        "\(binding.name).\(info.name) of \(handle.uriRepresentation.absoluteString) could not be read: \(error)"
      )
      return .null
    }
  }

  func externalData(_ value: ExternalValue) throws -> Data { Data(try store.store.externalValue(value)) }

  func reference(_ info: PropertyInfo) -> SnapshotExtras.Member? {
    guard let cell = info.cells.first(where: { row.batch.layout.cells[$0].role == .key }),
      let key = row.batch.integer(row.row, cell)
    else { return nil }
    var entity = info.destination
    if let cell = info.entityCell(in: row.batch.layout), let concrete = row.batch.entity(row.row, cell),
      model.schema.entities[info.destination].subtree.contains(concrete)
    {
      entity = concrete
    }
    return SnapshotExtras.Member(entity: entity, key: key)
  }

  // MARK: Decoding

  func decode<Value>(_ info: PropertyInfo, _ method: StorageMethod) -> Value {
    let optional = Value.self as? any OptionalType.Type
    let type = optional?.wrapped ?? Value.self
    if let value = decoded(info, method, as: type) as? Value { return value }
    // As in the object's own property, a missing value and a value without a case give the declared default.
    if method == .raw, let value = raw(info.defaultValue, as: type) as? Value { return value }
    if let absent = optional?.absent as? Value { return absent }
    if method == .raw, let value = anyCase(of: type) as? Value {
      Diagnostics.report(
        "\(binding.name).\(info.name) of \(handle.uriRepresentation.absoluteString) holds what is no \(Value.self): "
          + "\(value) is read.")
      return value
    }
    failPrecondition(
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

  private func anyCase(of type: Any.Type) -> Any? {
    func find<Raw: RawRepresentable>(_ type: Raw.Type) -> Any? {
      func zero<Primitive: CDPrimitive>(_ type: Primitive.Type) -> Raw.RawValue? {
        type._zero as? Raw.RawValue
      }
      let primitive = Raw.RawValue.self as? any CDPrimitive.Type
      return RawFallback.value(of: type, zero: primitive.flatMap { zero($0) })
    }
    return (type as? any RawRepresentable.Type).flatMap { find($0) }
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

/// A path with a storage method.
private protocol StoredPath {
  var storageMethod: StorageMethod { get }
}

extension CDPath: StoredPath {}
extension CDCompositionPath: StoredPath {}

/// Unwraps an optional type when only `Any.Type` is known.
private protocol OptionalType {
  static var wrapped: Any.Type { get }
  static var absent: Any { get }
}

extension Optional: OptionalType {
  static var wrapped: Any.Type { Wrapped.self }
  static var absent: Any { Self.none as Any }
}
