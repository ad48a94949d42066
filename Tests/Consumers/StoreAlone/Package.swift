// swift-tools-version: 6.2
import PackageDescription

/// The trait of the packages beside which it is built, so that all use one compiled library.
let traits: Set<Package.Dependency.Trait> = Context.environment["CDE_TRAIT"].map { [.trait(name: $0)] } ?? []

let package = Package(
  name: "StoreAlone",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(url: Context.environment["CDE_REPOSITORY"] ?? "", exact: "999.0.0", traits: traits)
  ],
  targets: [
    .executableTarget(
      name: "StoreAlone",
      dependencies: [
        .product(name: "CDEStore", package: "CoreDataEvolution"),
        .product(name: "CDESQLiteStore", package: "CoreDataEvolution"),
      ],
      path: "Sources")
  ],
  swiftLanguageModes: [.v6]
)
