public import CDECoreData
public import XCTest

/// An expectation that a change of a managed object fulfils.
public final class XCTKVOExpectation: XCTestExpectation, @unchecked Sendable {
  // Guard: what can be set is set and read where the object's context is used.
  /// The observed key path.
  public let keyPath: String
  /// What decides whether a change fulfils the expectation; nil takes any.
  public var handler: ((Any, [NSKeyValueChangeKey: Any]) -> Bool)?
  private var observer: Observer?

  /// An expectation of any change.
  public init(keyPath: String, object: Any) {
    self.keyPath = keyPath
    super.init(description: "A change of \(keyPath)")
    observer = Observer(object, keyPath) { [weak self] change in
      guard let self, handler?(object, change) != false else { return false }
      fulfill()
      return true
    }
  }

  /// An expectation of a value. It is fulfilled at once if the object has the value.
  public convenience init(keyPath: String, object: Any, expectedValue: Any?) {
    self.init(keyPath: keyPath, object: object)
    if Observer.has(object, keyPath, expectedValue) {
      observer = nil
      fulfill()
    } else {
      handler = { object, _ in Observer.has(object, keyPath, expectedValue) }
    }
  }
}

extension XCTestCase {
  /// An expectation of a value of a managed object, for the next wait. It is fulfilled at once if the object has the value.
  @discardableResult
  public func keyValueObservingExpectation(
    for object: Any, keyPath: String, expectedValue: Any?
  ) -> XCTestExpectation {
    let expectation = expectation(description: "\(keyPath) is \(expectedValue ?? "nil")")
    if Observer.has(object, keyPath, expectedValue) {
      expectation.fulfill()
    } else {
      keep(
        Observer(object, keyPath) { _ in
          guard Observer.has(object, keyPath, expectedValue) else { return false }
          expectation.fulfill()
          return true
        })
    }
    return expectation
  }

  /// An expectation of a change of a managed object, for the next wait.
  ///
  /// - Parameters:
  ///   - object: a managed object.
  ///   - keyPath: the keys of the property.
  ///   - handler: decides whether a change fulfils the expectation; nil takes any.
  @discardableResult
  public func keyValueObservingExpectation(
    for object: Any, keyPath: String, handler: ((Any, [NSKeyValueChangeKey: Any]) -> Bool)? = nil
  ) -> XCTestExpectation {
    let expectation = expectation(description: "A change of \(keyPath)")
    keep(
      Observer(object, keyPath) { change in
        guard handler?(object, change) != false else { return false }
        expectation.fulfill()
        return true
      })
    return expectation
  }

  /// Keeps an observer until the test is over.
  private func keep(_ observer: Observer) {
    addTeardownBlock { observer.end() }
  }
}

/// Observes a key path until a change is the expected one.
private final class Observer: NSObject, _CDKeyValueObserver {
  private let object: NSManagedObject
  private let keyPath: String
  private let isExpected: ([NSKeyValueChangeKey: Any]) -> Bool
  private var isOver = false

  init(_ object: Any, _ keyPath: String, _ isExpected: @escaping ([NSKeyValueChangeKey: Any]) -> Bool) {
    guard let object = object as? NSManagedObject else {
      fatalError("An expectation of a key path observes a managed object, and \(object) is none.")
    }
    (self.object, self.keyPath, self.isExpected) = (object, keyPath, isExpected)
    super.init()
    object.addObserver(self, forKeyPath: keyPath, options: [.new, .old], context: nil)
  }

  deinit { end() }

  func end() {
    if isOver { return }
    isOver = true
    object.removeObserver(self, forKeyPath: keyPath)
  }

  func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    if !isOver, isExpected(change ?? [:]) { end() }
  }

  static func has(_ object: Any, _ keyPath: String, _ expected: Any?) -> Bool {
    let value = (object as? NSManagedObject)?.value(forKeyPath: keyPath)
    if value == nil || value is NSNull { return expected == nil || expected is NSNull }
    guard let value = value as? AnyHashable, let expected = expected as? AnyHashable else { return false }
    return value == expected
  }
}
