internal import Observation
internal import Synchronization

/// Detects whether the current code runs under observation tracking.
///
/// There is no public call for this. But only tracking hashes the key path of an access. The probe uses a key
/// path whose subscript argument counts how often it is hashed.
final class TrackingProbe: @unchecked Sendable {
  // Guard: immutable except for the atomic count. The one captured value of the key path only refers to the
  // count.
  private final class Subject: Observable, Sendable {
    subscript(mark: Mark) -> Bool { false }
  }

  private struct Mark: Hashable {
    func hash(into hasher: inout Hasher) { TrackingProbe.shared.hashes.wrappingAdd(1, ordering: .relaxed) }
    static func == (left: Mark, right: Mark) -> Bool { true }
  }

  // One object for all parts, so that a check reads one lazy global and not four.
  static let shared = TrackingProbe()

  // A count and not a flag. If another thread tracks at the same time, the result may be a false yes, but
  // never a false no.
  private let hashes = Atomic<UInt>(0)
  private let registrar = ObservationRegistrar()
  private let subject = Subject()
  private let keyPath: KeyPath<Subject, Bool> = \Subject[Mark()]

  private init() {}

  var isTracking: Bool {
    let before = hashes.load(ordering: .relaxed)
    registrar.access(subject, keyPath: keyPath)
    return hashes.load(ordering: .relaxed) != before
  }
}
