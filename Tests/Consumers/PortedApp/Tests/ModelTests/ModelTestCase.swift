//
//  ModelTestCase.swift
//  TripsTests
//

import CoreData
import XCTest

@testable import Model

/// A store of its own for every test.
class ModelTestCase: XCTestCase {

  var stack: CoreDataStack!

  var context: NSManagedObjectContext {
    return stack.viewContext
  }

  override func setUpWithError() throws {
    try super.setUpWithError()
    stack = CoreDataStack(storage: .devNull)
  }

  override func tearDownWithError() throws {
    stack = nil
    try super.tearDownWithError()
  }

  @discardableResult
  func makeTrip(_ name: String, configure: (Trip) -> Void = { _ in }) -> Trip {
    let trip = Trip(context: context)
    trip.name = name
    configure(trip)
    return trip
  }

  func makePerson(_ lastName: String, firstName: String? = nil) -> Person {
    let person = Person(context: context)
    person.lastName = lastName
    person.firstName = firstName
    return person
  }

  func makePackingItem(_ title: String, quantity: Int32 = 1) -> PackingItem {
    let item = PackingItem(context: context)
    item.title = title
    item.quantity = quantity
    return item
  }

  func makeTask(_ title: String, priority: TaskPriority = .normal) -> TaskItem {
    let task = TaskItem(context: context)
    task.title = title
    task.priority = priority
    return task
  }

  /// Runs the block in a context that has to read everything from the store.
  func inFreshContext<T>(_ block: (NSManagedObjectContext) throws -> T) rethrows -> T {
    let fresh = stack.newBackgroundContext()
    return try fresh.performAndWait { try block(fresh) }
  }

  func date(_ day: String) -> Date {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(secondsFromGMT: 0)
    formatter.dateFormat = "yyyy-MM-dd"
    return formatter.date(from: day)!
  }

}
