import CoreDataEvolution
import Foundation

/// Row find-or-create: an import that looks for each object by an indexed attribute before it makes it, with one save at the end,
/// beside the same with a save after each thousand.
@MainActor
struct FindOrCreateRow {
  let workspace: Workspace

  /// Of ten looked for, one is there already.
  static func count(_ workspace: Workspace) -> Int { min(100_000, workspace.samples.itemCount) }

  var contenders: [Contender] {
    [
      Contender(.ours) { try importing(saving: .max) },
      Contender(.reference) { try importing(saving: 1_000) },
    ].map { $0.restartingSQLite() }
  }

  private func importing(saving batch: Int) throws -> Double {
    let store = try OurStore(at: workspace.emptyPath("find-or-create.sqlite"))
    let context = store.container.newBackgroundContext()
    let count = Self.count(workspace)
    let distinct = count * 9 / 10
    let time = try context.performAndWait {
      let time = try nanoseconds {
        for number in 0..<count {
          let request = Entry.fetchRequest()
          request.predicate = NSPredicate(format: "section == %lld", Int64(number % distinct))
          request.fetchLimit = 1
          if let known = try context.fetch(request).first {
            known.count += 1
          } else {
            Entry(context: context).section = number % distinct
          }
          if number % batch == batch - 1 { try context.save() }
        }
        try context.save()
      }
      let made = try context.count(for: Entry.fetchRequest())
      precondition(made == distinct, "The import made \(made) of \(distinct) objects.")
      return time
    }
    try store.close()
    return time
  }
}
