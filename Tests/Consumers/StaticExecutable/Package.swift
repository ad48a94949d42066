// swift-tools-version: 6.2
import PackageDescription

/// The trait of the package beside which it is built: both use one compiled library then.
let traits: Set<Package.Dependency.Trait> = Context.environment["CDE_TRAIT"].map { [.trait(name: $0)] } ?? []

let package = Package(
  name: "StaticExecutable",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(url: Context.environment["CDE_REPOSITORY"] ?? "", exact: "999.0.0", traits: traits)
  ],
  targets: [
    .executableTarget(
      name: "StaticExecutable",
      dependencies: [
        .product(name: "CoreDataEvolution", package: "CoreDataEvolution")
      ],
      path: "Sources")
  ],
  swiftLanguageModes: [.v6]
)
