import CDECoreData
import Testing

@Suite("Observing keys of managed objects")
struct ObservingTests {
  /// What an observer was told.
  final class Log: NSObject, _CDKeyValueObserver {
    var lines: [String] = []

    func observeValue(
      forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
      context: UnsafeMutableRawPointer?
    ) {
      func text(_ key: NSKeyValueChangeKey) -> String {
        guard let value = change?[key] else { return "-" }
        if let set = value as? NSSet { return "\(set.count) objects" }
        return value is NSNull ? "nil" : "\(value)"
      }
      lines.append("\(keyPath ?? ""): \(text(.oldKey)) -> \(text(.newKey))")
    }

    /// The lines since the last call.
    func take() -> [String] {
      defer { lines = [] }
      return lines
    }
  }

  /// Runs a test in a context with a saved note that the log observes.
  private func observing(
    _ keys: String..., body: (NSManagedObject, Log, NSManagedObjectContext, Stack) throws -> Void
  ) throws {
    let stack = try Stack()
    let context = stack.container.newBackgroundContext()
    let log = Log()
    try context.performAndWait {
      let note = stack.insertNote("A", rank: 1, in: context)
      try context.save()
      for key in keys { note.addObserver(log, forKeyPath: key, options: [.new, .old], context: nil) }
      try body(note, log, context, stack)
    }
  }

  @Test("A setter tells the observers of its key, also of an equal value, before it returns")
  func setters() throws {
    try observing("title") { note, log, _, _ in
      note.setValue("B", forKey: "title")
      #expect(log.take() == ["title: A -> B"])
      note.setValue(2, forKey: "rank")
      #expect(log.take() == [])
      note.setValue("B", forKey: "title")
      #expect(log.take() == ["title: B -> B"])
      note.setValue(nil, forKey: "title")
      note.setValuesForKeys(["title": "C"])
      #expect(log.take() == ["title: B -> nil", "title: nil -> C"])
      note.willChangeValue(forKey: "title")
      note.setPrimitiveValue("D", forKey: "title")
      #expect(log.take() == [])
      note.didChangeValue(forKey: "title")
      #expect(log.take() == ["title: C -> D"])
    }
  }

  @Test("An observer of a relationship is called when both sides have changed")
  func relationships() throws {
    try observing("tags") { note, log, context, _ in
      let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
      let notes = Log()
      tag.addObserver(notes, forKeyPath: "notes", options: [.new], context: nil)
      note.mutableSetValue(forKey: "tags").add(tag)
      #expect(log.take() == ["tags: 0 objects -> 1 objects"])
      #expect(notes.take() == ["notes: - -> 1 objects"])
      tag.setValue(NSSet(), forKey: "notes")
      #expect(log.take() == ["tags: 1 objects -> 0 objects"])
      note.setValue(NSSet(object: tag), forKey: "tags")
      _ = log.take()
      context.delete(tag)
      #expect(log.take() == ["tags: 1 objects -> 0 objects"])
    }
  }

  @Test("A rollback, a refresh and a merge tell what they have changed, and nothing else")
  func otherWriters() throws {
    try observing("title", "rank") { note, log, context, stack in
      note.setValue("B", forKey: "title")
      _ = log.take()
      context.rollback()
      #expect(log.take() == ["title: B -> A"])

      note.setValue("C", forKey: "title")
      _ = log.take()
      context.refresh(note, mergeChanges: false)
      #expect(log.take() == ["title: C -> A"])

      let other = stack.container.newBackgroundContext()
      let id = note.objectID
      let saved = try other.performAndWait {
        let notification = Mailbox()
        let token = NotificationCenter.default.addObserver(
          forName: .NSManagedObjectContextDidSave, object: other, queue: nil
        ) { notification.value = $0 }
        defer { NotificationCenter.default.removeObserver(token) }
        try other.existingObject(with: id).setValue(7, forKey: "rank")
        try other.save()
        return notification
      }
      #expect(log.take() == [])
      context.mergeChanges(fromContextDidSave: try #require(saved.value))
      #expect(log.take() == ["rank: 1 -> 7"])
      try context.save()
      context.refresh(note, mergeChanges: true)
      #expect(log.take() == [])
    }
  }

  /// A value on its way out of a closure.
  final class Mailbox: @unchecked Sendable {
    // Guard: written before it is read, on one thread.
    var value: Notification?
  }

  @Test("Options choose the values, and whether the observer is called at once")
  func options() throws {
    try observing { note, log, _, _ in
      note.addObserver(log, forKeyPath: "title", options: [.initial, .new], context: nil)
      #expect(log.take() == ["title: - -> A"])
      note.setValue("B", forKey: "title")
      #expect(log.take() == ["title: - -> B"])
      note.removeObserver(log, forKeyPath: "title")
      note.addObserver(log, forKeyPath: "title", context: nil)
      note.setValue("C", forKey: "title")
      #expect(log.take() == ["title: - -> -"])
    }
  }

  @Test("A removed observer, a released one and one of a freed object are not called")
  func endings() throws {
    try observing("title") { note, log, context, stack in
      var mark = 0
      withUnsafeMutablePointer(to: &mark) { mark in
        note.addObserver(log, forKeyPath: "title", options: .new, context: mark)
        note.removeObserver(log, forKeyPath: "title", context: mark)
      }
      note.setValue("B", forKey: "title")
      #expect(log.take() == ["title: A -> B"])
      note.removeObserver(log, forKeyPath: "title")
      note.setValue("C", forKey: "title")
      #expect(log.take() == [])

      var released: Log? = Log()
      weak let isGone = released
      note.addObserver(released!, forKeyPath: "title", context: nil)
      released = nil
      #expect(isGone == nil)
      note.setValue("D", forKey: "title")

      // Another object may get the memory of a freed one.
      for number in 0..<100 {
        let short = stack.insertNote("\(number)", in: context)
        short.addObserver(log, forKeyPath: "rank", context: nil)
        context.delete(short)
      }
      let fresh = (0..<100).map { stack.insertNote("\($0)", in: context) }
      _ = log.take()
      for note in fresh { note.setValue(3, forKey: "rank") }
      #expect(log.take() == [])
    }
  }

  @Test("An observer may set what it observes, and what it reads is saved")
  func reentrance() throws {
    let stack = try Stack()
    let context = stack.container.newBackgroundContext()
    final class Limit: NSObject, _CDKeyValueObserver {
      func observeValue(
        forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
        context: UnsafeMutableRawPointer?
      ) {
        guard let note = object as? NSManagedObject, let rank = change?[.newKey] as? Int, rank > 5 else {
          return
        }
        note.setValue(5, forKey: "rank")
      }
    }
    try context.performAndWait {
      let limit = Limit()
      let note = stack.insertNote("A", in: context)
      note.addObserver(limit, forKeyPath: "rank", options: .new, context: nil)
      note.setValue(9, forKey: "rank")
      #expect(note.value(forKey: "rank") as? Int == 5)
      try context.save()
      context.refresh(note, mergeChanges: false)
      #expect(note.value(forKey: "rank") as? Int == 5)
    }
  }

  @Test("Observing an unknown key, and removing an unknown observer, end the program with a sentence")
  func misuse() async {
    let unknown = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try Self.inContext { note in note.addObserver(Log(), forKeyPath: "titel", context: nil) }
    }
    #expect(text(unknown).contains("Note.titel can't be observed"))
    let removed = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try Self.inContext { note in note.removeObserver(Log(), forKeyPath: "title") }
    }
    #expect(text(removed).contains("can't be removed as an observer of Note.title, because it is none"))
    let path = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try Self.inContext { note in _ = note.observe(\.hasChanges) { _, _ in } }
    }
    #expect(text(path).contains("it leads to no property that the model gives the object"))
  }

  private static func inContext(_ body: (NSManagedObject) -> Void) throws {
    let stack = try Stack()
    let context = stack.container.newBackgroundContext()
    context.performAndWait { body(stack.insertNote("A", in: context)) }
  }

  private func text(_ result: ExitTest.Result?) -> String {
    String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
  }
}
