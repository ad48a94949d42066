// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "PostgreSQL",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "CDEPostgreSQL", targets: ["CDEPostgreSQL"])
  ],
  traits: [
    .trait(name: "PostgreSQL", description: "The engine over libpq. Needs the headers of libpq.")
  ],
  dependencies: [
    .package(name: "Executors", path: "../Executors"),
    .package(name: "Store", path: "../Store"),
    .package(
      name: "PostgreSQLStore", path: "../PostgreSQLStore",
      traits: [.trait(name: "PostgreSQL", condition: .when(traits: ["PostgreSQL"]))]),
    .package(name: "Models", path: "../Models"),
    .package(name: "ModelRuntime", path: "../ModelRuntime"),
  ],
  targets: [
    .target(
      name: "CDEPostgreSQL",
      dependencies: [
        .product(name: "CDEStore", package: "Store"),
        .product(name: "CDEPostgreSQLStore", package: "PostgreSQLStore"),
        .product(name: "CDEManagedModel", package: "Models"),
        .product(name: "CDEModelRuntime", package: "ModelRuntime"),
      ]),
    .target(
      name: "CDEEngineUnderTest",
      dependencies: [
        "CDEPostgreSQL",
        .product(name: "CDEExecutors", package: "Executors"),
        .product(name: "CDEStore", package: "Store"),
        .product(name: "CDESQLiteFaults", package: "Store"),
        .product(name: "CDEPostgreSQLStore", package: "PostgreSQLStore"),
        .product(name: "CDEModelRuntime", package: "ModelRuntime"),
      ],
      path: "Tests/CDEEngineUnderTest"),
    .target(name: "CDEEngineLoader", path: "Tests/CDEEngineLoader"),
    .testTarget(
      name: "CDEPostgreSQLTests",
      dependencies: [
        "CDEPostgreSQL", "CDEEngineUnderTest", "CDEEngineLoader",
        .product(name: "CDEExecutors", package: "Executors"),
        .product(name: "CDEStore", package: "Store"),
        .product(name: "CDESQLiteFaults", package: "Store"),
        .product(name: "CDEPostgreSQLStore", package: "PostgreSQLStore"),
        .product(name: "CDEManagedModel", package: "Models"),
        .product(name: "CDEModelFiles", package: "Models"),
        .product(name: "CDEPredicates", package: "Models"),
        .product(name: "CDEModelRuntime", package: "ModelRuntime"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
