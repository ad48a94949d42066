extension Schema {
  /// What `@Model` says of one property of a class.
  public struct PropertyMetadata {
    /// The name of the property.
    public let name: String
    /// The property.
    public let keypath: AnyKeyPath
    /// The value that is written at the declaration.
    public let defaultValue: Any?
    /// What is written at the property: an ``Attribute`` or a ``Relationship``, else nil. An entry of a ``Unique`` or an
    /// ``Index`` describes no property.
    public let metadata: Any?

    /// Makes an entry, as the expansion of `@Model` does.
    public init(name: String, keypath: AnyKeyPath, defaultValue: Any? = nil, metadata: Any? = nil) {
      self.name = name
      self.keypath = keypath
      self.defaultValue = defaultValue
      self.metadata = metadata
    }

    /// The type of the property.
    var valueType: any Any.Type { type(of: keypath).valueType }
  }
}
