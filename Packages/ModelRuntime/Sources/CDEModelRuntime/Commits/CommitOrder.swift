internal import Synchronization

/// The numbers of the commits that the contexts of one source get: a coordinator's, or a parent context's.
final class CommitOrder: Sendable {
  private let last = Atomic<UInt64>(0)

  /// - Precondition: the caller delivers the commit before any commit gets a later number.
  func next() -> UInt64 { last.wrappingAdd(1, ordering: .relaxed).newValue }
}
