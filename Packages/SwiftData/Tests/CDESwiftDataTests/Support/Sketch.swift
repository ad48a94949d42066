import CDESwiftData

/// A model class without values, for schemas: it says what its properties are, and is never made.
protocol Sketch: PersistentModel {}

extension Sketch {
  init(backingData: any BackingData<Self>) { fatalError("A sketch is never made.") }

  var persistentBackingData: any BackingData<Self> {
    get { absent() }
    set {}
  }
}

/// The value of a sketch's property.
func absent<Value>() -> Value { fatalError("A sketch has no values.") }

/// A shorter spelling of an entry.
func property(
  _ name: String, _ keypath: AnyKeyPath, _ metadata: Any? = nil, default value: Any? = nil
) -> Schema.PropertyMetadata {
  Schema.PropertyMetadata(name: name, keypath: keypath, defaultValue: value, metadata: metadata)
}
