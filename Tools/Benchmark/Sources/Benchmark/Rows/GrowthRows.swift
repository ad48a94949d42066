import CoreDataEvolution
import Foundation

/// Rows grow: the same operations in contexts that have few, many and very many objects registered.
///
/// One store serves all sizes, so that only the context differs. A run touches the same number of objects at each
/// size, spread evenly over all that are registered: they fit in the processor's caches at each size, and what grows
/// is the work.
@MainActor
final class GrowthRows {
  private let isSmoke: Bool
  private let holders: [GrowthSize: Holder]
  private let writer: NSManagedObjectContext

  /// A context and all that it has registered.
  private struct Holder {
    let context: NSManagedObjectContext
    let entries: [Entry]
    /// Which of them the context changes and saves.
    let saved: [Entry]
    /// Which of them the writer changes, and the same as the writer has them.
    let merged: [Entry]
    let written: [Entry]
  }

  private static let savedCount = 200
  private static let mergedCount = 100
  private static let sectionCount = 100

  init(_ workspace: Workspace, sizes: [GrowthSize]) throws {
    isSmoke = workspace.isSmoke
    let url = try workspace.emptyPath("growth.sqlite")
    let store = try OurStore(at: url)
    let largest = workspace.isSmoke ? GrowthSize.hundredThousand : .million
    try Self.fill(store, largest.rawValue)
    writer = store.container.newBackgroundContext()
    var holders: [GrowthSize: Holder] = [:]
    for (index, size) in sizes.enumerated() {
      let context = store.container.newBackgroundContext()
      let entries = try context.performAndWait {
        let request = Entry.fetchRequest()
        request.sortDescriptors = [NSSortDescriptor(key: "self", ascending: true)]
        request.fetchLimit = size.rawValue
        return try context.fetch(request)
      }
      precondition(entries.count == size.rawValue, "Registered \(entries.count) of \(size.rawValue) objects.")
      // No object is changed twice, by the contexts of two sizes or by one and the writer: that would be a conflict.
      let saved = Self.spread(entries, Self.savedCount, from: index)
      let merged = Self.spread(entries, Self.mergedCount, from: 10 + index)
      let ids = merged.map(\.objectID)
      let written = try writer.performAndWait { [writer] in
        try ids.map { id in
          guard let entry = try writer.existingObject(with: id) as? Entry else {
            preconditionFailure("\(id) is no entry.")
          }
          return entry
        }
      }
      holders[size] = Holder(
        context: context, entries: entries, saved: saved, merged: merged, written: written)
    }
    self.holders = holders
  }

  private static func fill(_ store: OurStore, _ count: Int) throws {
    let context = store.container.newBackgroundContext()
    try context.performAndWait {
      // In slices of whole sections, so that the first rows of every size have theirs complete.
      for start in stride(from: 0, to: count, by: 10_000) {
        for number in start..<start + 10_000 {
          let entry = Entry(context: context)
          entry.section = number / sectionCount
          entry.title = "entry \(number)"
        }
        try context.save()
        context.reset()
      }
    }
  }

  /// So many of a list, at equal distances.
  private static func spread<Element>(_ all: [Element], _ count: Int, from offset: Int = 0) -> [Element] {
    (0..<count).map { all[$0 * (all.count / count) + offset] }
  }

  /// - Returns: the nanoseconds of one operation, for each size one figure a round.
  func measure(
    _ operation: GrowthOperation, _ sizes: [GrowthSize], rounds: Int
  ) throws -> [GrowthSize: [Double]] {
    var figures: [GrowthSize: [Double]] = [:]
    // Not counted: the first round fills the caches.
    for round in (rounds > 1 ? -1 : 0)..<rounds {
      for offset in sizes.indices {
        let size = sizes[(offset + max(round, 0)) % sizes.count]
        let time = try run(operation, holders[size]!)
        if round >= 0 { figures[size, default: []].append(time) }
      }
    }
    return figures
  }

  private func run(_ operation: GrowthOperation, _ holder: Holder) throws -> Double {
    switch operation {
    case .fetch: try fetch(holder)
    case .save: try save(holder)
    case .merge: try merge(holder)
    case .find: find(holder)
    case .results: try results(holder)
    }
  }

  private func fetch(_ holder: Holder) throws -> Double {
    let count = isSmoke ? 10 : 100
    let sections = holder.entries.count / Self.sectionCount
    return try holder.context.performAndWait {
      let requests = Self.spread(Array(0..<sections), count).map { section in
        let request = Entry.fetchRequest()
        request.predicate = NSPredicate(format: "section == %@", section as NSNumber)
        return request
      }
      let time = try nanoseconds {
        for request in requests {
          let entries = try holder.context.fetch(request)
          precondition(entries.count == Self.sectionCount, "A section has \(entries.count) entries.")
          consume(entries)
        }
      }
      return time / Double(count)
    }
  }

  private func save(_ holder: Holder) throws -> Double {
    let count = isSmoke ? 10 : Self.savedCount
    return try holder.context.performAndWait {
      let changing = holder.saved.prefix(count)
      let time = try nanoseconds {
        for entry in changing {
          entry.count &+= 1
          try holder.context.save()
        }
      }
      return time / Double(count)
    }
  }

  private func merge(_ holder: Holder) throws -> Double {
    let merges = isSmoke ? 2 : 20
    var time = 0.0
    for _ in 0..<merges {
      let notification = try SaveNotification.caught(of: writer) {
        for entry in holder.written { entry.count &+= 1 }
      }
      holder.context.performAndWait {
        time += nanoseconds { holder.context.mergeChanges(fromContextDidSave: notification) }
        precondition(
          holder.merged[0].count == holder.written[0].count, "The merge did not bring the saved value along.")
      }
    }
    return time / Double(merges)
  }

  /// One at a time, so that each change is announced by itself.
  private func results(_ holder: Holder) throws -> Double {
    let count = isSmoke ? 10 : Self.savedCount
    let counter = MoveCounter()
    return try holder.context.performAndWait {
      let request = Entry.fetchRequest()
      request.sortDescriptors = [
        NSSortDescriptor(key: "section", ascending: true), NSSortDescriptor(key: "self", ascending: true),
      ]
      let sections = holder.entries.count / Self.sectionCount
      request.predicate = NSPredicate(format: "section < %d", sections)
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: holder.context, sectionNameKeyPath: nil, cacheName: nil)
      controller.delegate = counter
      try controller.performFetch()
      let moving = holder.saved.prefix(count)
      // Not counted: the first change reads the sort keys of all objects.
      moving[0].section += 1
      holder.context.processPendingChanges()
      let time = nanoseconds {
        for (turn, entry) in moving.enumerated() {
          entry.section = turn * 7919 % sections
          holder.context.processPendingChanges()
        }
      }
      precondition(counter.changes == count + 1, "The controller told of \(counter.changes) changes.")
      precondition(
        controller.fetchedObjects?.count == holder.entries.count, "The controller lost objects on the way.")
      holder.context.rollback()
      return time / Double(count)
    }
  }

  private final class MoveCounter: NSFetchedResultsControllerDelegate {
    var changes = 0

    func controller(
      _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
      at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
      changes += 1
    }
  }

  private func find(_ holder: Holder) -> Double {
    let (count, turns) = (1_000, isSmoke ? 1 : 100)
    return holder.context.performAndWait {
      let ids = Self.spread(holder.entries, count).map(\.objectID)
      return nanoseconds {
        for _ in 0..<turns { for id in ids { consume(holder.context.object(with: id)) } }
      } / Double(count * turns)
    }
  }
}
