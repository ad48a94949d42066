/// Which new objects come from which old ones, by the mapping that made them.
struct MigrationAssociations {
  /// One direction of the table of a mapping: objects with their partners, in the order of the calls.
  private struct Direction {
    private(set) var objects: [NSManagedObject] = []
    private var partners: [ObjectIdentifier: [NSManagedObject]] = [:]

    mutating func add(_ object: NSManagedObject, _ partner: NSManagedObject) {
      let id = ObjectIdentifier(object)
      if partners[id] == nil { objects.append(object) }
      if partners[id]?.contains(where: { $0 === partner }) != true {
        partners[id, default: []].append(partner)
      }
    }

    func partners(of some: [NSManagedObject]?) -> [NSManagedObject] {
      var known: Set<ObjectIdentifier> = []
      var result: [NSManagedObject] = []
      for object in some ?? objects {
        for partner in partners[ObjectIdentifier(object)] ?? []
        where known.insert(ObjectIdentifier(partner)).inserted {
          result.append(partner)
        }
      }
      return result
    }
  }

  private var fromSources: [String: Direction] = [:]
  private var fromDestinations: [String: Direction] = [:]
  /// Across all mappings, for relationships whose objects have several mappings.
  private var all = Direction()

  mutating func add(_ source: NSManagedObject, _ destination: NSManagedObject, mapping: String) {
    fromSources[mapping, default: Direction()].add(source, destination)
    fromDestinations[mapping, default: Direction()].add(destination, source)
    all.add(source, destination)
  }

  func destinations(of sources: [NSManagedObject]?, mapping: String) -> [NSManagedObject] {
    fromSources[mapping]?.partners(of: sources) ?? []
  }

  func sources(of destinations: [NSManagedObject]?, mapping: String) -> [NSManagedObject] {
    fromDestinations[mapping]?.partners(of: destinations) ?? []
  }

  /// The new objects of old ones, whichever mappings made them.
  func destinations(of sources: [NSManagedObject]) -> [NSManagedObject] { all.partners(of: sources) }

  /// The new objects of a mapping, in the order in which they were made.
  func destinations(mapping: String) -> [NSManagedObject] { fromDestinations[mapping]?.objects ?? [] }
}
