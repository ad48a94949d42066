import CDEManagedModel
import CDEModelRuntime
import Foundation

extension StudioEditor {
  /// A change whose values are read and checked against what the page showed.
  struct Prepared {
    var name: String
    /// The properties for which a page has fields.
    var fields: Set<String>?
    var body: () throws -> [NSManagedObject]
  }

  func prepared(_ edit: StudioEdit) throws -> Prepared {
    switch edit.kind {
    case .insert(let name):
      let entity = try store.entity(named: name)
      guard !entity.isAbstract else {
        throw StudioFailure(.wrong, "\(entity.name ?? "") is abstract. Choose one of its sub-entities.")
      }
      let values = try values(edit, of: entity)
      let context = context
      return Prepared(name: "new \(entity.name ?? "")", fields: Set(entity.propertiesByName.keys)) {
        let object = NSManagedObject(entity: entity, insertInto: context)
        for value in values { try value.set(object) }
        return [object]
      }
    case .update(let text):
      let object = try Studio.object(try Studio.id(text, store), context)
      try refresh(object)
      try checkUnchanged(object, edit)
      let values = try values(edit, of: object.entity)
      let names = values.map(\.name).joined(separator: ", ")
      return Prepared(
        name: "\(names) of \(ShortID.text(object.objectID))", fields: Set(object.entity.propertiesByName.keys)
      ) {
        for value in values { try value.set(object) }
        return [object]
      }
    case .delete(let ids):
      let context = context
      let objects = try ids.map { try Studio.object(try Studio.id($0, store), context) }
      for object in objects { try refresh(object) }
      let what = ids.count == 1 ? ids[0] : "\(ids.count) objects"
      return Prepared(name: "deletion of \(what)", fields: nil) {
        for object in objects { context.delete(object) }
        return objects
      }
    }
  }

  /// Reads an object anew. If another program changed it, undoing earlier steps would overwrite that, so they are dropped.
  private func refresh(_ object: NSManagedObject) throws {
    let before = object.isFault ? nil : Self.texts(object)
    context.refresh(object, mergeChanges: false)
    _ = try Studio.object(object.objectID, context)
    if before == nil || before == Self.texts(object) { return }
    steps.manager.removeAllActions()
    steps.redoCount = 0
  }

  /// The values of an object's row.
  private static func texts(_ object: NSManagedObject) -> [String: JSONValue] {
    let attributes = object.entity.attributesByName.filter { !$0.value.isTransient }.mapValues {
      StudioValue(object.value(forKey: $0.name), $0).edited
    }
    let references = object.entity.relationshipsByName.filter { !$0.value.isToMany }.mapValues {
      relationship in
      object.objectIDs(forRelationshipNamed: relationship.name).first.map {
        JSONValue.string(ShortID.text($0))
      } ?? .null
    }
    return attributes.merging(references) { first, _ in first }
  }

  private func checkUnchanged(_ object: NSManagedObject, _ edit: StudioEdit) throws {
    guard case .object(let known) = edit.known else { return }
    var fields: [StudioFailure.Field] = []
    for member in known {
      let now: JSONValue
      var shown: String
      if let attribute = object.entity.attributesByName[member.key] {
        let value = StudioValue(object.value(forKey: attribute.name), attribute)
        (now, shown) = (value.edited, value.shown)
      } else if object.entity.relationshipsByName[member.key]?.isToMany == false {
        let other = object.objectIDs(forRelationshipNamed: member.key).first.map(ShortID.text)
        now = other.map { .string($0) } ?? .null
        shown = other ?? "nil"
      } else {
        continue
      }
      if case .object(let known) = member.value, case .object(let all) = now {
        // The elements of a composite that the page changed.
        let others = known.filter { now[$0.key] != $0.value }
        if others.isEmpty { continue }
        shown = others.map { element in
          let value = all.first { $0.key == element.key }?.value
          return "\(element.key): \(value.map(Self.shown) ?? "nil")"
        }.joined(separator: ", ")
      } else if now == member.value {
        continue
      }
      fields.append(
        .init(member.key, "Another program changed this to \(Studio.shortened(shown)).", now: now))
    }
    if fields.isEmpty { return }
    throw StudioFailure(
      .conflict,
      "Another program changed \(fields.map(\.property).joined(separator: ", ")) meanwhile. Nothing was saved.",
      fields: fields)
  }

  private static func shown(_ json: JSONValue) -> String {
    switch json {
    case .null: "nil"
    case .string(let text): text
    default: json.text(indented: false)
    }
  }

  private struct Value {
    let name: String
    let set: (NSManagedObject) throws -> Void
  }

  private func values(_ edit: StudioEdit, of entity: NSEntityDescription) throws -> [Value] {
    let reader = RecordReader(entity: entity)
    var values: [Value] = []
    var fields: [StudioFailure.Field] = []
    for member in edit.values {
      do {
        if let relationship = entity.relationshipsByName[member.key] {
          values.append(try self.value(member.value, relationship))
        } else {
          let read = try reader.attributes(.object([member]))
          guard let (name, value) = read.first else {
            throw ToolError("\(member.key) is computed, so it can't be set.")
          }
          if entity.attributesByName[name] is NSCompositeAttributeDescription,
            case .object(let elements) = member.value
          {
            values.append(
              Value(name: name) { Self.set(elements.map(\.key), value as? [String: Any], $0, name) })
          } else {
            values.append(Value(name: name) { $0.setValue(value, forKey: name) })
          }
        }
      } catch {
        fields.append(.init(member.key, StudioFailure(error).message))
      }
    }
    if fields.isEmpty { return values }
    throw StudioFailure(.invalid, fields.map(\.message).joined(separator: " "), fields: fields)
  }

  /// Sets some elements of a composite, and leaves the others.
  private static func set(
    _ keys: [String], _ values: [String: Any]?, _ object: NSManagedObject, _ name: String
  ) {
    var all = object.value(forKey: name) as? [String: Any] ?? [:]
    for key in keys { all[key] = values?[key] }
    object.setValue(all.isEmpty ? nil : all, forKey: name)
  }

  private func value(_ json: JSONValue, _ relationship: NSRelationshipDescription) throws -> Value {
    let name = relationship.name
    func others(_ ids: [String]) throws -> [NSManagedObject] {
      try ids.map { text in
        let other = try Studio.object(try Studio.id(text, store), context)
        guard let destination = relationship.destinationEntity, other.entity.isKindOf(entity: destination)
        else {
          throw ToolError(
            "\(text) is no \(relationship.destinationEntity?.name ?? "object"), to which \(name) leads.")
        }
        return other
      }
    }
    guard relationship.isToMany else {
      let ids: [String]
      switch json {
      case .string(let id): ids = [id]
      case .null: ids = []
      default: throw ToolError("\(name) has to be the ID of an object, or null.")
      }
      let other = try others(ids).first
      return Value(name: name) { $0.setValue(other, forKey: name) }
    }
    guard case .object(let lists) = json, lists.allSatisfy({ ["add", "remove", "order"].contains($0.key) })
    else { throw ToolError("\(name) has to be an object with lists of IDs: add, remove and order.") }
    let added = try others(StudioEdit.ids(json["add"], name))
    let removed = try others(StudioEdit.ids(json["remove"], name))
    guard relationship.isOrdered else {
      return Value(name: name) { object in
        let members = object.mutableSetValue(forKey: name)
        for other in removed { members.remove(other) }
        for other in added { members.add(other) }
      }
    }
    let order = try others(StudioEdit.ids(json["order"], name))
    return Value(name: name) { object in
      let members = object.mutableOrderedSetValue(forKey: name)
      for other in removed { members.remove(other) }
      for other in added { members.add(other) }
      if order.isEmpty { return }
      let now = Set(object.objectIDs(forRelationshipNamed: name))
      guard object.isInserted || now == Set(order.map(\.objectID)) else {
        let message = "Another program changed the members of \(name) meanwhile."
        throw StudioFailure(.conflict, "\(message) Nothing was saved.", fields: [.init(name, message)])
      }
      object.setValue(NSOrderedSet(array: order), forKey: name)
    }
  }
}
