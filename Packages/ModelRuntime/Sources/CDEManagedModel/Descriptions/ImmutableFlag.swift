@_spi(CDE) internal import CDEExecutors
internal import Synchronization

/// Whether a description belongs to a model in use. Written once, by the freeze; every setter reads it.
///
/// Atomic rather than locked, because setters only need to know that the rule was broken. A caller that
/// mutates a model while another thread starts using it has a race either way.
struct ImmutableFlag: ~Copyable {
  private let flag = Atomic<Bool>(false)

  var isSet: Bool { flag.load(ordering: .acquiring) }

  func set() { flag.store(true, ordering: .releasing) }

  /// Traps when the description is in use already.
  func requireMutable(_ subject: @autoclosure () -> String) {
    if isSet {
      failPrecondition(
        "Can't modify an immutable model. \(subject()) belongs to a model that a coordinator uses already; "
          + "change the model before, or change a copy().")
    }
  }
}
