import CoreDataEvolution
import Shared

/// Reads another module's models where nothing is isolated to the main actor.
nonisolated enum Elsewhere {
  static func titles(of snapshots: [Book.Snapshot]) async -> [String] { snapshots.map(\.title) }
}

/// Uses models that another module declares: objects, paths, snapshots and handles.
func useSharedModels(_ context: NSManagedObjectContext) async throws {
  let shelf = Shelf(context: context)
  shelf.name = "top"
  for (title, kind) in [("Emma", Kind.novel), ("Swift", .manual), ("SQL", .manual)] {
    let book = Book(context: context)
    book.title = title
    book.kind = kind
    book.pages = Pages(first: 1, last: title.count)
    shelf.addToBooks(book)
  }
  let loan = Loan(context: context)
  loan.days = 14
  try context.save()
  precondition(shelf.booksCount == 3 && loan.days == 14 && loan.reader == nil, "objects have lost values")

  let request = Book.fetchRequest()
  request.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: [
    Book.path.kind.equals(.manual), Book.path.shelf.name.equals("top"),
  ])
  request.sortDescriptors = [try NSSortDescriptor(Book.self, path: Book.path.title, order: .asc)]
  let manuals = try context.fetch(request)
  precondition(manuals.map(\.title) == ["SQL", "Swift"], "found \(manuals.map(\.title))")

  let snapshots = try manuals.map { try $0.snapshot() }
  let titles = await Elsewhere.titles(of: snapshots)
  precondition(titles == ["SQL", "Swift"], "snapshots say \(titles)")
  precondition(
    snapshots[0].kind == .manual && snapshots[0].pages == Pages(first: 1, last: 3),
    "a snapshot decodes otherwise")
  let handle: Book.Handle = snapshots[1].handle
  let found = try context.object(for: handle)
  precondition(found === manuals[1], "a handle finds another object")
}
