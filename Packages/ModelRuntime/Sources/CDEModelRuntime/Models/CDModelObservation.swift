/// How to wake readers of a class's own properties, for the lineage of an observed model in a hierarchy.
public nonisolated struct CDModelObservation: Sendable {
  /// For each property the names that readers use: its own name, and the name of a to-many relationship's
  /// count.
  let paths: [[String]]
  /// The persistent names of properties that no save announces.
  let transient: Set<String>
  /// Wakes readers of certain fields of the class; nil means all fields.
  let wake: @Sendable (NSManagedObject, CDEObservationFieldSet?) -> Void

  /// - Parameters:
  ///   - type: The class.
  ///   - parent: The lineage of its superclass; nil for `NSManagedObject`.
  ///   - schema: The class's own attributes and relationships.
  ///   - propertyNames: The persistent names of its own properties.
  ///   - swiftNames: The names of the same properties in code.
  ///   - predicateKey: The key of a key path that starts at the class, inherited properties included.
  ///   - attributes: Makes the fields of its own attributes.
  ///   - relationships: Makes the fields of its own relationships, and those of their destinations.
  ///   - observation: How to wake readers of its own properties; nil for a class that is not observed.
  public init(
    paths: [[String]], transient: Set<String>,
    wake: @escaping @Sendable (NSManagedObject, CDEObservationFieldSet?) -> Void
  ) {
    self.paths = paths
    self.transient = transient
    self.wake = wake
  }
}
