/// A group of undo actions, and of groups.
final class UndoGroup {
  private enum Item {
    case action(UndoAction)
    case group(UndoGroup)
  }

  private var items: [Item] = []
  var name: String
  var isDiscardable: Bool

  init(named name: String = "", isDiscardable: Bool = false) {
    self.name = name
    self.isDiscardable = isDiscardable
  }

  var isEmpty: Bool { items.isEmpty }

  func add(_ action: UndoAction) { items.append(.action(action)) }

  func add(_ group: UndoGroup) {
    if name.isEmpty { name = group.name }
    items.append(.group(group))
  }

  func removeAll() { items = [] }

  func removeAll(for target: AnyObject) {
    items.removeAll { item in
      switch item {
      case .action(let action): return action.target === target || action.target == nil
      case .group(let group):
        group.removeAll(for: target)
        return group.isEmpty
      }
    }
  }

  /// Removes the last item if it is a group.
  func takeLastGroup() -> UndoGroup? {
    guard case .group(let group)? = items.last else { return nil }
    items.removeLast()
    return group
  }

  /// Performs the actions, the last one first.
  func perform() {
    for item in items.reversed() {
      switch item {
      case .action(let action): action.perform()
      case .group(let group): group.perform()
      }
    }
  }
}

/// An action for a target. It does nothing once the target has been freed.
struct UndoAction {
  private(set) weak var target: AnyObject?
  private let handler: (AnyObject) -> Void

  init<Target: AnyObject>(_ target: Target, _ handler: @escaping (Target) -> Void) {
    self.target = target
    self.handler = { handler(unsafeDowncast($0, to: Target.self)) }
  }

  func perform() {
    if let target { handler(target) }
  }
}

/// A reference that does not keep its object alive.
struct WeakReference<Object: AnyObject> {
  private(set) weak var object: Object?

  init(_ object: Object) { self.object = object }
}
