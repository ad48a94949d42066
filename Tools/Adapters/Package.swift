// swift-tools-version: 6.2
import PackageDescription

// Profiles for swift-metrics and swift-log: the project's packages have no dependencies, and this one names the two.
let package = Package(
  name: "Adapters",
  platforms: [.macOS(.v15)],
  products: [
    .library(name: "CDEMetricsAdapter", targets: ["CDEMetricsAdapter"]),
    .library(name: "CDELogAdapter", targets: ["CDELogAdapter"]),
  ],
  traits: [
    .trait(name: "PostgreSQL", description: "The library with its engine over libpq, in a build that has it.")
  ],
  dependencies: [
    .package(
      name: "CoreDataEvolution", path: "../..",
      traits: [.trait(name: "PostgreSQL", condition: .when(traits: ["PostgreSQL"]))]),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
  ],
  targets: [
    .target(
      name: "CDEMetricsAdapter",
      dependencies: [
        .product(name: "CDEProfiling", package: "CoreDataEvolution"),
        .product(name: "Metrics", package: "swift-metrics"),
      ]),
    .target(
      name: "CDELogAdapter",
      dependencies: [
        .product(name: "CDEProfiling", package: "CoreDataEvolution"),
        .product(name: "Logging", package: "swift-log"),
      ]),
    .testTarget(
      name: "AdapterTests",
      dependencies: [
        "CDEMetricsAdapter", "CDELogAdapter",
        .product(name: "CoreDataEvolution", package: "CoreDataEvolution"),
        .product(name: "MetricsTestKit", package: "swift-metrics"),
        .product(name: "Logging", package: "swift-log"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
