import CDESwiftData
import Foundation

/// Rows of SwiftData's layer, beside the same model as `@PersistentModel` and beside `@Observable`.
@MainActor
struct SwiftDataRows {
  private let workspace: Workspace
  private let core: SwiftDataReferences
  private let repetitions: Int

  init(_ workspace: Workspace) throws {
    self.workspace = workspace
    core = try SwiftDataReferences(workspace)
    repetitions = Self.accesses(workspace)
  }

  static func accesses(_ workspace: Workspace) -> Int { workspace.isSmoke ? 10_000 : 1_000_000 }

  // MARK: Accessors

  /// The context, which an instance does not keep while it is new, and one of its pieces.
  private func attached() throws -> (ModelContext, Piece) {
    let context = ModelContext(try workspace.pieces())
    var descriptor = FetchDescriptor<Piece>()
    descriptor.fetchLimit = 1
    return (context, try context.fetch(descriptor)[0])
  }

  var numberRead: [Contender] {
    get throws {
      let (context, piece) = try attached()
      return [time(.ours, context) { _ in piece.count }, try core.numberRead]
    }
  }

  var numberWrite: [Contender] {
    get throws {
      let (context, piece) = try attached()
      return [
        time(.ours, context) {
          piece.count = $0; return 0
        }, try core.numberWrite,
      ]
    }
  }

  var textRead: [Contender] {
    get throws {
      let (context, piece) = try attached()
      return [time(.ours, context) { _ in piece.title.utf8.count }, try core.textRead]
    }
  }

  var textWrite: [Contender] {
    get throws {
      let (context, piece) = try attached()
      let texts = ["A title of some length", "Another title of some length"]
      return [
        time(.ours, context) {
          piece.title = texts[$0 & 1]; return 0
        }, try core.textWrite,
      ]
    }
  }

  var detachedRead: [Contender] {
    let piece = Piece(workspace.samples.items[0], shelf: nil)
    let plain = PlainPiece()
    return [
      time(.ours, piece) { _ in piece.count }, time(.reference, plain) { _ in plain.count },
    ]
  }

  var detachedWrite: [Contender] {
    let piece = Piece(workspace.samples.items[0], shelf: nil)
    let plain = PlainPiece()
    return [
      time(.ours, piece) {
        piece.count = $0; return 0
      },
      time(.reference, plain) {
        plain.count = $0; return 0
      },
    ]
  }

  @inline(__always)
  private func time(
    _ side: Contender.Side, _ kept: AnyObject, _ body: @escaping @MainActor (Int) -> Int
  ) -> Contender {
    Contender(side) { [repetitions] in
      withExtendedLifetime(kept) {
        nanoseconds {
          var sum = 0
          for number in 0..<repetitions { sum &+= body(number) }
          consume(sum)
        }
      }
    }
  }

  // MARK: All items

  var fetch: [Contender] {
    get throws {
      let container = try workspace.pieces()
      let count = workspace.samples.itemCount
      return [
        Contender(.ours) {
          let context = ModelContext(container)
          return try nanoseconds {
            let pieces = try context.fetch(FetchDescriptor<Piece>())
            precondition(pieces.count == count, "Fetched \(pieces.count) of \(count) pieces.")
            var sum = 0
            for piece in pieces { sum &+= piece.readAll() }
            consume(sum)
          }
        }, core.fetch,
      ]
    }
  }

  /// Both stores record a history, as each store of a model container does.
  var insert: [Contender] {
    [Contender(.ours) { try inserted() }, SwiftDataReferences.insert(workspace)]
  }

  private func inserted() throws -> Double {
    let samples = workspace.samples
    let container = try ModelContainer.ofPieces(at: workspace.emptyPath("insert-pieces.sqlite"))
    let context = ModelContext(container)
    let shelves = samples.makeShelves(in: context)
    try context.save()
    return try nanoseconds {
      samples.insertPieces(0..<samples.itemCount, on: shelves, into: context)
      try context.save()
    }
  }

  // MARK: Appending

  static func appended(_ workspace: Workspace) -> Int { workspace.isSmoke ? 10 : 500 }

  /// Appending to an array of many models, beside the same to an array of a hundred.
  var append: [Contender] {
    let many = workspace.isSmoke ? 400 : 10_000
    return [
      Contender(.ours) { try appending(to: many) }, Contender(.reference) { try appending(to: 100) },
    ]
  }

  private func appending(to count: Int) throws -> Double {
    let samples = workspace.samples
    let container = try ModelContainer.ofPieces(at: workspace.emptyPath("append-pieces.sqlite"))
    let context = ModelContext(container)
    let shelf = Shelf(name: "")
    context.insert(shelf)
    for number in 0..<count { context.insert(Piece(samples.items[number % samples.itemCount], shelf: shelf)) }
    try context.save()
    let added = (0..<Self.appended(workspace)).map { Piece(samples.items[$0], shelf: nil) }
    precondition(shelf.pieces.count == count, "The shelf has \(shelf.pieces.count) of \(count) pieces.")
    let time = nanoseconds { for piece in added { shelf.pieces.append(piece) } }
    precondition(shelf.pieces.count == count + added.count && added[0].modelContext === context)
    return time
  }

  // MARK: Memory

  static func memory(_ workspace: Workspace) throws -> [Contender] {
    _ = try workspace.pieces()
    return [MemoryRow.contender(.ours, .pieces, workspace.piecesPath)]
  }

  /// All pieces of a store, of which nothing is read.
  static func allPieces(at path: String) throws -> () throws -> (ModelContext, [Piece]) {
    let context = ModelContext(try ModelContainer.ofPieces(at: URL(fileURLWithPath: path)))
    // Reads the whole file once, so that SQLite's page cache is full before anything is counted.
    let none = FetchDescriptor<Piece>(predicate: #Predicate { $0.score < 0 })
    consume(try context.fetch(none))
    var few = FetchDescriptor<Piece>()
    few.fetchLimit = 10
    consume(try context.fetch(few))
    return { (context, try context.fetch(FetchDescriptor<Piece>())) }
  }
}
