import CDESwiftData
import Foundation

// What a process of Core Data's and one of SwiftData's change at the same time.

@Model
final class Binder {
  @Attribute(.preserveValueOnDeletion) var number: Int
  var title: String
  var count = 0
  @Relationship(deleteRule: .cascade, inverse: \Sheet.binder) var sheets: [Sheet] = []

  init(number: Int, title: String) {
    self.number = number
    self.title = title
  }
}

@Model
final class Sheet {
  @Attribute(.preserveValueOnDeletion) var number: Int
  var text: String
  var binder: Binder?

  init(number: Int, text: String, binder: Binder?) {
    self.number = number
    self.text = text
    self.binder = binder
  }
}

/// A process that has made itself known in the store.
@Model
final class Participant {
  var name: String
  var isDone = false

  init(name: String) { self.name = name }
}

/// The graph as text, the same from both sides.
struct BinderGraph: Codable, Equatable {
  var lines: [String] = []

  mutating func add(binder number: Int, title: String, count: Int, sheets: [Int]) {
    lines.append("binder \(number) \(title) \(count): \(sheets.sorted())")
  }

  mutating func add(sheet number: Int, text: String, binder: Int?) {
    lines.append("sheet \(number) \(text) \(binder.map { "\($0)" } ?? "none")")
  }

  mutating func sort() { lines.sort() }

  init() {}

  /// What a context has.
  init(_ context: ModelContext) throws {
    for binder in try context.fetch(FetchDescriptor<Binder>()) {
      add(
        binder: binder.number, title: binder.title, count: binder.count, sheets: binder.sheets.map(\.number))
    }
    for sheet in try context.fetch(FetchDescriptor<Sheet>()) {
      add(sheet: sheet.number, text: sheet.text, binder: sheet.binder?.number)
    }
    sort()
  }
}

/// What a process has at its end.
struct BesideReport: Codable {
  var graph = BinderGraph()
  /// The numbers of the transactions, in the order in which they were heard.
  var heard: [Int64] = []
  var saves = 0
  var refusals = 0
}
