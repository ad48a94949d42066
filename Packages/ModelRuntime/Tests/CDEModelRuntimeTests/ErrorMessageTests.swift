import CDEManagedModel
import CDEModelRuntime
import CDEStore
import Foundation
import Testing

/// What people read when an error is printed or shown.
@Suite("What errors say")
struct ErrorMessageTests {
  @Test("An error that passes on the store's message prints it once")
  func once() throws {
    let stack = try Stack()
    let store = try #require(stack.container.persistentStoreCoordinator.persistentStores.first)
    let context = stack.context()
    _ = Item(context: context)
    try stack.container.persistentStoreCoordinator.remove(store)
    let error = try #require(#expect(throws: ManagedObjectError.self) { try context.save() })
    let text = "\(error)"
    #expect(text.components(separatedBy: error.message).count == 2, "\(text)")
    let below = StoreError(.full, "The disk is full.")
    let above = ManagedObjectError(.store, "The disk is full.", cause: below)
    #expect("\(above)" == "ManagedObjectError.store: The disk is full.")
    let other = ManagedObjectError(.store, "Nothing was saved.", cause: below)
    #expect("\(other)".contains("Nothing was saved. (cause: StoreError.full: The disk is full.)"))
  }

  @Test("Several validation errors stand on lines of their own, and beyond five their number")
  func several() throws {
    let thing = entity("Thing", nil, [attribute("name", .stringAttributeType, optional: false)])
    let context = try Stack(model: model(thing)).context()
    for _ in 0..<7 { context.make("Thing") }
    let error = try #require(#expect(throws: ManagedObjectError.self) { try context.save() })
    let lines = error.message.split(separator: "\n")
    #expect(lines.first == "7 values can't be saved:")
    #expect(lines.count == 7)
    #expect(lines.dropFirst().prefix(5).allSatisfy { $0.hasPrefix("  Thing.name") })
    #expect(lines.last == "  and 2 more, which failures lists")
    #expect(error.failures.count == 7)
  }

  @Test("A clash of unique values names the value, and long ones not whole")
  func clash() throws {
    let thing = entity(
      "Thing", nil, [attribute("name", .stringAttributeType), attribute("n", .integer64AttributeType)])
    thing.uniquenessConstraints = [["name", "n"]]
    let stack = try Stack(model: model(thing))
    for name in ["Émile", String(repeating: "x", count: 500)] {
      let first = stack.context()
      first.make("Thing", ["name": name, "n": 5])
      try first.save()
      let second = stack.context()
      second.make("Thing", ["name": name, "n": 5])
      let error = try #require(#expect(throws: ManagedObjectError.self) { try second.save() })
      #expect(error.code == .uniquenessConflict)
      let shown = name.count > 80 ? String(repeating: "x", count: 80) + "…" : name
      #expect(
        error.message.hasPrefix("Another Thing has the same name \"\(shown)\", n 5. Change the value"),
        "\(error.message)")
    }
  }

  @Test("Errors of models print as sentences")
  func models() {
    let builder = CDRuntimeModelBuilderError.duplicateEntityName("Item")
    #expect("\(builder)".hasPrefix("Two model types stand for an entity named Item. Give one of them"))
    #expect(builder.localizedDescription == "\(builder)")
    let sort = CDSortDescriptorError.pathNotRegistered("a.b")
    #expect("\(sort)".hasPrefix("The model has no sortable path a.b."))
  }

  #if DEBUG && os(Linux)
    @Test("Misuse is said of the line that did it, not of the library's")
    func place() async {
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        setenv("CDE_CALLER_PLACE", "yes", 1)
        askForUnknownKey(Item(context: try Stack().context()))
      }
      let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
      #expect(text.contains("ErrorMessageTests.swift:\(placeLine): Fatal error: "), "\(text)")
    }
  #endif
}

private let placeLine = #line + 3
@inline(never)
private func askForUnknownKey(_ item: Item) {
  _ = item.value(forKey: "tittle")
}
