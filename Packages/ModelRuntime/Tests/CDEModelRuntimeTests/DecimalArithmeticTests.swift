import CDEManagedModel
import CDEModelRuntime
import CDEPredicates
import Foundation
import Testing

/// Programs calculate with the numbers that they read. A subclass of `NSDecimalNumber` can't be the receiver of that.
@Suite("Arithmetic with decimals of a store")
struct DecimalArithmeticTests {
  private func expectArithmetic(_ value: Any?, _ from: String) throws {
    let three = try #require(value as? NSDecimalNumber, "\(from)")
    let two = NSDecimalNumber(value: 2)
    #expect(type(of: three) == NSDecimalNumber.self, "\(from)")
    #expect(three.adding(two) == 5 && two.adding(three) == 5, "\(from)")
    #expect(three.subtracting(two) == 1 && three.multiplying(by: two) == 6, "\(from)")
    #expect(three.dividing(by: two).stringValue == "1.5" && three.raising(toPower: 3) == 27, "\(from)")
    #expect(
      three.multiplying(byPowerOf10: 2) == 300 && three.rounding(accordingToBehavior: nil) == 3, "\(from)")
    #expect(three.compare(two) == .orderedDescending && three.decimalValue == 3, "\(from)")
  }

  @Test("Values of objects, dictionaries, aggregates, operators and defaults can be calculated with")
  func arithmetic() throws {
    let price = attribute("price", .decimalAttributeType)
    let standard = attribute("standard", .decimalAttributeType)
    standard.defaultValue = NSDecimalNumber(value: 3)
    let lines = NSRelationshipDescription()
    let owner = NSRelationshipDescription()
    let order = entity("Order", nil, [attribute("name", .stringAttributeType)])
    let line = entity("Line", nil, [price, standard])
    for (relationship, name, destination, count) in [(lines, "lines", line, 0), (owner, "order", order, 1)] {
      relationship.name = name
      relationship.destinationEntity = destination
      relationship.maxCount = count
    }
    lines.inverseRelationship = owner
    owner.inverseRelationship = lines
    order.properties.append(lines)
    line.properties.append(owner)
    let stack = try Stack(model: model(order, line))
    let context = stack.context()
    let made = context.make("Line", ["price": NSDecimalNumber(value: 3)])
    let owning = context.make("Order", ["name": "a"])
    made.setValue(owning, forKey: "order")
    try expectArithmetic(made.value(forKey: "price"), "a new value")
    try expectArithmetic(made.value(forKey: "standard"), "a default")
    try context.save()
    context.refreshAllObjects()
    try expectArithmetic(made.value(forKey: "price"), "a stored value")
    try expectArithmetic(made.value(forKey: "standard"), "a stored default")
    try expectArithmetic(made.committedValues(forKeys: ["price"])["price"], "a committed value")
    for operation in ["sum", "max", "min"] {
      try expectArithmetic(owning.value(forKeyPath: "lines.@\(operation).price"), "@\(operation)")
    }
    let list = owning.value(forKeyPath: "lines.@unionOfObjects.price") as? [Any]
    try expectArithmetic(list?.first, "a list")
    let distinct = owning.value(forKeyPath: "lines.@distinctUnionOfObjects.price") as? [Any]
    try expectArithmetic(distinct?.first, "a distinct list")
    let request = NSFetchRequest<NSDictionary>(entityName: "Line")
    request.resultType = .dictionaryResultType
    let sum = NSExpressionDescription()
    sum.name = "sum"
    sum.expression = TreeExpression(forFunction: "sum:", arguments: [TreeExpression(forKeyPath: "price")])
    sum.expressionResultType = .decimalAttributeType
    request.propertiesToFetch = [sum]
    try expectArithmetic(try context.fetch(request).first?["sum"], "an aggregate")
    request.propertiesToFetch = ["price"]
    request.returnsDistinctResults = true
    try expectArithmetic(try context.fetch(request).first?["price"], "a dictionary")
    // Members of a set have to be hashed. As arguments they can be calculated with.
    let set = try #require(owning.value(forKeyPath: "lines.price") as? NSSet)
    let member = try #require(set.anyObject() as? NSDecimalNumber)
    #expect(NSDecimalNumber.zero.adding(member) == 3 && set.contains(NSNumber(value: 3)))
  }
}
