// swift-tools-version: 6.2
import PackageDescription

let swiftData = Target.Dependency.product(
  name: "CDESwiftData", package: "CoreDataEvolution", condition: .when(platforms: [.linux]))

let package = Package(
  name: "BookmarkService",
  platforms: [.macOS(.v15), .iOS(.v18)],
  products: [.library(name: "BookmarkModels", targets: ["BookmarkModels"])],
  dependencies: [
    // Not by URL as the packages beside it: it shares the build of the root's tests, with its trait.
    .package(
      name: "CoreDataEvolution", path: Context.environment["CDE_FOLDER"] ?? "../../..", traits: ["PostgreSQL"]
    )
  ],
  targets: [
    .target(name: "BookmarkModels", dependencies: [swiftData]),
    .executableTarget(name: "BookmarkImporter", dependencies: ["BookmarkModels", swiftData]),
    .executableTarget(
      name: "BookmarkService",
      dependencies: [
        "BookmarkModels", swiftData, .product(name: "CDEPostgreSQL", package: "CoreDataEvolution"),
      ]),
    .testTarget(
      name: "BookmarkModelsTests",
      dependencies: [
        "BookmarkModels", swiftData, .product(name: "CDETesting", package: "CoreDataEvolution"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
