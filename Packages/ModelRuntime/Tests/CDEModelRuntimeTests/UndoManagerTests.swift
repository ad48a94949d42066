import CDEModelRuntime
import Foundation
import Testing

/// Expected behaviour is Foundation's, from the documentation of `UndoManager`, unless a test says otherwise.
@Suite("Undo managers")
struct UndoManagerTests {
  /// A number whose changes can be undone.
  private final class Counter {
    let manager: UndoManager
    var value = 0

    init(_ manager: UndoManager) { self.manager = manager }

    func set(_ new: Int) {
      let old = value
      manager.registerUndo(withTarget: self) { $0.set(old) }
      value = new
    }
  }

  private static func manual() -> UndoManager {
    let manager = UndoManager()
    manager.groupsByEvent = false
    return manager
  }

  private static func step(_ counter: Counter, _ values: Int...) {
    counter.manager.beginUndoGrouping()
    for value in values { counter.set(value) }
    counter.manager.endUndoGrouping()
  }

  @Test("A group is undone and redone as a whole, its last action first")
  func groups() {
    let counter = Counter(Self.manual())
    let manager = counter.manager
    Self.step(counter, 1, 2)
    Self.step(counter, 3)
    #expect(manager.canUndo && !manager.canRedo && manager.undoCount == 2)
    manager.undo()
    #expect(counter.value == 2)
    manager.undo()
    #expect(counter.value == 0 && !manager.canUndo && manager.redoCount == 2)
    manager.undo()
    manager.redo()
    #expect(counter.value == 2)
    manager.redo()
    #expect(counter.value == 3 && !manager.canRedo)
    manager.redo()
    manager.undo()
    #expect(counter.value == 2)
  }

  @Test("A new action drops what could be redone")
  func newAction() {
    let counter = Counter(Self.manual())
    Self.step(counter, 1)
    counter.manager.undo()
    Self.step(counter, 7)
    #expect(!counter.manager.canRedo && counter.manager.undoCount == 1)
  }

  @Test("Nested groups are undone with the outer one, or alone while that is open")
  func nesting() {
    let counter = Counter(Self.manual())
    let manager = counter.manager
    manager.beginUndoGrouping()
    counter.set(1)
    Self.step(counter, 2)
    #expect(manager.groupingLevel == 1)
    manager.undoNestedGroup()
    #expect(counter.value == 1)
    Self.step(counter, 3)
    manager.endUndoGrouping()
    #expect(manager.groupingLevel == 0)
    manager.undo()
    #expect(counter.value == 0)
  }

  @Test("While groups are made by event, the first action opens one and undo() closes it")
  func events() {
    let counter = Counter(UndoManager())
    let manager = counter.manager
    #expect(manager.groupsByEvent && manager.groupingLevel == 0)
    counter.set(1)
    counter.set(2)
    #expect(manager.groupingLevel == 1)
    manager.undo()
    #expect(counter.value == 0 && manager.groupingLevel == 0)
    manager.redo()
    #expect(counter.value == 2)
    manager.beginUndoGrouping()
    #expect(manager.groupingLevel == 2)
    counter.set(3)
    manager.endUndoGrouping()
    manager.undo()
    #expect(counter.value == 2)
  }

  @MainActor
  @Test("On the main actor a job is an event")
  func mainEvents() async {
    let counter = Counter(UndoManager())
    for value in 1...3 {
      counter.set(value)
      // The end of the event was enqueued before.
      await Task { @MainActor in }.value
    }
    #expect(counter.manager.undoCount == 3)
    counter.manager.undo()
    #expect(counter.value == 2)
  }

  @Test("Nothing is registered while registration is disabled, and the calls nest")
  func disabling() {
    let counter = Counter(Self.manual())
    let manager = counter.manager
    manager.disableUndoRegistration()
    manager.disableUndoRegistration()
    manager.enableUndoRegistration()
    #expect(!manager.isUndoRegistrationEnabled)
    counter.set(1)
    manager.enableUndoRegistration()
    #expect(manager.isUndoRegistrationEnabled && !manager.canUndo)
  }

  @Test("levelsOfUndo drops the oldest groups")
  func levels() {
    let counter = Counter(Self.manual())
    for value in 1...5 { Self.step(counter, value) }
    counter.manager.levelsOfUndo = 2
    #expect(counter.manager.undoCount == 2)
    Self.step(counter, 6)
    for _ in 0..<5 { counter.manager.undo() }
    #expect(counter.value == 4)
  }

  @Test("Names stay with their group through undo and redo, and make the titles of the menu")
  func names() {
    let counter = Counter(Self.manual())
    let manager = counter.manager
    #expect(manager.undoActionName == "" && manager.undoMenuItemTitle == "Undo")
    manager.beginUndoGrouping()
    counter.set(1)
    manager.setActionName("Paste")
    manager.setActionIsDiscardable(true)
    manager.endUndoGrouping()
    #expect(manager.undoActionName == "Paste" && manager.undoMenuItemTitle == "Undo Paste")
    #expect(manager.undoActionIsDiscardable && !manager.redoActionIsDiscardable)
    manager.undo()
    #expect(manager.redoMenuItemTitle == "Redo Paste" && manager.undoMenuItemTitle == "Undo")
    #expect(manager.redoActionIsDiscardable)
    manager.redo()
    #expect(manager.undoActionName == "Paste")
  }

  @Test("Actions do not retain their target, and go with it or by removeAllActions")
  func targets() {
    let manager = Self.manual()
    let kept = Counter(manager)
    do {
      let freed = Counter(manager)
      weak let reference = freed
      Self.step(freed, 1)
      Self.step(kept, 1)
      _ = reference
    }
    manager.undo()
    manager.undo()
    #expect(kept.value == 0)
    let other = Counter(manager)
    Self.step(kept, 1)
    Self.step(other, 1)
    manager.removeAllActions(withTarget: kept)
    #expect(manager.undoCount == 1)
    manager.removeAllActions()
    #expect(!manager.canUndo)
  }

  @Test("Groups without an action are dropped")
  func emptyGroups() {
    let manager = Self.manual()
    manager.beginUndoGrouping()
    manager.beginUndoGrouping()
    manager.endUndoGrouping()
    manager.endUndoGrouping()
    #expect(!manager.canUndo)
  }

  @Test("Notifications tell groups and undos in Foundation's order")
  func notifications() {
    final class Names: @unchecked Sendable {
      // Guard: the test keeps to one thread.
      var all: [String] = []
    }
    let names = Names()
    let counter = Counter(Self.manual())
    let manager = counter.manager
    let posted: [Notification.Name] = [
      .NSUndoManagerDidOpenUndoGroup, .NSUndoManagerWillCloseUndoGroup, .NSUndoManagerDidCloseUndoGroup,
      .NSUndoManagerWillUndoChange, .NSUndoManagerDidUndoChange, .NSUndoManagerWillRedoChange,
      .NSUndoManagerDidRedoChange,
    ]
    let tokens = posted.map { name in
      NotificationCenter.default.addObserver(forName: name, object: manager, queue: nil) {
        names.all.append($0.name.rawValue.replacingOccurrences(of: "NSUndoManager", with: ""))
      }
    }
    defer { tokens.forEach(NotificationCenter.default.removeObserver) }
    Self.step(counter, 1)
    #expect(
      names.all == [
        "DidOpenUndoGroupNotification", "WillCloseUndoGroupNotification", "DidCloseUndoGroupNotification",
      ])
    names.all = []
    manager.undo()
    manager.redo()
    #expect(
      names.all == [
        "WillUndoChangeNotification", "DidUndoChangeNotification", "WillRedoChangeNotification",
        "DidRedoChangeNotification",
      ])
  }

  @Test("Unbalanced groups end the program with a sentence")
  func mistakes() async {
    await #expect(processExitsWith: .failure) { UndoManager().endUndoGrouping() }
    await #expect(processExitsWith: .failure) { UndoManager().enableUndoRegistration() }
    await #expect(processExitsWith: .failure) {
      let manager = UndoManager()
      manager.beginUndoGrouping()
      manager.undo()
    }
    await #expect(processExitsWith: .failure) {
      let manager = UndoManager()
      manager.groupsByEvent = false
      manager.registerUndo(withTarget: manager) { _ in }
    }
  }
}
