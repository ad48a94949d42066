public import Foundation
internal import Synchronization

/// The observers that were added with a selector.
private final class SelectorObservers: Sendable {
  static let shared = SelectorObservers()

  struct Entry: @unchecked Sendable {
    // Guard: the mutex of the list.
    weak var observer: AnyObject?
    let center: ObjectIdentifier
    let name: Notification.Name?
    let object: ObjectIdentifier?
    let token: any NSObjectProtocol
  }

  private let entries = Mutex<[ObjectIdentifier: [Entry]]>([:])

  func add(_ entry: Entry, of observer: AnyObject) {
    entries.withLock { entries in
      entries[ObjectIdentifier(observer), default: []].append(entry)
    }
  }

  /// Takes out the entries of an observer that a test accepts.
  func take(_ observer: AnyObject, where isMeant: (Entry) -> Bool) -> [Entry] {
    entries.withLock { entries in
      let id = ObjectIdentifier(observer)
      guard let all = entries[id] else { return [] }
      // Weak references to an object are nil in its deinit, where observers are removed most often. A living object at
      // the address of an earlier one finds the earlier one's entries, which then call nothing any more.
      let taken = all.filter { ($0.observer == nil || $0.observer === observer) && isMeant($0) }
      let rest = all.filter { entry in !taken.contains { $0.token === entry.token } }
      entries[id] = rest.isEmpty ? nil : rest
      return taken
    }
  }
}

/// An observer that a closure keeps weakly.
private struct WeakObserver: @unchecked Sendable {
  // Guard: a weak reference is read atomically; the object's own rules hold for what the selector's function does.
  weak var object: AnyObject?
}

extension NotificationCenter {
  /// Calls an observer's function for each notification, on the thread that posts it.
  ///
  /// The observer is not retained, and is removed with its last reference.
  ///
  /// - Parameters:
  ///   - observer: an object of the class that the selector's function belongs to.
  ///   - selector: a function of `#selector`, with a notification as its argument or without one.
  ///   - name: the name of the notifications; nil for all.
  ///   - object: the object that posts them; nil for all.
  /// - Precondition: the selector names a function by `#selector`, not by a string.
  public func addObserver(_ observer: Any, selector: Selector, name: Notification.Name?, object: Any?) {
    guard let function = selector.function else {
      fatalError(
        "The selector \(selector) is a name without a function. Write #selector(Class.function(_:)) to observe a "
          + "notification.")
    }
    let target = observer as AnyObject
    let kept = WeakObserver(object: target)
    nonisolated(unsafe) let call = function
    // Guard: runs on the posting thread, as on Apple's platforms.
    let token = addObserver(forName: name, object: object, queue: nil) { notification in
      if let object = kept.object { call(object, notification) }
    }
    SelectorObservers.shared.add(
      .init(
        observer: target, center: ObjectIdentifier(self), name: name,
        object: object.map { ObjectIdentifier($0 as AnyObject) }, token: token), of: target)
  }

  /// Removes an observer that was added with a selector or with a block.
  ///
  /// - Parameter observer: the observer, or the token of a block.
  public func removeObserver<Observer: AnyObject>(_ observer: Observer) {
    let entries = SelectorObservers.shared.take(observer) { $0.center == ObjectIdentifier(self) }
    // A token of a block is no observer with a selector.
    if entries.isEmpty { return removeObserver(observer as Any) }
    for entry in entries { removeObserver(entry.token as Any) }
  }

  /// Removes an observer for notifications of one name or one object.
  ///
  /// - Parameters:
  ///   - observer: the observer, or the token of a block.
  ///   - name: the name given when it was added; nil for any.
  ///   - object: the object given when it was added; nil for any.
  public func removeObserver<Observer: AnyObject>(
    _ observer: Observer, name: Notification.Name?, object: Any?
  ) {
    let sender = object.map { ObjectIdentifier($0 as AnyObject) }
    let entries = SelectorObservers.shared.take(observer) { entry in
      entry.center == ObjectIdentifier(self) && (name == nil || entry.name == name)
        && (sender == nil || entry.object == sender)
    }
    if entries.isEmpty { return removeObserver(observer as Any, name: name, object: object) }
    for entry in entries { removeObserver(entry.token as Any) }
  }
}

extension Timer {
  /// Makes a timer that calls a target's function, and schedules it on the current run loop.
  ///
  /// - Parameters:
  ///   - interval: seconds between two calls.
  ///   - target: the object that the function belongs to. The timer retains it until it is invalid.
  ///   - selector: a function of `#selector`, with the timer as its argument or without one.
  ///   - userInfo: kept for code that compiles on Apple's platforms; not read.
  ///   - repeats: whether the timer stays valid after its first call.
  @discardableResult
  public class func scheduledTimer(
    timeInterval interval: TimeInterval, target: Any, selector: Selector, userInfo: Any?, repeats: Bool
  ) -> Timer {
    let timer = Timer(
      timeInterval: interval, target: target, selector: selector, userInfo: userInfo, repeats: repeats)
    RunLoop.current.add(timer, forMode: .default)
    return timer
  }

  /// Makes a timer that calls a target's function. Add it to a run loop.
  ///
  /// - Parameters:
  ///   - interval: seconds between two calls.
  ///   - target: the object that the function belongs to. The timer retains it until it is invalid.
  ///   - selector: a function of `#selector`, with the timer as its argument or without one.
  ///   - userInfo: kept for code that compiles on Apple's platforms; not read.
  ///   - repeats: whether the timer stays valid after its first call.
  public convenience init(
    timeInterval interval: TimeInterval, target: Any, selector: Selector, userInfo: Any?, repeats: Bool
  ) {
    nonisolated(unsafe) let object = target as AnyObject
    // Guard: used on the thread of the timer's run loop.
    self.init(timeInterval: interval, repeats: repeats) { timer in selector.function?(object, timer) }
  }
}
