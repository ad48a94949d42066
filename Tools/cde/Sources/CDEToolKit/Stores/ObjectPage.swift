import CDEManagedModel
import CDEModelRuntime
import Foundation

extension OpenedStore {
  /// The answer of `cde store show`: an object with all values, and the first objects of each relationship.
  public func page(of text: String, members limit: Int = 20) throws -> Answer {
    let id = try objectID(text)
    return try read { context in
      let object: NSManagedObject
      do { object = try context.existingObject(with: id) } catch {
        throw ToolError(
          "The store has no object \(ShortID.text(id)). `cde store rows` lists those that it has.")
      }
      var facts: [Answer.Fact] = [
        .init(object.entity.identifierKey, Cell(ShortID.text(id))),
        .init("uri", Cell(id.uriRepresentation().absoluteString)),
      ]
      for attribute in object.entity.shownAttributes(names) {
        facts.append(.init(attribute.name, ValueText.cell(object.value(forKey: attribute.name), attribute)))
      }
      for relationship in object.entity.shownRelationships {
        if relationship.isToMany {
          facts.append(.init(relationship.name, try members(relationship, of: object, limit, context)))
        } else if let other = object.value(forKey: relationship.name) as? NSManagedObject {
          let reference = RowListing.reference(to: other, self)
          facts.append(
            .init(
              relationship.name, Cell("\(reference.text)  [\(ShortID.text(other.objectID))]", reference.json))
          )
        } else {
          facts.append(.init(relationship.name, .none))
        }
      }
      return Answer([.facts(facts)])
    }
  }

  private func members(
    _ relationship: NSRelationshipDescription, of object: NSManagedObject, _ limit: Int,
    _ context: NSManagedObjectContext
  ) throws -> Cell {
    var ids = object.objectIDs(forRelationshipNamed: relationship.name)
    if !relationship.isOrdered {
      ids.sort { (ShortID.key($0), ShortID.text($0)) < (ShortID.key($1), ShortID.text($1)) }
    }
    let references = ids.prefix(limit).map { RowListing.reference(to: context.object(with: $0), self) }
    let rest = ids.count - references.count
    let text = references.map(\.text).joined(separator: ", ") + (rest > 0 ? ", … and \(rest) more" : "")
    return Cell(
      ids.isEmpty ? "none" : "\(ids.count): \(text)",
      .object([.init("count", .int(ids.count)), .init("objects", .array(references.map(\.json)))]))
  }
}
