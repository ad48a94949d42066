/// Keys in an order: eight bytes for each, and few bytes for thousands that follow each other by one.
///
/// Keys are taken from the front, which frees their memory.
public struct KeyList: Sendable {
  private enum Part: Sendable {
    case keys([Int64])
    case run(ClosedRange<Int64>)
  }

  private var parts: [Part] = []
  /// The part that is taken from, and the number of its keys that are taken.
  private var front = (part: 0, taken: 0)
  /// Keys that are no part yet.
  private var open: [Int64] = []
  /// The number of keys that are left.
  public private(set) var count = 0

  /// The list grows by parts of this size, so that few keys are copied.
  private static let partSize = 8_192

  /// Makes a list without keys.
  public init() {}

  /// Makes the list of the keys of fetched rows.
  public init(of rows: FetchedRows) {
    guard let order = rows.order else {
      for batch in rows.batches { for row in 0..<batch.count { append(batch.key(row)) } }
      return
    }
    for entry in order { append(entry.key) }
  }

  /// Adds a key at the end.
  public mutating func append(_ key: Int64) {
    open.append(key)
    count += 1
    if open.count == Self.partSize { close() }
  }

  private mutating func close() {
    let isRun = zip(open, open.dropFirst()).allSatisfy { $1 == $0 &+ 1 }
    parts.append(isRun ? .run(open[0]...open[open.count - 1]) : .keys(open))
    open = []
  }

  /// Takes the first keys.
  ///
  /// - Parameter limit: how many.
  /// - Returns: the keys; fewer than the limit at the end of the list.
  public mutating func takeFirst(_ limit: Int) -> [Int64] {
    var taken: [Int64] = []
    taken.reserveCapacity(min(limit, count))
    while taken.count < limit, count > 0 {
      if front.part == parts.count { close() }
      let wanted = limit - taken.count
      let size: Int
      let before = taken.count
      switch parts[front.part] {
      case .keys(let keys):
        size = keys.count
        taken += keys[front.taken...].prefix(wanted)
      case .run(let keys):
        size = keys.count
        taken += keys.dropFirst(front.taken).prefix(wanted)
      }
      front.taken += taken.count - before
      count -= taken.count - before
      if front.taken == size {
        parts[front.part] = .keys([])
        front = (front.part + 1, 0)
      }
    }
    return taken
  }
}
