//
//  SpellingTests.swift
//  TripsTests
//

import CoreData
import XCTest

@testable import Model

extension NSManagedObjectContext {
  fileprivate func all<T: NSManagedObject, Value>(
    _ type: T.Type, sortedBy keyPath: KeyPath<T, Value>, ascending: Bool = true
  ) throws -> [T] {
    let request = NSFetchRequest<T>(entityName: String(describing: type))
    request.sortDescriptors = [NSSortDescriptor(keyPath: keyPath, ascending: ascending)]
    return try fetch(request)
  }
}

final class SpellingTests: ModelTestCase {

  func testSortsByAKeyPathWhoseValueIsNotComparable() throws {
    makeTrip("later") { $0.isFavorite = true }
    makeTrip("first") { $0.isFavorite = false }
    try context.save()
    XCTAssertEqual(try context.all(Trip.self, sortedBy: \.isFavorite).map(\.name), ["first", "later"])
    XCTAssertEqual(
      try context.all(Trip.self, sortedBy: \.isFavorite, ascending: false).map(\.name), ["later", "first"])
  }

  func testExecutesARequestInTheContextOfTheBlock() throws {
    makeTrip("Everest")
    try context.save()
    let background = stack.newBackgroundContext()
    let request = NSFetchRequest<Trip>(entityName: "Trip")
    let found: [NSManagedObjectContext?] = try background.performAndWait {
      try request.execute().map(\.managedObjectContext)
    }
    XCTAssertEqual(found, [background])
    XCTAssertEqual(try context.performAndWait { try request.execute().first?.managedObjectContext }, context)
  }

  func testReadsATransientAttributeThatTheClassComputes() throws {
    let person = makePerson("Messner")
    XCTAssertEqual(person.value(forKey: #keyPath(Person.initial)) as? String, person.initial)
    XCTAssertEqual(person.initial, "M")
    try context.save()
    let request = NSFetchRequest<Person>(entityName: "Person")
    request.sortDescriptors = [NSSortDescriptor(keyPath: \Person.lastName, ascending: true)]
    let controller = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: #keyPath(Person.initial),
      cacheName: nil)
    try controller.performFetch()
    XCTAssertEqual(controller.sections?.map(\.name), ["M"])
  }

  func testSetsATransientAttributeByTheSetterOfTheClass() throws {
    let person = makePerson("Messner")
    person.setValue("reinhold", forKey: #keyPath(Person.initial))
    XCTAssertEqual(person.initial, "R")
    XCTAssertEqual(person.primitiveValue(forKey: "initial") as? String, "R")
    person.setValuesForKeys(["initial": NSNull()])
    XCTAssertEqual(person.value(forKey: "initial") as? String, "M")
  }

  func testPinsAContextToAQueryGeneration() throws {
    try context.setQueryGenerationFrom(.current)
    XCTAssertEqual(context.queryGenerationToken, .current)
    try context.setQueryGenerationFrom(nil)
    XCTAssertNil(context.queryGenerationToken)
  }

  func testNamesAClass() {
    XCTAssertEqual(Trip.description(), NSStringFromClass(Trip.self))
    XCTAssertEqual(Trip.keyPathsForValuesAffectingValue(forKey: "name"), [])
    XCTAssertEqual(Person.keyPathsForValuesAffectingValue(forKey: "fullName"), ["firstName", "lastName"])
    XCTAssertEqual([URL]().compactMap(NSManagedObjectModel.init(contentsOf:)).count, 0)
  }

  func testOverridesInExtensions() throws {
    let country = Country(context: context)
    XCTAssertEqual(country.code, "XX")
    XCTAssertEqual(String(describing: country), "Country XX")
    let island = Island(entity: Country.entity(), insertInto: nil)
    XCTAssertEqual(island.title(), "Isle of Somewhere")
    XCTAssertEqual((island as Country).title(), "Isle of Somewhere")
  }

  func testFindsAModelVersionByComparingModels() throws {
    func model(_ name: String, in bundle: Bundle = .main) -> NSManagedObjectModel? {
      return bundle.url(forResource: name, withExtension: "mom", subdirectory: "Trips.momd")
        .flatMap(NSManagedObjectModel.init)
    }
    let current = CoreDataStack.managedObjectModel
    XCTAssertEqual(
      ["Trips", "Trips 2", "Trips 3"].map { model($0)?.entitiesByName == current.entitiesByName },
      [false, false, true])
  }

  func testFollowsNotificationsOfItsOwnClass() throws {
    let follower = Follower(context)
    try context.performAndWait {
      makeTrip("K2")
      try context.save()
    }
    XCTAssertEqual(follower.saves, 2)
  }
}

private class Follower: NSObject {
  private(set) var saves = 0

  init(_ context: NSManagedObjectContext) {
    super.init()
    let center = NotificationCenter.default
    let name = Notification.Name.NSManagedObjectContextDidSave
    center.addObserver(self, selector: #selector(type(of: self).saved(_:)), name: name, object: context)
    let follower = self
    center.addObserver(self, selector: #selector(follower.savedAgain), name: name, object: context)
  }

  @objc func saved(_ notification: Notification) {
    saves += 1
  }

  @objc func savedAgain() {
    saves += 1
  }
}
