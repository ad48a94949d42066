@_spi(CDE) internal import CDEExecutors

/// The patterns, folded texts and long lists of one predicate, so that filtering many objects prepares each of them once.
@_spi(CDE) public final class ConditionCache: Sendable {
  private struct Entry<Prepared: Sendable>: Sendable {
    /// The operator of a pattern.
    var op: TextOperator?
    var text: String
    var options: TextOptions
    var prepared: Prepared

    func isFor(_ op: TextOperator?, _ other: String, _ options: TextOptions) -> Bool {
      self.op == op && self.options == options && text.isTheSame(as: other)
    }
  }

  /// A list that was searched once is indexed when it is searched again, because to index it takes longer than one search.
  private struct List: Sendable {
    enum State: Sendable { case searched, indexed(MemberIndex), notIndexable }

    /// Keeps the list's memory, so that no other list has its address.
    let list: any Sendable
    let address: UInt
    let options: TextOptions
    var state = State.searched
  }

  private struct Contents: Sendable {
    var patterns: [Entry<TextPattern>] = []
    var folded: [Entry<String>] = []
    var lists: [List] = []

    func place(of address: UInt, _ options: TextOptions) -> Int? {
      lists.firstIndex { $0.address == address && $0.options == options }
    }
  }

  // Few, because they are searched one by one. Hashing a long text takes as long as folding it.
  private static let limit = 16
  /// Folding a shorter text takes no longer than finding it.
  private static let shortText = 64
  /// A shorter list is searched member by member.
  public static let longList = 32
  private let contents = Lock(Contents())

  /// Makes an empty cache. It may be used from any thread, and contains up to 16 entries of each kind.
  public init() {}

  /// A pattern of an operator. It is prepared at its first use.
  ///
  /// - Returns: nil if the text is no pattern of the operator.
  public func pattern(_ op: TextOperator, _ pattern: String, _ options: TextOptions) -> TextPattern? {
    if let known = known(op, pattern, options, { $0.patterns }) { return known }
    guard let prepared = op.pattern(pattern, options) else { return nil }
    contents.withLock {
      Self.keep(Entry(op: op, text: pattern, options: options, prepared: prepared), &$0.patterns)
    }
    return prepared
  }

  /// A text without the differences that the options ignore. A long one is cached.
  public func folded(_ text: String, _ options: TextOptions) -> String {
    if options.isEmpty || text.utf8.count < Self.shortText { return TextComparison.folded(text, options) }
    if let known = known(nil, text, options, { $0.folded }) { return known }
    let folded = TextComparison.folded(text, options)
    contents.withLock { Self.keep(Entry(text: text, options: options, prepared: folded), &$0.folded) }
    return folded
  }

  /// The index of a long list, which is the same list at each call.
  ///
  /// - Parameters:
  ///   - list: the list.
  ///   - options: how its texts are folded.
  ///   - hash: the hash of a member; nil if the member can't be searched for by one.
  /// - Returns: nil for a short list, at the first call for a list, and for a list that can't be indexed.
  public func index<Member: Sendable>(
    of list: [Member], _ options: TextOptions, _ hash: (Member) -> MemberHash?
  ) -> MemberIndex? {
    if list.count < Self.longList { return nil }
    let address = list.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
    let state = contents.withLock { contents -> List.State? in
      if let place = contents.place(of: address, options) { return contents.lists[place].state }
      Self.keep(List(list: list, address: address, options: options), &contents.lists)
      return nil
    }
    switch state {
    case .indexed(let index): return index
    case .notIndexable, nil: return nil
    case .searched:
      let index = MemberIndex(list, hash)
      contents.withLock { contents in
        // Another thread may have removed the list meanwhile.
        guard let place = contents.place(of: address, options) else { return }
        contents.lists[place].state = index.map { .indexed($0) } ?? .notIndexable
      }
      return index
    }
  }

  private func known<Prepared>(
    _ op: TextOperator?, _ text: String, _ options: TextOptions, _ list: (Contents) -> [Entry<Prepared>]
  ) -> Prepared? {
    contents.withLock { list($0).first { $0.isFor(op, text, options) }?.prepared }
  }

  private static func keep<Entry>(_ entry: Entry, _ entries: inout [Entry]) {
    // What is computed from the objects' own attributes must not accumulate. The oldest entry is the predicate's
    // constant.
    if entries.count >= limit { entries.removeSubrange(1...) }
    entries.append(entry)
  }
}

extension String {
  /// Equality of bytes. Immediate if both have the same storage.
  fileprivate func isTheSame(as other: String) -> Bool {
    guard utf8.count == other.utf8.count else { return false }
    let answer = utf8.withContiguousStorageIfAvailable { left in
      other.utf8.withContiguousStorageIfAvailable { right in
        left.baseAddress == right.baseAddress || left.elementsEqual(right)
      }
    }
    return (answer ?? nil) ?? utf8.elementsEqual(other.utf8)
  }
}
