import CDECoreData
import Testing

// Each spelling as published code has it, except for results and casts that rewriting changes.

@Suite("Spellings of requests")
struct RequestSpellings {
  @Test("Dictionaries, groups and computed values")
  func dictionaries() throws {
    let context = try Stack().container.newBackgroundContext()
    for title in ["a", "b", "a"] {
      NSEntityDescription.insertNewObject(forEntityName: "Note", into: context).setValue(
        title, forKey: "title")
    }
    try context.save()

    let keypathExp = NSExpression(forKeyPath: "title")
    let expression = NSExpression(forFunction: "count:", arguments: [keypathExp])
    let countDesc = NSExpressionDescription()
    countDesc.expression = expression
    countDesc.name = "count"
    countDesc.expressionResultType = .integer64AttributeType
    let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Note")
    request.returnsObjectsAsFaults = false
    request.propertiesToGroupBy = ["title"]
    request.propertiesToFetch = ["title", countDesc]
    request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
    request.resultType = .dictionaryResultType
    request.havingPredicate = NSPredicate(format: "%@ >= 1", NSExpression(forVariable: "count"))
    let results = try context.fetch(request) as? [[String: Any]]
    #expect(results?.map { $0["count"] as? Int } == [2, 1])
    #expect(results?.compactMap { $0["title"] as? String } == ["a", "b"])

    let distinct = NSFetchRequest<NSDictionary>(entityName: "Note")
    distinct.resultType = NSFetchRequestResultType.dictionaryResultType
    distinct.returnsDistinctResults = true
    distinct.propertiesToFetch = ["title"]
    let titles = try context.fetch(distinct).compactMap { $0.value(forKey: "title") as? String }
    #expect(titles.sorted() == ["a", "b"])
    let coordinator = try #require(context.persistentStoreCoordinator)
    #expect((try coordinator.execute(distinct, with: context) as? [NSDictionary])?.count == 2)

    let asynchronous = NSAsynchronousFetchRequest(fetchRequest: distinct) { result in
      guard let final = result.finalResult else { return }
      _ = final.count
    }
    // The coordinator entered the context, which belongs to its own isolation from then on.
    try context.performAndWait {
      let running = try context.execute(asynchronous) as? NSAsynchronousFetchResult<NSDictionary>
      running?.progress?.cancel()
    }
  }
}
