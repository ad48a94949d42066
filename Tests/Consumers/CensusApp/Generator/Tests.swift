/// The tests of all entities.
struct Tests {
  let model: Model

  /// The sources by path.
  func files() -> [(path: String, text: String)] {
    var files = [("EntityTestCase.swift", base)]
    for start in stride(from: 0, to: model.entities.count, by: 10) {
      let name = "Entities\(start)Tests"
      var text =
        "import CoreData\nimport XCTest\n\n@testable import Large\n\nfinal class \(name): EntityTestCase {\n\n"
      for index in start..<min(start + 10, model.entities.count) { text += tests(of: index) }
      text += "}\n\n"
      for index in start..<min(start + 10, model.entities.count) { text += helpers(of: index) }
      files.append(("\(name).swift", text))
    }
    return files
  }

  private let base = """
    import CoreData
    import XCTest

    @testable import Large

    class EntityTestCase: XCTestCase {
      var shelf: Shelf!
      var context: NSManagedObjectContext { return shelf.container.viewContext }

      override func setUp() {
        super.setUp()
        shelf = Shelf()
      }

      override func tearDown() {
        shelf = nil
        super.tearDown()
      }
    }

    """

  /// An entity, or the first below it that has objects.
  private func concrete(_ index: Int) -> Int {
    guard model.entities[index].isAbstract else { return index }
    return model.entities.firstIndex { $0.parent == index }.map(concrete) ?? index
  }

  private func place(_ index: Int, _ number: Int) -> Int { index * 16 + number }

  // MARK: One entity

  private func tests(of index: Int) -> String {
    let entity = model.entities[index]
    return (entity.isAbstract ? abstractTest(entity) : valueTest(entity)) + relationshipTest(index)
  }

  private func abstractTest(_ entity: Entity) -> String {
    """
      func test\(entity.name)IsAbstract() throws {
        XCTAssertTrue(\(entity.swiftName).entity().isAbstract)
        XCTAssertEqual(\(entity.swiftName).entity().name, "\(entity.name)")
        XCTAssertEqual(try shelf.all(\(entity.swiftName).self), [])
      }


    """
  }

  private func valueTest(_ entity: Entity) -> String {
    let name = entity.swiftName
    let key = model.attributes(of: entity)[0].name
    let owner = root(of: entity).swiftName
    return """
        func test\(entity.name)KeepsItsValues() throws {
          let object = \(name)(context: context)
          object.fill\(entity.name)(1)
          let other = NSEntityDescription.insertNewObject(forEntityName: "\(entity.name)", into: context) as! \(name)
          other.fill\(entity.name)(2)
          try context.save()
          let id = object.objectID
          XCTAssertFalse(id.isTemporaryID)
          context.reset()

          let stored = try XCTUnwrap(try context.existingObject(with: id) as? \(name))
          stored.check\(entity.name)(1)
          XCTAssertEqual(stored.entity.name, "\(entity.name)")
          XCTAssertEqual(stored.entity.managedObjectClassName, NSStringFromClass(\(name).self))

          let request: NSFetchRequest<\(name)> = \(name).fetchRequest()
          request.predicate = NSPredicate(format: "%K == %@", #keyPath(\(owner).\(key)), "\(root(of: entity).name.lowercased()) 2")
          request.sortDescriptors = [NSSortDescriptor(key: #keyPath(\(owner).\(key)), ascending: true)]
          let found = try context.fetch(request)
          XCTAssertEqual(found.count, 1)
          found.first?.check\(entity.name)(2)
          XCTAssertEqual(try shelf.count("\(entity.name)"), 2)
          XCTAssertEqual(try shelf.all(\(name).self).count, 2)
        }


      """
  }

  private func root(of entity: Entity) -> Entity {
    entity.parent.map { root(of: model.entities[$0]) } ?? entity
  }

  // MARK: Relationships

  private func relationshipTest(_ index: Int) -> String {
    let entity = model.entities[index]
    guard let relationship = entity.relationships.first(where: { $0.name.hasSuffix("Of\(index)") }),
      let back = model.entities[relationship.destination].relationships.first(where: {
        $0.name == relationship.inverse
      })
    else { return "" }
    let source = model.entities[concrete(index)]
    let target = model.entities[concrete(relationship.destination)]
    let capital = PropertyTypes.capitalised(relationship.name)
    let connect =
      relationship.form == .toOne ? "object.\(relationship.name) = other" : "object.addTo\(capital)(other)"
    let disconnect =
      relationship.form == .toOne ? "object.\(relationship.name) = nil" : "object.removeFrom\(capital)(other)"
    let there = contains(relationship, of: entity, in: "object", "other")
    let inverse = contains(back, of: model.entities[relationship.destination], in: "other", "object")
    return """
        func test\(entity.name)KnowsIts\(capital)() throws {
          let object = \(source.swiftName)(context: context)
          object.fill\(source.name)(1)
          let other = \(target.swiftName)(context: context)
          other.fill\(target.name)(2)
          \(connect)
          XCTAssertTrue(\(there))
          XCTAssertTrue(\(inverse))
          try context.save()
          context.refreshAllObjects()
          XCTAssertTrue(\(there))
          XCTAssertTrue(\(inverse))
          \(disconnect)
          XCTAssertFalse(\(inverse))
          try context.save()
          context.refreshAllObjects()
          XCTAssertFalse(\(there))
        }


      """
  }

  private func contains(_ relationship: Relationship, of entity: Entity, in owner: String, _ object: String)
    -> String
  {
    let type = PropertyTypes(model: model, entity: entity).type(of: relationship)
    if relationship.form == .toOne { return "\(owner).\(relationship.name) == \(object)" }
    return type.hasSuffix("?")
      ? "\(owner).\(relationship.name)?.contains(\(object)) ?? false"
      : "\(owner).\(relationship.name).contains(\(object))"
  }

  // MARK: Values

  private func helpers(of index: Int) -> String {
    let entity = model.entities[index]
    let types = PropertyTypes(model: model, entity: entity)
    let parent = entity.parent.map { model.entities[$0].name }
    var fill = parent.map { ["fill\($0)(number)"] } ?? []
    var check = parent.map { ["check\($0)(number)"] } ?? []
    for (number, attribute) in entity.attributes.enumerated() {
      let value = types.value(of: attribute, in: place(index, number))
      let key = "#keyPath(\(entity.swiftName).\(attribute.name))"
      fill.append("\(attribute.name) = \(value)")
      if attribute.isTransient {
        check.append("XCTAssertNil(\(attribute.name))")
        continue
      }
      switch attribute.kind {
      case .archive where types.isGenerated:
        check.append("XCTAssertEqual(\(attribute.name) as? NSDictionary, \(value))")
      case .float, .double:
        check.append("XCTAssertEqual(\(attribute.name), \(value))")
        check.append("XCTAssertEqual((value(forKey: \(key)) as? NSNumber)?.doubleValue, \(value))")
      case .int16, .int32, .int64:
        check.append("XCTAssertEqual(\(attribute.name), \(value))")
        check.append("XCTAssertEqual((value(forKey: \(key)) as? NSNumber)?.int64Value, \(plain(value)))")
      case .boolean:
        check.append("XCTAssertEqual(\(attribute.name), \(value))")
        check.append("XCTAssertEqual(value(forKey: \(key)) as? Bool, \(value))")
      case .state, .level:
        check.append("XCTAssertEqual(\(attribute.name), \(value))")
        check.append("XCTAssertEqual(value(forKey: \(key)) as? Int16, \(attribute.kind == .state ? 1 : 2))")
      case .mode:
        check.append("XCTAssertEqual(\(attribute.name), \(value))")
        if entity.generation == .manual { check.append("XCTAssertEqual(\(attribute.name)Choice, .manual)") }
      case .string:
        check.append("XCTAssertEqual(\(attribute.name), \(value))")
        check.append("XCTAssertEqual(value(forKey: \(key)) as? String, \(value))")
      default: check.append("XCTAssertEqual(\(attribute.name), \(value))")
      }
    }
    switch entity.special {
    case .derived: check.append(#"XCTAssertEqual(searchKey, "\#(entity.name.lowercased()) \(number)")"#)
    case .composite:
      fill.append(#"place = ["latitude": 52.5, "longitude": Double(number)]"#)
      check.append(#"XCTAssertEqual(place?["latitude"] as? Double, 52.5)"#)
      check.append(#"XCTAssertEqual(place?["longitude"] as? Double, Double(number))"#)
    case nil: break
    }
    return """
      extension \(entity.swiftName) {
        func fill\(entity.name)(_ number: Int) {
          \(fill.map(inSelf).joined(separator: "\n    "))
        }

        func check\(entity.name)(_ number: Int) {
          \(check.map(inSelf).joined(separator: "\n    "))
        }
      }


      """
  }

  private func plain(_ value: String) -> String {
    value.hasPrefix("NSNumber(value: ") ? String(value.dropFirst(16).dropLast(10)) : value
  }

  /// A line in which names that are keywords stand behind `self`.
  private func inSelf(_ line: String) -> String {
    var line = line
    for word in ["default", "where", "repeat"] {
      if line.hasPrefix("\(word) = ") { line = "self.\(line)" }
      line = line.replacing("XCTAssertEqual(\(word),", with: "XCTAssertEqual(self.\(word),")
      line = line.replacing("XCTAssertNil(\(word))", with: "XCTAssertNil(self.\(word))")
    }
    return line
  }
}
