import CDEManagedModel
import CDEModelRuntime
import Foundation

extension Studio {
  /// The objects whose names contain a text, or that have the ID.
  ///
  /// - Parameters:
  ///   - text: a part of the name, whatever its case and accents, or an ID such as `Person/p1`; empty for the first objects.
  ///   - entity: the entity of the objects, with its sub-entities; nil for all.
  ///   - limit: the greatest number of objects of each entity.
  public func find(_ text: String, entity: String? = nil, limit: Int = 8) throws -> JSONValue {
    let state = try state()
    let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
    let words = text.split(whereSeparator: \.isWhitespace)
    // Each word is looked for in each name of the store.
    guard words.count <= 30 else { throw StudioFailure(.wrong, "Look for at most 30 words.") }
    let parent = try entity.map { try state.store.entity(named: $0) }
    let entities = state.store.concreteEntities.filter { entity in
      parent.map { entity.isKindOf(entity: $0) } ?? true
    }
    return try state.store.readAnew { context in
      var found: [NSManagedObject] = []
      if text.contains("/p"), let id = try? state.store.objectID(text),
        parent.map({ id.entity.isKindOf(entity: $0) }) ?? true,
        let object = try? context.existingObject(with: id)
      {
        found.append(object)
      }
      for entity in entities {
        let keys = state.store.names.keys(of: entity)
        if keys.isEmpty, !text.isEmpty { continue }
        let request = NSFetchRequest<NSManagedObject>()
        request.entity = entity
        request.includesSubentities = false
        request.returnsObjectsAsFaults = false
        request.fetchLimit = limit
        if !text.isEmpty {
          // The words of "Ada Byron" are in two attributes.
          request.predicate = NSCompoundPredicate(
            andPredicateWithSubpredicates: words.map { word in
              NSCompoundPredicate(
                orPredicateWithSubpredicates: keys.map {
                  NSPredicate(format: "%K CONTAINS[cd] %@", $0, String(word))
                })
            })
        }
        found += try log.timing("find “\(text)” in \(entity.name ?? "")", nil) { try context.fetch(request) }
      }
      return .array(
        found.map { object in
          .object([
            .init("id", .string(ShortID.text(object.objectID))),
            .init("entity", .string(object.entity.name ?? "")),
            .init("name", .string(state.store.names.name(of: object))),
          ])
        })
    }
  }

  /// What the word at the end of a condition may become.
  ///
  /// - Returns: `from`, the place in the text from which a choice is put in, in UTF-16 units as pages count; and `choices`.
  public func completions(of text: String, entity name: String) throws -> JSONValue {
    let entity = try state().store.entity(named: name)
    let completion = ConditionCompletion(text, entity)
    return .object([
      .init("from", .int(text.utf16.count - completion.word.utf16.count)),
      .init(
        "choices",
        .array(
          completion.choices.map { choice in
            .object([.init("text", .string(choice.text)), .init("kind", .string(choice.kind))])
          })),
    ])
  }
}
