@_spi(CDE) internal import CDEExecutors
internal import CDEStore
internal import Foundation
internal import Synchronization

/// What is called when one key of one object has changed. Key-value observing is made of it.
///
/// A property of the model that no other key affects has a slot. Any other key, and a path of keys, is changed by some properties
/// of the model, on this object or on others. Each of them has an observer of its own, a link, which leads to this one.
@_spi(CDE) public final class KeyObserver: @unchecked Sendable {
  // Guard: the executor of the object's context, except for the atomic `isCancelled` and the locked `links`.

  /// The property that is observed; nil for a key that the class computes, and for a path.
  let slot: SlotIndex?
  /// The key, or the path of keys.
  let path: String
  /// The value that the observer was told last. A link has the IDs of objects instead of the objects, so as not to retain them.
  var last: Any?
  /// The observed object of an observer with links.
  weak var root: NSManagedObject?
  private let act: Act
  private let isCancelled = Atomic<Bool>(false)
  private let links = Lock<[KeyLink]>([])

  private enum Act {
    case tell(value: ((NSManagedObject) -> Any?)?, (NSManagedObject, _ old: Any?, _ new: Any?) -> Void)
    /// The observer that is affected, and whether what it observes may be on other objects now.
    case affect(Unowned, leadsOn: Bool)
  }

  private struct Unowned { weak var observer: KeyObserver? }

  /// What `addObserver(_:forKeyPath:options:context:)` was given, and what names the observer when it is removed.
  public struct Origin: Equatable {
    let observer: ObjectIdentifier
    let key: String
    let context: UnsafeMutableRawPointer?

    public init(_ observer: AnyObject, _ key: String, _ context: UnsafeMutableRawPointer?) {
      self.observer = ObjectIdentifier(observer)
      self.key = key
      self.context = context
    }
  }

  let origin: Origin?

  /// - Parameters:
  ///   - value: reads the value of what is no property of the model; nil for one that key-value coding reads.
  ///   - tell: called after a change.
  init(
    _ path: String, slot: SlotIndex?, origin: Origin?, value: ((NSManagedObject) -> Any?)?,
    _ tell: @escaping (NSManagedObject, _ old: Any?, _ new: Any?) -> Void
  ) {
    self.slot = slot
    self.path = path
    self.origin = origin
    act = .tell(value: value, tell)
  }

  /// A link.
  init(_ path: String, slot: SlotIndex?, affects observer: KeyObserver, leadsOn: Bool) {
    self.slot = slot
    self.path = path
    origin = nil
    act = .affect(Unowned(observer: observer), leadsOn: leadsOn)
  }

  deinit { letGo() }

  /// Ends the calls. Any thread may do so.
  public func cancel() {
    isCancelled.store(true, ordering: .releasing)
    letGo()
  }

  var isActive: Bool {
    guard !isCancelled.load(ordering: .acquiring) else { return false }
    if case .affect(let head, _) = act { return head.observer?.isActive == true }
    return true
  }

  /// The observers of all observed objects. An object without observers has no entry.
  ///
  /// Not a field of the object, because nearly no object has observers.
  static let table = Lock<[ObjectIdentifier: [KeyObserver]]>([:])

  // MARK: Telling

  /// The observer that this link leads to, and whether it leads on; nil for an observer that is told itself.
  var affected: (observer: KeyObserver, leadsOn: Bool)? {
    guard case .affect(let head, let leadsOn) = act, let observer = head.observer else { return nil }
    return (observer, leadsOn)
  }

  /// The value of what is observed.
  func value(of object: NSManagedObject) -> Any? {
    switch act {
    case .affect: slot.flatMap { object.identityValue($0) }
    case .tell(let value, _):
      if let slot {
        object.anyValue(object._binding.properties[slot])
      } else if let value {
        value(object)
      } else {
        object.value(forKeyPath: path)
      }
    }
  }

  /// Tells the value that an object has now.
  ///
  /// - Parameter ifDifferent: whether an equal value is passed over.
  func tell(_ object: NSManagedObject, ifDifferent: Bool = false) {
    guard case .tell(_, let body) = act else { return }
    let (old, new) = (last, value(of: object))
    if ifDifferent, Self.areEqual(old, new) { return }
    last = new
    body(object, old, new)
  }

  static func areEqual(_ one: Any?, _ other: Any?) -> Bool {
    guard let one, let other else { return one == nil && other == nil }
    guard let first = one as? AnyHashable, let second = other as? AnyHashable else { return false }
    return first == second
  }

  // MARK: Links

  /// Replaces the links. Does nothing after the observation has ended.
  func replaceLinks(by new: [KeyLink]) {
    let former = links.withLock { links in
      let former = links
      links = new
      return former
    }
    for link in former { link.observer.cancel() }
    if !isActive { letGo() }
  }

  /// Cancels the links, and releases the objects that they keep.
  private func letGo() {
    let former = links.withLock { links in
      let former = links
      links = []
      return former
    }
    for link in former { link.observer.cancel() }
  }
}

/// An observer of a property that affects another observer.
struct KeyLink: @unchecked Sendable {
  // Guard: immutable. The object is released only.
  let observer: KeyObserver
  /// The object of the property, which would be freed without a user; nil for the observed object itself.
  let object: NSManagedObject?
}
