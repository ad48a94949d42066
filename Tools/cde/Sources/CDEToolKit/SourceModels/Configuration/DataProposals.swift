import CDEDiagrams
import CDEManagedModel
import CDEModelRuntime
import Foundation

/// Proposes enumerations and compositions from the rows of a store, which has what no model has: the values.
struct DataProposals {
  let model: NSManagedObjectModel
  let store: OpenedStore

  /// More values than this are no enumeration.
  private static let mostValues = 12
  /// Each value must be there this many times on the average.
  private static let repetition = 3

  func proposals() throws -> Proposals {
    var result = Proposals()
    for entity in model.sortedEntities {
      let name = entity.name ?? ""
      guard let stored = store.model.entitiesByName[name] else { continue }
      let attributes = entity.ownProperties(sorted: true).compactMap { $0 as? NSAttributeDescription }
        .filter { stored.attributesByName[$0.name]?.attributeType == $0.attributeType && !$0.isTransient }
      let unique = Set(entity.uniquenessConstraints.flatMap(ModelResolver.names))
      for attribute in attributes
      where AttributeTypes.rawTypes.contains(attribute.attributeType) && !unique.contains(attribute.name) {
        if let values = try values(of: attribute, in: name) {
          result.enumerations.append(
            .init(
              entity: name, attribute: attribute.name,
              swiftType: freeName(SwiftNaming.capitalized(attribute.name), name, result), values: values))
        }
      }
      result.compositions += try compositions(of: attributes, in: name, result)
    }
    return result
  }

  // MARK: Enumerations

  /// The values of an attribute, if they are few and come again and again.
  private func values(of attribute: NSAttributeDescription, in entity: String) throws -> [JSONValue]? {
    try store.read { context in
      let isSet = NSPredicate(format: "%K != nil", attribute.name)
      let request = NSFetchRequest<NSDictionary>(entityName: entity)
      request.resultType = .dictionaryResultType
      request.propertiesToFetch = [attribute.name]
      request.returnsDistinctResults = true
      request.predicate = isSet
      request.fetchLimit = Self.mostValues + 1
      let found = try context.fetch(request).compactMap { $0[attribute.name] }
      guard (2...Self.mostValues).contains(found.count) else { return nil }
      let rows = NSFetchRequest<NSManagedObject>(entityName: entity)
      rows.predicate = isSet
      guard try context.count(for: rows) >= Self.repetition * found.count else { return nil }
      if attribute.attributeType == .stringAttributeType {
        let texts = found.compactMap { $0 as? String }.sorted()
        // Sentences are no names of cases.
        guard texts.allSatisfy({ !$0.isEmpty && $0.count <= 30 && !$0.contains("\n") }) else { return nil }
        return texts.map { .string($0) }
      }
      return found.compactMap { ($0 as? NSNumber)?.intValue }.sorted().map { .int($0) }
    }
  }

  private func freeName(_ name: String, _ entity: String, _ known: Proposals) -> String {
    let classes = Set(model.sortedEntities.compactMap(\.name))
    let taken =
      classes.contains(name) || SwiftNaming.type(name) != name
      || known.enumerations.contains { $0.swiftType == name }
      || known.compositions.contains { $0.swiftType == name }
    return taken ? entity + name : name
  }

  // MARK: Compositions

  /// Words that begin the names of attributes that have nothing to do with each other.
  private static let commonWords: Set<String> = [
    "can", "created", "current", "date", "default", "did", "first", "has", "is", "last", "max", "maximum",
    "min",
    "minimum", "new", "next", "num", "number", "old", "previous", "should", "total", "updated", "uses", "was",
    "will",
  ]

  /// Attributes whose names begin with the same word, and which have values in the same rows.
  private func compositions(
    of attributes: [NSAttributeDescription], in entity: String, _ known: Proposals
  ) throws -> [Proposals.Composition] {
    var groups: [String: [(rest: String, attribute: NSAttributeDescription)]] = [:]
    for attribute in attributes where attribute.attributeType != .compositeAttributeType {
      let words = Self.words(of: attribute.name)
      guard words.count > 1, let first = words.first, first.count > 1, !Self.commonWords.contains(first)
      else { continue }
      let rest = words[1] + words.dropFirst(2).map(SwiftNaming.capitalized).joined()
      guard SwiftNaming.isName(rest) else { continue }
      groups[first, default: []].append((rest, attribute))
    }
    var known = known
    var result: [Proposals.Composition] = []
    for (word, members) in groups.sorted(by: { $0.key < $1.key }) where members.count > 1 {
      guard try areTogether(members.map(\.attribute), in: entity) else { continue }
      let isTaken = attributes.contains { $0.name == word }
      let proposal = Proposals.Composition(
        entity: entity, swiftName: isTaken ? word + "Values" : word,
        swiftType: freeName(SwiftNaming.capitalized(word), entity, known),
        fields: members.map { .init(name: $0.rest, attribute: $0.attribute.name) })
      result.append(proposal)
      known.compositions.append(proposal)
    }
    return result
  }

  /// `homeStreet` and `home_street` have the words home and street.
  private static func words(of name: String) -> [String] {
    var words: [String] = [""]
    for character in name {
      if character == "_" {
        words.append("")
      } else if character.isUppercase, words.last?.last?.isUppercase == false, words != [""] {
        words.append(String(character))
      } else {
        words[words.count - 1].append(character)
      }
    }
    return words.filter { !$0.isEmpty }.map { $0.lowercased() }
  }

  /// Whether most rows have all of the values or none of them. Without a row nothing is known.
  private func areTogether(_ attributes: [NSAttributeDescription], in entity: String) throws -> Bool {
    try store.read { context in
      func count(_ joint: NSCompoundPredicate.LogicalType?, _ format: String) throws -> Int {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        if let joint {
          request.predicate = NSCompoundPredicate(
            type: joint, subpredicates: attributes.map { NSPredicate(format: format, $0.name) })
        }
        return try context.count(for: request)
      }
      let all = try count(nil, "")
      let together = try count(.and, "%K != nil") + count(.and, "%K == nil")
      return all > 0 && together * 2 > all
    }
  }
}
