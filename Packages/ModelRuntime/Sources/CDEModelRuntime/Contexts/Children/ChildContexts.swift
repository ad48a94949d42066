internal import CDEStore
internal import Synchronization
@_spi(CDE) internal import CDEExecutors

/// The child contexts of a context: where they get commits and new keys.
///
/// A member is added when a context becomes a child, and removed when the child is freed. Any thread may do that. All
/// other calls are made on the parent's executor.
final class ChildContexts: Sendable {
  /// One child.
  final class Member: Sendable {
    let inbox: MergeInbox
    /// Keys that objects of the parent got since the child last took them.
    private let newKeys = Lock<[NewKey]>([])
    /// Makes the child take them, soon.
    private let notify: @Sendable () -> Void

    init(_ inbox: MergeInbox, notify: @escaping @Sendable () -> Void) {
      self.inbox = inbox
      self.notify = notify
    }

    func add(_ keys: [NewKey]) {
      newKeys.withLock { $0 += keys }
      notify()
    }

    func takeNewKeys() -> [NewKey] {
      newKeys.withLock { keys in
        defer { keys = [] }
        return keys
      }
    }
  }

  /// The permanent key of an object that had a temporary one.
  struct NewKey: Sendable {
    let old: RowKey
    let key: Int64
  }

  private struct State {
    var members: [Member] = []
    /// The permanent keys of former temporary ones, as long as there are children that may name them.
    var permanentKeys: [RowKey: Int64] = [:]
  }

  private let state = Lock(State())
  /// Numbers the commits that the children get.
  let order = CommitOrder()

  var isEmpty: Bool { state.withLock { $0.members.isEmpty } }

  func add(_ member: Member) { state.withLock { $0.members.append(member) } }

  func remove(_ member: Member) {
    state.withLock { state in
      state.members.removeAll { $0 === member }
      if state.members.isEmpty { state.permanentKeys = [:] }
    }
  }

  /// The present key of an object for which a child has a key that may be old.
  func presentKey(of row: RowKey) -> Int64 {
    if row.key > 0 { return row.key }
    return state.withLock { $0.permanentKeys[row] } ?? row.key
  }

  /// Gives the children the new keys of objects.
  func deliver(_ keys: [NewKey]) {
    if keys.isEmpty { return }
    let members = state.withLock { state in
      if state.members.isEmpty { return [Member]() }
      for key in keys { state.permanentKeys[key.old] = key.key }
      return state.members
    }
    for member in members { member.add(keys) }
  }

  /// Gives a commit to the children that merge automatically, except to the one that saved it.
  ///
  /// - Returns: the commit with its number among those of the children.
  @discardableResult
  func deliver(_ commit: CommittedTransaction, from source: Member? = nil) -> CommittedTransaction {
    var numbered = commit
    let recipients = state.withLock { state in
      numbered.enter(order)
      return state.members.filter { $0 !== source && $0.inbox.isOpen }
    }
    for member in recipients { member.inbox.append(numbered) }
    for member in recipients { member.inbox.notify(numbered.sequence) }
    return numbered
  }
}
