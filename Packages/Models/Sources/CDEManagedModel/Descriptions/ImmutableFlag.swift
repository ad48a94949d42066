@_spi(CDE) internal import CDEExecutors
internal import Synchronization

/// Whether a description belongs to a model in use. The freeze writes it once, and each setter reads it.
///
/// Atomic and not locked, because setters only need to detect that the rule was broken. Changing a model
/// while another thread starts to use it is a race in both cases.
struct ImmutableFlag: ~Copyable {
  private let flag = Atomic<Bool>(false)

  var isSet: Bool { flag.load(ordering: .acquiring) }

  func set() { flag.store(true, ordering: .releasing) }

  /// Traps when the description is in use.
  func requireMutable(_ subject: @autoclosure () -> String) {
    if isSet {
      failPrecondition(
        "Can't modify an immutable model. \(subject()) belongs to a model that a coordinator uses already; "
          + "change the model before, or change a copy().")
    }
  }
}
