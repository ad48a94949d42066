import CDEManagedModel
@_spi(CDE) import CDEModelRuntime
import CDEPredicates
import CDEProfiling
import Foundation
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A process has one record, so each of these tests has a process of its own.
@Suite("Profiles of contexts")
struct ProfileTests {
  /// Thirty items, each with a category of its own and two tags.
  private static func filled() throws -> Stack {
    let stack = try Stack()
    let context = stack.context()
    try context.performAndWait {
      let tags = ["red", "blue"].map { name in
        let tag = Tag(context: context)
        tag.name = name
        return tag
      }
      for number in 0..<30 {
        let item = Item(context: context)
        item.title = "\(number)"
        item.category = Category(context: context)
        item.category?.name = "of \(number)"
        for tag in tags { item.addToTags(tag) }
      }
      try context.save()
    }
    return stack
  }

  private static func items(_ context: NSManagedObjectContext, prefetching paths: [String]) throws -> [Item] {
    let request = NSFetchRequest<Item>(entityName: "Item")
    request.relationshipKeyPathsForPrefetching = paths
    return try context.fetch(request)
  }

  /// What the report at the exit of a process says.
  private static func text(_ data: [UInt8]?) throws -> String {
    String(decoding: try #require(data), as: UTF8.self)
  }

  @Test(
    "CDE_PROFILE=1 names rows read one by one, their place, and the prefetch of the fetch before", .onSQLite)
  func planted() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      setenv("CDE_PROFILE", "1", 1)
      unsetenv("CDE_CALLER_PLACE")
      let stack = try ProfileTests.filled()
      let context = stack.context()
      try context.performAndWait {
        var length = 0
        for item in try ProfileTests.items(context, prefetching: []) {
          length += item.category?.name.count ?? 0
        }
        #expect(length > 0)
      }
      // As a program ends; the testing library's own end calls no handlers.
      exit(EXIT_SUCCESS)
    }
    let text = try Self.text(result?.standardErrorContent)
    #expect(text.contains("Single faults: 30, of which 30 in runs of ten or more"))
    #expect(text.contains("  30  Category\n"))
    #expect(text.contains("ProfileTests.swift"))
    #expect(text.contains("In the fetch of Item at "))
    #expect(text.contains("relationshipKeyPathsForPrefetching = [\"category\"]"))
  }

  @Test("The same with the prefetch has no single fault")
  func mended() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      setenv("CDE_PROFILE", "1", 1)
      let stack = try ProfileTests.filled()
      let context = stack.context()
      try context.performAndWait {
        var length = 0
        for item in try ProfileTests.items(context, prefetching: ["category", "tags"]) {
          length += (item.category?.name.count ?? 0) + item.tags.count
        }
        #expect(length > 0)
      }
      // As a program ends; the testing library's own end calls no handlers.
      exit(EXIT_SUCCESS)
    }
    let text = try Self.text(result?.standardErrorContent)
    #expect(text.contains("Single faults: 0,") && !text.contains("Prefetching"))
    #expect(text.contains("Saves: 1 in"))
  }

  @Test("Members read for one owner after the other are named with the relationship")
  func relationships() async throws {
    await #expect(processExitsWith: .success) {
      let stack = try ProfileTests.filled()
      let context = stack.context()
      CDEProfile.start()
      try context.performAndWait {
        var count = 0
        for item in try ProfileTests.items(context, prefetching: []) { count += item.tags.count }
        #expect(count == 60)
      }
      let report = CDEProfile.report()
      let fault = try #require(report.faults.first { $0.relationship == "tags" })
      #expect(fault.entity == "Item" && fault.count == 30 && fault.repeated == 30)
      #expect(fault.remedy?.entity == "Item" && fault.remedy?.keyPaths == ["tags"])
    }
  }

  @Test("Objects further away have a path of several steps, and objects of no fetch have none")
  func paths() async throws {
    await #expect(processExitsWith: .success) {
      let stack = try ProfileTests.filled()
      let context = stack.context()
      let ids = try context.performAndWait {
        let request = NSFetchRequest<NSManagedObjectID>(entityName: "Category")
        request.resultType = .managedObjectIDResultType
        return try context.fetch(request)
      }
      CDEProfile.start()
      try context.performAndWait {
        for item in try ProfileTests.items(context, prefetching: ["category"]) {
          #expect(item.category?.items.count == 1)
        }
      }
      let report = CDEProfile.report()
      let members = try #require(report.faults.first { $0.relationship == "items" })
      #expect(members.entity == "Category" && members.remedy?.entity == "Item")
      #expect(members.remedy?.keyPaths == ["category.items"])

      let other = stack.context()
      CDEProfile.start()
      other.performAndWait {
        for id in ids { #expect((other.object(with: id) as? Category)?.name.isEmpty == false) }
      }
      let loose = try #require(CDEProfile.report().faults.first)
      #expect(loose.entity == "Category" && loose.repeated == 30 && loose.remedy?.entity == nil)
      #expect(CDEProfile.report().description.contains("self IN objects"))
    }
  }

  @Test("A context that lives through several records counts in each what happens there")
  func laterRecords() async throws {
    await #expect(processExitsWith: .success) {
      let stack = try ProfileTests.filled()
      let context = stack.context()
      for _ in 0..<3 {
        CDEProfile.start()
        try context.performAndWait {
          context.reset()
          for item in try ProfileTests.items(context, prefetching: []).prefix(20) {
            #expect(item.category?.name.isEmpty == false)
            #expect(item.tags.count == 2)
          }
        }
        let faults = CDEProfile.report().faults
        #expect(
          Set(faults.map { "\($0.entity) \($0.relationship ?? "") \($0.count) \($0.repeated)" })
            == ["Category  20 20", "Item tags 20 20"])
        CDEProfile.stop()
        context.performAndWait {
          context.reset()
        }
        #expect(CDEProfile.report().faults.reduce(0) { $0 + $1.count } == 40)
      }
    }
  }

  @Test("Fetches of one object after the other are a run")
  func fetches() async throws {
    await #expect(processExitsWith: .success) {
      let stack = try ProfileTests.filled()
      let context = stack.context()
      CDEProfile.start()
      try context.performAndWait {
        for number in 0..<30 {
          let request = NSFetchRequest<Item>(entityName: "Item")
          request.predicate = NSPredicate(format: "title == %@", "\(number)")
          let (found, count) = (try context.fetch(request).count, try context.count(for: request))
          #expect(found == 1 && count == 1)
        }
      }
      let report = CDEProfile.report()
      #expect(report.fetches.count == 60 && report.fetches.objects == 60)
      #expect(report.fetchedEntities.map(\.repeated) == [60])
      #expect(report.faults.isEmpty)
    }
  }

  @Test("Saves, merges and blocks are counted, and a page is written")
  func events() async throws {
    await #expect(processExitsWith: .success) {
      let stack = try ProfileTests.filled()
      var options = CDEProfile.Options()
      options.recordsTimeline = true
      options.slow = .zero
      CDEProfile.start(options)
      let (writer, reader) = (stack.context(), stack.context())
      writer.name = "writer"
      reader.automaticallyMergesChangesFromParent = true
      let item = try await reader.perform {
        try #require(ProfileTests.items(reader, prefetching: []).first?.objectID)
      }
      try await writer.perform {
        let known = try #require(try writer.existingObject(with: item) as? Item)
        known.title = "changed"
        try writer.save()
        known.title = String(repeating: "x", count: 3)
        try writer.save()
        // Nothing to save is no save.
        try writer.save()
      }
      await reader.perform {}
      let report = CDEProfile.report()
      #expect(report.saves.count == 2 && report.saves.objects == 2 && report.saves.slow.count == 2)
      #expect(report.saves.slow.allSatisfy { $0.context == "writer" })
      #expect(report.merges.count >= 1)
      #expect(Set(report.timeline.map(\.kind)).isSuperset(of: ["block", "fetch", "save", "merge"]))
      let file = stack.folder.appendingPathComponent("profile.html")
      try Data(report.html.utf8).write(to: file)
      #expect(try String(contentsOf: file, encoding: .utf8).contains("<svg"))
    }
  }

  @Test("A save that fails is listed as failed")
  func failing() async throws {
    await #expect(processExitsWith: .success) {
      let stack = try ProfileTests.filled()
      var options = CDEProfile.Options()
      options.slow = .zero
      CDEProfile.start(options)
      let context = stack.context()
      context.performAndWait {
        let tag = Tag(context: context)
        tag.name = "red"
        #expect(throws: (any Error).self) { try context.save() }
      }
      #expect(CDEProfile.report().saves.slow.map(\.detail) == ["1 object, failed"])
    }
  }
}
