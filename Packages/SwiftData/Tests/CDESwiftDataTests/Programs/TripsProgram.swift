import CDESwiftData
import Testing

@Model
class Trip {
  #Index<Trip>([\.name], [\.startDate], [\.name, \.startDate, \.endDate])
  #Unique<Trip>([\.name, \.startDate, \.endDate])

  var name: String
  var destination: String
  var startDate: Date
  var endDate: Date

  @Relationship(deleteRule: .cascade, inverse: \BucketListItem.trip)
  var bucketList: [BucketListItem] = [BucketListItem]()

  @Relationship(deleteRule: .cascade, inverse: \LivingAccommodation.trip)
  var livingAccommodation: LivingAccommodation?

  init(name: String, destination: String, startDate: Date = .now, endDate: Date = .distantFuture) {
    self.name = name
    self.destination = destination
    self.startDate = startDate
    self.endDate = endDate
  }
}

@Model
class BusinessTrip: Trip {
  var perdiem: Double = 0.0

  init(
    name: String, destination: String, startDate: Date = .now, endDate: Date = .distantFuture, perdiem: Double
  ) {
    self.perdiem = perdiem
    super.init(name: name, destination: destination, startDate: startDate, endDate: endDate)
  }
}

@Model
class PersonalTrip: Trip {
  enum Reason: String, CaseIterable, Codable { case family, reunion, wellness, unknown }

  var reason: Reason

  init(
    name: String, destination: String, startDate: Date = .now, endDate: Date = .distantFuture, reason: Reason
  ) {
    self.reason = reason
    super.init(name: name, destination: destination, startDate: startDate, endDate: endDate)
  }
}

@Model
class BucketListItem {
  var title: String
  var details: String
  var hasReservation: Bool
  var isInPlan: Bool
  var trip: Trip?

  init(title: String, details: String = "", hasReservation: Bool = false, isInPlan: Bool = false) {
    self.title = title
    self.details = details
    self.hasReservation = hasReservation
    self.isInPlan = isInPlan
  }
}

@Model
class LivingAccommodation {
  var address: String
  var placeName: String
  var trip: Trip?

  init(address: String, placeName: String) {
    self.address = address
    self.placeName = placeName
  }

  var displayAddress: String { "\(placeName), \(address)" }
}

@MainActor
@Suite("Trips, with a class for each kind")
struct TripsProgram {
  let container: ModelContainer
  var context: ModelContext { container.mainContext }

  init() throws {
    let schema = Schema([
      Trip.self, BusinessTrip.self, PersonalTrip.self, BucketListItem.self, LivingAccommodation.self,
    ])
    container = try ModelContainer(
      for: schema, configurations: [ModelConfiguration(isStoredInMemoryOnly: true)])
  }

  func insertSamples() throws {
    context.insert(Trip(name: "Camping!", destination: "Yosemite"))
    context.insert(BusinessTrip(name: "Conference", destination: "Cupertino", perdiem: 75.5))
    context.insert(PersonalTrip(name: "Grandma", destination: "Bolzano", reason: .family))
    context.insert(PersonalTrip(name: "Spa", destination: "Merano", reason: .wellness))
    try context.save()
  }

  @Test("A fetch of the base class returns trips of all kinds")
  func deepFetch() throws {
    try insertSamples()
    let trips = try context.fetch(FetchDescriptor<Trip>(sortBy: [SortDescriptor(\.name)]))
    #expect(trips.map(\.name) == ["Camping!", "Conference", "Grandma", "Spa"])
    #expect(trips.map { $0 is PersonalTrip } == [false, false, true, true])
    #expect((trips[1] as? BusinessTrip)?.perdiem == 75.5)
    #expect(try context.fetch(FetchDescriptor<PersonalTrip>()).count == 2)
  }

  @Test("A condition may ask for a kind of trip")
  func casts() throws {
    try insertSamples()
    let kinds = #Predicate<Trip> { $0 is PersonalTrip || $0 is BusinessTrip }
    #expect(try context.fetchCount(FetchDescriptor(predicate: kinds)) == 3)
    let family = #Predicate<Trip> { trip in
      if let personal = trip as? PersonalTrip { personal.destination == "Bolzano" } else { false }
    }
    #expect(try context.fetch(FetchDescriptor(predicate: family)).map(\.name) == ["Grandma"])
  }

  @Test("A trip owns its bucket list and its accommodation")
  func parts() throws {
    let trip = PersonalTrip(name: "Spa", destination: "Merano", reason: .wellness)
    context.insert(trip)
    trip.bucketList.append(BucketListItem(title: "Walk", isInPlan: true))
    trip.bucketList.append(BucketListItem(title: "Sauna", hasReservation: true))
    trip.livingAccommodation = LivingAccommodation(address: "Via 1", placeName: "Hotel")
    try context.save()
    #expect(trip.livingAccommodation?.trip === trip)
    #expect(trip.livingAccommodation?.displayAddress == "Hotel, Via 1")
    let planned = #Predicate<Trip> { !$0.bucketList.filter { $0.isInPlan }.isEmpty }
    #expect(try context.fetch(FetchDescriptor(predicate: planned)).count == 1)
    context.delete(trip)
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<BucketListItem>()) == 0)
    #expect(try context.fetchCount(FetchDescriptor<LivingAccommodation>()) == 0)
  }

  @Test("The same trip twice is one trip, with the later values")
  func unique() throws {
    let start = Date(timeIntervalSinceReferenceDate: 0)
    let end = Date(timeIntervalSinceReferenceDate: 1_000)
    context.insert(Trip(name: "A", destination: "Rome", startDate: start, endDate: end))
    try context.save()
    context.insert(Trip(name: "A", destination: "Paris", startDate: start, endDate: end))
    context.insert(Trip(name: "A", destination: "London", startDate: start, endDate: .distantFuture))
    try context.save()
    let trips = try context.fetch(FetchDescriptor<Trip>(sortBy: [SortDescriptor(\.endDate)]))
    #expect(trips.map(\.destination) == ["Paris", "London"])
  }
}
