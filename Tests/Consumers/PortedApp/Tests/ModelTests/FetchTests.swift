//
//  FetchTests.swift
//  TripsTests
//

import CoreData
import XCTest

@testable import Model

final class FetchTests: ModelTestCase {

  private var store: TripStore {
    return TripStore(context: context)
  }

  override func setUpWithError() throws {
    try super.setUpWithError()
    let messner = makePerson("Messner", firstName: "Reinhold")
    let curie = makePerson("Curie", firstName: "Marie")
    let snow = Tag(name: "snow", insertInto: context)
    let work = Tag(name: "work", insertInto: context)
    makeTrip("Everest") { trip in
      trip.kind = .expedition
      trip.startDate = date("1980-08-18")
      trip.owner = messner
      trip.rating = 5
      trip.tags = [snow]
      trip.isFavorite = true
      trip.sortIndex = 2
      trip.addToStops(Stop(name: "Base Camp", nights: 20, context: context))
    }
    makeTrip("Nanga Parbat") { trip in
      trip.kind = .expedition
      trip.startDate = date("1978-08-09")
      trip.owner = messner
      trip.tags = [snow, work]
      trip.isFavorite = true
      trip.sortIndex = 1
      trip.addToItems(makePackingItem("Ice axe"))
      trip.addToItems(makeTask("Film", priority: .high))
    }
    makeTrip("Stockholm") { trip in
      trip.kind = .business
      trip.notes = "The prize"
      trip.startDate = date("1911-12-10")
      trip.owner = curie
      trip.tags = [work]
      trip.isFavorite = true
      trip.sortIndex = 3
      trip.addToStops(Stop(name: "Grand Hôtel", nights: 3, context: context))
    }
    makeTrip("Étretat")
    try stack.save()
  }

  func testOneTripByItsIdentifier() throws {
    let trip = try XCTUnwrap(try Trip.fetch(in: context).first)
    XCTAssertEqual(try store.trip(identifier: trip.identifier), trip)
    XCTAssertNil(try store.trip(identifier: "unknown"))
  }

  func testTextIsFoundWithoutRegardToCaseAndAccents() throws {
    XCTAssertEqual(try store.trips(matching: "etre").map { $0.name }, ["Étretat"])
    XCTAssertEqual(try store.trips(matching: "PRIZE").map { $0.name }, ["Stockholm"])
    XCTAssertEqual(
      try store.trips(matching: "e").map { $0.name }, ["Étretat", "Everest", "Stockholm"])
  }

  func testTripsAreFoundByTheirKind() throws {
    XCTAssertEqual(try store.trips(of: [.expedition]).map { $0.name }, ["Everest", "Nanga Parbat"])
    XCTAssertEqual(try store.trips(of: [.business, .leisure]).count, 2)
    XCTAssertEqual(try store.trips(of: []).count, 0)
  }

  func testTripsAreFoundThroughTheirOwner() throws {
    XCTAssertEqual(try store.trips(ownedBy: "Messner").map { $0.name }, ["Everest", "Nanga Parbat"])
    XCTAssertTrue(try store.trips(ownedBy: "Hillary").isEmpty)
  }

  func testTripsAreFoundBetweenDates() throws {
    let found = try store.trips(from: date("1978-08-09"), to: date("1980-08-18"))
    XCTAssertEqual(found.map { $0.name }, ["Nanga Parbat"])
  }

  func testTripsAreFoundByATag() throws {
    XCTAssertEqual(try store.trips(tagged: "work").map { $0.name }, ["Nanga Parbat", "Stockholm"])
  }

  func testFavoritesComeInPages() throws {
    XCTAssertEqual(try store.favorites(limit: 2).map { $0.name }, ["Nanga Parbat", "Everest"])
    XCTAssertEqual(try store.favorites(limit: 2, offset: 2).map { $0.name }, ["Stockholm"])
  }

  func testMissingValuesAndEmptyRelationships() throws {
    XCTAssertEqual(try store.unratedTrips().count, 3)
    XCTAssertEqual(Set(try store.tripsWithoutItems().map { $0.name }), ["Everest", "Stockholm", "Étretat"])
  }

  func testSubqueries() throws {
    XCTAssertEqual(try store.trips(withStopOf: 10).map { $0.name }, ["Everest"])
    XCTAssertEqual(try store.trips(withStopOf: 3).map { $0.name }, ["Everest", "Stockholm"])
    let film = try XCTUnwrap(try store.openTasks(of: [.high]).first)
    film.assignee = try XCTUnwrap(try Person.fetch(in: context).last)
    try stack.save()
    XCTAssertEqual(try store.busyPeople().map { $0.fullName }, ["Reinhold Messner"])
    film.isDone = true
    try stack.save()
    XCTAssertTrue(try store.busyPeople().isEmpty)
  }

  func testPredicatesOfExpressions() throws {
    XCTAssertEqual(try store.trips(ratedAtLeast: 5).map { $0.name }, ["Everest"])
    XCTAssertTrue(try store.trips(ratedAtLeast: 6).isEmpty)
  }

  func testBatchUpdatesReachTheStoreAndTheContext() throws {
    let trips = try store.trips(of: [.leisure])
    XCTAssertEqual(trips.map { $0.isFavorite }, [false])
    XCTAssertEqual(try store.makeFavorites(of: .leisure), 1)
    XCTAssertEqual(trips.map { $0.isFavorite }, [true])
    XCTAssertEqual(try store.favorites(limit: 10).count, 4)
  }

  func testItemsOfATripWithAndWithoutTasks() throws {
    let trip = try XCTUnwrap(try store.trips(matching: "parbat").first)
    XCTAssertEqual(try store.items(of: trip).map { $0.title }, ["Film", "Ice axe"])
    XCTAssertEqual(try store.items(of: trip, includingTasks: false).map { $0.title }, ["Ice axe"])
  }

  func testTasksAreSortedByPriorityAndTitle() throws {
    _ = makeTask("Book")
    _ = makeTask("Ask", priority: .high)
    _ = makeTask("Call", priority: .low)
    XCTAssertEqual(try store.openTasks(of: [.normal, .high]).map { $0.title }, ["Ask", "Film", "Book"])
  }

  func testDefaultSortDescriptors() throws {
    XCTAssertEqual(
      try Trip.fetch(in: context).map { $0.name }, ["Everest", "Nanga Parbat", "Stockholm", "Étretat"])
    XCTAssertEqual(try Person.fetch(in: context).map { $0.initial }, ["C", "M"])
  }

  func testCountsAndResultTypes() throws {
    XCTAssertEqual(try Trip.count(in: context), 4)
    let predicate = NSPredicate(format: "%K > 0", #keyPath(Trip.rating))
    XCTAssertEqual(try Trip.count(in: context, matching: predicate), 1)

    let request = NSFetchRequest<NSManagedObjectID>(entityName: "Trip")
    request.resultType = .managedObjectIDResultType
    let identifiers = try context.fetch(request)
    XCTAssertEqual(identifiers.count, 4)
    XCTAssertEqual(
      Set(identifiers.compactMap { context.object(with: $0) as? Trip }), Set(try Trip.fetch(in: context)))
  }

  func testUnsavedTripsAreFoundToo() throws {
    makeTrip("Everest again")
    let predicate = NSPredicate(format: "name BEGINSWITH[c] %@", "everest")
    XCTAssertEqual(try Trip.count(in: context, matching: predicate), 2)
    let request: NSFetchRequest<Trip> = Trip.fetchRequest()
    request.predicate = predicate
    request.includesPendingChanges = false
    XCTAssertEqual(try context.fetch(request).count, 1)
  }

  func testPredicatesJudgeObjectsInMemory() throws {
    let trips = try Trip.fetch(in: context)
    let predicate = NSPredicate(
      format: "%K == %d AND ANY tags.name IN %@", #keyPath(Trip.kind), TripKind.expedition.rawValue,
      ["work", "play"])
    XCTAssertEqual(trips.filter { predicate.evaluate(with: $0) }.map { $0.name }, ["Nanga Parbat"])
    let sorted = (trips as NSArray).sortedArray(using: [
      NSSortDescriptor(key: #keyPath(Trip.sortIndex), ascending: false)
    ])
    XCTAssertEqual((sorted as? [Trip])?.first?.name, "Stockholm")
  }

}
