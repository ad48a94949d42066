import CDECoreData
import Testing

@Suite("What Foundation has on Apple's platforms")
struct FoundationTests {
  @Test("A request is cast to another type of result, and back")
  func casts() throws {
    let stack = try Stack()
    let context = stack.container.newBackgroundContext()
    let request: NSFetchRequest<any NSFetchRequestResult> = NSFetchRequest(entityName: "Note")
    request.predicate = NSPredicate(format: "title == %@", "A")
    let cast = request ~!> NSFetchRequest<NSManagedObject>.self
    try context.performAndWait {
      stack.insertNote("A", in: context)
      stack.insertNote("B", in: context)
      let found = try context.fetch(cast)
      #expect(found.count == 1)
      let back = cast ~?> NSFetchRequest<any NSFetchRequestResult>.self
      #expect(back === request as AnyObject)
      let none = "text" as Any ~?> NSFetchRequest<NSManagedObject>.self
      #expect(none == nil)
    }
    // As the templates of a model are.
    let optional: NSFetchRequest<any NSFetchRequestResult>? = request
    let cast2 = optional ~!> NSFetchRequest<NSManagedObject>.self
    cast2.predicate = NSPredicate(format: "title == %@", "B")
    cast2.fetchLimit = 3
    #expect(cast.predicate == request.predicate && cast.fetchLimit == 3 && request.fetchLimit == 3)
  }

  @Test("A cast request fetches what its type says, whatever the type of the request")
  func castResults() throws {
    final class Filtered<Result>: NSFetchRequest<Result>, @unchecked Sendable {
      // Guard: it has nothing of its own.
      override var predicate: NSPredicate? {
        get { NSPredicate(format: "title == 'B'") }
        set {}
      }
    }
    func all<Object: NSManagedObject>(_ type: Object.Type, _ context: NSManagedObjectContext) throws
      -> [Object]
    {
      let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Note")
      request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
      return try context.fetch(request ~!> NSFetchRequest<Object>.self)
    }
    let stack = try Stack()
    let context = stack.container.newBackgroundContext()
    try context.performAndWait {
      for title in ["A", "B", "C"] { stack.insertNote(title, in: context) }
      try context.save()
      let titles = try all(NSManagedObject.self, context).map { $0.value(forKey: "title") as? String }
      #expect(titles == ["A", "B", "C"])
      let untyped = NSFetchRequest<any NSFetchRequestResult>(entityName: "Note")
      untyped.resultType = .managedObjectIDResultType
      let ids = try context.fetch(untyped ~!> NSFetchRequest<NSManagedObjectID>.self)
      #expect(ids.count == 3 && ids.allSatisfy { $0.entity.name == "Note" })
      untyped.resultType = .dictionaryResultType
      untyped.propertiesToFetch = ["title"]
      let rows = try (untyped ~!> NSFetchRequest<NSDictionary>.self).execute()
      #expect(Set(rows.compactMap { $0["title"] as? String }) == ["A", "B", "C"])
      untyped.resultType = .managedObjectResultType
      #expect(try context.fetch(unsafeBitCast(untyped, to: NSFetchRequest<NSManagedObject>.self)).count == 3)
      #expect(try context.fetch(unsafeDowncast(untyped, to: NSFetchRequest<NSManagedObject>.self)).count == 3)
      let filtered = Filtered<any NSFetchRequestResult>()
      filtered.entity = NSEntityDescription.entity(forEntityName: "Note", in: context)
      let typed =
        (filtered as NSFetchRequest<any NSFetchRequestResult>) ~!> NSFetchRequest<NSManagedObject>.self
      #expect(try context.fetch(typed).map { $0.value(forKey: "title") as? String } == ["B"])
      #expect(
        typed.entity === filtered.entity
          && (typed.copy() as? NSFetchRequest<NSManagedObject>)?.entity === filtered.entity)
      #expect(try context.count(for: typed) == 1)
      let controller = NSFetchedResultsController(
        fetchRequest: {
          $0.sortDescriptors = [NSSortDescriptor(key: "title", ascending: false)]; return $0
        }(typed), managedObjectContext: context,
        sectionNameKeyPath: nil, cacheName: nil)
      try controller.performFetch()
      #expect(controller.fetchedObjects?.count == 1)
      let byName = NSFetchRequest<any NSFetchRequestResult>(entityName: "Note")
      let named = byName ~!> NSFetchRequest<NSManagedObject>.self
      #expect(try context.fetch(named).count == 3 && byName.entity?.name == "Note")
    }
  }

  @Test("A predicate prints whole numbers without a fraction")
  func printedNumbers() {
    let predicate = NSPredicate(
      format: "a == %lf AND b.c2 > %lf AND d == %@ AND e == %d", 2.0, 2.5, "1.0 and \"3.0\"", 10)
    #expect(predicate._cdPredicateFormat == #"a == 2 AND b.c2 > 2.5 AND d == "1.0 and \"3.0\"" AND e == 10"#)
  }

  @Test("Classes are compared as the objects that they are with the Objective-C runtime")
  func classesAsObjects() {
    let found: AnyClass? = NSManagedObject.self
    #expect(found === NSManagedObject.self)
    #expect(found !== NSManagedObjectContext.self)
    #expect(type(of: NSObject()) === NSObject.self)
    #expect(found !== nil)
  }

  @Test("A sort descriptor sorts by the comparison that its selector names")
  func sortSelectors() throws {
    let values: [NSDictionary] = ["b", "A", "a10", "a9"].map { ["title": $0] }
    func order(_ selector: Selector?) -> [String] {
      let descriptor = NSSortDescriptor(key: "title", ascending: true, selector: selector)
      return values.sorted { descriptor.compare($0, to: $1) == .orderedAscending }
        .compactMap { $0["title"] as? String }
    }
    #expect(order(Selector("caseInsensitiveCompare:")) == ["A", "a10", "a9", "b"])
    #expect(order("localizedStandardCompare:") == ["A", "a9", "a10", "b"])
    #expect(order(nil).first == "A")
  }

  @Test(
    "Notifications arrive as an asynchronous sequence, in their order, and from the object that was named alone"
  )
  func notifications() async throws {
    let center = NotificationCenter()
    let name = Notification.Name("NoteChanged")
    let poster = NSManagedObjectContext(concurrencyType: .privateQueue)
    let iterator = center.notifications(named: name, object: poster).makeAsyncIterator()
    center.post(name: name, object: nil, userInfo: ["number": 0])
    for number in 1...3 { center.post(name: name, object: poster, userInfo: ["number": number]) }
    for number in 1...3 { #expect(await iterator.next()?.userInfo?["number"] as? Int == number) }
    // A cancelled task reads no more.
    let reader = Task {
      var count = 0
      for await _ in center.notifications(named: name) { count += 1 }
      return count
    }
    reader.cancel()
    #expect(await reader.value == 0)
  }

  @Test("Defaults are read and set by key-value coding, and classes name themselves for archives")
  func smallMembers() throws {
    let suite = "CDE.\(UUID().uuidString)"
    let defaults = try #require(UserDefaults(suiteName: suite))
    defaults.setValue(5, forKey: "count")
    #expect(defaults.value(forKey: "count") as? Int == 5)
    defaults.setValue(nil, forKey: "count")
    #expect(defaults.value(forKey: "count") == nil)
    defaults.removePersistentDomain(forName: suite)
    #expect(NSString.classForCoder() == NSString.self)
    #expect(NSEC_PER_SEC == 1_000 * NSEC_PER_MSEC && NSEC_PER_MSEC == 1_000 * NSEC_PER_USEC)
  }

  @Test("Literals make sets of Foundation")
  func literals() {
    let set: NSSet = ["a", "b", "a"]
    #expect(set.count == 2)
    let mutable: NSMutableSet = [1, 2]
    mutable.add(3)
    #expect(mutable.count == 3)
    let ordered: NSOrderedSet = ["b", "a"]
    #expect(ordered.firstObject as? String == "b")
  }

  @Test("Dates, identifiers and collections are arguments of formats")
  func arguments() {
    let date = Date(timeIntervalSinceReferenceDate: 7)
    let arguments: [any CVarArg] = [date as CVarArg, UUID() as CVarArg, ["a"] as CVarArg, NSNumber(value: 1)]
    #expect(arguments.count == 4)
    let predicate = NSPredicate(format: "day == %@", date as CVarArg)
    #expect(predicate.evaluate(with: ["day": date] as NSDictionary))
  }

  @Test("A sort descriptor takes a key path of a type that is not known to be a managed object")
  func genericSorting() {
    func byPath<Root, Value>(_ path: KeyPath<Root, Value>) -> NSSortDescriptor {
      NSSortDescriptor(keyPath: path, ascending: false)
    }
    struct Note { var title: String? }
    let notes = ["a", nil, "b"].map { Note(title: $0) }
    let descriptor = byPath(\Note.title)
    let sorted = notes.sorted { descriptor.compare($0, to: $1) == .orderedAscending }
    #expect(sorted.map(\.title) == ["b", "a", nil])
  }

  @Test("A class describes itself by its name")
  func classDescription() {
    final class Thing: NSObject {}
    #expect(Thing.description().hasSuffix(".Thing"))
    #expect(NSPredicate.description() == "Foundation.NSPredicate")
    #expect(NSManagedObject.description() == NSStringFromClass(NSManagedObject.self))
  }
}
