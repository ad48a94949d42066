@_spi(CDE) import CDESQLiteFaults
import CDESwiftData
import Foundation

/// The stores of the application's own that these tests have.
enum OwnStore: String, CaseIterable {
  case json, server, relay

  /// A container over a new store.
  func container(_ types: [any PersistentModel.Type]) throws -> ModelContainer {
    let schema = Schema(types)
    return switch self {
    case .json:
      try ModelContainer(
        for: schema,
        configurations: JSONStoreConfiguration(
          name: "json", schema: schema,
          fileURL: ProcessFolder.newURL("snapshots").appendingPathExtension("json")))
    case .server:
      try ModelContainer(for: schema, configurations: ServerConfiguration(service: Service()))
    case .relay: try ModelContainer(for: schema, configurations: RelayConfiguration())
    }
  }

  func container(_ types: any PersistentModel.Type...) throws -> ModelContainer { try container(types) }

  /// The store that the environment asks the tests of behaviours to run over; nil for that of rows.
  static let underTest: OwnStore? = {
    guard let name = ProcessInfo.processInfo.environment["CDE_STORE_UNDER_TEST"] else { return nil }
    guard let store = OwnStore(rawValue: name) else {
      fatalError("CDE_STORE_UNDER_TEST is \(name), and not one of \(allCases.map(\.rawValue)).")
    }
    return store
  }()
}
