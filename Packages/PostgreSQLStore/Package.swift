// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "PostgreSQLStore",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "CDEPostgreSQLStore", targets: ["CDEPostgreSQLStore"])
  ],
  traits: [
    .trait(name: "PostgreSQL", description: "The engine over libpq. Needs the headers of libpq.")
  ],
  dependencies: [
    .package(name: "Executors", path: "../Executors"),
    .package(name: "Store", path: "../Store"),
  ],
  targets: [
    .systemLibrary(
      name: "CDELibPQ",
      pkgConfig: "libpq",
      providers: [.apt(["libpq-dev"]), .yum(["libpq-devel"]), .brew(["libpq"])]),
    .target(
      name: "CDEPostgreSQLStore",
      dependencies: [
        .product(name: "CDEExecutors", package: "Executors"),
        .product(name: "CDEOperators", package: "Store"),
        .product(name: "CDEStore", package: "Store"),
        .product(name: "CDESQL", package: "Store"),
        .target(name: "CDELibPQ", condition: .when(traits: ["PostgreSQL"])),
      ]),
    .testTarget(
      name: "CDEPostgreSQLStoreTests",
      dependencies: [
        "CDEPostgreSQLStore",
        .product(name: "CDEExecutors", package: "Executors"),
        .product(name: "CDESQL", package: "Store"),
        .product(name: "CDESQLiteFaults", package: "Store"),
        .product(name: "CDESQLiteStore", package: "Store"),
        .product(name: "CDEStore", package: "Store"),
        .product(name: "CDEStoreTestKit", package: "Store"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
