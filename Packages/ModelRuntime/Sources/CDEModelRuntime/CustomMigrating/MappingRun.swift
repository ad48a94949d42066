internal import CDEModelFiles
internal import CDEStore

/// The three passes of a migration over its mappings, in Core Data's order.
struct MappingRun {
  private let manager: NSMigrationManager
  private let mappings: [NSEntityMapping]
  private let policies: [NSEntityMigrationPolicy]
  private static let passes = 3

  /// - Throws: ``ManagedObjectError`` with code `.migrationPolicy` for a policy that is not found.
  init(_ manager: NSMigrationManager, _ mappings: [NSEntityMapping]) throws {
    self.manager = manager
    self.mappings = mappings
    policies = try mappings.map { try MigrationPolicies.policy(for: $0, module: manager.module) }
  }

  func run() throws {
    try pass(0, makeObjects)
    try pass(1, relateObjects)
    try pass(2) { mapping, policy in
      try call(policy, "performCustomValidation", mapping) {
        try policy.performCustomValidation(forMapping: mapping, manager: manager)
      }
      try call(policy, "end", mapping) { try policy.end(mapping, manager: manager) }
    }
  }

  private func pass(
    _ number: Int, _ body: (NSEntityMapping, NSEntityMigrationPolicy) throws -> Void
  ) throws {
    for (place, (mapping, policy)) in zip(mappings, policies).enumerated() {
      manager.currentEntityMapping = mapping
      defer { manager.currentEntityMapping = NSEntityMapping() }
      try body(mapping, policy)
      let done = number * mappings.count + place + 1
      manager.progressMade = Float(done) / Float(Self.passes * mappings.count)
    }
  }

  private func makeObjects(_ mapping: NSEntityMapping, _ policy: NSEntityMigrationPolicy) throws {
    try call(policy, "begin", mapping) { try policy.begin(mapping, with: manager) }
    // The default policy makes nothing for removed objects, so that they need not be read.
    let isRemoved = mapping.destinationEntityName == nil && type(of: policy) == NSEntityMigrationPolicy.self
    for source in isRemoved ? [] : try manager.sources(of: mapping, policy: policy) {
      try call(policy, "createDestinationInstances", mapping) {
        try policy.createDestinationInstances(forSource: source, in: mapping, manager: manager)
      }
    }
    try call(policy, "endInstanceCreation", mapping) {
      try policy.endInstanceCreation(forMapping: mapping, manager: manager)
    }
  }

  private func relateObjects(_ mapping: NSEntityMapping, _ policy: NSEntityMigrationPolicy) throws {
    for made in manager.associations.destinations(mapping: mapping.name ?? "") where !made.isDeleted {
      try call(policy, "createRelationships", mapping) {
        try policy.createRelationships(forDestination: made, in: mapping, manager: manager)
      }
    }
    try call(policy, "endRelationshipCreation", mapping) {
      try policy.endRelationshipCreation(forMapping: mapping, manager: manager)
    }
  }

  /// Calls a method of a policy. An error of the application becomes the cause of an error that names the place.
  private func call(
    _ policy: NSEntityMigrationPolicy, _ method: String, _ mapping: NSEntityMapping, _ body: () throws -> Void
  ) throws {
    do { try body() } catch let error as ManagedObjectError { throw error } catch {
      let reason = (error as? any CDEError)?.message ?? "\(error)"
      throw ManagedObjectError(
        .migrationPolicy,
        "\(method) of the policy \(type(of: policy)) failed in the mapping \(mapping.name ?? ""): \(reason)",
        cause: error, entity: mapping.destinationEntityName ?? mapping.sourceEntityName)
    }
    try manager.pace?.check()
    guard let cancellation = manager.cancellation else { return }
    throw ManagedObjectError(
      .migrationCancelled,
      "The migration was cancelled in \(method) of the mapping \(mapping.name ?? ""), and the old store stays as it is: "
        + ((cancellation as? any CDEError)?.message ?? "\(cancellation)"), cause: cancellation)
  }
}
