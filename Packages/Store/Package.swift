// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Store",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "CDEOperators", targets: ["CDEOperators"]),
    .library(name: "CDEStore", targets: ["CDEStore"]),
    .library(name: "CDESQL", targets: ["CDESQL"]),
    .library(name: "CDESQLiteStore", targets: ["CDESQLiteStore"]),
    .library(name: "CDESQLiteFaults", targets: ["CDESQLiteFaults"]),
    .library(name: "CDEStoreTestKit", targets: ["CDEStoreTestKit"]),
  ],
  dependencies: [
    .package(name: "Executors", path: "../Executors")
  ],
  targets: [
    .systemLibrary(
      name: "CDESQLite",
      pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"]), .yum(["sqlite-devel"]), .brew(["sqlite"])]),
    .target(
      name: "CDEOperators",
      dependencies: [.product(name: "CDEExecutors", package: "Executors")]),
    .target(
      name: "CDEStore",
      dependencies: ["CDEOperators", .product(name: "CDEExecutors", package: "Executors")]),
    .target(name: "CDESQL", dependencies: ["CDEOperators", "CDEStore"]),
    .target(
      name: "CDESQLiteStore",
      dependencies: [
        "CDEOperators", "CDEStore", "CDESQL", "CDESQLite",
        .product(name: "CDEExecutors", package: "Executors"),
      ]),
    .target(
      name: "CDESQLiteFaults",
      dependencies: ["CDESQLite", .product(name: "CDEExecutors", package: "Executors")]),
    // What tests of all engines need. A product for the engines of other layers; the root has none.
    .target(
      name: "CDEStoreTestKit", dependencies: ["CDEStore", "CDESQLiteFaults"], path: "Tests/CDEStoreTestKit"),
    .testTarget(name: "CDEStoreTests", dependencies: ["CDEStore"]),
    .testTarget(
      name: "CDESQLiteStoreTests",
      dependencies: [
        "CDESQLiteStore", "CDESQLiteFaults", "CDEStoreTestKit", "CDEOperators", "CDEStore", "CDESQL",
        "CDESQLite",
        .product(name: "CDEExecutors", package: "Executors"),
      ],
      resources: [.copy("Fixtures")]),
  ],
  swiftLanguageModes: [.v6]
)
