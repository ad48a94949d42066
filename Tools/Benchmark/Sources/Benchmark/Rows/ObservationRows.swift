import CoreDataEvolution
import Observation
import Synchronization

/// What the standard library's own observation costs.
@Observable
final class ObservableCounter {
  var count = 0
}

@Observable
final class ObservableDiary {
  var mood = Mood.gloomy
}

/// Rows observe, wake and merge.
@MainActor
struct ObservationRows {
  let workspace: Workspace
  private let store: OurStore
  private let domain: CDEObservationDomain
  let repetitions: Int

  init(_ workspace: Workspace) throws {
    self.workspace = workspace
    store = try workspace.oursCopy()
    domain = CDEObservationDomain(container: store.container)
    repetitions = workspace.isSmoke ? 10_000 : 300_000
  }

  private var context: NSManagedObjectContext { store.container.viewContext }

  private func items(_ count: Int) throws -> [Item] {
    let request = Item.fetchRequest()
    request.fetchLimit = count
    return try context.fetch(request)
  }

  var read: [Contender] {
    get throws {
      let item = try items(1)[0]
      return [
        reading { item.count },
        Contender(.reference) { [repetitions] in
          let counter = ObservableCounter()
          return Self.time(repetitions) { counter.count }
        },
      ]
    }
  }

  /// The same of a property in raw storage.
  var readRaw: [Contender] {
    get throws {
      Diary(context: context).mood = .gloomy
      try context.save()
      context.reset()
      let diary = try context.fetch(Diary.fetchRequest())[0]
      return [
        reading { diary.mood == .gloomy ? 1 : 0 },
        Contender(.reference) { [repetitions] in
          let diary = ObservableDiary()
          return Self.time(repetitions) { diary.mood == .gloomy ? 1 : 0 }
        },
      ]
    }
  }

  /// What an observed property costs a write beyond the same write without observation.
  var write: [Contender] {
    get throws {
      let (item, plain) = (try items(1)[0], PlainCounter(context: context))
      return [difference(of: { item.count = $0 }, and: { plain.count = $0 })]
    }
  }

  /// The same of a property in raw storage.
  var writeRaw: [Contender] {
    get throws {
      let (diary, plain) = (Diary(context: context), PlainDiary(context: context))
      let moods = Mood.allCases
      return [difference(of: { diary.mood = moods[$0 & 3] }, and: { plain.mood = moods[$0 & 3] })]
    }
  }

  @inline(__always)
  private func reading(_ read: @escaping @MainActor () -> Int) -> Contender {
    Contender(.ours) { [repetitions, domain] in
      withExtendedLifetime(domain) { Self.time(repetitions, read) }
    }
  }

  private func difference(
    of observed: @escaping @MainActor (Int) -> Void, and unobserved: @escaping @MainActor (Int) -> Void
  ) -> Contender {
    Contender(.ours) { [repetitions, domain] in
      withExtendedLifetime(domain) {
        // In turns: which loop comes first matters more than what is measured.
        let (turns, share) = (20, repetitions / 20)
        @MainActor func time(_ write: @MainActor (Int) -> Void) -> Double {
          nanoseconds { for value in 0..<share { write(value) } }
        }
        var difference = 0.0
        for turn in 0..<turns {
          difference +=
            turn.isMultiple(of: 2) ? time(observed) - time(unobserved) : -(time(unobserved) - time(observed))
        }
        return difference
      }
    }
  }

  private static func time(_ repetitions: Int, _ read: @MainActor () -> Int) -> Double {
    nanoseconds {
      var sum = 0
      for _ in 0..<repetitions { sum &+= read() }
      consume(sum)
    }
  }

  // MARK: Waking

  static let wakes = 500

  /// One reader of one object is woken, while 10,000 others track as many other objects.
  var wake: [Contender] {
    get throws {
      let items = try items(min(10_001, workspace.samples.itemCount))
      for other in items.dropFirst() {
        withObservationTracking {
          consume(other.count)
        } onChange: {
        }
      }
      let target = items[0]
      let field = Item.__cdObservationFieldSet(forCoreDataKeys: ["count"])
      return [
        Contender(.ours) { [domain] in
          let time = Self.timeOfWakes {
            consume(target.count)
          } changing: {
            target.__cdObservationInvalidate(fieldSet: field)
          }
          return withExtendedLifetime((items, domain)) { time }
        },
        Contender(.reference) {
          let counter = ObservableCounter()
          return Self.timeOfWakes {
            consume(counter.count)
          } changing: {
            counter.count &+= 1
          }
        },
      ]
    }
  }

  /// The time that the changes took, each of which woke one reader, without what the clock takes for each.
  private static func timeOfWakes(reading: () -> Void, changing: () -> Void) -> Double {
    let woken = Atomic<Int>(0)
    let clockTime = (0..<wakes).map { _ in nanoseconds {} }.median
    var time = 0.0
    for _ in 0..<wakes {
      withObservationTracking(reading) { woken.add(1, ordering: .relaxed) }
      time += nanoseconds(changing) - clockTime
    }
    let count = woken.load(ordering: .relaxed)
    precondition(count == wakes, "\(count) of \(wakes) readers woke.")
    return time
  }

  // MARK: Merging

  static let mergedCount = 100

  /// The same saves merged into a context that holds every item, and into one that holds only those saved.
  var merge: [Contender] {
    get throws {
      let writer = store.container.newBackgroundContext()
      func holder(of limit: Int) throws -> (NSManagedObjectContext, [Item]) {
        let context = store.container.newBackgroundContext()
        let request = Item.fetchRequest()
        request.fetchLimit = limit
        return (context, try context.performAndWait { try context.fetch(request) })
      }
      let (large, all) = try holder(of: 0)
      let (small, few) = try holder(of: Self.mergedCount)
      let request = Item.fetchRequest()
      request.fetchLimit = Self.mergedCount
      let changing = try writer.performAndWait { try writer.fetch(request) }
      func merging(into context: NSManagedObjectContext, _ held: [Item]) -> @MainActor () throws -> Double {
        {
          let notification = try SaveNotification.caught(of: writer) {
            for item in changing { item.count &+= 1 }
          }
          return context.performAndWait {
            let time = nanoseconds { context.mergeChanges(fromContextDidSave: notification) }
            precondition(
              held[0].count == changing[0].count, "The merge did not bring the saved value along.")
            return time
          }
        }
      }
      let (intoLarge, intoSmall) = (merging(into: large, all), merging(into: small, few))
      return [Contender(.ours) { try intoLarge() }, Contender(.reference) { try intoSmall() }]
    }
  }
}
