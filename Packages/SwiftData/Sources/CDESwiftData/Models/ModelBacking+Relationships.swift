@_spi(CDE) public import CDEModelRuntime

// Relationships. Both sides change together, with and without a context; a model that is related to one of a context joins it.
extension _ModelBacking {
  // MARK: To one

  /// Sets the property where an initialiser of the class does. For generated accessors.
  public mutating func initialize<Other: PersistentModel>(_ ordinal: Int, _ value: Other) {
    target()?.initialiseOne(ordinal, value._$object)
  }

  /// Sets the property where an initialiser of the class does. For generated accessors.
  public mutating func initialize<Other: PersistentModel>(_ ordinal: Int, _ value: Other?) {
    target()?.initialiseOne(ordinal, value?._$object)
  }

  /// Reads the property, and records the read for observers. For generated accessors.
  @inlinable
  public mutating func get<Other: PersistentModel>(
    _ model: Model, _ ordinal: Int, _ path: @autoclosure () -> KeyPath<Model, Other>
  ) -> Other {
    let object = tracked(model, path)
    return object.one(ordinal, as: Other.self) ?? object.emptyModel(Other.self)
  }

  /// Reads the property, and records the read for observers. For generated accessors.
  @inlinable
  public mutating func get<Other: PersistentModel>(
    _ model: Model, _ ordinal: Int, _ path: @autoclosure () -> KeyPath<Model, Other?>
  ) -> Other? {
    tracked(model, path).one(ordinal, as: Other.self)
  }

  /// Sets the property, and wakes its readers. For generated accessors.
  public mutating func set<Other: PersistentModel>(
    _ model: Model, _ ordinal: Int, _ path: @autoclosure () -> KeyPath<Model, Other>, _ value: Other
  ) {
    let object = linked(model)
    mutating(object, model, path) { object.setOne(ordinal, value._$object) }
  }

  /// Sets the property, and wakes its readers. For generated accessors.
  public mutating func set<Other: PersistentModel>(
    _ model: Model, _ ordinal: Int, _ path: @autoclosure () -> KeyPath<Model, Other?>, _ value: Other?
  ) {
    let object = linked(model)
    mutating(object, model, path) { object.setOne(ordinal, value?._$object) }
  }

  // MARK: To many

  /// Sets the property where an initialiser of the class does. For generated accessors.
  public mutating func initialize<Other: PersistentModel>(_ ordinal: Int, _ value: [Other]) {
    target()?.initialiseMany(ordinal, value.map(\._$object))
  }

  /// Sets the property where an initialiser of the class does. For generated accessors.
  public mutating func initialize<Other: PersistentModel>(_ ordinal: Int, _ value: [Other]?) {
    target()?.initialiseMany(ordinal, value?.map(\._$object) ?? [])
  }

  /// Reads the property, and records the read for observers. For generated accessors.
  @inlinable
  public mutating func get<Other: PersistentModel>(
    _ model: Model, _ ordinal: Int, _ path: @autoclosure () -> KeyPath<Model, [Other]>
  ) -> [Other] {
    many(model, tracked(model, path), ordinal)
  }

  /// Reads the property, and records the read for observers. For generated accessors.
  @inlinable
  public mutating func get<Other: PersistentModel>(
    _ model: Model, _ ordinal: Int, _ path: @autoclosure () -> KeyPath<Model, [Other]?>
  ) -> [Other]? {
    many(model, tracked(model, path), ordinal)
  }

  /// Sets the property, and wakes its readers. For generated accessors.
  public mutating func set<Other: PersistentModel>(
    _ model: Model, _ ordinal: Int, _ path: @autoclosure () -> KeyPath<Model, [Other]>, _ value: [Other]
  ) {
    let object = linked(model)
    mutating(object, model, path) { object.setMany(ordinal, value.map(\._$object)) }
  }

  /// Sets the property, and wakes its readers. For generated accessors.
  public mutating func set<Other: PersistentModel>(
    _ model: Model, _ ordinal: Int, _ path: @autoclosure () -> KeyPath<Model, [Other]?>, _ value: [Other]?
  ) {
    let object = linked(model)
    mutating(object, model, path) { object.setMany(ordinal, value?.map(\._$object) ?? []) }
  }

  // MARK: Common

  /// The object, which knows its instance: the other side of the relationship may ask for it.
  private func linked(_ model: Model) -> _ModelObject { model._$object }

  @inlinable
  func tracked<Value>(_ model: Model, _ path: () -> KeyPath<Model, Value>) -> _ModelObject {
    let object = model._$object
    if let registrar = object._cdOwnTrackingRegistrar() { registrar.access(model, keyPath: path()) }
    return object
  }

  /// Changes a property of the object, and wakes its readers.
  func mutating<Value>(
    _ object: _ModelObject, _ model: Model, _ path: () -> KeyPath<Model, Value>, _ body: () -> Void
  ) {
    guard let registrar = object._cdExistingRegistrar() else { return body() }
    registrar.withMutation(of: model, keyPath: path(), body)
  }
}

extension _ModelObject {
  @inlinable
  func instance<Other: PersistentModel>(as type: Other.Type) -> Other { _cast(_instance(), to: type) }

  /// An instance as one of its class, or of a class above it. A look at the class is faster than a cast.
  ///
  /// The schema names the class of each destination, and the runtime relates objects of these entities only.
  @inlinable @inline(__always)
  func _cast<Other: PersistentModel>(_ instance: AnyObject, to type: Other.Type) -> Other {
    if ObjectIdentifier(Swift.type(of: instance)) == ObjectIdentifier(Other.self) {
      return unsafeDowncast(instance, to: Other.self)
    }
    return instance as! Other
  }

  /// The instance of the model of a relationship.
  @usableFromInline
  func one(_ ordinal: Int) -> AnyObject? {
    let other: _ModelObject? = _cdToOne(CDOrdinal(ordinal))
    return other?._instance()
  }

  @inlinable
  func one<Other: PersistentModel>(_ ordinal: Int, as type: Other.Type) -> Other? {
    one(ordinal).map { _cast($0, to: type) }
  }

  @inlinable
  func many<Other: PersistentModel>(_ ordinal: Int, as type: Other.Type) -> [Other] {
    let objects: [_ModelObject] = _cdToManyArray(CDOrdinal(ordinal))
    return objects.map { _cast($0._instance(), to: type) }
  }

  func initialiseOne(_ ordinal: Int, _ other: _ModelObject?) {
    isInitialising = true
    defer { isInitialising = false }
    setOne(ordinal, other)
  }

  func initialiseMany(_ ordinal: Int, _ others: [_ModelObject]) {
    if others.isEmpty { return }
    isInitialising = true
    defer { isInitialising = false }
    setMany(ordinal, others)
  }

  func setOne(_ ordinal: Int, _ other: _ModelObject?) {
    let place = CDOrdinal(ordinal)
    let former: _ModelObject? = _cdToOne(place)
    if former === other { return }
    _cdSetToOne(place, other)
    if former?.isTracked == true || other?.isTracked == true {
      let inverse = info.inverse(of: ordinal, in: entity)
      former?.otherSideChanged(inverse)
      other?.otherSideChanged(inverse)
    }
  }

  func setMany(_ ordinal: Int, _ others: [_ModelObject]) {
    let place = CDOrdinal(ordinal)
    let former: [_ModelObject] = _cdToManyArray(place)
    // Most changes are at one place: what is before it and behind it is the same.
    var start = 0
    while start < former.count, start < others.count, former[start] === others[start] { start += 1 }
    if start == former.count, start == others.count { return }
    var (formerEnd, end) = (former.count, others.count)
    while formerEnd > start, end > start, former[formerEnd - 1] === others[end - 1] {
      (formerEnd, end) = (formerEnd - 1, end - 1)
    }
    let inverse = info.inverse(of: ordinal, in: entity)
    let kept = Set(others[start..<end].map(ObjectIdentifier.init))
    for object in former[start..<formerEnd] where !kept.contains(ObjectIdentifier(object)) {
      _cdRemove(place, object)
      object.otherSideChanged(inverse)
    }
    let known = Set(former[start..<formerEnd].map(ObjectIdentifier.init))
    for object in others[start..<end] where !known.contains(ObjectIdentifier(object)) {
      _cdAdd(place, object)
      object.otherSideChanged(inverse)
    }
    // Appended members are last already.
    if start < former.count { _cdArrange(place, others) }
  }

  func otherSideChanged(_ inverse: String?) {
    guard let inverse, isTracked, let ordinal = info.ordinal(named: inverse) else { return }
    wakeReaders(ofOrdinal: ordinal)
  }

  /// What a mandatory relationship without a value reads: a model without a context, with zeros for what it needs.
  @usableFromInline
  func emptyModel<Other: PersistentModel>(_ type: Other.Type) -> Other {
    let object = _ModelInfo.of(type).makeObject()
    object.fillWithZeros()
    return object.instance(as: type)
  }
}
