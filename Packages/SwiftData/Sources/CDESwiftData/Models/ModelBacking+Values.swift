@_spi(CDE) internal import CDEModelRuntime

// Attributes of other types: enumerations, structs and collections that are `Codable`, and what a transformer stores.
extension _ModelBacking {
  /// Sets the property where an initialiser of the class does. For generated accessors.
  @_disfavoredOverload
  public mutating func initialize<Value: Codable>(_ ordinal: Int, _ value: Value) {
    target()?.setCoded(ordinal, value)
  }

  /// Reads the property, and records the read for observers. For generated accessors.
  @_disfavoredOverload
  public mutating func get<Value: Codable>(
    _ model: Model, _ ordinal: Int, _ path: @autoclosure () -> KeyPath<Model, Value>
  ) -> Value {
    codedValue(model, ordinal, path)
  }

  /// Sets the property, and wakes its readers. For generated accessors.
  @_disfavoredOverload
  public mutating func set<Value: Codable>(
    _ model: Model, _ ordinal: Int, _ path: @autoclosure () -> KeyPath<Model, Value>, _ value: Value
  ) {
    let object = object(reading: model)
    mutating(object, model, path) { object.setCoded(ordinal, value) }
  }

  /// Sets the property where an initialiser of the class does. For generated accessors.
  @available(
    *, unavailable,
    message:
      "The property is neither Codable nor a model nor an array of models. Conform its type to Codable, or mark it @Transient."
  )
  @_disfavoredOverload
  public mutating func initialize<Value>(_ ordinal: Int, _ value: Value) {}

  /// Reads the property, and records the read for observers. For generated accessors.
  @available(
    *, unavailable,
    message:
      "The property is neither Codable nor a model nor an array of models. Conform its type to Codable, or mark it @Transient."
  )
  @_disfavoredOverload
  public mutating func get<Value>(
    _ model: Model, _ ordinal: Int, _ path: @autoclosure () -> KeyPath<Model, Value>
  ) -> Value { fatalError("Unavailable.") }

  /// Sets the property, and wakes its readers. For generated accessors.
  @available(
    *, unavailable,
    message:
      "The property is neither Codable nor a model nor an array of models. Conform its type to Codable, or mark it @Transient."
  )
  @_disfavoredOverload
  public mutating func set<Value>(
    _ model: Model, _ ordinal: Int, _ path: @autoclosure () -> KeyPath<Model, Value>, _ value: Value
  ) {}
}

// What a transformer stores.
extension _ModelBacking {
  /// Sets the property where an initialiser of the class does. For generated accessors.
  public mutating func initializeTransformable<Value>(_ ordinal: Int, _ value: Value) {
    target()?.setCoded(ordinal, value)
  }

  /// Reads the property, and records the read for observers. For generated accessors.
  public mutating func getTransformable<Value>(
    _ model: Model, _ ordinal: Int, _ path: @autoclosure () -> KeyPath<Model, Value>
  ) -> Value {
    codedValue(model, ordinal, path)
  }

  /// Sets the property, and wakes its readers. For generated accessors.
  public mutating func setTransformable<Value>(
    _ model: Model, _ ordinal: Int, _ path: @autoclosure () -> KeyPath<Model, Value>, _ value: Value
  ) {
    let object = object(reading: model)
    mutating(object, model, path) { object.setCoded(ordinal, value) }
  }
}

extension _ModelBacking {
  private func codedValue<Value>(_ model: Model, _ ordinal: Int, _ path: () -> KeyPath<Model, Value>) -> Value
  {
    let object = object(reading: model)
    if let registrar = object._cdOwnTrackingRegistrar() { registrar.access(model, keyPath: path()) }
    return object.coded(ordinal, as: Value.self)
  }
}

extension _ModelObject {
  /// The decoded value of an attribute, which is kept until it changes.
  final func coded<Value>(_ ordinal: Int, as type: Value.Type) -> Value {
    let (name, shape) = info.attribute(ordinal)
    if let shape {
      do {
        return try _cdDecoded(CDOrdinal(ordinal)) {
          try ValueCoding.decode($0, as: type, shape, name: name)
        }
      } catch {
        return undecodable(name, shape, value(forKey: name), type, error)
      }
    }
    let stored = value(forKey: name)
    if let value = stored as? Value { return value }
    return undecodable(name, nil, stored, type, nil)
  }

  final func setCoded<Value>(_ ordinal: Int, _ value: Value) {
    let (name, shape) = info.attribute(ordinal)
    guard let shape else { return setValue(ValueCoding.unwrap(value), forKey: name) }
    do {
      setValue(try ValueCoding.encode(value, shape, name: name), forKey: name)
    } catch {
      // The value stays what it was, and the save says why.
      refuse(name, error)
    }
  }
}
