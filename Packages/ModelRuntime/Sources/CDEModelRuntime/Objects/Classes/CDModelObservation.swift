/// How to wake readers of a class's own properties, for the lineage of an observed model in a hierarchy.
public nonisolated struct CDModelObservation: Sendable {
  /// For each property the names that readers use: its own name, and the name of a to-many relationship's
  /// count.
  let paths: [[String]]
  /// The persistent names of properties that no save announces.
  let transient: Set<String>
  /// Wakes readers of certain fields of the class; nil means all fields.
  let wake: @Sendable (NSManagedObject, CDEObservationFieldSet?) -> Void

  /// Describes the observed properties of one class.
  ///
  /// - Parameters:
  ///   - paths: For each property, in the order of declaration, the names that readers use.
  ///   - transient: The persistent names of properties that no save announces.
  ///   - wake: Wakes readers of certain fields of the class; nil means all fields.
  public init(
    paths: [[String]], transient: Set<String>,
    wake: @escaping @Sendable (NSManagedObject, CDEObservationFieldSet?) -> Void
  ) {
    self.paths = paths
    self.transient = transient
    self.wake = wake
  }
}
