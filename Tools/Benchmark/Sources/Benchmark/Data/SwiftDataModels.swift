import CDESwiftData
import Foundation

/// The items of all rows as a class of SwiftData's layer.
@Model
final class Piece {
  var title: String = ""
  var count: Int = 0
  var score: Double = 0
  var createdAt: Date = Date(timeIntervalSinceReferenceDate: 0)
  var note: String?
  var uuid: UUID
  var shelf: Shelf?

  init(_ values: ItemValues, shelf: Shelf?) {
    title = values.title
    count = values.count
    score = values.score
    createdAt = values.createdAt
    note = values.note
    uuid = values.uuid
    self.shelf = shelf
  }

  /// Reads every property once.
  func readAll() -> Int {
    var sum = title.utf8.count &+ count &+ Int(score) &+ Int(createdAt.timeIntervalSinceReferenceDate)
    sum &+= note?.utf8.count ?? 0
    sum &+= Int(uuid.uuid.0)
    if shelf != nil { sum &+= 1 }
    return sum
  }
}

@Model
final class Shelf {
  var name: String
  @Relationship(inverse: \Piece.shelf) var pieces: [Piece] = []

  init(name: String) { self.name = name }
}

extension Samples {
  /// Inserts shelves with the names of the categories.
  func makeShelves(in context: ModelContext) -> [Shelf] {
    categoryNames.map {
      let shelf = Shelf(name: $0)
      context.insert(shelf)
      return shelf
    }
  }

  /// Inserts a piece for each item of a range.
  func insertPieces(_ range: Range<Int>, on shelves: [Shelf], into context: ModelContext) {
    for values in items[range] {
      context.insert(Piece(values, shelf: values.category.map { shelves[Int($0) - 1] }))
    }
  }

  /// A container whose store has a piece for each item.
  func fillPieces(at url: URL) throws -> ModelContainer {
    let container = try ModelContainer.ofPieces(at: url)
    let context = ModelContext(container)
    let shelves = makeShelves(in: context)
    for start in stride(from: 0, to: itemCount, by: 1000) {
      insertPieces(start..<min(start + 1000, itemCount), on: shelves, into: context)
      try context.save()
    }
    return container
  }
}

extension ModelContainer {
  static func ofPieces(at url: URL) throws -> ModelContainer {
    try ModelContainer(for: Piece.self, Shelf.self, configurations: ModelConfiguration(url: url))
  }
}

@ModelActor
actor CountingSwiftDataActor {
  private var count = 0

  func increment() -> Int {
    count &+= 1
    return count
  }
}
