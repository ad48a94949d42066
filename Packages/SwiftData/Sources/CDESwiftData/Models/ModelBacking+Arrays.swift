@_spi(CDE) internal import CDEModelRuntime

// Arrays of models. One that is read again is not made again, and a change in place is not compared model by model.
extension _ModelBacking {
  /// Gives a property away to be changed in place, and records the read for observers. For generated accessors.
  @inlinable
  public mutating func lend<Other: PersistentModel>(
    _ model: Model, _ ordinal: Int, _ path: @autoclosure () -> KeyPath<Model, [Other]>
  ) -> [Other] {
    let object = tracked(model, path)
    return taken(object, ordinal) ?? object.many(ordinal, as: Other.self)
  }

  /// Sets a property that was changed in place, and wakes its readers. For generated accessors.
  public mutating func takeBack<Other: PersistentModel>(
    _ model: Model, _ ordinal: Int, _ path: @autoclosure () -> KeyPath<Model, [Other]>, _ value: [Other]
  ) {
    let object = model._$object
    let lent = lentModels(in: model)
    var addresses = lent?.takeAddresses(object, ordinal)
    mutating(object, model, path) {
      if let count = addresses?.count, value.begins(with: addresses ?? []) {
        let added = value[count...]
        if object.append(ordinal, added.map(\._$object), after: count) {
          // In place: a copy would cost more than the addition.
          for model in added {
            addresses?.append(UInt(bitPattern: Unmanaged.passUnretained(model).toOpaque()))
          }
          if let known = addresses.take() { lent?.keep(value, known, added: added, of: object, ordinal) }
        }
      } else {
        let objects = value.map(\._$object)
        object.setMany(ordinal, objects)
        if object.hasMembers(ordinal, objects) {
          lent?.keep(value, value.addresses, added: value[...], of: object, ordinal)
        }
      }
    }
  }

  /// Gives a property away to be changed in place, and records the read for observers. For generated accessors.
  @_disfavoredOverload
  public mutating func lend<Value: Codable>(
    _ model: Model, _ ordinal: Int, _ path: @autoclosure () -> KeyPath<Model, Value>
  ) -> Value {
    get(model, ordinal, path())
  }

  /// Sets a property that was changed in place, and wakes its readers. For generated accessors.
  @_disfavoredOverload
  public mutating func takeBack<Value: Codable>(
    _ model: Model, _ ordinal: Int, _ path: @autoclosure () -> KeyPath<Model, Value>, _ value: Value
  ) {
    set(model, ordinal, path(), value)
  }

  /// Gives a property away to be changed in place. For generated accessors, whose getters say what is wrong.
  @_disfavoredOverload
  public mutating func lend<Value>(
    _ model: Model, _ ordinal: Int, _ path: @autoclosure () -> KeyPath<Model, Value>
  ) -> Value { fatalError("The getter is unavailable.") }

  /// Sets a property that was changed in place. For generated accessors, whose setters say what is wrong.
  @_disfavoredOverload
  public mutating func takeBack<Value>(
    _ model: Model, _ ordinal: Int, _ path: @autoclosure () -> KeyPath<Model, Value>, _ value: Value
  ) {}

  // MARK: Reading

  @inlinable
  func many<Other: PersistentModel>(_ model: Model, _ object: _ModelObject, _ ordinal: Int) -> [Other] {
    if let models: [Other] = known(object, ordinal) { return models }
    let models = object.many(ordinal, as: Other.self)
    noteRead(models, model, object, ordinal)
    return models
  }

  @usableFromInline
  func known<Other: PersistentModel>(_ object: _ModelObject, _ ordinal: Int) -> [Other]? {
    lentModels?.models(object, ordinal, as: Other.self)
  }

  @usableFromInline
  func taken<Other: PersistentModel>(_ object: _ModelObject, _ ordinal: Int) -> [Other]? {
    lentModels?.take(object, ordinal, as: Other.self)
  }

  /// Keeps the models for the next read, if this is not the first one.
  @usableFromInline
  func noteRead<Other: PersistentModel>(
    _ models: [Other], _ model: Model, _ object: _ModelObject, _ ordinal: Int
  ) {
    if models.isEmpty { return }
    if object._cdMark(CDOrdinal(ordinal)) == nil {
      object._cdMark(CDOrdinal(ordinal), LentMark.read)
    } else {
      lentModels(in: model)?.keep(models, models.addresses, added: models[...], of: object, ordinal)
    }
  }
}

extension _ModelObject {
  /// Adds models behind the members.
  ///
  /// - Returns: whether they are the last members now, in their order.
  func append(_ ordinal: Int, _ objects: [_ModelObject], after count: Int) -> Bool {
    let place = CDOrdinal(ordinal)
    for object in objects { _cdAdd(place, object) }
    if objects.contains(where: \.isTracked) {
      let inverse = info.inverse(of: ordinal, in: entity)
      for object in objects { object.otherSideChanged(inverse) }
    }
    return _cdMembers(place, from: count).elementsEqual(objects, by: ===)
  }

  func hasMembers(_ ordinal: Int, _ objects: [_ModelObject]) -> Bool {
    _cdMembers(CDOrdinal(ordinal), from: 0).elementsEqual(objects, by: ===)
  }
}
