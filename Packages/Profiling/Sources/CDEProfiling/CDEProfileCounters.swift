/// Receives the events of a profile, for a system that collects measurements.
///
/// Set it in ``CDEProfile/Options/counters``. Calls come from the threads of contexts, in the middle of their work: an implementation
/// returns soon and does not call a context.
public protocol CDEProfileCounters: Sendable {
  /// Called when something happened.
  ///
  /// - Parameters:
  ///   - amount: how often, or how many of the counted things; at least 1.
  ///   - counter: what is counted.
  func add(_ amount: Int, to counter: CDEProfileCounter)

  /// Called when something ended.
  func record(_ duration: Duration, of timer: CDEProfileTimer)
}

/// What a profile counts. The raw values suit the names of metrics.
public enum CDEProfileCounter: String, Sendable, Hashable, CaseIterable, Codable {
  /// Objects whose row was read alone because a property was read.
  case objectFaults = "object_faults"
  /// To-many relationships whose members were read for one object.
  case relationshipFaults = "relationship_faults"
  /// Single faults that belong to a run of at least ten of a kind.
  case repeatedFaults = "repeated_faults"
  /// Fetches and counts.
  case fetches = "fetches"
  /// The results of fetches.
  case fetchedResults = "fetched_results"
  /// Saves that succeeded or failed.
  case saves = "saves"
  /// Inserted, updated and deleted objects of saves.
  case savedObjects = "saved_objects"
  /// Saves of other contexts that were merged.
  case merges = "merges"
  /// Objects whose readers were woken.
  case wakes = "wakes"
}

/// What a profile times. The raw values suit the names of metrics.
public enum CDEProfileTimer: String, Sendable, Hashable, CaseIterable, Codable {
  /// A fetch or a count.
  case fetch
  /// A save, with its validation, and with what observers of its notifications do.
  case save
  /// A merge of another context's save.
  case merge
}
