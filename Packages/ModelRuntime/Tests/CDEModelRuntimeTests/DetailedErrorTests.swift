import CDEManagedModel
import CDEModelRuntime
import Foundation
import Testing

// Source: "Multiple Validation Errors" of Core Data's documentation: NSDetailedErrorsKey has the errors themselves, and an
// error of an application that is a multiple one itself is taken apart.

private let domain = "com.example.shop"

/// Throws errors of its own, by its name.
private final class Picky: NSManagedObject {
  private func refuse() throws {
    let name = value(forKey: "name") as? String
    switch name {
    case "one": throw NSError(domain: domain, code: 7, userInfo: ["reason": "bad"])
    case "several", "empty", "nested":
      let inner = NSError(
        domain: NSCocoaErrorDomain, code: NSValidationMultipleErrorsError,
        userInfo: [NSDetailedErrorsKey: [NSError(domain: domain, code: 3)]])
      let list: [NSError] =
        name == "empty"
        ? []
        : [NSError(domain: domain, code: 1), name == "nested" ? inner : NSError(domain: domain, code: 2)]
      throw NSError(
        domain: NSCocoaErrorDomain, code: NSValidationMultipleErrorsError,
        userInfo: [NSDetailedErrorsKey: list])
    case "typed": throw ManagedObjectError(.multipleValidationErrors, "All of it is wrong.")
    default: break
    }
  }
  override func validateForInsert() throws {
    try super.validateForInsert()
    try refuse()
  }
  override func validateForUpdate() throws {
    try super.validateForUpdate()
    try refuse()
  }
  override func validateForDelete() throws {
    try super.validateForDelete()
    try refuse()
  }
}

@PersistentModel
private final class Ticket: NSManagedObject {
  var title: String = ""
  var seat: String = ""

  func validateTitle(_ value: UnsafeMutablePointer<AnyObject?>) throws {
    throw NSError(domain: domain, code: 11, userInfo: ["key": "title"])
  }

  func validateSeat(_ value: UnsafeMutablePointer<AnyObject?>) throws {
    throw NSError(domain: domain, code: 12, userInfo: ["key": "seat"])
  }
}

@Suite("The single errors of a save with several")
struct DetailedErrorTests {
  private func context() throws -> NSManagedObjectContext {
    let picky = entity("Picky", Picky.self, [attribute("name", .stringAttributeType, optional: false)])
    return try Stack(model: model(picky)).context()
  }

  /// The error of a save as an application catches it.
  private func caught(_ context: NSManagedObjectContext) throws -> NSError {
    do { try context.save() } catch { return error as NSError }
    throw ManagedObjectError(.invalidValue, "The save did not fail.")
  }

  private func details(_ error: NSError) throws -> [NSError] {
    #expect(error.domain == NSCocoaErrorDomain && error.code == NSValidationMultipleErrorsError)
    return try #require(error.userInfo[NSDetailedErrorsKey] as? [NSError])
  }

  private func own(_ errors: [NSError]) -> [Int] {
    errors.filter { $0.domain == domain }.map(\.code)
  }

  @Test("An application's own error is among them as it was thrown")
  func inserted() throws {
    let context = try context()
    context.make("Picky", ["name": "one"])
    context.make("Picky")
    let error = try caught(context)
    let list = try details(error)
    #expect(own(list) == [7] && list.count == 2)
    #expect(list.first { $0.domain == domain }?.userInfo["reason"] as? String == "bad")
    #expect(list.contains { $0.code == NSValidationMissingMandatoryPropertyError })
    let known = try #require(error as? ManagedObjectError)
    #expect(known.failures.contains { ($0.cause as NSError?)?.domain == domain })
  }

  @Test(
    "An error that is a multiple one itself is taken apart, at any depth, and stays whole if it is the only one"
  )
  func flattened() throws {
    for (name, codes) in [("several", [1, 2]), ("nested", [1, 3])] {
      let context = try context()
      let first = context.make("Picky", ["name": name])
      let alone = try caught(context)
      #expect(try details(alone).count == 2 && !(alone is _ManagedObjectNSError))
      let second = context.make("Picky", ["name": "one"])
      #expect(Set(own(try details(try caught(context)))) == Set(codes + [7]))
      context.delete(first)
      #expect(try caught(context).code == 7)
      context.delete(second)
      try context.save()
    }
  }

  @Test("A multiple error without details stops the save, too", arguments: ["empty", "typed"])
  func withoutDetails(name: String) throws {
    let context = try context()
    context.make("Picky", ["name": name])
    #expect(try caught(context).code == NSValidationMultipleErrorsError)
    context.make("Picky")
    #expect(try details(try caught(context)).count == 2)
  }

  @Test("Updates and deletions likewise")
  func updatedAndDeleted() throws {
    let context = try context()
    let objects = (0..<3).map { context.make("Picky", ["name": "\($0)"]) }
    try context.save()
    objects[0].setValue("one", forKey: "name")
    objects[1].setValue("one", forKey: "name")
    #expect(own(try details(try caught(context))) == [7, 7])
    context.rollback()
    objects[2].setValue("several", forKey: "name")
    context.delete(objects[2])
    objects[1].setValue(nil, forKey: "name")
    let list = try details(try caught(context))
    #expect(Set(own(list)) == [1, 2] && list.count == 3)
  }

  @Test("Errors of methods for single properties likewise")
  func methods() throws {
    let context = try Stack([Ticket.self]).context()
    _ = Ticket(context: context)
    let list = try details(try caught(context))
    #expect(own(list) == [11, 12])
    #expect(list.map { $0.userInfo["key"] as? String } == ["title", "seat"])
  }
}
