import CDESwiftData
import Foundation
import Testing

@Suite("History: changes")
struct HistoryChangeTests {
  @Test("An insertion is told with the class and the identifier of its model")
  func insertion() throws {
    let travel = try Travel()
    let id = try travel.add("Rome")[0]
    let changes = try #require(try travel.history().first).changes
    guard case .insert(let insert as DefaultHistoryInsert<TravelPlan>) = try #require(changes.first) else {
      Issue.record("The change is \(changes).")
      return
    }
    #expect(insert.changedPersistentIdentifier == id && changes[0].changedPersistentIdentifier == id)
    #expect(try travel.numbers() == [insert.transactionIdentifier])
  }

  @Test("A change of another class does not match")
  func classes() throws {
    let travel = try Travel()
    let context = travel.context()
    let plan = TravelPlan("Rome")
    plan.accommodation = Accommodation("Via Appia 1")
    context.insert(plan)
    try context.save()
    var (plans, accommodations) = (0, 0)
    for transaction in try travel.history() {
      for change in transaction.changes {
        switch change {
        case .insert(_ as DefaultHistoryInsert<TravelPlan>): plans += 1
        case .insert(_ as DefaultHistoryInsert<Accommodation>): accommodations += 1
        default: Issue.record("Unexpected: \(change)")
        }
      }
    }
    #expect(plans == 1 && accommodations == 1)
  }

  @Test("An update names exactly the properties that changed")
  func update() throws {
    let travel = try Travel()
    let context = travel.context()
    let plan = TravelPlan("Rome")
    context.insert(plan)
    try context.save()
    plan.name = "Roma"
    plan.nights = 5
    try context.save()
    let change = try #require(try travel.history().last?.changes.first)
    guard case .update(let update as DefaultHistoryUpdate<TravelPlan>) = change else {
      Issue.record("The change is \(change).")
      return
    }
    #expect(Set(update.updatedAttributes) == [\TravelPlan.name, \TravelPlan.nights])
    #expect(update.updatedAttributes.contains(\.name) && !update.updatedAttributes.contains(\.destination))
    #expect(update.changedPersistentIdentifier == plan.persistentModelID)
  }

  @Test("An update names relationships whose members changed")
  func relationships() throws {
    let travel = try Travel()
    let context = travel.context()
    let plan = TravelPlan("Rome")
    context.insert(plan)
    try context.save()
    plan.items.append(ListItem("Passport"))
    plan.accommodation = Accommodation("Via Appia 1")
    try context.save()
    var paths: Set<PartialKeyPath<TravelPlan>> = []
    for case .update(let update as DefaultHistoryUpdate<TravelPlan>) in try #require(
      try travel.history().last
    )
    .changes {
      paths.formUnion(update.updatedAttributes.map { $0 as PartialKeyPath<TravelPlan> })
    }
    #expect(paths == [\TravelPlan.items, \TravelPlan.accommodation])
  }

  @Test("A value that is set to what it was is no change")
  func sameValue() throws {
    let travel = try Travel()
    let context = travel.context()
    let plan = TravelPlan("Rome")
    context.insert(plan)
    try context.save()
    plan.name = "Rome"
    try context.save()
    #expect(try travel.history().count == 1)
  }

  @Test("A deletion is told with the preserved values of its model")
  func deletion() throws {
    let travel = try Travel()
    let context = travel.context()
    let code = UUID()
    let plan = TravelPlan("Rome", code: code, nights: 4)
    plan.price = 129.90
    plan.keywords = ["sun", "pasta"]
    context.insert(plan)
    try context.save()
    let id = plan.persistentModelID
    context.delete(plan)
    try context.save()
    let change = try #require(try travel.history().last?.changes.first)
    guard case .delete(let delete as DefaultHistoryDelete<TravelPlan>) = change else {
      Issue.record("The change is \(change).")
      return
    }
    #expect(delete.changedPersistentIdentifier == id)
    if let name = delete.tombstone[\.name] {
      #expect(name == "Rome")
    } else {
      Issue.record("The name is not preserved.")
    }
    #expect(delete.tombstone[\.code] == code && delete.tombstone[\.nights] == 4)
    #expect(delete.tombstone[\.startDate] == Date(timeIntervalSinceReferenceDate: 700_000_000))
    #expect(delete.tombstone[\.price] == 129.90 && delete.tombstone[\.keywords] == ["sun", "pasta"])
    #expect(delete[\.name] == "Rome")
  }

  @Test("A tombstone has no values of other attributes and relationships, and none where there was none")
  func tombstone() throws {
    let travel = try Travel()
    let context = travel.context()
    let plan = TravelPlan("Rome")
    context.insert(plan)
    try context.save()
    context.delete(plan)
    try context.save()
    for case .delete(let delete as DefaultHistoryDelete<TravelPlan>) in try travel.history().flatMap(
      \.changes)
    {
      #expect(delete.tombstone[\.destination] == nil && delete.tombstone[\.items] == nil)
      #expect(delete.tombstone[\.price] == nil)
    }
  }

  @Test("Models that a delete rule deletes are told, with their tombstones")
  func cascade() throws {
    let travel = try Travel()
    let context = travel.context()
    let plan = TravelPlan("Rome")
    plan.items = [ListItem("Passport"), ListItem("Hat")]
    context.insert(plan)
    try context.save()
    context.delete(plan)
    try context.save()
    var titles: Set<String> = []
    for case .delete(let delete as DefaultHistoryDelete<ListItem>) in try #require(try travel.history().last)
      .changes
    {
      titles.insert(try #require(delete.tombstone[\.title]))
    }
    #expect(titles == ["Passport", "Hat"])
  }

  @Test("The identifier of a change finds the model")
  func finding() throws {
    let travel = try Travel()
    try travel.add("Rome")
    let context = travel.context()
    let id = try #require(try travel.history().first?.changes.first).changedPersistentIdentifier
    #expect((context.model(for: id) as? TravelPlan)?.name == "Rome")
    let found = try context.fetch(
      FetchDescriptor<TravelPlan>(predicate: #Predicate { $0.persistentModelID == id }))
    #expect(found.map(\.name) == ["Rome"] && id.entityName == "TravelPlan")
  }

  @Test("A model of a subclass is told with its own class, and names inherited properties")
  func inheritance() throws {
    let container = try ModelContainer(
      for: Carriage.self, Wagon.self, configurations: ModelConfiguration(url: try TemporaryStore().url))
    let context = ModelContext(container)
    let truck = Wagon(wheels: 4, load: 10)
    context.insert(truck)
    try context.save()
    truck.wheels = 6
    truck.load = 20
    try context.save()
    context.delete(truck)
    try context.save()
    let changes = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).flatMap(\.changes)
    #expect(changes.count == 3)
    guard case .insert(_ as DefaultHistoryInsert<Wagon>) = changes[0],
      case .update(let update as DefaultHistoryUpdate<Wagon>) = changes[1],
      case .delete(let delete as DefaultHistoryDelete<Wagon>) = changes[2]
    else {
      Issue.record("The changes are \(changes).")
      return
    }
    #expect(Set(update.updatedAttributes) == [\Wagon.wheels, \Wagon.load])
    #expect(delete.tombstone[\.plate] == "none" && delete.tombstone[\.driver] == "none yet")
  }

  @Test("What an upsert does to the stored row is an update")
  func upsert() throws {
    let container = try ModelContainer(
      for: Coupon.self, configurations: ModelConfiguration(url: try TemporaryStore().url))
    let context = ModelContext(container)
    context.insert(Coupon(number: 1, seat: "1A"))
    try context.save()
    let other = ModelContext(container)
    other.insert(Coupon(number: 1, seat: "2B"))
    try other.save()
    let history = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    guard case .update(let update as DefaultHistoryUpdate<Coupon>) = try #require(history.last?.changes.first)
    else {
      Issue.record("The change is \(history).")
      return
    }
    #expect(update.updatedAttributes.contains(\.seat))
  }

  @Test("Bytes that may be in files are preserved as long as they are in the row", .onSQLite)
  func externalBytes() throws {
    let container = try ModelContainer(
      for: Photo.self, configurations: ModelConfiguration(url: try TemporaryStore().url))
    let context = ModelContext(container)
    for count in [10, 1_000_000] {
      let photo = Photo(image: Data(repeating: 7, count: count))
      context.insert(photo)
      try context.save()
      context.delete(photo)
      try context.save()
    }
    let images = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).flatMap(\.changes)
      .compactMap { change -> Data?? in
        guard case .delete(let delete as DefaultHistoryDelete<Photo>) = change else { return nil }
        return .some(delete.tombstone[\.image])
      }
    #expect(images == [Data(repeating: 7, count: 10), nil])
  }

  @Test("Enumerations and structures are preserved, too")
  func composites() throws {
    let container = try ModelContainer(
      for: Coupon.self, configurations: ModelConfiguration(url: try TemporaryStore().url))
    let context = ModelContext(container)
    let ticket = Coupon(number: 1, seat: "1A")
    context.insert(ticket)
    try context.save()
    ticket.place.row = 9
    ticket.level = .first
    try context.save()
    context.delete(ticket)
    try context.save()
    let changes = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).flatMap(\.changes)
    guard case .update(let update as DefaultHistoryUpdate<Coupon>) = changes[1],
      case .delete(let delete as DefaultHistoryDelete<Coupon>) = changes[2]
    else {
      Issue.record("The changes are \(changes).")
      return
    }
    #expect(Set(update.updatedAttributes) == [\Coupon.place, \Coupon.level])
    #expect(delete.tombstone[\.level] == .first && delete.tombstone[\.place] == Coupon.Place(car: 1, row: 9))
    #expect(delete.tombstone[\.state] == .valid)
  }
}

@Model
class Carriage {
  var wheels: Int
  @Attribute(.preserveValueOnDeletion) var plate = "none"
  init(wheels: Int) { self.wheels = wheels }
}

@Model
final class Wagon: Carriage {
  var load: Int
  @Attribute(.preserveValueOnDeletion) var driver = "none yet"
  init(wheels: Int, load: Int) {
    self.load = load
    super.init(wheels: wheels)
  }
}

@Model
final class Photo {
  @Attribute(.externalStorage, .preserveValueOnDeletion) var image: Data
  init(image: Data) { self.image = image }
}

@Model
final class Coupon {
  @Attribute(.unique) var number: Int
  var seat: String
  @Attribute(.preserveValueOnDeletion) var level = Level.second
  @Attribute(.preserveValueOnDeletion) var state = State.valid
  @Attribute(.preserveValueOnDeletion) var place = Place(car: 1, row: 2)

  init(number: Int, seat: String) {
    self.number = number
    self.seat = seat
  }

  enum Level: String, Codable { case first, second }
  enum State: Codable { case valid, used }
  struct Place: Codable, Equatable {
    var car: Int
    var row: Int
  }
}
