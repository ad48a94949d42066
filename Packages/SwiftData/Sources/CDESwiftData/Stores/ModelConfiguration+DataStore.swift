extension ModelConfiguration: DataStoreConfiguration {
  /// The store of rows that a container opens.
  public typealias Store = DefaultStore
}
