import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

@Suite("Relationships")
struct RelationshipTests {
  private func stack() throws -> Stack {
    let item = entity("Item", nil, [attribute("title", .stringAttributeType)])
    let owner = entity("Owner", nil, [attribute("title", .stringAttributeType)])
    let label = entity("Label", nil, [attribute("title", .stringAttributeType)])
    connect(.one(item, "owner"), .many(owner, "items"))
    connect(.one(item, "ranker"), .many(owner, "ranked", ordered: true))
    connect(.many(item, "labels", ordered: true), .many(label, "items", ordered: true))
    connect(.one(item, "boss"), .one(owner, "servant"))
    point(.many(owner, "bookmarks"), to: label)
    point(.one(owner, "favourite"), to: label)
    return try Stack(model: model(item, owner, label))
  }

  private func items(_ context: NSManagedObjectContext, _ count: Int) -> [NSManagedObject] {
    (0..<count).map { context.make("Item", ["title": "\($0)"]) }
  }

  private func titles(_ objects: [NSManagedObject]) -> String {
    objects.map { $0.value(forKey: "title") as? String ?? "?" }.joined()
  }

  @Test("Replacing the members through key-value coding moves both sides")
  func replacing() throws {
    let context = try stack().context()
    let (a, b) = (context.make("Owner"), context.make("Owner"))
    let all = items(context, 3)
    a.setValue(NSSet(array: all), forKey: "items")
    #expect(all.allSatisfy { $0.one("owner") === a })
    b.setValue([all[0], all[1]] as Set<NSManagedObject>, forKey: "items")
    #expect(a.set("items") == [all[2]])
    #expect(all[0].one("owner") === b)
    try context.save()
    a.setValue(nil, forKey: "items")
    #expect(all[2].one("owner") == nil)
    #expect(a.changedValues().keys.contains("items"))
    try context.save()
    context.reset()
    let stored = try context.all("Item", sort: "title")
    #expect(stored.map { $0.one("owner") != nil } == [true, true, false])
  }

  @Test("An order survives inserting, moving, removing, replacing and saving")
  func order() throws {
    let stack = try stack()
    let context = stack.context()
    let owner = context.make("Owner")
    let all = items(context, 6)
    let proxy = owner.mutableOrderedSetValue(forKey: "ranked")
    for item in all[0..<4] { proxy.add(item) }
    proxy.insert(all[4], at: 1)
    try context.save()
    #expect(titles(owner.list("ranked")) == "04123")
    let other = stack.context()
    func stored() throws -> String {
      other.reset()
      return titles(try other.all("Owner")[0].list("ranked"))
    }
    #expect(try stored() == "04123")
    proxy.moveObjects(at: IndexSet(integer: 4), to: 0)
    try context.save()
    #expect(try stored() == "30412")
    proxy.exchangeObject(at: 0, withObjectAt: 4)
    proxy.remove(all[4])
    try context.save()
    #expect(try stored() == "2013")
    proxy.replaceObject(at: 1, with: all[5])
    proxy.add(all[2])
    try context.save()
    #expect(try stored() == "2513")
    #expect(all[0].one("ranker") == nil)
    owner.setValue(NSOrderedSet(array: [all[0], all[1], all[0]]), forKey: "ranked")
    try context.save()
    #expect(try stored() == "01")
    proxy.removeAllObjects()
    try context.save()
    #expect(try stored() == "")
    #expect(proxy.count == 0)
  }

  @Test("A live ordered set reads as an array, a set and by iteration")
  func orderedProxyReads() throws {
    let context = try stack().context()
    let owner = context.make("Owner")
    let all = items(context, 3)
    let proxy = owner.mutableOrderedSetValue(forKey: "ranked")
    proxy.addObjects(from: all)
    #expect(proxy.count == 3)
    #expect(proxy.contains(all[1]))
    #expect(proxy.index(of: all[2]) == 2)
    #expect((proxy.object(at: 0) as? NSManagedObject) === all[0])
    #expect(proxy.map { ($0 as? NSManagedObject)?.value(forKey: "title") as? String } == ["0", "1", "2"])
    #expect((proxy.array as? [NSManagedObject])?.map(ObjectIdentifier.init) == all.map(ObjectIdentifier.init))
  }

  @Test("A live set changes both sides, ignores duplicates and reads back")
  func setProxy() throws {
    let context = try stack().context()
    let owner = context.make("Owner")
    let all = items(context, 3)
    let proxy = owner.mutableSetValue(forKey: "items")
    proxy.add(all[0])
    proxy.add(all[0])
    proxy.addObjects(from: [all[1], all[2]])
    #expect(proxy.count == 3)
    #expect(all[1].one("owner") === owner)
    proxy.remove(all[1])
    #expect(all[1].one("owner") == nil)
    #expect(Set(proxy.allObjects.compactMap { $0 as? NSManagedObject }) == [all[0], all[2]])
    #expect(Set(proxy.compactMap { $0 as? NSManagedObject }) == [all[0], all[2]])
    proxy.minus([all[0]])
    #expect(owner.set("items") == [all[2]])
    proxy.removeAllObjects()
    #expect(all[2].one("owner") == nil)
  }

  @Test("Many-to-many with an order on both sides keeps both orders")
  func orderedBothSides() throws {
    let stack = try stack()
    let context = stack.context()
    let all = items(context, 3)
    let labels = (0..<3).map { context.make("Label", ["title": "\($0)"]) }
    for item in all { item.mutableOrderedSetValue(forKey: "labels").addObjects(from: labels) }
    labels[0].mutableOrderedSetValue(forKey: "items").moveObjects(at: IndexSet(integer: 2), to: 0)
    try context.save()
    all[1].mutableOrderedSetValue(forKey: "labels").moveObjects(at: IndexSet(integer: 0), to: 2)
    all[2].mutableOrderedSetValue(forKey: "labels").remove(labels[1])
    try context.save()
    let other = stack.context()
    let stored = try other.all("Item", sort: "title")
    #expect(stored.map { titles($0.list("labels")) } == ["012", "120", "02"])
    #expect(try other.all("Label", sort: "title").map { titles($0.list("items")) } == ["201", "01", "012"])
  }

  @Test("One-to-one replaces both former partners")
  func oneToOne() throws {
    let context = try stack().context()
    let all = items(context, 2)
    let (a, b) = (context.make("Owner"), context.make("Owner"))
    all[0].setValue(a, forKey: "boss")
    all[1].setValue(b, forKey: "boss")
    try context.save()
    all[0].setValue(b, forKey: "boss")
    #expect(b.one("servant") === all[0])
    #expect(a.one("servant") == nil)
    #expect(all[1].one("boss") == nil)
    try context.save()
    context.reset()
    let stored = try context.all("Item", sort: "title")
    #expect(stored[0].one("boss")?.one("servant") === stored[0])
    #expect(stored[1].one("boss") == nil)
  }

  @Test("One-way relationships keep what they point at, and lose what is deleted")
  func oneWay() throws {
    let stack = try stack()
    let context = stack.context()
    let (a, b) = (context.make("Owner", ["title": "a"]), context.make("Owner", ["title": "b"]))
    let labels = (0..<3).map { context.make("Label", ["title": "\($0)"]) }
    a.mutableSetValue(forKey: "bookmarks").addObjects(from: labels)
    a.setValue(labels[0], forKey: "favourite")
    try context.save()
    let other = stack.context()
    let stored = try #require(try other.all("Owner", sort: "title").first)
    #expect(stored.set("bookmarks").count == 3)
    #expect(stored.one("favourite")?.value(forKey: "title") as? String == "0")
    context.delete(labels[1])
    try context.save()
    #expect(a.set("bookmarks") == [labels[0], labels[2]])
    b.mutableSetValue(forKey: "bookmarks").add(labels[2])
    try context.save()
    other.reset()
    let (first, second) = (try other.all("Owner", sort: "title")[0], try other.all("Owner", sort: "title")[1])
    // However the layout keeps the pairs, memory and store agree.
    #expect(a.set("bookmarks").count == first.set("bookmarks").count)
    #expect(b.set("bookmarks").count == second.set("bookmarks").count)
    #expect(second.set("bookmarks").count == 1)
  }

  @Test("Changes to members never loaded survive loading and saving")
  func deltas() throws {
    let stack = try stack()
    let context = stack.context()
    let label = context.make("Label")
    let owner = context.make("Owner")
    let all = items(context, 4)
    owner.mutableSetValue(forKey: "items").addObjects(from: all[0..<3].map { $0 })
    label.mutableOrderedSetValue(forKey: "items").addObjects(from: [all[0]])
    try context.save()
    let other = stack.context()
    let mine = try other.all("Item", sort: "title")
    let theOwner = try other.all("Owner")[0]
    mine[3].setValue(theOwner, forKey: "owner")
    mine[0].setValue(nil, forKey: "owner")
    #expect(theOwner.hasFault(forRelationshipNamed: "items"))
    mine[0].setValue(theOwner, forKey: "owner")
    mine[1].setValue(nil, forKey: "owner")
    #expect(theOwner.set("items") == [mine[0], mine[2], mine[3]])
    try other.save()
    context.reset()
    #expect(titles(Array(try context.all("Owner")[0].set("items"))).sorted() == ["0", "2", "3"])
  }

  @Test("An object on the wrong side of a relationship traps by name")
  func wrongEntity() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let context = try RelationshipTests().stack().context()
      context.make("Item").setValue(context.make("Label"), forKey: "owner")
    }
    #expect(result?.text.contains("An object of Label can't be the value of Item.owner") == true)
  }

  @Test("Objects of different contexts can't be connected")
  func otherContext() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let stack = try RelationshipTests().stack()
      let (one, other) = (stack.context(), stack.context())
      one.make("Item").setValue(other.make("Owner"), forKey: "owner")
    }
    #expect(result?.text.contains("Illegal attempt to establish the relationship Item.owner") == true)
  }

  @Test("A value of the wrong kind traps instead of emptying a relationship")
  func wrongKind() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let context = try RelationshipTests().stack().context()
      context.make("Owner").setValue("items", forKey: "items")
    }
    #expect(result?.text.contains("Unacceptable value for Owner.items") == true)
  }

  @Test("A model whose inverse refers to another relationship works: that side is kept by itself")
  func inverseOfAnother() throws {
    let artist = entity("Artist", nil, [attribute("name", .stringAttributeType)])
    let image = entity("Image", nil, [attribute("name", .stringAttributeType)])
    connect(.one(artist, "thumbnail"), .one(image, "shown"))
    point(.one(image, "artist"), to: artist)
    image.relationshipsByName["artist"]?.inverseRelationship = artist.relationshipsByName["thumbnail"]
    let stack = try Stack(model: model(artist, image))
    let context = stack.context()
    try context.performAndWait {
      let maker = context.make("Artist", ["name": "a"])
      let images = ["i1", "i2"].map { context.make("Image", ["name": $0, "artist": maker]) }
      maker.setValue(images[0], forKey: "thumbnail")
      #expect(images[0].one("shown") === maker && images.allSatisfy { $0.one("artist") === maker })
      try context.save()
      maker.setValue(images[1], forKey: "thumbnail")
      #expect(images.map { $0.one("shown") === maker } == [false, true])
      try context.save()
    }
    let other = stack.context()
    try other.performAndWait {
      let images = try other.all("Image", NSPredicate(format: "artist.name == 'a'"), sort: "name")
      #expect(images.map { $0.one("shown") != nil } == [false, true])
      other.delete(try #require(images[0].one("artist")))
      try other.save()
      #expect(try other.all("Image").allSatisfy { $0.one("artist") == nil && $0.one("shown") == nil })
    }
  }

  @Test("A to-many relationship whose inverse refers to another one has the objects that its inverse says")
  func membersByInverseOfAnother() throws {
    let artist = entity("Artist", nil, [attribute("name", .stringAttributeType)])
    let image = entity("Image", nil, [attribute("name", .stringAttributeType)])
    connect(.one(image, "artist"), .many(artist, "images"))
    let shown = NSRelationshipDescription()
    shown.name = "shown"
    shown.destinationEntity = image
    shown.maxCount = 0
    shown.deleteRule = .cascadeDeleteRule
    artist.properties.append(shown)
    shown.inverseRelationship = image.relationshipsByName["artist"]
    let stack = try Stack(model: model(artist, image))
    let context = stack.context()
    try context.performAndWait {
      let maker = context.make("Artist", ["name": "a"])
      let images = ["i1", "i2", "i3"].map { context.make("Image", ["name": $0]) }
      maker.mutableSetValue(forKey: "shown").add(images[0])
      #expect(images[0].one("artist") === maker)
      images[1].setValue(maker, forKey: "artist")
      #expect(maker.set("images").contains(images[1]))
      try context.save()
      context.refreshAllObjects()
      #expect(maker.set("shown") == [images[0], images[1]] && maker.set("images") == maker.set("shown"))
      maker.mutableSetValue(forKey: "shown").remove(images[0])
      #expect(images[0].one("artist") == nil)
      maker.setValue(NSSet(array: [images[2]]), forKey: "shown")
      #expect(images.map { $0.one("artist") === maker } == [false, false, true])
      try context.save()
    }
    let other = stack.context()
    try other.performAndWait {
      let found = try other.all(
        "Artist", NSPredicate(format: "shown.name CONTAINS 'i3' AND shown.@count == 1"))
      #expect(found.count == 1)
      #expect(found[0].set("images") == found[0].set("shown"))
      other.delete(found[0])
      try other.save()
      #expect(
        try other.all("Image", sort: "name").map { $0.value(forKey: "name") as? String } == ["i1", "i2"])
    }
  }
}

extension ExitTest.Result {
  /// What the process wrote to standard error.
  var text: String { String(decoding: standardErrorContent, as: UTF8.self) }
}
