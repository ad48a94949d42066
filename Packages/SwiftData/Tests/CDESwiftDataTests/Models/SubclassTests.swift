import CDESwiftData
import Foundation
import Testing

@Model
class Vehicle {
  var name: String
  var wheels: Int
  var owner: Driver?

  init(name: String, wheels: Int, owner: Driver? = nil) {
    self.name = name
    self.wheels = wheels
    self.owner = owner
  }
}

@Model
class Car: Vehicle {
  var doors: Int = 4
  var plate: String

  init(name: String, plate: String, owner: Driver? = nil) {
    self.plate = plate
    super.init(name: name, wheels: 4, owner: owner)
  }
}

@Model
final class Taxi: Car {
  var licence: String
  var fares: [Double] = []

  init(name: String, licence: String) {
    self.licence = licence
    super.init(name: name, plate: "TX \(licence)")
  }
}

@Model
final class Driver {
  var name: String
  @Relationship(inverse: \Vehicle.owner) var vehicles: [Vehicle] = []

  init(_ name: String) { self.name = name }
}

@Suite("Models that inherit")
struct SubclassTests {
  private func makeContext() throws -> ModelContext {
    ModelContext(try .inMemory(Vehicle.self, Car.self, Taxi.self, Driver.self))
  }

  @Test("An instance has the values of all its classes, without a context too")
  func values() {
    let taxi = Taxi(name: "Cab", licence: "17")
    #expect(
      taxi.name == "Cab" && taxi.wheels == 4 && taxi.doors == 4 && taxi.plate == "TX 17"
        && taxi.licence == "17")
    taxi.doors = 5
    taxi.fares = [1.5, 2]
    taxi.name = "Taxi"
    #expect(taxi.doors == 5 && taxi.fares == [1.5, 2] && taxi.name == "Taxi" && taxi.wheels == 4)
  }

  @Test("A relationship that the first class declares leads to the instance of the last class")
  func relationship() {
    let driver = Driver("Ann")
    let car = Car(name: "Mini", plate: "A 1", owner: driver)
    #expect(driver.vehicles.count == 1 && driver.vehicles.first === car)
    #expect((driver.vehicles.first as? Car)?.plate == "A 1")
  }

  @Test("A fetch of a class returns instances of the classes that inherit from it")
  func fetching() throws {
    let context = try makeContext()
    context.insert(Vehicle(name: "Bike", wheels: 2))
    context.insert(Car(name: "Mini", plate: "A 1"))
    context.insert(Taxi(name: "Cab", licence: "17"))
    try context.save()
    let other = ModelContext(context.container)
    let all = try other.fetch(FetchDescriptor<Vehicle>(sortBy: [SortDescriptor(\.name)]))
    #expect(all.map { "\(type(of: $0))" } == ["Vehicle", "Taxi", "Car"])
    #expect(all.map(\.wheels) == [2, 4, 4])
    let cars = try other.fetch(FetchDescriptor<Car>(sortBy: [SortDescriptor(\.name)]))
    #expect(cars.map(\.plate) == ["TX 17", "A 1"])
    let taxis = try other.fetch(
      FetchDescriptor<Taxi>(predicate: #Predicate { $0.wheels == 4 && $0.licence == "17" }))
    #expect(taxis.map(\.name) == ["Cab"])
    try other.delete(model: Car.self, includeSubclasses: false)
    try other.save()
    #expect(try other.fetchCount(FetchDescriptor<Vehicle>()) == 2)
  }

  @Test("An instance of a subclass that nothing keeps is saved as such when a relationship reaches it")
  func implicit() throws {
    let context = try makeContext()
    let driver = Driver("Ann")
    context.insert(driver)
    _ = Car(name: "Mini", plate: "A 1", owner: driver)
    try context.save()
    let found = try ModelContext(context.container).fetch(FetchDescriptor<Car>())
    #expect(found.map(\.plate) == ["A 1"] && found.first?.owner?.name == "Ann")
  }

  @Test("Making a parent's instance before the initialiser of the parent runs disturbs nothing")
  func nested() {
    let truck = Truck(name: "Truck")
    #expect(truck.name == "Truck" && truck.wheels == 6)
    #expect(truck.spare.name == "Trailer" && truck.spare.wheels == 2)
  }
}

@Model
final class Truck: Vehicle {
  @Transient var spare = Vehicle(name: "Trailer", wheels: 2)
  var load: Double

  init(name: String) {
    load = Vehicle(name: "Scale", wheels: 1).wheels == 1 ? 3.5 : 0
    super.init(name: name, wheels: 6)
  }
}
