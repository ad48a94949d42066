import CDEManagedModel
import CDEModelRuntime
import Foundation
import Synchronization
import Testing

/// Whole sequences of hooks and notifications, as a recorder writes them down.
///
/// Sources: the documentation of `NSManagedObject`'s hooks and of the notifications of `NSManagedObjectContext`, and the
/// sequence that libraries over Core Data rely on: announcement, will-save notification, validation, did-save notification. The
/// order among the objects of one phase is this project's.
@Suite("The order of all callbacks", .serialized)
struct CallbackOrderTests {
  private let stack: Stack
  private let recorder = CallbackRecorder()

  init() throws { stack = try Stack([Leaf.self]) }

  private func context(_ name: String) -> NSManagedObjectContext {
    let context = stack.context()
    context.name = name
    return context
  }

  private func saved(_ names: String..., in context: NSManagedObjectContext) throws -> [Leaf] {
    let leaves = names.map { Leaf(named: $0, in: context) }
    try context.save()
    return leaves
  }

  @Test(
    "A save calls willSave, announces, posts will-save, validates, writes, posts did-save and calls didSave")
  func save() throws {
    let context = context("main")
    let leaves = try saved("b", "c", in: context)
    let log = try recorder.record([context]) {
      _ = Leaf(named: "a", in: context)
      leaves[0].size = 2
      context.delete(leaves[1])
      try context.save()
    }
    #expect(
      log == [
        "a awakeFromInsert", "c prepareForDeletion",
        "a willSave", "b willSave", "c willSave",
        "main: changed inserted a, updated b, deleted c",
        "main: will save",
        "a validateForInsert", "b validateForUpdate", "c validateForDelete",
        "main: did save inserted a, updated b, deleted c",
        "a didSave", "b didSave", "c didSave",
      ])
  }

  @Test("A save that validation refuses ends after the hooks, and nothing is posted afterwards")
  func refusedSave() throws {
    let context = context("main")
    let leaves = try saved("b", in: context)
    let log = recorder.record([context]) {
      leaves[0].size = -1
      #expect(throws: (any Error).self) { try context.save() }
    }
    #expect(log == ["b willSave", "main: changed updated b", "main: will save", "b validateForUpdate"])
  }

  @Test("A merge brings the values first, then announces them, then calls awake(fromSnapshotEvents:)")
  func merge() throws {
    let (writer, reader) = (context("writer"), context("reader"))
    let leaves = try saved("a", "b", in: writer)
    let known = try reader.fetch(Leaf.fetchRequest()).sorted { $0.name < $1.name }
    #expect(known.count == 2)
    let log = try recorder.record([writer, reader]) {
      let note = NoteKeeper(writer)
      leaves[0].size = 5
      writer.delete(leaves[1])
      try writer.save()
      reader.mergeChanges(fromContextDidSave: try #require(note.last))
      reader.processPendingChanges()
    }
    #expect(
      Array(log.drop { $0 != "writer: did save updated a, deleted b" }) == [
        "writer: did save updated a, deleted b", "a didSave", "b didSave",
        "a awake(refresh)", "reader: changed deleted b, refreshed a",
      ])
    // Objects that only the merge would need are not kept by their context.
    withExtendedLifetime(known) {}
  }

  @Test("A child's save calls its own hooks, changes the parent, and both announce")
  func childSave() throws {
    let parent = context("parent")
    let child = NSManagedObjectContext(.privateQueue)
    child.parent = parent
    child.name = "child"
    let leaf = try saved("b", in: parent)[0].objectID
    let log = try recorder.record([parent, child]) {
      try child.performAndWait {
        _ = Leaf(named: "a", in: child)
        (try child.existingObject(with: leaf) as? Leaf)?.size = 3
        try child.save()
      }
    }
    #expect(
      log.filter { !$0.hasSuffix("awakeFromFetch") } == [
        "a awakeFromInsert", "a willSave", "b willSave",
        "child: changed inserted a, updated b", "child: will save",
        "a validateForInsert", "b validateForUpdate",
        // Assumed: each context that gets a new object calls its hook.
        " awakeFromInsert", "parent: changed inserted a, updated b",
        "child: did save inserted a, updated b", "a didSave", "b didSave",
      ])
  }

  @Test(
    "An undo calls awake(fromSnapshotEvents:) before it announces, between the notifications of the manager")
  func undo() throws {
    let context = context("main")
    let leaves = try saved("b", "c", in: context)
    let manager = UndoManager()
    context.undoManager = manager
    let tokens = [Notification.Name.NSUndoManagerWillUndoChange, .NSUndoManagerDidUndoChange].map { name in
      NotificationCenter.default.addObserver(forName: name, object: manager, queue: nil) { [recorder] _ in
        recorder.note(name == .NSUndoManagerWillUndoChange ? "will undo" : "did undo")
      }
    }
    defer { tokens.forEach(NotificationCenter.default.removeObserver) }
    let log = recorder.record([context]) {
      _ = Leaf(named: "a", in: context)
      leaves[0].size = 2
      context.delete(leaves[1])
      context.undo()
    }
    #expect(
      log == [
        "a awakeFromInsert", "c prepareForDeletion", "main: changed inserted a, updated b, deleted c",
        "will undo", "a prepareForDeletion", "b awake(undoUpdate)", "c awake(undoDeletion)",
        "main: changed inserted c, updated b, deleted a", "did undo",
      ])
  }

  @Test("A rollback restores the values, calls awake(fromSnapshotEvents:) and announces")
  func rollback() throws {
    let context = context("main")
    let leaves = try saved("b", "c", in: context)
    let log = recorder.record([context]) {
      leaves[0].size = 2
      context.delete(leaves[1])
      context.processPendingChanges()
      context.rollback()
    }
    #expect(
      log == [
        "c prepareForDeletion", "main: changed updated b, deleted c",
        "b awake(rollback)", "c awake(rollback)", "main: changed refreshed b, refreshed c",
      ])
  }

  @Test("A refresh without merging turns the object into a fault, and the next read awakes it")
  func refresh() throws {
    let context = context("main")
    let leaf = try saved("b", in: context)[0]
    let log = recorder.record([context]) {
      context.refresh(leaf, mergeChanges: false)
      context.processPendingChanges()
    }
    // The recorder reads the name for its line, which awakes the object first.
    #expect(
      log == [
        "b willTurnIntoFault", " didTurnIntoFault", "b awakeFromFetch", "main: changed refreshed b",
      ])
  }
}

/// An object that writes down its hooks.
@PersistentModel
final class Leaf: NSManagedObject {
  var name: String = ""
  var size: Int = 0

  convenience init(named name: String, in context: NSManagedObjectContext) {
    CallbackRecorder.naming.withLock { $0 = name }
    self.init(context: context)
    CallbackRecorder.naming.withLock { $0 = "" }
    self.name = name
  }

  /// The name without a read of the row.
  private var known: String {
    if isFault { return "" }
    return name.isEmpty ? CallbackRecorder.naming.withLock { $0 } : name
  }

  private func note(_ hook: String) { CallbackRecorder.current.withLock { $0 }?.note("\(known) \(hook)") }

  override func awakeFromInsert() {
    super.awakeFromInsert()
    note("awakeFromInsert")
  }
  override func awakeFromFetch() {
    super.awakeFromFetch()
    note("awakeFromFetch")
  }
  override func awake(fromSnapshotEvents flags: NSSnapshotEventType) {
    super.awake(fromSnapshotEvents: flags)
    let names: [(NSSnapshotEventType, String)] = [
      (.undoInsertion, "undoInsertion"), (.undoDeletion, "undoDeletion"), (.undoUpdate, "undoUpdate"),
      (.rollback, "rollback"), (.refresh, "refresh"), (.mergePolicy, "mergePolicy"),
    ]
    note("awake(\(names.filter { flags.contains($0.0) }.map(\.1).joined(separator: ",")))")
  }
  override func willSave() {
    super.willSave()
    note("willSave")
  }
  override func didSave() {
    super.didSave()
    note("didSave")
  }
  override func prepareForDeletion() {
    super.prepareForDeletion()
    note("prepareForDeletion")
  }
  override func willTurnIntoFault() {
    super.willTurnIntoFault()
    note("willTurnIntoFault")
  }
  override func didTurnIntoFault() {
    super.didTurnIntoFault()
    note("didTurnIntoFault")
  }
  override func validateForInsert() throws {
    note("validateForInsert")
    try super.validateForInsert()
  }
  override func validateForUpdate() throws {
    note("validateForUpdate")
    try super.validateForUpdate()
    if size < 0 { throw Negative() }
  }
  override func validateForDelete() throws {
    note("validateForDelete")
    try super.validateForDelete()
  }

  struct Negative: Error {}
}

/// Writes down hooks and notifications in their order.
final class CallbackRecorder: Sendable {
  /// The recorder that runs.
  static let current = Mutex<CallbackRecorder?>(nil)
  /// The name of the object that is being made.
  static let naming = Mutex("")
  private let lines = Mutex<[String]>([])

  func note(_ line: String) { lines.withLock { $0.append(line) } }

  func record(_ contexts: [NSManagedObjectContext], _ body: () throws -> Void) rethrows -> [String] {
    lines.withLock { $0 = [] }
    Self.current.withLock { $0 = self }
    let tokens = contexts.flatMap { context in
      [
        (Notification.Name.NSManagedObjectContextObjectsDidChange, "changed"),
        (.NSManagedObjectContextWillSave, "will save"), (.NSManagedObjectContextDidSave, "did save"),
      ].map { name, text in
        let contextName = context.name ?? ""
        return NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) {
          [self] note in
          self.note(
            "\(contextName): "
              + ([text] + [Self.contents(note)]).filter { !$0.isEmpty }.joined(separator: " "))
        }
      }
    }
    defer {
      tokens.forEach(NotificationCenter.default.removeObserver)
      Self.current.withLock { $0 = nil }
    }
    try body()
    return lines.withLock { $0 }
  }

  private static func contents(_ note: Notification) -> String {
    let keys = [
      ("inserted", NSInsertedObjectsKey), ("updated", NSUpdatedObjectsKey), ("deleted", NSDeletedObjectsKey),
      ("refreshed", NSRefreshedObjectsKey),
    ]
    return keys.flatMap { text, key in
      ((note.userInfo?[key] as? Set<NSManagedObject>) ?? []).compactMap { $0 as? Leaf }.map { leaf in
        (leaf.value(forKey: "name") as? String) ?? ""
      }.sorted().map { "\(text) \($0)" }
    }.joined(separator: ", ")
  }
}

/// The last did-save notification of a context.
private final class NoteKeeper: @unchecked Sendable {
  // Guard: the test keeps to one thread.
  private(set) var last: Notification?
  private var token: (any NSObjectProtocol)?

  init(_ context: NSManagedObjectContext) {
    token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: context, queue: nil
    ) { [unowned self] in last = $0 }
  }

  deinit { token.map(NotificationCenter.default.removeObserver) }
}
