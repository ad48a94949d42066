// swift-tools-version: 6.2
import PackageDescription

/// The trait of the packages beside which it is built, so that all use one compiled library.
let traits: Set<Package.Dependency.Trait> = Context.environment["CDE_TRAIT"].map { [.trait(name: $0)] } ?? []

let package = Package(
  name: "UmbrellaOnMainActor",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(url: Context.environment["CDE_REPOSITORY"] ?? "", exact: "999.0.0", traits: traits)
  ],
  targets: [
    .target(
      name: "Shared",
      dependencies: [.product(name: "CoreDataEvolution", package: "CoreDataEvolution")]),
    .executableTarget(
      name: "UmbrellaOnMainActor",
      dependencies: ["Shared", .product(name: "CoreDataEvolution", package: "CoreDataEvolution")],
      path: "Sources/App",
      swiftSettings: [.defaultIsolation(MainActor.self)]),
  ],
  swiftLanguageModes: [.v6]
)
