// swift-tools-version: 6.2
import PackageDescription

/// The trait of the packages beside which it is built, so that all use one compiled library.
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
      dependencies: ["Notes", .product(name: "CoreDataEvolution", package: "CoreDataEvolution")]),
    // Sources written for Core Data, which the plug-in rewrites.
    .target(
      name: "Notes",
      dependencies: [.product(name: "CDECoreData", package: "CoreDataEvolution")],
      path: ".",
      exclude: ["Sources"],
      sources: ["Linux/Notes"],
      plugins: [.plugin(name: "CoreDataSources", package: "CoreDataEvolution")]),
  ],
  swiftLanguageModes: [.v6]
)
