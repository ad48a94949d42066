internal import Observation
internal import Synchronization

/// Finds out whether the current code runs under observation tracking.
///
/// No public call says so. But only tracking hashes the key path of an access, so a key path whose
/// subscript argument notices its own hashing tells.
final class TrackingProbe: @unchecked Sendable {
  // Guard: immutable but for the atomic count; the key path's one captured value only points at that.
  private final class Subject: Observable, Sendable {
    subscript(mark: Mark) -> Bool { false }
  }

  private struct Mark: Hashable {
    func hash(into hasher: inout Hasher) { TrackingProbe.shared.hashes.wrappingAdd(1, ordering: .relaxed) }
    static func == (left: Mark, right: Mark) -> Bool { true }
  }

  // One object for all parts, so that a question asks for one lazily made global and not for four.
  static let shared = TrackingProbe()

  // Counted and not flagged: another thread that tracks at the same moment can make this answer yes in vain,
  // never no.
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
