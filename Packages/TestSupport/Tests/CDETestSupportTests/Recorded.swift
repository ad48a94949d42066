import Synchronization

/// A list that code of any isolation may add to.
final class Recorded<Element: Sendable>: Sendable {
  private let elements = Mutex<[Element]>([])

  /// - Returns: how many there are now.
  @discardableResult
  func add(_ element: Element) -> Int {
    elements.withLock { elements in
      elements.append(element)
      return elements.count
    }
  }

  var all: [Element] { elements.withLock { $0 } }
  var count: Int { all.count }
}
