/// A list whose elements leave it in the order in which they came.
///
/// Adding and removing cost constant time on average.
struct FIFO<Element> {
  // Those before the head have left.
  private var slots: [Element?] = []
  private var head = 0

  var isEmpty: Bool { head == slots.count }

  /// The element that came first; nil if the list is empty.
  var first: Element? { isEmpty ? nil : slots[head] }

  mutating func append(_ element: Element) { slots.append(element) }

  mutating func popFirst() -> Element? {
    guard !isEmpty else { return nil }
    let element = slots[head]
    slots[head] = nil
    head += 1
    if head == slots.count {
      slots.removeAll(keepingCapacity: head <= 1024)
      head = 0
    } else if head >= 64, head * 2 >= slots.count {
      // Moving the rest only once it is the smaller half keeps popping constant on average.
      slots.removeSubrange(..<head)
      head = 0
    }
    return element
  }

  /// Removes the elements before the first that satisfies a condition and that can be converted.
  ///
  /// Costs time for each element before that one.
  ///
  /// - Returns: what they were converted to, in their order; nothing if no element satisfies the condition.
  mutating func remove<Result>(
    before isEnd: (Element) -> Bool, converting convert: (Element) -> Result?
  ) -> [Result] {
    guard let end = slots[head...].firstIndex(where: { $0.map(isEnd) ?? false }) else { return [] }
    var results: [Result] = []
    let rest = slots[head..<end].filter { slot in
      guard let result = slot.flatMap(convert) else { return true }
      results.append(result)
      return false
    }
    slots.replaceSubrange(head..<end, with: rest)
    return results
  }
}
