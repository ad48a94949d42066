//
//  DeleteRuleTests.swift
//  TripsTests
//

import CoreData
import XCTest

@testable import Model

final class DeleteRuleTests: ModelTestCase {

  func testDeletingATripDeletesWhatBelongsToIt() throws {
    let trip = makeTrip("Alps")
    trip.addToItems(makePackingItem("Rope"))
    trip.addToItems(makeTask("Visa"))
    trip.addToStops(Stop(name: "Zermatt", context: context))
    trip.addToPhotos(Photo(context: context))
    trip.addToTags(Tag(name: "snow", insertInto: context))
    trip.owner = makePerson("Messner")
    try stack.save()

    context.delete(trip)
    XCTAssertTrue(trip.isDeleted)
    try stack.save()

    XCTAssertEqual(try Trip.count(in: context), 0)
    XCTAssertEqual(try Item.count(in: context), 0)
    XCTAssertEqual(try Stop.count(in: context), 0)
    XCTAssertEqual(try Photo.count(in: context), 0)
    XCTAssertEqual(try Tag.count(in: context), 1)
    XCTAssertEqual(try Person.fetch(in: context).first?.trips?.count, 0)
  }

  func testCascadesReachTheSecondStep() throws {
    let trip = makeTrip("Alps")
    let stop = Stop(name: "Zermatt", context: context)
    stop.weather = WeatherReport(context: context)
    trip.addToStops(stop)
    try stack.save()
    context.delete(trip)
    try stack.save()
    XCTAssertEqual(try WeatherReport.count(in: context), 0)
  }

  func testDeletingACountryLeavesItsStops() throws {
    let stop = Stop(name: "Bern", context: context)
    let country = Country(context: context)
    country.code = "CH"
    stop.country = country
    try stack.save()
    context.delete(country)
    try stack.save()
    XCTAssertNil(stop.country)
    XCTAssertEqual(try Stop.count(in: context), 1)
  }

  func testAPersonWithTripsCannotBeDeleted() throws {
    let person = makePerson("Messner")
    makeTrip("Alps").owner = person
    try stack.save()
    context.delete(person)
    XCTAssertThrowsError(try stack.save()) { error in
      let problems = (error as? ModelError)?.problems ?? []
      XCTAssertEqual(
        problems, [ModelError.Problem(entity: "Person", property: "trips", reason: .stillUsed)])
    }
    context.rollback()
    XCTAssertFalse(person.isDeleted)
    XCTAssertEqual(try Person.count(in: context), 1)
  }

  func testAPersonWithoutTripsLeavesItsTasks() throws {
    let person = makePerson("Curie")
    let task = makeTask("Visa")
    person.addToTasks(task)
    try stack.save()
    context.delete(person)
    try stack.save()
    XCTAssertNil(task.assignee)
    XCTAssertEqual(try Person.count(in: context), 0)
  }

  func testItemsAreToldBeforeTheyAreDeleted() throws {
    let before = PackingItem.deletions
    let item = makePackingItem("Rope")
    try stack.save()
    context.delete(item)
    XCTAssertTrue(stack.viewContext.deletedObjects.contains(item))
    try stack.save()
    XCTAssertEqual(PackingItem.deletions, before + 1)
    XCTAssertTrue(context.deletedObjects.isEmpty)
  }

  func testBatchDeletionRemovesPhotosFromTheStoreAndFromContexts() throws {
    for (index, day) in ["2019-01-01", "2020-01-01", "2021-01-01"].enumerated() {
      let photo = Photo(context: context)
      photo.caption = "\(index)"
      photo.takenAt = date(day)
    }
    try stack.save()
    let store = TripStore(context: context)
    let deleted = try store.deletePhotos(takenBefore: date("2020-06-01"), merging: [context])
    XCTAssertEqual(deleted, 2)
    XCTAssertEqual(try Photo.fetch(in: context).map { $0.title }, ["2"])
  }

  func testBatchDeletionTakesACastRequest() throws {
    Tag(name: "used", insertInto: context).addToTrips(makeTrip("Alps"))
    _ = Tag(name: "unused", insertInto: context)
    try stack.save()
    XCTAssertEqual(try TripStore(context: context).deleteUnusedTags(), 1)
    context.reset()
    XCTAssertEqual(try Tag.fetch(in: context).map { $0.name }, ["used"])
  }

  func testEverythingCanBeDeleted() throws {
    makeTrip("Alps").addToItems(makePackingItem("Rope"))
    makeTrip("Andes").addToTags(Tag(name: "high", insertInto: context))
    try stack.save()
    try TripStore(context: context).deleteAll()
    for entity in CoreDataStack.managedObjectModel.entities {
      let request = NSFetchRequest<NSManagedObject>(entityName: try XCTUnwrap(entity.name))
      XCTAssertEqual(try context.count(for: request), 0, entity.name ?? "")
    }
  }

}
