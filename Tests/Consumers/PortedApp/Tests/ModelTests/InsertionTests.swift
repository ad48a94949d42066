//
//  InsertionTests.swift
//  TripsTests
//

import CoreData
import XCTest

@testable import Model

final class InsertionTests: ModelTestCase {

  func testNewTripKnowsItsIdentifierAndDate() {
    let before = Date()
    let trip = makeTrip("Alps")
    XCTAssertEqual(trip.identifier.count, 36)
    XCTAssertNotNil(UUID(uuidString: trip.identifier))
    XCTAssertGreaterThanOrEqual(trip.createdAt, before)
    XCTAssertNil(trip.modifiedAt)
    XCTAssertTrue(trip.isInserted)
    XCTAssertTrue(trip.objectID.isTemporaryID)
    XCTAssertEqual(context.insertedObjects, [trip])
  }

  func testSavingMakesTheIDPermanentAndSetsTheDate() throws {
    let trip = makeTrip("Alps")
    XCTAssertTrue(try stack.save())
    XCTAssertFalse(trip.objectID.isTemporaryID)
    XCTAssertFalse(trip.hasChanges)
    XCTAssertNotNil(trip.modifiedAt)
    XCTAssertFalse(try stack.save(), "nothing is left to save")
  }

  func testAnObjectOfAnEntityHasTheEntitysClass() throws {
    let entity = try XCTUnwrap(NSEntityDescription.entity(forEntityName: "Trip", in: context))
    let trip = NSManagedObject(entity: entity, insertInto: context)
    XCTAssertEqual((trip as? Trip)?.identifier.count, 36)
    XCTAssertTrue(NSManagedObject.init(entity: entity, insertInto: nil) is Trip)
  }

  func testDateOfTheLastSaveIsStored() throws {
    let trip = makeTrip("Alps")
    try stack.save()
    let first = try XCTUnwrap(trip.modifiedAt)
    trip.notes = "Bring boots"
    try stack.save()
    let second = try XCTUnwrap(trip.modifiedAt)
    XCTAssertGreaterThan(second, first)
    let identifier = trip.identifier
    try inFreshContext { fresh in
      let stored = try XCTUnwrap(try TripStore(context: fresh).trip(identifier: identifier))
      XCTAssertEqual(
        try XCTUnwrap(stored.modifiedAt).timeIntervalSinceReferenceDate,
        second.timeIntervalSinceReferenceDate,
        accuracy: 0.001)
    }
  }

  func testModelSuppliesDefaults() {
    let item = PackingItem(context: context)
    XCTAssertEqual(item.quantity, 1)
    XCTAssertEqual(item.weight, 0)
    XCTAssertFalse(item.isPacked)
    XCTAssertEqual(item.title, "")
    XCTAssertEqual(Tag(context: context).colorName, "gray")
    let trip = Trip(context: context)
    XCTAssertEqual(trip.budget, NSDecimalNumber.zero)
    XCTAssertNil(trip.rating)
    XCTAssertFalse(trip.isFavorite)
    XCTAssertEqual(trip.kind, .leisure)
    XCTAssertEqual(TaskItem(context: context).priority, .normal)
    XCTAssertEqual(TaskItem(context: context).title, "New task")
  }

  func testEveryAttributeComesBackFromTheStore() throws {
    let trip = makeTrip("Lisbon") { trip in
      trip.notes = "Tram 28 – früh"
      trip.rating = 4
      trip.budget = NSDecimalNumber(string: "1234.56")
      trip.isFavorite = true
      trip.sortIndex = -7
      trip.startDate = date("2021-05-01")
      trip.endDate = date("2021-05-09")
      trip.kind = .business
      trip.aliases = ["Lisboa", "LIS"]
    }
    try stack.save()
    let id = trip.objectID
    try inFreshContext { fresh in
      let stored = try XCTUnwrap(try fresh.existingObject(with: id) as? Trip)
      XCTAssertEqual(stored.name, "Lisbon")
      XCTAssertEqual(stored.notes, "Tram 28 – früh")
      XCTAssertEqual(stored.rating, 4)
      XCTAssertEqual(stored.stars, 4)
      XCTAssertEqual(stored.budget, NSDecimalNumber(string: "1234.56"))
      XCTAssertTrue(stored.isFavorite)
      XCTAssertEqual(stored.sortIndex, -7)
      XCTAssertEqual(stored.startDate, date("2021-05-01"))
      XCTAssertEqual(stored.endDate, date("2021-05-09"))
      XCTAssertEqual(stored.kind, .business)
      XCTAssertEqual(stored.aliases, ["Lisboa", "LIS"])
    }
  }

  func testPhotoKeepsDataURLAndUUID() throws {
    let photo = Photo(context: context)
    let bytes = Data((0..<10_000).map { UInt8(truncatingIfNeeded: $0) })
    photo.setData(bytes)
    photo.sourceURL = URL(string: "https://example.com/photos/1?size=large")
    let uuid = try XCTUnwrap(photo.id)
    try stack.save()
    context.refresh(photo, mergeChanges: false)
    XCTAssertTrue(photo.isFault)
    XCTAssertEqual(photo.data, bytes)
    XCTAssertEqual(photo.byteCount, 10_000)
    XCTAssertEqual(photo.id, uuid)
    XCTAssertEqual(photo.sourceURL?.absoluteString, "https://example.com/photos/1?size=large")
  }

  func testCoordinateIsArchived() throws {
    let stop = Stop(name: "Zermatt", nights: 3, context: context)
    stop.coordinate = Coordinate(latitude: 46.02, longitude: 7.75)
    try stack.save()
    let id = stop.objectID
    try inFreshContext { fresh in
      let stored = try XCTUnwrap(try fresh.existingObject(with: id) as? Stop)
      XCTAssertEqual(stored.coordinate, Coordinate(latitude: 46.02, longitude: 7.75))
      XCTAssertEqual(stored.nights, 3)
    }
  }

  func testObjectsBecomeFaultsAndFire() throws {
    let trip = makeTrip("Alps")
    try stack.save()
    context.refreshAllObjects()
    XCTAssertTrue(trip.isFault)
    XCTAssertEqual(trip.name, "Alps")
    XCTAssertFalse(trip.isFault)
  }

  func testInsertingByTheEntityNameGivesTheClass() throws {
    let object = NSEntityDescription.insertNewObject(forEntityName: "PackingItem", into: context)
    let item = try XCTUnwrap(object as? PackingItem)
    XCTAssertNotNil(item.identifier)
    XCTAssertEqual(item.entity.superentity?.name, "Item")
    XCTAssertTrue(item.entity.isKindOf(entity: Item.entity()))
  }

  func testOwnInitializerRunsForNewAndForFetchedObjects() throws {
    let before = Tag.madeObjects
    let tag = Tag(name: "sea", colorName: "blue", insertInto: context)
    XCTAssertEqual(tag.name, "sea")
    XCTAssertEqual(tag.colorName, "blue")
    XCTAssertEqual(Tag.madeObjects, before + 1)
    try stack.save()
    try inFreshContext { fresh in
      XCTAssertEqual(try Tag.fetch(in: fresh).map { $0.name }, ["sea"])
    }
    XCTAssertGreaterThan(Tag.madeObjects, before + 1)
  }

  func testGeneratedClassesNeedNoSource() throws {
    let country = Country(context: context)
    country.code = "CH"
    country.name = "Switzerland"
    let stop = Stop(name: "Bern", context: context)
    country.addToStops(stop)
    let report = WeatherReport(context: context)
    report.temperature = 21.5
    report.summary = "sunny"
    stop.weather = report
    try stack.save()
    let request: NSFetchRequest<WeatherReport> = WeatherReport.fetchRequest()
    request.predicate = NSPredicate(format: "%K == %@", #keyPath(WeatherReport.stop.country.code), "CH")
    let found = try context.fetch(request)
    XCTAssertEqual(found, [report])
    XCTAssertTrue(report.isForecast)
    XCTAssertEqual(report.stop?.country, country)
    XCTAssertEqual(country.stops?.count, 1)
  }

  func testRollbackForgetsWhatWasNotSaved() throws {
    makeTrip("Alps")
    try stack.save()
    makeTrip("Andes")
    XCTAssertEqual(try Trip.count(in: context), 2)
    context.rollback()
    XCTAssertFalse(context.hasChanges)
    XCTAssertEqual(try Trip.count(in: context), 1)
  }

}
