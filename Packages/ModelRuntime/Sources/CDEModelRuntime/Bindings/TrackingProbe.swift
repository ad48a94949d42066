@_spi(CDE) internal import CDEExecutors
public import Observation
internal import Synchronization

/// An object's registrar. It is made when a reader first tracks the object; most objects have none.
///
/// A class, because only its own module has the layout of Observation's registrar. To pass an optional
/// registrar costs some 30 ns when it is nil and more than 100 ns otherwise. To pass a reference costs almost
/// nothing.
public final class CDEObservationRegistrarBox: Sendable {
  @usableFromInline let registrar = ObservationRegistrar()

  init() {}

  @inlinable
  public func access<Subject: Observable, Member>(_ subject: Subject, keyPath: KeyPath<Subject, Member>) {
    registrar.access(subject, keyPath: keyPath)
  }

  @inlinable
  public func withMutation<Subject: Observable, Member, Value>(
    of subject: Subject, keyPath: KeyPath<Subject, Member>, _ mutation: () throws -> Value
  ) rethrows -> Value {
    try registrar.withMutation(of: subject, keyPath: keyPath, mutation)
  }
}

/// Detects whether the current code runs under observation tracking, and makes the registrar of the object that it reads.
///
/// There is no public call for this. But only tracking hashes the key path of an access. The probe uses a key
/// path whose subscript argument counts how often it is hashed.
///
/// Tracking that was detected has been recorded with the registrar of the check, so that registrar becomes the object's. What tracks is
/// released with the objects that it has read. With a registrar for all of them it would stay until one of its properties changes.
final class TrackingProbe {
  /// What all probes share.
  private final class Parts: @unchecked Sendable {
    // Guard: immutable except for the atomic count. The one captured value of the key path only refers to the
    // count.

    // One object for all parts, so that a check reads one lazy global and not four.
    static let shared = Parts()

    // A count and not a flag. If another thread tracks at the same time, the result may be a false yes, but
    // never a false no.
    let hashes = Atomic<UInt>(0)
    private let subject = Subject()
    private let keyPath: KeyPath<Subject, Bool> = \Subject[Mark()]

    func isTracking(by box: CDEObservationRegistrarBox) -> Bool {
      let before = hashes.load(ordering: .relaxed)
      box.registrar.access(subject, keyPath: keyPath)
      return hashes.load(ordering: .relaxed) != before
    }
  }

  private final class Subject: Observable, Sendable {
    subscript(mark: Mark) -> Bool { false }
  }

  private struct Mark: Hashable {
    func hash(into hasher: inout Hasher) { Parts.shared.hashes.wrappingAdd(1, ordering: .relaxed) }
    static func == (left: Mark, right: Mark) -> Bool { true }
  }

  private let parts = Parts.shared
  /// The registrar of the next checks; nil before the first one, and after one has detected tracking.
  ///
  /// Retained once, because to retain and release it in each check takes longer than the check.
  @exclusivity(unchecked) private var next: Borrowed<CDEObservationRegistrarBox>?

  deinit { next?.release() }

  /// A registrar for an object that is read under tracking; nil if nothing tracks.
  ///
  /// Called on the isolation of the objects that share the probe.
  @inline(__always)
  func registrarIfTracking() -> CDEObservationRegistrarBox? {
    let used = next ?? makeNext()
    return used.with { parts.isTracking(by: $0) } ? takeNext() : nil
  }

  @inline(never)
  private func makeNext() -> Borrowed<CDEObservationRegistrarBox> {
    let made = CDEObservationRegistrarBox()
    let borrowed = Borrowed(made)
    borrowed.retain()
    next = borrowed
    return borrowed
  }

  @inline(never)
  private func takeNext() -> CDEObservationRegistrarBox? {
    defer { next = nil }
    return next?.takeOwnership()
  }

  private static let detached = Lock(TrackingProbe())

  /// The same for an object without a context, on any thread.
  static func registrarOfDetachedIfTracking() -> CDEObservationRegistrarBox? {
    detached.withLock { $0.registrarIfTracking() }
  }
}
